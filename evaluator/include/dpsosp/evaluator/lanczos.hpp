// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"

namespace dpsosp {

/// (v, w) ↦ w = H v for a symmetric H; w must not be v.
using LinearMap = std::function<void(ConstVectorRef, VectorRef)>;

/// k steps of Lanczos without restart: H V = V T + β_k v_{k+1} e_kᵀ, Vᵀ V = I, V e_1 = b.
struct LanczosFactorization {
  Vector diagonal;       ///< α_1 … α_k of T (k × k, symmetric tridiagonal)
  Vector off_diagonal;   ///< β_1 … β_k; the first k − 1 belong to T, β_k = ‖remainder‖
  Matrix basis;          ///< V, d × k
  double asymmetry = 0;  ///< ‖Vᵀ H V − T‖_F above the diagonal: rounding, if H is symmetric
  Index steps() const { return diagonal.size(); }
};

/// Lanczos from b = start/‖start‖ with full reorthogonalisation (two passes each step), so that T
/// is the exact projection of a matrix within rounding of H. Ends before `steps` if the Krylov
/// space is invariant to within rounding; then no further step could change T. \param start d
/// entries, not zero. \param steps 1 ≤ steps. Memory d · min(steps, d) doubles.
LanczosFactorization lanczos(const LinearMap& map, ConstVectorRef start, Index steps);
LanczosFactorization lanczos(HessianOperator& hessian, ConstVectorRef start, Index steps);

/// The smallest and largest eigenvalue of T, and the Ritz vector of the smallest.
struct RitzPair {
  double smallest = 0;
  double largest = 0;
  Vector direction{};  ///< V s, T s = smallest · s; d entries, unit norm
};
RitzPair extreme_ritz(const LanczosFactorization& factorization);

/// The largest t with Pr[b₁² / (1 − b₁²) ≤ t²] ≤ failure_probability for b uniform on the sphere of
/// R^d and b₁ its component on one fixed unit vector: t = p / √(2 (d − 1)/π).
///
/// With b = g/‖g‖, g normal, the event is |g₁| ≤ t ‖g_rest‖, and the density of |g₁| is at most
/// √(2/π), E‖g_rest‖ ≤ √(d − 1). Infinite for d = 1.
/// \throws InputError unless 0 < failure_probability < 1 and dimension ≥ 1.
double start_weight(Index dimension, double failure_probability);

/// A lower bound on λ_min(H) from T and β_k alone, true whenever the start has
/// b₁² / (1 − b₁²) ≥ weight² on a unit eigenvector u of λ_min. H need not be bounded in advance.
///
/// Let p_0 … p_k be the orthonormal polynomials of T: β_j p_j = (x − α_j) p_{j−1} − β_{j−1}
/// p_{j−2}, p_0 = 1. Then ‖Σ c_j p_j(H) b‖² = Σ c_j², and its component on u is Σ c_j p_j(λ_min)
/// b₁, hence (c_j = p_j(λ_min)) b₁² Σ_{j≤k} p_j(λ_min)² ≤ 1. The sum falls in λ up to the smallest
/// Ritz value, which is above λ_min, so λ_min is at least the point where the sum is 1 + 1/weight².
/// \source The last summand alone is van Dorsselaer, Hochstenbach and van der Vorst (2000), section
/// 3.
double moment_lower_bound(const LanczosFactorization& factorization, double weight);

/// (M − λ_min) / (M − θ) − 1 is at most this for θ the smallest Ritz value of k steps, under the
/// same event as above, whenever H ≤ M I: sinh²(arsinh(1/weight) / (2k − 1)).
///
/// A = M I − H is positive semidefinite; λ₁ is its largest eigenvalue, ξ = M − θ its Ritz value. If
/// ξ < (1 − ε) λ₁ then for every polynomial p of degree below k, with λ₁ = 1 and p(1) = 1,
/// ε b₁² < (1 − b₁²) max over [0, 1 − ε] of (1 − ε − x) p(x)². With 1 − ε − x = (1 − ε) y² the best
/// p is T_{2k−1}(y)/y scaled, T the Chebyshev polynomial, and the maximum is ε / sinh²((2k − 1)
/// artanh √ε). The event excludes this when sinh((2k − 1) artanh √ε) = 1/weight, and ε/(1 − ε) =
/// sinh²(artanh √ε).
///
/// With weight = start_weight(d, p) this is the theorem of Kuczyński and Woźniakowski (1992),
/// Theorem 4.2: Pr[ξ < (1 − ε) λ₁] ≤ 1.648 √d exp(−√ε (2k − 1)), with √(2/π) √(d − 1) / sinh(·) in
/// place of its last form, which is larger. It needs b uniform on the sphere and exact arithmetic.
/// \param weight > 0. \param steps k ≥ 1.
double chebyshev_gap(double weight, Index steps);

}  // namespace dpsosp
