// SPDX-License-Identifier: Apache-2.0
#include <Eigen/SVD>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

Vector singular_values(const Matrix& a) { return Eigen::JacobiSVD<Matrix>(a).singularValues(); }

ThinSvd thin_svd(const Matrix& a) {
  const Eigen::BDCSVD<Matrix> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace dpsosp
