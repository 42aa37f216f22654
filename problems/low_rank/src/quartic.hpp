// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Exact bounds of f(x) = −(w/4)(a·x)⁴ + (b/4)‖x‖⁴ − (γ/2)‖x‖² over all unit vectors a ∈ R^d, d ≥
/// 2, and ‖x‖ ≤ R; w and b of any sign, γ ≥ 0. Each is a convex function of w, so that of all w in
/// an interval the ends decide.
struct QuarticBounds {
  double gradient = 0;
  double hessian = 0;
  double third = 0;
};
QuarticBounds quartic_bounds(double w, double b, double gamma, double radius);
/// The larger of each.
QuarticBounds either(const QuarticBounds& first, const QuarticBounds& second);

/// The penalties β that are offered: beyond 1e8, βr² − (β − 1) has no digits left.
inline constexpr Range quartic_penalties{1, 1e8, false, true};

/// The part (b/4)‖x‖⁴ − (γ/2)‖x‖² of a quartic.
struct RadialPart {
  double b = 0;
  double gamma = 0;

  double of_squared(double squared) const { return (0.25 * b * squared - 0.5 * gamma) * squared; }
  double value(ConstVectorRef x) const { return of_squared(x.squaredNorm()); }
  /// The gradient is slope(x) x.
  double slope(ConstVectorRef x) const { return b * x.squaredNorm() - gamma; }
  Vector hessian_product(ConstVectorRef x, ConstVectorRef v) const {
    return slope(x) * v + (2 * b * x.dot(v)) * x;
  }
};

/// Operator norm of s I + α p pᵀ + β q qᵀ on R^d, d ≥ 3; an upper bound for d ≤ 2. Nothing cancels
/// in it, if nothing did in its arguments, nor does a product of more than two squares overflow.
struct RankTwo {
  double alpha = 0;
  double p_squared = 0;
  double beta = 0;
  double q_squared = 0;
  double inner = 0;   ///< p·q
  double across = 0;  ///< ‖p‖ times the distance of q from the line of p
};
double shifted_norm(double shift, const RankTwo& update);

/// The Hessian of (b/4)‖x‖⁴ at x less that at x′, from x + x′ and x − x′, so that it does not
/// cancel: b(⟨s, d⟩ I + s dᵀ + d sᵀ) with s = x + x′, d = x − x′.
class RadialChange {
 public:
  RadialChange(double b, ConstVectorRef x, ConstVectorRef previous);
  Vector product(ConstVectorRef v) const;
  /// Its operator norm |b|(2|⟨s, d⟩| + ‖s‖‖d‖).
  double norm() const;

 private:
  double b_;
  Vector sum_, difference_;
};

/// F(x) = −¼ Σ_j w_j (a_j·x)⁴ + (β/4)‖x‖⁴ − ((β−1)/2)‖x‖² for an orthonormal basis a_1, …, a_d.
///
/// The critical points are 0 and, for every non-empty set S with all w_j > 0 and every choice of
/// signs, x = Σ_S ±√((βρ − β + 1)/w_j) a_j with ρ = ‖x‖² = (β−1)/(β − 1/Σ_S w_j⁻¹), if that is
/// positive. F = −(β−1)ρ/4 there; the Hessian has −2(βρ − β + 1) with multiplicity |S| − 1, and is
/// positive on the rest. So the minimisers are single components with the largest w_j < β, and all
/// else is a strict saddle. For w = 1: ρ = (β−1)k/(βk−1).
class Quartic final : public Objective {
 public:
  /// \param basis  d × d with columns a_j; 0 × 0 is the identity.
  Quartic(Matrix basis, Vector weights, double beta);

  Index dimension() const override { return weights_.size(); }
  double value(ConstVectorRef x) const override;
  void gradient(ConstVectorRef x, VectorRef out) const override;
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const override;

  /// The critical point of the components `support` with all signs +.
  Vector critical_point(const std::vector<Index>& support) const;
  /// min F over R^d; needs all w_j < β.
  double minimum() const;
  /// The minimiser, if all w_j < β, and strict saddles of two and of all components.
  std::vector<Landmark> landmarks(Landmark::Of of) const;

 private:
  RadialPart radial() const { return {beta_, beta_ - 1}; }

  Matrix basis_;
  Vector weights_;
  double beta_;
};

/// The domain ‖x‖ ≤ R, and a start at a strict saddle.
void settle_at_saddle(const StartOption& start, double radius, const Vector& saddle,
                      const Stream& random, PublicFacts& facts);

/// Coordinates a_j·x, and Σ_j u_j a_j.
Vector in_basis(const Matrix& basis, ConstVectorRef x);
Vector from_basis(const Matrix& basis, ConstVectorRef u);

/// The plane of the first two of the columns, d ≥ 2, in the ball of radius R.
Slice component_slice(std::string caption, const Matrix& basis, Index dimension, double radius);

/// Orthonormal columns, from the QR decomposition of a Gaussian matrix; Haar distributed.
Matrix random_basis(Index dimension, StreamKey key);

}  // namespace dpsosp
