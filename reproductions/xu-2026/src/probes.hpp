// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

/// Parameters and results of the probe of xu-2026; probes.cpp says what it does.
namespace dpsosp::xu_2026_probe {

struct SameEstimator {
  static constexpr ProbeName probe{"xu-2026/same-estimator"};
  Index steps, period;
  struct Result {
    std::size_t steps;
    double points, estimates, longest;
  };
};
DPSOSP_MEMBERS(SameEstimator, steps, period);
DPSOSP_MEMBERS(SameEstimator::Result, steps, points, estimates, longest);

}  // namespace dpsosp::xu_2026_probe
