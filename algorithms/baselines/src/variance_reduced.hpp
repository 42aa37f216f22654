// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "dpsosp/algorithms/spider_oracle.hpp"
#include "estimated_descent.hpp"

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

Outcome variance_reduced_descent(Curator& curator, Stream& stream, Observer& observer,
                                 const VarianceReduced& p, const SpiderOracleParameters& oracle,
                                 const EstimateStep& step);

/// Ratios of deviation to sensitivity that cost together what `common` costs for all queries, of
/// which refreshes have the share; `common` for both without a share or without differences.
struct SplitNoise {
  double refresh, increment;
};
SplitNoise split_noise(double common, double refresh_share, Index refreshes, Index increments);

/// Refuses a share with sampled batches, whose charges are not in proportion to 1/s².
void check_share(const std::string& algorithm, std::string_view setting, double share,
                 Sampling sampling);

}  // namespace dpsosp::baselines
