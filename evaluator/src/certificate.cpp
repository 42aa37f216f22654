// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/work_meter.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"
#include "dpsosp/evaluator/lanczos.hpp"
#include "least_eigenpair.hpp"

namespace dpsosp {
namespace {

void check(const CertificateOptions& o) {
  if (o.hessian_lipschitz && !(*o.hessian_lipschitz >= 0 && std::isfinite(*o.hessian_lipschitz)))
    reject("certify", "hessian_lipschitz", *o.hessian_lipschitz, "finite and >= 0");
  if (o.smoothness && !(*o.smoothness >= 0 && std::isfinite(*o.smoothness)))
    reject("certify", "smoothness", *o.smoothness, "finite and >= 0");
  if (!(o.failure_probability >= 1e-9 && o.failure_probability < 1))
    reject("certify", "failure_probability", o.failure_probability, "in [1e-9, 1)");
  if (o.steps < 1) reject("certify", "steps", static_cast<double>(o.steps), ">= 1");
  if (o.dense_limit < 0)
    reject("certify", "dense_limit", static_cast<double>(o.dense_limit), ">= 0");
  if (o.key.purpose != Purpose::evaluation)
    reject("certify", "key.purpose", "another purpose", "Purpose::evaluation");
}

/// λ_min by its place on the diagonal.
EvaluationStatus certify_diagonal(const Objective& objective, ConstVectorRef x, Certificate& c) {
  Vector entries(x.size());
  objective.hessian_diagonal(x, entries);
  if (!entries.allFinite()) return EvaluationStatus::non_finite_hessian;
  c.method = CurvatureMethod::diagonal;
  c.lambda_min = entries.minCoeff();
  c.residual = 0;
  c.rounding_allowance = rounding_of_hessian(x.size(), entries.stableNorm());
  c.lambda_min_lower = c.lambda_min - c.rounding_allowance;
  return EvaluationStatus::ok;
}

EvaluationStatus dense(HessianOperator& hessian, const CertificateOptions& options,
                       Certificate& c) {
  c.method = CurvatureMethod::dense;
  const Matrix& h = hessian.matrix();
  if (hessian.asymmetry() > asymmetry_limit * hessian.norm())
    return EvaluationStatus::asymmetric_hessian;
  c.rounding_allowance = hessian.rounding();
  if (h.rows() > few_eigenvalues && hessian.norm() > 0) {
    if (const auto least = least_eigenpair(hessian, options.key)) {
      c.lambda_min = least->value;
      c.residual = least->residual;
      c.lambda_min_lower = least->lower - c.rounding_allowance;
      return EvaluationStatus::ok;
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(h);
  const auto v = eigen.vectors.col(0);
  c.lambda_min = eigen.values[0];
  c.residual = (h * v - c.lambda_min * v).stableNorm();
  c.lambda_min_lower = c.lambda_min - c.rounding_allowance;
  return EvaluationStatus::ok;
}

/// Steps of Lanczos from the start of the options' stream.
LanczosFactorization steps_of(HessianOperator& hessian, const CertificateOptions& options,
                              Index steps) {
  Vector start(hessian.dimension());
  Stream(options.key).fill_normal(1.0, start);
  return lanczos(hessian, start, steps);
}

EvaluationStatus bounded_lanczos(HessianOperator& hessian, const LanczosFactorization& f,
                                 const CertificateOptions& options, Certificate& c) {
  c.method = CurvatureMethod::lanczos;
  const Index d = hessian.dimension();
  Vector product(d);
  const RitzPair ritz = extreme_ritz(f);
  const double norm = std::max(std::abs(ritz.smallest), std::abs(ritz.largest));
  if (f.asymmetry > asymmetry_limit * norm) return EvaluationStatus::asymmetric_hessian;

  hessian.apply(ritz.direction, product);
  c.lambda_min = ritz.smallest;
  c.residual = (product - ritz.smallest * ritz.direction).stableNorm();
  c.failure_probability = options.failure_probability;
  c.rounding_allowance =
      8 * static_cast<double>(d) * std::numeric_limits<double>::epsilon() * norm + f.asymmetry;

  const double weight = start_weight(d, options.failure_probability);
  double lower = moment_lower_bound(f, weight);
  if (options.smoothness) {
    c.smoothness_contradicted = ritz.largest > *options.smoothness + c.rounding_allowance;
    if (!c.smoothness_contradicted)
      lower = std::max(lower, ritz.smallest - (*options.smoothness - ritz.smallest) *
                                                  chebyshev_gap(weight, f.steps()));
  }
  c.lambda_min_lower = lower - c.rounding_allowance;
  return EvaluationStatus::ok;
}

constexpr Index few_steps = 32;

/// True if the matrix costs no more than the Lanczos steps.
bool is_cheap(const Objective& objective, const CertificateOptions& options) {
  return objective.dimension() <= options.cheap_dense_limit &&
         objective.hessian_cost() <= options.steps;
}

EvaluationStatus certify_curvature(const Objective& objective, const CertificateOptions& options,
                                   HessianOperator& hessian, Certificate& c) {
  const Index d = objective.dimension();
  if (d <= options.dense_limit) {
    plan_work(d);
    return dense(hessian, options, c);
  }
  plan_work(options.steps + 1);
  if (is_cheap(objective, options)) {
    // A matrix of low rank, or with few eigenvalues, is done with after few steps.
    const Index few = std::min(options.steps, few_steps);
    const LanczosFactorization f = steps_of(hessian, options, few);
    return f.steps() < few ? bounded_lanczos(hessian, f, options, c) : dense(hessian, options, c);
  }
  return bounded_lanczos(hessian, steps_of(hessian, options, options.steps), options, c);
}

EvaluationStatus evaluate(const Objective& objective, ConstVectorRef x,
                          const CertificateOptions& options, HessianOperator& hessian,
                          Certificate& c) {
  if (!x.allFinite()) return EvaluationStatus::non_finite_point;
  c.value = objective.value(x);
  if (!std::isfinite(c.value)) return EvaluationStatus::non_finite_value;
  Vector gradient(x.size());
  objective.gradient(x, gradient);
  c.gradient_norm = gradient.stableNorm();
  if (!std::isfinite(c.gradient_norm)) return EvaluationStatus::non_finite_gradient;
  try {
    if (objective.diagonal()) return certify_diagonal(objective, x, c);
    return certify_curvature(objective, options, hessian, c);
  } catch (const HessianOperator::NonFinite&) {
    return EvaluationStatus::non_finite_hessian;
  }
}

}  // namespace

double sosp_level(double gradient_norm, double lambda_min, double hessian_lipschitz) {
  if (!(hessian_lipschitz >= 0 && std::isfinite(hessian_lipschitz)))
    reject("sosp_level", "hessian_lipschitz", hessian_lipschitz, "finite and >= 0");
  if (!(gradient_norm >= 0)) reject("sosp_level", "gradient_norm", gradient_norm, ">= 0");
  if (std::isnan(lambda_min)) reject("sosp_level", "lambda_min", lambda_min, "a number");
  if (lambda_min >= 0) return gradient_norm;
  return std::max(gradient_norm, lambda_min * (lambda_min / hessian_lipschitz));  // no 0/0 at ρ = 0
}

Certificate certify(const Objective& objective, ConstVectorRef x,
                    const CertificateOptions& options) {
  check(options);
  HessianOperator hessian(objective, x);
  Certificate c;
  const EvaluationStatus status = evaluate(objective, x, options, hessian, c);
  if (status != EvaluationStatus::ok)
    return {.status = status, .in_region = options.in_region, .products = hessian.products()};
  c.in_region = options.in_region;
  c.products = hessian.products();
  if (options.hessian_lipschitz) {
    const double rho = *options.hessian_lipschitz;
    c.sosp_level = sosp_level(c.gradient_norm, c.lambda_min, rho);
    c.sosp_level_upper = sosp_level(c.gradient_norm, c.lambda_min_lower, rho);
  }
  return c;
}

}  // namespace dpsosp
