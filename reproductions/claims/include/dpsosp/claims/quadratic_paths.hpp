// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

namespace dpsosp {

/// Steps along random paths on quadratics, of which claims of two papers speak.
struct QuadraticPaths {
  static constexpr ProbeName probe{"liu-talwar-2025/quadratic-paths", 2};
  Index paths;
  struct Result {
    std::int64_t above_36, above_37, above_37_by_steps;  ///< liu-talwar-2025, Claims 3.6 and 3.7
    std::int64_t above_b1;                               ///< ganesh-2023, Lemma B.1
  };
};
DPSOSP_MEMBERS(QuadraticPaths, paths);
DPSOSP_MEMBERS(QuadraticPaths::Result, above_36, above_37, above_37_by_steps, above_b1);

}  // namespace dpsosp
