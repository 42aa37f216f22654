// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp {

/// A metric of results, and how many cells of a slope count by it.
struct CountingMetric {
  std::string name;
  std::size_t counting = 0;
  std::size_t cells = 0;
};
/// For a slope of which fewer than three cells count: the metric by which most do, at least three;
/// none where there is none.
std::optional<CountingMetric> metric_that_counts(const Runs& runs, const Sweep& sweep,
                                                 const Slope& slope);

/// The metrics of points that a run has, of which less is better.
std::vector<std::string> metrics_in(const RunResult& result);
/// \throws InputError where runs of the cells finished and none has the metric
/// \param where  for the message
void require_metric(const Runs& runs, const std::vector<Cell>& cells, const std::string& metric,
                    const std::string& where);
/// The same for the sweep's own metric, over the parts that look at it.
void require_metric(const Runs& runs, const Sweep& sweep);

}  // namespace dpsosp
