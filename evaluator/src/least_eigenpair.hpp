// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"

namespace dpsosp {

/// Dimension up to which all eigenvalues cost less.
inline constexpr Index few_eigenvalues = 16;

/// The least eigenvalue of an explicit matrix, with a proof that there is none below.
struct LeastEigenpair {
  double value = 0;     ///< θ = vᵀ H v
  double residual = 0;  ///< ‖H v − θ v‖
  double lower = 0;     ///< no eigenvalue of hessian.matrix() is below: Cholesky's proof
  Vector direction;     ///< v, ‖v‖ = 1
};

/// Lanczos steps find a shift s just below λ_min, where Cholesky factors H − sI, and Lanczos steps
/// with (H − sI)⁻¹ the eigenvector; the shift follows until the residual is 1e-13 ‖H‖_F. None where
/// that fails, as for a start without a component on the eigenvector.
/// \param hessian     of dimension ≥ 2, finite, not zero
/// \param warm_start  d entries, or none
std::optional<LeastEigenpair> least_eigenpair(HessianOperator& hessian, const StreamKey& key,
                                              const Vector& warm_start = {});

}  // namespace dpsosp
