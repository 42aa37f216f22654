// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// F with a diagonal Hessian, so that λ_min is known everywhere.
class DiagonalObjective : public Objective {
 public:
  /// out_j = ∂²F/∂x_j².
  virtual void hessian_diagonal(ConstVectorRef x, VectorRef out) const = 0;
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const final;
  double lambda_min(ConstVectorRef x) const;
};

/// Strict-saddle minimisation: f(x; z) = Σ_j a (1 − cos(x_j − s z_j)), z ∈ {−1, +1}^d, uniform.
///
/// With R_j e^{iφ_j} = (1/n) Σ_i e^{i s z_ij}: F(x) = Σ_j a (1 − R_j cos(x_j − φ_j)); the Hessian
/// is diagonal, a R_j cos(x_j − φ_j), and every critical point has x_j − φ_j ∈ πZ: minima and
/// strict saddles alone. Population: F(x) = Σ_j a (1 − cos s cos x_j).
///
/// Proofs, for every record: ∂_j f = a sin(x_j − s z_j), so ‖∇f‖ ≤ a√d = G, attained; the Hessian
/// is diagonal with entries a cos(·), so M = a; those entries are a-Lipschitz in their own
/// coordinate and the operator norm of a diagonal matrix is its largest entry, so ρ = a;
/// F(x₀) − min F = Σ_j a R_j (1 − cos(x₀_j − φ_j)) ≤ 2 a d, as R_j ≤ 1.
/// x₀ is an exact strict saddle of the population: x_j = π in the first half, 0 in the rest.
/// \source liu-talwar-2025, section 5 (virtual records family).
class CosineSaddle final : public ProblemFamily {
 public:
  std::string_view name() const override { return "cosine-saddle"; }
  std::string_view summary() const override;
  Index default_records() const override { return 10000; }
  Fields fields() override;
  int numbers_version() const override { return 1; }
  Problem make(const InstanceSpec& spec) const override;

  double amplitude = 1.0;  ///< a
  double spread = 0.5;     ///< s ∈ [0, π/2)
};

/// F of the family for given column means of cos(s z) and sin(s z).
std::unique_ptr<const DiagonalObjective> cosine_saddle_objective(double amplitude,
                                                                 Vector mean_cos,
                                                                 Vector mean_sin);

}  // namespace dpsosp
