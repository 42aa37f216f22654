// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {

void DiagonalObjective::hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const {
  hessian_diagonal(x, out);
  out.array() *= v.array();
}

double DiagonalObjective::lambda_min(ConstVectorRef x) const {
  Vector diagonal(dimension());
  hessian_diagonal(x, diagonal);
  return diagonal.minCoeff();
}

}  // namespace dpsosp
