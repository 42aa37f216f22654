// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"

namespace dpsosp {

inline constexpr Index krylov_dimension = 24;

/// A Ritz pair of H near its least eigenvalue.
struct RestartedRitz {
  double value = 0;     ///< θ
  double residual = 0;  ///< ‖H v − θ v‖
  bool converged = false;
  Vector direction;  ///< v, ‖v‖ = 1
};

/// A random direction, to which the direction of a warm start with finite length > 0 adds ten times
/// as much: what a warm start lacks must not stay hidden.
Vector lanczos_start(Index dimension, const StreamKey& key, const Vector& warm_start);

/// The pair by implicitly restarted Lanczos (Spectra); see estimate_lambda_min.
/// \throws HessianOperator::NonFinite
RestartedRitz restarted_lanczos(HessianOperator& hessian, const CurvatureOptions& options,
                                const Vector& warm_start);

}  // namespace dpsosp
