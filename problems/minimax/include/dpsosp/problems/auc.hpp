// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"
#include "dpsosp/trusted/record_table.hpp"

namespace dpsosp {

/// AUC maximisation as a nonconvex-strongly-concave minimax problem with a shared dual, d₂ = 1.
///
/// x = (w, a, b), w ∈ R^k, d = k + 2; a record is a feature z ∈ R^k, ‖z‖ ≤ 1, and a label ±; with
/// h = sigmoid(w·z) and the public prior p of the label +,
///
///   f = (1−p)(h−a)² 1₊ + p(h−b)² 1₋ + 2(1+y)(p h 1₋ − (1−p) h 1₊) − p(1−p) y².
///
/// With D(w) the mean of p h 1₋ − (1−p) h 1₊: y* = D/(p(1−p)) ∈ [−1/p, 1/(1−p)] and
/// Φ = mean of the squares + 2D + D²/(p(1−p)). Constants hold for |a|, |b| ≤ 1, every w, and
/// |y| ≤ 1/min(p, 1−p). The features are uniform on finitely many hidden points a class, so that
/// the population objective is exact and batch sums depend on a multinomial alone.
/// \source xu-2026 notes, 8.2.
class Auc final : public ProblemFamily {
 public:
  std::string_view name() const override { return "auc"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;
  int numbers_version() const override { return 2; }

  double prior = 0.5;
  double separation = 0.3;
  Index points = 50;
  double radius = std::numeric_limits<double>::infinity();  ///< of the domain ‖x‖ ≤ R
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  Index default_dimension() const override { return 12; }
  Index least_dimension() const override { return 3; }
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// Values that records take.
struct AucData : RecordColumns {  ///< features k × V, labels ±1
  double prior = 0.5;
};
/// Φ of records of which the share shares[v] has value v; V shares with sum 1.
std::unique_ptr<const Objective> auc_value(std::shared_ptr<const AucData> data, Vector shares);
/// One record for each value.
std::unique_ptr<const AnyRecords> auc_records(std::shared_ptr<const AucData> data);

}  // namespace dpsosp
