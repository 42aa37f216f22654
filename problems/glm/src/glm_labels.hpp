// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/glm_loss.hpp"
#include "dpsosp/problems/glm_population.hpp"

namespace dpsosp {

/// s(t) = 1/(1 + e^{−t}).
double sigmoid(double t);
/// s′(t), without cancellation.
double sigmoid_slope(double t);

/// Draws y ∈ {0, 1}, 1 with probability s(u), exchanged with probability `flips`.
std::function<double(double u, Stream& stream)> binary_label(double flips);
/// The expectation of a loss under that law.
ExpectedLoss expected_binary_loss(std::shared_ptr<const ScalarLoss> loss, double flips);

}  // namespace dpsosp
