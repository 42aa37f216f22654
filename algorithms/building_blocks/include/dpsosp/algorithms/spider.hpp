// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/escape.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/selection.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// When the estimate is refreshed by O1.
enum class RefreshTrigger {
  drift,   ///< drift ≥ κ
  period,  ///< every `period` steps
  always,
};

constexpr auto words_of(RefreshTrigger) {
  using enum RefreshTrigger;
  return word_list<RefreshTrigger>("refresh trigger",
                                   {{drift, "drift"}, {period, "period"}, {always, "always"}});
}

/// Lengths that drift adds up since the last refresh.
enum class DriftKind {
  quadratic,  ///< Σ ‖x_i − x_{i−1}‖², unit of x squared
  linear,     ///< M Σ ‖x_i − x_{i−1}‖, unit of the gradient
};

constexpr auto words_of(DriftKind) {
  using enum DriftKind;
  return word_list<DriftKind>("drift kind", {{quadratic, "quadratic"}, {linear, "linear"}});
}

/// Where the estimate's noise comes from.
enum class SpiderNoise {
  tree,                   ///< sums since the refresh by a tree (liu-talwar-2025, Algorithm 1)
  gaussian_fixed,         ///< O1 and increments have stated standard deviations
  gaussian_proportional,  ///< both have stated ratios of deviation to sensitivity
};

constexpr auto words_of(SpiderNoise) {
  using enum SpiderNoise;
  return word_list<SpiderNoise>("spider noise", {{tree, "tree"},
                                                 {gaussian_fixed, "gaussian_fixed"},
                                                 {gaussian_proportional, "gaussian_proportional"}});
}

/// How many records an increment reads.
enum class SpiderBatch {
  fixed,     ///< b₂
  adaptive,  ///< ⌈rate · ‖x − x_prev‖⌉ fresh ones
};

constexpr auto words_of(SpiderBatch) {
  using enum SpiderBatch;
  return word_list<SpiderBatch>("spider batch", {{fixed, "fixed"}, {adaptive, "adaptive"}});
}

/// Gradient descent with a SPIDER estimate: refreshes O1, and increments O2 in between. Noise,
/// batches, drift and escape are independent settings.
/// \source ganesh-2023, Algorithm 1; liu-talwar-2025, Algorithm 3; baselines notes, 8.1 (DP-SPIDER)
struct SpiderParameters {
  Index steps = 400;
  double step_size = 0.005;
  RefreshTrigger refresh = RefreshTrigger::drift;
  DriftKind drift_kind = DriftKind::quadratic;
  double drift_threshold = 1.0;
  Index period = 10;  ///< q
  Index refresh_cap = 0;
  Index max_leaves = 0;
  SpiderNoise noise = SpiderNoise::gaussian_proportional;
  double tree_deviation = 1.0;
  double refresh_deviation = 1.0;
  double increment_deviation = 1.0;
  SpiderBatch batch = SpiderBatch::fixed;
  double batch_rate = 1.0;  ///< records per unit of the move, adaptive
  OutputRule output = OutputRule::last;
  EscapeParameters escape;
  SpiderOracleParameters oracle;

  void check(std::string_view owner, Index records) const;
};

/// Runs the driver. The outcome's point is by the output rule; points that a selection may look at
/// are written to `candidates` if it is given.
Outcome run_spider(const SpiderParameters& parameters, Curator& curator, Stream& stream,
                   Observer& observer, Candidates* candidates = nullptr);

}  // namespace dpsosp
