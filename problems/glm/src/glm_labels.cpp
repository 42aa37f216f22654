// SPDX-License-Identifier: Apache-2.0
#include "glm_labels.hpp"

#include <cmath>
#include <utility>

namespace dpsosp {

double sigmoid(double t) { return 1 / (1 + std::exp(-t)); }
double sigmoid_slope(double t) { return sigmoid(t) * sigmoid(-t); }

std::function<double(double u, Stream& stream)> binary_label(double flips) {
  return [flips](double u, Stream& stream) {
    return stream.bernoulli(flips + (1 - 2 * flips) * sigmoid(u)) ? 1.0 : 0.0;
  };
}

ExpectedLoss expected_binary_loss(std::shared_ptr<const ScalarLoss> loss, double flips) {
  return [loss = std::move(loss), flips](int order, ConstVectorRef t, ConstVectorRef u,
                                         VectorRef out) {
    Vector if_one(t.size());
    loss->derivative(order, t, Vector::Ones(t.size()), if_one);
    loss->derivative(order, t, Vector::Zero(t.size()), out);
    const Vector one = (flips + (1 - 2 * flips) * u.array().unaryExpr(&sigmoid)).matrix();
    out += one.cwiseProduct(if_one - out);
  };
}

}  // namespace dpsosp
