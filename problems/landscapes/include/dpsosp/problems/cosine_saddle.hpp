// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Strict-saddle minimisation: f(x; z) = Σ_j a (1 − cos(x_j − s z_j)), z ∈ {−1, +1}^d, uniform.
///
/// With R_j e^{iφ_j} = (1/n) Σ_i e^{i s z_ij}: F(x) = Σ_j a (1 − R_j cos(x_j − φ_j)); the Hessian
/// is diagonal, a R_j cos(x_j − φ_j), and every critical point has x_j − φ_j ∈ πZ: minima and
/// strict saddles alone. Population: F(x) = Σ_j a (1 − cos s cos x_j).
///
/// x₀ is an exact strict saddle of the population: x_j = π in the first half, 0 in the rest.
/// \source liu-talwar-2025 notes, 5.
class CosineSaddle final : public ProblemFamily {
 public:
  std::string_view name() const override { return "cosine-saddle"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;

  double amplitude = 1.0;
  double spread = 0.5;
  RecordSampling sampling = RecordSampling::independent;
  StartOption start;

 protected:
  void settle(const Stream& random, PublicFacts& facts) const override;
  Constants constants(const PublicFacts& facts) const override;
  void draw(const InstanceSpec& spec, Problem& problem) const override;
};

/// F of the family for given column means of cos(s z) and sin(s z).
std::unique_ptr<const DiagonalObjective> cosine_saddle_objective(double amplitude, Vector mean_cos,
                                                                 Vector mean_sin);

}  // namespace dpsosp
