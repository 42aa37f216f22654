// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "dpsosp/experiments/probe.hpp"

namespace dpsosp::lower_bounds {

constexpr double small_delta = 1e-6;
constexpr std::array epsilons{0.25, 0.5, 1.0};
constexpr std::array record_counts{4, 8, 16, 32, 64};

/// √d/(nε).
double rate(double n, double d, double epsilon);

/// The exact minimax norm in one dimension.
struct Minimax {
  static constexpr ProbeName probe{"lower-bounds/minimax"};
  int records;
  double epsilon, delta;
  struct Result {
    double gradient_norm;
  };
};
DPSOSP_MEMBERS(Minimax, records, epsilon, delta);
DPSOSP_MEMBERS(Minimax::Result, gradient_norm);

}  // namespace dpsosp::lower_bounds
