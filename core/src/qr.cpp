// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

QrFactors thin_qr(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  return {qr.householderQ() * Matrix::Identity(a.rows(), a.cols()), qr.matrixQR().diagonal()};
}

QrFactors full_qr(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  return {qr.householderQ(), qr.matrixQR().diagonal()};
}

Vector least_squares(const Matrix& a, const Vector& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

Vector symmetric_solve(const Matrix& a, const Vector& b) { return a.ldlt().solve(b); }

}  // namespace dpsosp
