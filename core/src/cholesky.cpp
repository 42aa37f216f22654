// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

bool positive_definite(Matrix a) {
  const Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower> factors(a);
  // NaN passes for a positive pivot
  return factors.info() == Eigen::Success && a.diagonal().allFinite();
}

}  // namespace dpsosp
