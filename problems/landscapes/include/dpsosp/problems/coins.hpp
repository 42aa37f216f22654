// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// The selection lower bound as an excess-risk problem. A record is k = m^d coin flips z ∈ {0,
/// 1}^k, independent, fair but for one with P(z_* = 1) = max(0, ½ − c √(ln k / n)); candidate j is
/// the centre p_j of cell j of a grid of m^d cells of the box |x_i| ≤ h, and
///
///   f(x; z) = −A Σ_j (1 − z_j) B(‖x − p_j‖/r),   B(t) = (1 − t²)⁴₊,   r = h/m.
///
/// The candidate's loss is its empirical frequency less 1: f̂(p_j) = A(ẑ_j − 1), so the best
/// selector takes the smallest frequency, and choosing a fair coin costs A(½ − p_*). \source
/// ganesh-2023, Theorem 5.9.
class Coins final : public ProblemFamily {
 public:
  std::string_view name() const override { return "coins"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;

  /// k = m^d. \throws InputError if m < 1, k < 2 or k > 2^20
  Index candidates(Index dimension) const;
  /// d × k, the points among which an exponential mechanism chooses.
  Matrix candidate_points(Index dimension) const;
  /// P(z_* = 1) for k coins and n records.
  double planted_probability(Index coins, Index records) const;
  /// The planted coin, a hidden parameter. \return in [0, k)
  Index planted_coin(Index coins, std::uint64_t data_seed) const;

  Index per_axis = 4;
  double bias = 1.0;
  double amplitude = 1.0;
  double half_width = 1.0;
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  Index default_dimension() const override { return 2; }
  void check_settings(Index dimension) const override { candidates(dimension); }
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

}  // namespace dpsosp
