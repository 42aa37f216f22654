// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/evaluator/status.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

enum class CurvatureMethod {
  diagonal,  ///< the least entry of a diagonal Hessian
  dense,     ///< the whole matrix, and its eigenvalues or a proof by Cholesky's factorisation
  lanczos,   ///< products with Krylov vectors
};

constexpr auto words_of(CurvatureMethod) {
  using enum CurvatureMethod;
  return word_list<CurvatureMethod>(
      "curvature method", {{diagonal, "diagonal"}, {dense, "dense"}, {lanczos, "lanczos"}});
}

struct CurvatureOptions {
  /// Stops when ‖H v − θ v‖ ≤ tolerance · (2c − θ), c = ‖H q‖ ≤ ‖H‖ for a random unit q.
  double tolerance = 1e-7;  ///< in [1e-13, 1)
  Index max_products = 4000;
  StreamKey key{.purpose = Purpose::evaluation};
};

/// An estimate of λ_min(∇²F(x)): an upper bound (a Rayleigh quotient), and some eigenvalue lies
/// within `residual` of it. That no eigenvalue is far below is likely, not certified; see certify.
struct CurvatureEstimate {
  EvaluationStatus status = EvaluationStatus::ok;
  double lambda_min = std::numeric_limits<double>::quiet_NaN();  ///< θ
  double residual = std::numeric_limits<double>::quiet_NaN();    ///< ‖H v − θ v‖
  bool converged = false;
  Index products = 0;  ///< Hessian products used; d for the whole matrix
  CurvatureMethod method = CurvatureMethod::dense;
  Vector direction{};  ///< v, ‖v‖ = 1; the next call's warm start. Empty unless `ok`.
};

/// Up to this dimension the matrix and a dense solve cost less than restarted Lanczos.
inline constexpr Index dense_estimate_limit = 48;

/// A diagonal Hessian answers itself. Up to dense_estimate_limit, and up to dimension 512 where the
/// objective computes its matrix for less than products cost, θ and v come from the matrix, as in
/// certify. Otherwise they come by implicitly restarted Lanczos (Spectra) on (2c I − H)/c,
/// whose wanted eigenvalue is its largest and at least 1: c is at least λ_min, since ‖H q‖ ≥ λ_min
/// where λ_min > 0. The shift keeps null vectors of H off zero, and the scale makes Spectra's
/// absolute thresholds relative. Products are taken with the whole matrix up to dimension 2048
/// where it costs less.
///
/// Lanczos starts at the warm start plus a random vector of a tenth of its length. Every restart's
/// filter has its roots at Ritz values, all above θ, so a component on an eigenvector below θ never
/// shrinks relative to the one of v: if λ_min is missed by ε, the residual is at least about 0.1
/// |g|/√d · ε for a normal g, and the stopping rule refuses ε above 10 √d · tolerance · 3‖H‖ / |g|.
///
/// \param warm_start empty, or d entries: the previous `direction`. Zero or not finite: ignored.
/// \throws InputError if sizes, tolerance, max_products or the key's purpose are wrong.
CurvatureEstimate estimate_lambda_min(const Objective& objective, ConstVectorRef x,
                                      const CurvatureOptions& options = {},
                                      const Vector& warm_start = {});

}  // namespace dpsosp
