// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/curvature.hpp"

#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"
#include "least_eigenpair.hpp"
#include "restarted_lanczos.hpp"

namespace dpsosp {
namespace {

void check(const Objective& objective, const CurvatureOptions& options, const Vector& warm_start) {
  if (!(options.tolerance >= 1e-13 && options.tolerance < 1))
    reject("estimate_lambda_min", "tolerance", options.tolerance, "in [1e-13, 1)");
  if (options.max_products < 1)
    reject("estimate_lambda_min", "max_products", static_cast<double>(options.max_products),
           ">= 1");
  if (options.key.purpose != Purpose::evaluation)
    reject("estimate_lambda_min", "key.purpose", "another purpose", "Purpose::evaluation");
  if (warm_start.size() != 0 && warm_start.size() != objective.dimension())
    reject("estimate_lambda_min", "size of warm_start", static_cast<double>(warm_start.size()),
           "0 or the dimension");
}

constexpr Index factored_dimension = 512;  // beyond it products cost less than Cholesky's factors

/// True if the matrix costs less than the products that a restarted Lanczos method takes at least.
bool pays_as_matrix(const Objective& objective) {
  constexpr Index most = 2048;  // 32 MB
  const Index d = objective.dimension();
  return d <= dense_estimate_limit || (d <= most && objective.hessian_cost() <= krylov_dimension);
}

void all_eigenvalues(HessianOperator& hessian, CurvatureEstimate& estimate) {
  const SymmetricEigen eigen = symmetric_eigen(hessian.matrix());
  const auto v = eigen.vectors.col(0);
  estimate.lambda_min = eigen.values[0];
  estimate.residual = (hessian.matrix() * v - eigen.values[0] * v).stableNorm();
  estimate.direction = v;
}

/// Estimates from the whole matrix. \return false where that is not worth it or found no end
bool dense(HessianOperator& hessian, const CurvatureOptions& options, const Vector& warm_start,
           CurvatureEstimate& estimate) {
  estimate.method = CurvatureMethod::dense;
  estimate.converged = true;
  const Index d = hessian.dimension();
  if (d > few_eigenvalues && d <= factored_dimension && hessian.norm() > 0) {
    if (auto least = least_eigenpair(hessian, options.key, warm_start)) {
      estimate.lambda_min = least->value;
      estimate.residual = least->residual;
      estimate.direction = std::move(least->direction);
      return true;
    }
  }
  if (d > dense_estimate_limit) return false;
  all_eigenvalues(hessian, estimate);
  return true;
}

void estimate_diagonal(const Objective& objective, ConstVectorRef x, CurvatureEstimate& estimate) {
  Vector entries(x.size());
  objective.hessian_diagonal(x, entries);
  if (!entries.allFinite()) throw HessianOperator::NonFinite{};
  Index at = 0;
  estimate.method = CurvatureMethod::diagonal;
  estimate.lambda_min = entries.minCoeff(&at);
  estimate.residual = 0;
  estimate.converged = true;
  estimate.direction = Vector::Unit(x.size(), at);
}

void estimate_at(HessianOperator& hessian, const Objective& objective, ConstVectorRef x,
                 const CurvatureOptions& options, const Vector& warm_start,
                 CurvatureEstimate& estimate) {
  if (objective.diagonal()) return estimate_diagonal(objective, x, estimate);
  if (pays_as_matrix(objective)) {
    hessian.matrix();
    if (hessian.asymmetry() > asymmetry_limit * hessian.norm()) {
      estimate.status = EvaluationStatus::asymmetric_hessian;
      return;
    }
    if (dense(hessian, options, warm_start, estimate)) return;
  }
  RestartedRitz ritz = restarted_lanczos(hessian, options, warm_start);
  estimate.method = CurvatureMethod::lanczos;
  estimate.lambda_min = ritz.value;
  estimate.residual = ritz.residual;
  estimate.converged = ritz.converged;
  estimate.direction = std::move(ritz.direction);
}

}  // namespace

CurvatureEstimate estimate_lambda_min(const Objective& objective, ConstVectorRef x,
                                      const CurvatureOptions& options, const Vector& warm_start) {
  check(objective, options, warm_start);
  HessianOperator hessian(objective, x);
  CurvatureEstimate estimate;
  if (!x.allFinite()) {
    estimate.status = EvaluationStatus::non_finite_point;
    return estimate;
  }
  try {
    estimate_at(hessian, objective, x, options, warm_start, estimate);
  } catch (const HessianOperator::NonFinite&) {
    estimate = {.status = EvaluationStatus::non_finite_hessian};
  }
  estimate.products = hessian.products();
  return estimate;
}

}  // namespace dpsosp
