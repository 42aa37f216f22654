// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "dpsosp/problems/design.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Completion of a low-rank matrix from single entries, over x = (vec U, vec V), U ∈ R^{p×r},
/// V ∈ R^{q×r}, d = (p + q) r.
///
///   f(x; a, b, v) = (w/2) (u_aᵀv_b − v)² + (λ/4) ‖UᵀU − VᵀV‖_F²,  v = X*_ab ± s,
///
/// with (a, b) uniform over the pq cells and each sign with probability ½. X* = P diag(σ) Qᵀ with
/// rotation-invariant P and Q, and σ geometric from `planted_norm` to `planted_norm`/`condition`.
/// w = pq, λ = `balance` where the record scale is isotropic, and 1/(pq) of both where it is unit.
/// A sum over records depends on the number of records and the sum of signs of every cell alone,
/// which are binomial, so simulated records cost O(pq r) a query for any n.
class MatrixCompletion final : public ProblemFamily {
 public:
  std::string_view name() const override { return "matrix-completion"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 2000; }
  Fields fields() override;

  Index rows = 8;
  Index cols = 8;
  Index rank = 2;
  Index planted_rank = 2;  ///< r* ≤ min(p, q)
  double planted_norm = 1.0;
  double condition = 1.5;
  double label_noise = 0.1;
  double balance = 0.5;
  double domain_factor = 1.5;
  double initial_spread = 0.1;
  RecordScale record_scale = RecordScale::isotropic;
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  Index dimension(const InstanceSpec& spec) const override;
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// Entries of a p × q matrix as records.
struct CompletionData {
  Index rows = 0, cols = 0, rank = 0;
  double weight = 1, balance = 0;  ///< w, λ
  std::vector<Index> cells;        ///< a + p b
  Vector values;                   ///< v ∈ R^n
};
std::unique_ptr<const AnyRecords> completion_records(CompletionData data);
std::unique_ptr<const Objective> completion_objective(const CompletionData& data);

}  // namespace dpsosp
