// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/hessian_operator.hpp"

#include <limits>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/work_meter.hpp"

namespace dpsosp {

HessianOperator::HessianOperator(const Objective& objective, ConstVectorRef x)
    : objective_(objective), x_(x) {
  if (x.size() != objective.dimension())
    reject("evaluator", "size of x", static_cast<double>(x.size()),
           "the dimension " + std::to_string(objective.dimension()));
}

void HessianOperator::apply(ConstVectorRef v, VectorRef out) {
  if (matrix_.size() > 0) {
    out.noalias() = matrix_.selfadjointView<Eigen::Lower>() * v;
  } else {
    objective_.hessian_product(x_, v, out);
    ++products_;
    do_work();
  }
  if (!out.allFinite()) throw NonFinite{};
}

const Matrix& HessianOperator::matrix() {
  if (matrix_.size() > 0) return matrix_;
  const Index d = dimension();
  Matrix h(d, d);
  objective_.hessian(x_, h);
  products_ += d;
  do_work(d);
  if (!h.allFinite()) throw NonFinite{};
  norm_ = h.stableNorm();
  asymmetry_ = 0.5 * (h - h.transpose()).stableNorm();
  matrix_ = 0.5 * (h + h.transpose());
  return matrix_;
}

double HessianOperator::rounding() const {
  return rounding_of_hessian(dimension(), norm_) + asymmetry_;
}

double rounding_of_hessian(Index dimension, double norm) {
  return 8 * static_cast<double>(dimension) * std::numeric_limits<double>::epsilon() * norm;
}

}  // namespace dpsosp
