// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/second_order.hpp"

namespace dpsosp::baselines {

/// Steps to the minimiser of a noisy quadratic model within a fixed radius.
struct TrustRegionDescent {
  SecondOrderQueries queries;
  Index steps;
  double radius;
  double exit_multiplier = -1.0;  ///< a step whose multiplier is at most this is the last
};

/// Counts hard cases. \source baselines notes, 5
Outcome trust_region_descent(Curator& curator, Observer& observer, const TrustRegionDescent& p);

}  // namespace dpsosp::baselines
