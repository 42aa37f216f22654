// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// v ↦ H v with H = ∇²F(x) at a fixed x. Objective and x must outlive it.
class HessianOperator {
 public:
  /// Thrown by `apply` and caught at the module's public functions, which return a status.
  struct NonFinite {};

  /// x has d entries, all finite. \throws InputError if the sizes disagree.
  HessianOperator(const Objective& objective, ConstVectorRef x);

  Index dimension() const { return x_.size(); }
  /// Hessian products so far; d for the whole matrix, whose own products cost nothing.
  Index products() const { return products_; }
  /// out = H v; allocates nothing itself. \throws NonFinite if a product has an entry that is not
  /// finite.
  void apply(ConstVectorRef v, VectorRef out);

  /// The symmetric part of H, in O(d²) memory; from then on products are taken with it.
  /// \throws NonFinite
  const Matrix& matrix();
  /// Norms of the matrix: ‖H‖_F, and ‖H − Hᵀ‖_F / 2 of what the objective gave.
  double norm() const { return norm_; }
  double asymmetry() const { return asymmetry_; }
  /// How far an eigenvalue of `matrix` may be from that of H: `rounding_of_hessian`, and the
  /// asymmetry.
  double rounding() const;

 private:
  const Objective& objective_;
  Eigen::Ref<const Vector> x_;
  Index products_ = 0;
  Matrix matrix_;
  double norm_ = 0;
  double asymmetry_ = 0;
};

/// 8 d ε ‖H‖_F, what an objective's arithmetic is taken to be good for. An entry that is a small
/// difference of large terms may be worse, and so may denormal numbers.
double rounding_of_hessian(Index dimension, double norm);

/// Relative asymmetry above which it is not rounding.
inline constexpr double asymmetry_limit = 1e-6;

}  // namespace dpsosp
