// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "dpsosp/problems/glm_loss.hpp"

namespace dpsosp {

/// Scores and labels over which a loss has constants.
struct LossRange {
  double reach = 10;                       ///< |t| ≤ reach
  double label_least = 0, label_most = 1;  ///< y in between
  bool with_label = true;                  ///< whether the formula may name y
};

/// φ(t; y) as its author wrote it (docs/own-loss.md), with derivatives by differentiation of the
/// expression and bounds of them over the range by interval arithmetic.
/// \throws InputError with the column of what cannot be read; with the place where a derivative
/// jumps or has no bound on the range
std::shared_ptr<const ScalarLoss> formula_loss(const std::string& text, const LossRange& range);

}  // namespace dpsosp
