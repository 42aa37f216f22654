// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/curvature.hpp"

#include <algorithm>
#include <cmath>

#include <Spectra/SymEigsSolver.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/evaluator/hessian_operator.hpp"

namespace dpsosp {
namespace {

constexpr Index krylov_dimension = 24;
constexpr double random_share = 0.1;  // of the warm start's length; see the header

/// (2c I − H)/c, as Spectra asks for it.
class ShiftedHessian {
 public:
  using Scalar = double;
  ShiftedHessian(HessianOperator& hessian, double scale) : hessian_(hessian), scale_(scale) {}
  Index rows() const { return hessian_.dimension(); }
  Index cols() const { return hessian_.dimension(); }
  void perform_op(const double* in, double* out) const {
    const Eigen::Map<const Vector> v(in, rows());
    Eigen::Map<Vector> w(out, rows());
    hessian_.apply(v, w);
    w = 2 * v - w / scale_;
  }

 private:
  HessianOperator& hessian_;
  double scale_;
};

/// Spectra hands out converged pairs only; this reads the best one there is.
class RestartedLanczos : public Spectra::SymEigsSolver<ShiftedHessian> {
 public:
  using SymEigsSolver::SymEigsSolver;
  dpsosp::Vector best() const {
    const auto& t = m_fac.matrix_H();
    const SymmetricEigen eigen = tridiagonal_eigen(t.diagonal(), t.diagonal(-1));
    const dpsosp::Vector v = m_fac.matrix_V() * eigen.vectors.col(t.cols() - 1);
    return v.normalized();
  }
};

void check(const Objective& objective, const CurvatureOptions& options, const Vector& warm_start) {
  if (!(options.tolerance >= 1e-13 && options.tolerance < 1))
    reject("estimate_lambda_min", "tolerance", options.tolerance, "in [1e-13, 1)");
  if (options.max_products < 1)
    reject(
        "estimate_lambda_min", "max_products", static_cast<double>(options.max_products), ">= 1");
  if (options.key.purpose != Purpose::evaluation)
    reject("estimate_lambda_min", "key.purpose", "another purpose", "Purpose::evaluation");
  if (warm_start.size() != 0 && warm_start.size() != objective.dimension())
    reject("estimate_lambda_min",
           "size of warm_start",
           static_cast<double>(warm_start.size()),
           "0 or the dimension");
}

void dense(HessianOperator& hessian, CurvatureEstimate& estimate) {
  DenseSpectrum s = dense_spectrum(hessian);
  estimate.method = CurvatureMethod::dense;
  if (s.asymmetry > asymmetry_limit * s.norm) {
    estimate.status = EvaluationStatus::asymmetric_hessian;
    return;
  }
  estimate.lambda_min = s.lambda_min;
  estimate.residual = s.residual;
  estimate.converged = true;
  estimate.direction = std::move(s.direction);
}

void restarted(HessianOperator& hessian,
               const CurvatureOptions& options,
               const Vector& warm_start,
               CurvatureEstimate& estimate) {
  estimate.method = CurvatureMethod::lanczos;
  const Index d = hessian.dimension();
  Vector v(d), w(d);
  Stream(options.key).fill_normal(1.0, v);
  v.normalize();
  hessian.apply(v, w);
  const double scale = w.stableNorm();
  if (scale > 0) {  // H q = 0 for a random q only if H = 0
    const double length = warm_start.size() == 0 ? 0.0 : warm_start.stableNorm();
    if (std::isfinite(length) && length > 0) v = warm_start / length + random_share * v;
    ShiftedHessian shifted(hessian, scale);
    const Index m = std::min(krylov_dimension, d);
    RestartedLanczos solver(shifted, 1, m);
    solver.init(v.data());
    const Index restarts = std::max<Index>(1, (options.max_products - m) / (m / 2));
    solver.compute(Spectra::SortRule::LargestAlge, restarts, options.tolerance);
    v = solver.best();
    hessian.apply(v, w);
  }
  estimate.lambda_min = v.dot(w);
  estimate.residual = (w - estimate.lambda_min * v).stableNorm();
  estimate.converged = estimate.residual <= options.tolerance * (2 * scale - estimate.lambda_min);
  estimate.direction = std::move(v);
}

}  // namespace

CurvatureEstimate estimate_lambda_min(const Objective& objective,
                                      ConstVectorRef x,
                                      const CurvatureOptions& options,
                                      const Vector& warm_start) {
  check(objective, options, warm_start);
  HessianOperator hessian(objective, x);
  CurvatureEstimate estimate;
  if (!x.allFinite()) {
    estimate.status = EvaluationStatus::non_finite_point;
    return estimate;
  }
  try {
    if (x.size() <= dense_estimate_limit)
      dense(hessian, estimate);
    else
      restarted(hessian, options, warm_start, estimate);
  } catch (const HessianOperator::NonFinite&) {
    estimate = {.status = EvaluationStatus::non_finite_hessian};
  }
  estimate.products = hessian.products();
  return estimate;
}

}  // namespace dpsosp
