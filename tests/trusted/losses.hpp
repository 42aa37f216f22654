// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dpsosp/trusted/row_loss.hpp"

namespace dpsosp::trusted_tests {

/// Σ_j x_j⁴/4, with the bound of its Hessian at the point.
class Quartic final : public CommonLoss {
 public:
  double value(ConstVectorRef x) const override { return 0.25 * x.array().square().square().sum(); }
  void gradient(ConstVectorRef x, VectorRef out) const override { out = x.array().cube(); }
  void hessian_product(const Point& point, const Point* previous, ConstVectorRef v,
                       VectorRef out) const override {
    out = diagonal(point, previous).cwiseProduct(v);
  }
  double hessian_bound(const Point& point, const Point* previous) const override {
    return diagonal(point, previous).cwiseAbs().maxCoeff();
  }
  bool separable() const override { return true; }
  double coordinate_value(Index, double t) const override { return 0.25 * t * t * t * t; }

 private:
  static Vector diagonal(const Point& point, const Point* previous) {
    Vector made = 3 * point.x.array().square();
    if (previous != nullptr) made.array() -= 3 * previous->x.array().square();
    return made;
  }
};

/// Logistic and Welsch losses, alone and with a part that all records share, and tilts.
inline std::vector<RowLoss> every_row_loss() {
  const Expression t = Expression::score(), y = Expression::label();
  const Expression e = exp(-abs(t));
  const Expression s = where_not_negative(t, 1.0 / (1.0 + e), e / (1.0 + e));
  const Expression squared = square(t - y);
  const std::array<Expression, 3> logistic{max(t, 0.0) + log1p(e) - y * t, s - y,
                                           e / square(1.0 + e)};
  const std::array<Expression, 3> welsch{-0.5 * expm1(-squared), (t - y) * exp(-squared),
                                         (1.0 - 2.0 * squared) * exp(-squared)};
  const auto common = std::make_shared<Quartic>();
  return {{"logistic", logistic, nullptr},
          {"logistic with a common part", logistic, common},
          {"welsch", welsch, nullptr},
          {"welsch with a common part", welsch, common},
          {.problem = "tilted", .common = common, .tilted = true}};
}

}  // namespace dpsosp::trusted_tests
