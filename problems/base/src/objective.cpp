// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/objective.hpp"

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void Objective::hessian(ConstVectorRef x, MatrixRef out) const {
  Vector e = Vector::Zero(x.size());
  for (Index j = 0; j < x.size(); ++j) {
    e[j] = 1;
    hessian_product(x, e, out.col(j));
    e[j] = 0;
  }
}

void Objective::hessian_diagonal(ConstVectorRef, VectorRef) const {
  throw InputError("objective: the Hessian of this problem is not diagonal");
}

}  // namespace dpsosp
