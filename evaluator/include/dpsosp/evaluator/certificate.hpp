// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/evaluator/curvature.hpp"
#include "dpsosp/evaluator/status.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// The smallest α ≥ 0 with ‖∇F(x)‖ ≤ α and λ_min(∇²F(x)) ≥ −√(ρ α):
/// max(‖∇F(x)‖, max(0, −λ_min)²/ρ). For ρ = 0 it is infinite if λ_min < 0.
/// \param gradient_norm ≥ 0, unit of ∇F. \param hessian_lipschitz ρ ≥ 0, finite.
/// \throws InputError if ρ is negative or not finite, or another argument is NaN.
double sosp_level(double gradient_norm, double lambda_min, double hessian_lipschitz);

struct CertificateOptions {
  /// ρ on a region that contains x; absent where there is none (networks).
  std::optional<double> hessian_lipschitz{};
  /// M ≥ λ_max(∇²F(x)). Not needed; where given, the better of two lower bounds is reported.
  std::optional<double> smoothness{};
  double failure_probability = 1e-6;  ///< of lambda_min_lower, above dense_limit; in [1e-9, 1)
  Index steps = 256;                  ///< k, Lanczos steps above dimension dense_limit; ≥ 1
  Index dense_limit = 512;            ///< up to this dimension: the whole matrix
  /// Up to this dimension, too, where the matrix costs no more than those steps.
  Index cheap_dense_limit = 2048;
  bool in_region = true;  ///< whether x is where ρ and M are stated to hold
  /// The start vector's stream. The probability is over this draw: x must not depend on it.
  StreamKey key{.purpose = Purpose::evaluation};
};

/// The evaluation of a point.
struct Certificate {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  EvaluationStatus status = EvaluationStatus::ok;  ///< if not `ok`, only in_region is valid
  double value = unknown;                          ///< F(x)
  double gradient_norm = unknown;                  ///< ‖∇F(x)‖
  double lambda_min = unknown;        ///< Ritz value: an upper bound on λ_min(∇²F(x))
  double residual = unknown;          ///< ‖H v − θ v‖: an eigenvalue is within this of θ
  double lambda_min_lower = unknown;  ///< ≤ λ_min except with failure_probability
  double failure_probability = 0;     ///< 0 unless by Lanczos
  double rounding_allowance = 0;      ///< already subtracted from lambda_min_lower
  bool smoothness_contradicted =
      false;  ///< an eigenvalue above the stated M exists; M was not used
  bool in_region = true;
  CurvatureMethod method = CurvatureMethod::dense;
  Index products = 0;                  ///< Hessian products used; d for the whole matrix
  std::optional<double> sosp_level{};  ///< from the Ritz value: may be too low; absent without ρ
  std::optional<double> sosp_level_upper{};  ///< from lambda_min_lower: x is an SOSP at this level
};

/// The certificate of x. A diagonal Hessian answers itself. Up to `dense_limit`, and up to
/// `cheap_dense_limit` where Objective::hessian_cost is at most `steps` and 32 steps do not exhaust
/// the Krylov space, the whole matrix H is factored: Lanczos steps with H and with (H − sI)⁻¹ give
/// a Ritz value θ with residual r, and Cholesky's factorisation of H − (θ − r)I proves that no
/// eigenvalue is below θ − r, up to rounding; where it does not, all eigenvalues are computed.
/// Beyond, `steps` Lanczos steps with full reorthogonalisation from a fresh start uniform on the
/// sphere, never restarted, never warm. Then
///   λ_min ≥ moment_lower_bound(T, w), and λ_min ≥ θ − (M − θ) chebyshev_gap(w, k) if M is given,
/// w = start_weight(d, p), hold together except on one event of probability p: the start has too
/// little weight on one fixed unit eigenvector of λ_min. lambda_min_lower is the larger of the two
/// less the rounding allowance 8 d ε max|θ_j| + β_k at an early end + the measured asymmetry.
/// \throws InputError if sizes or options are wrong. Numbers that are not finite give a status.
Certificate certify(const Objective& objective, ConstVectorRef x,
                    const CertificateOptions& options);

}  // namespace dpsosp
