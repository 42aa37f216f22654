// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

void Objective::hessian(ConstVectorRef x, MatrixRef out) const {
  Vector e = Vector::Zero(x.size());
  for (Index j = 0; j < x.size(); ++j) {
    e[j] = 1;
    hessian_product(x, e, out.col(j));
    e[j] = 0;
  }
}

}  // namespace dpsosp
