// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/hessian_operator.hpp"

#include <limits>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

HessianOperator::HessianOperator(const Objective& objective, ConstVectorRef x)
    : objective_(objective), x_(x) {
  if (x.size() != objective.dimension())
    reject("evaluator",
           "size of x",
           static_cast<double>(x.size()),
           "the dimension " + std::to_string(objective.dimension()));
}

void HessianOperator::apply(ConstVectorRef v, VectorRef out) {
  objective_.hessian_product(x_, v, out);
  ++products_;
  if (!out.allFinite()) throw NonFinite{};
}

DenseSpectrum dense_spectrum(HessianOperator& hessian) {
  const Index d = hessian.dimension();
  Matrix h(d, d);
  Vector e = Vector::Zero(d);
  for (Index j = 0; j < d; ++j) {
    e[j] = 1;
    hessian.apply(e, h.col(j));
    e[j] = 0;
  }
  DenseSpectrum s;
  s.norm = h.stableNorm();
  s.asymmetry = 0.5 * (h - h.transpose()).stableNorm();
  h = (0.5 * (h + h.transpose())).eval();
  const SymmetricEigen eigen = symmetric_eigen(h);
  s.lambda_min = eigen.values[0];
  s.lambda_max = eigen.values[d - 1];
  s.direction = eigen.vectors.col(0);
  s.residual = (h * s.direction - s.lambda_min * s.direction).stableNorm();
  s.rounding =
      8 * static_cast<double>(d) * std::numeric_limits<double>::epsilon() * s.norm + s.asymmetry;
  return s;
}

}  // namespace dpsosp
