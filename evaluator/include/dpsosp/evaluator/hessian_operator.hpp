// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// v ↦ H v with H = ∇²F(x) at a fixed x; counts its calls. Objective and x must outlive it.
class HessianOperator {
 public:
  /// Thrown by `apply` and caught at the module's public functions, which return a status.
  struct NonFinite {};

  /// x has d entries, all finite. \throws InputError if the sizes disagree.
  HessianOperator(const Objective& objective, ConstVectorRef x);

  Index dimension() const { return x_.size(); }
  Index products() const { return products_; }
  /// out = H v; allocates nothing itself. \throws NonFinite if a product has an entry that is not
  /// finite.
  void apply(ConstVectorRef v, VectorRef out);

 private:
  const Objective& objective_;
  Eigen::Ref<const Vector> x_;
  Index products_ = 0;
};

/// H by d products, and its eigenvalues.
struct DenseSpectrum {
  double lambda_min = 0;
  double lambda_max = 0;
  double residual = 0;  ///< ‖H v − λ_min v‖
  double rounding = 0;  ///< |λ_min − exact| is at most this: 8 d ε ‖H‖_F, and the asymmetry
  double norm = 0;      ///< ‖H‖_F
  double asymmetry = 0;  ///< ‖H − Hᵀ‖_F / 2 of the products as they came
  Vector direction;      ///< v, ‖v‖ = 1, d entries
};
/// O(d²) memory, O(d³) time. The symmetric part of what the products give is decomposed; the
/// products themselves are taken to be exact up to rounding of the size 8 d ε ‖H‖_F.
DenseSpectrum dense_spectrum(HessianOperator& hessian);

/// Relative asymmetry above which it is not rounding.
inline constexpr double asymmetry_limit = 1e-6;

}  // namespace dpsosp
