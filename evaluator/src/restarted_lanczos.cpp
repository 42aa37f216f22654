// SPDX-License-Identifier: Apache-2.0
#include "restarted_lanczos.hpp"

#include <algorithm>
#include <cmath>

#include <Spectra/SymEigsSolver.h>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {
namespace {

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

}  // namespace

Vector lanczos_start(Index dimension, const StreamKey& key, const Vector& warm_start) {
  Vector v(dimension);
  Stream(key).fill_normal(1.0, v);
  v.normalize();
  const double length = warm_start.size() == 0 ? 0.0 : warm_start.stableNorm();
  if (std::isfinite(length) && length > 0) v = warm_start / length + random_share * v;
  return v;
}

RestartedRitz restarted_lanczos(HessianOperator& hessian, const CurvatureOptions& options,
                                const Vector& warm_start) {
  const Index d = hessian.dimension();
  Vector v(d), w(d);
  v = lanczos_start(d, options.key, {});
  hessian.apply(v, w);
  const double scale = w.stableNorm();
  if (scale > 0) {  // H q = 0 for a random q only if H = 0
    v = lanczos_start(d, options.key, warm_start);
    ShiftedHessian shifted(hessian, scale);
    const Index m = std::min(krylov_dimension, d);
    RestartedLanczos solver(shifted, 1, m);
    solver.init(v.data());
    const Index restarts = std::max<Index>(1, (options.max_products - m) / (m / 2));
    solver.compute(Spectra::SortRule::LargestAlge, restarts, options.tolerance);
    v = solver.best();
    hessian.apply(v, w);
  }
  RestartedRitz ritz;
  ritz.value = v.dot(w);
  ritz.residual = (w - ritz.value * v).stableNorm();
  ritz.converged = ritz.residual <= options.tolerance * (2 * scale - ritz.value);
  ritz.direction = std::move(v);
  return ritz;
}

}  // namespace dpsosp
