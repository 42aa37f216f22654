// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// A refresh every `period` steps; between them differences against the last point, summed up
/// (SPIDER), or against the point of the refresh (SVRG).
struct VarianceReduced {
  enum class Anchor { previous, refresh };
  Index steps;
  Index period;
  Anchor anchor;
  OutputRule output;
};

/// x becomes x_{t+1}, v is the estimate of ∇F(x_t).
using EstimateStep = std::function<void(const Vector& v, Vector& x)>;

Outcome variance_reduced_descent(Curator& curator,
                                 Stream& stream,
                                 Observer& observer,
                                 const VarianceReduced& p,
                                 const SpiderOracleParameters& oracle,
                                 const EstimateStep& step);

}  // namespace dpsosp::baselines
