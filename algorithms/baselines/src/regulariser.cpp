// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/regulariser.hpp"

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp::baselines {

void Regulariser::add_fields(Fields& fields) {
  fields.push_back(field("regulariser", kind, "r: weight |x|_1 or |x|^2/2"));
  fields.push_back(field("weight", weight, range::not_negative, "lambda of r; 0 = no regulariser"));
}

void Regulariser::prox(double step, VectorRef x) const {
  const double shrink = step * weight;
  if (kind == Kind::l1)
    x = x.array().sign() * (x.array().abs() - shrink).max(0.0);
  else
    x /= 1.0 + shrink;
}

double Regulariser::value(ConstVectorRef x) const {
  return kind == Kind::l1 ? weight * x.lpNorm<1>() : 0.5 * weight * x.squaredNorm();
}

}  // namespace dpsosp::baselines
