// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"

/// Claim C5: over n and d, where the warm start of Corollary 4.3 beats DP-SPIDER.
namespace dpsosp::lowy_2024_exhibit {

std::vector<Job> contour_jobs(const Study& study);
inline constexpr const char* contour_sweep = "lowy-2024-contour";

plots::Exhibit contour_exhibit(const Runs& runs, const Study& study);

/// Medians over seeds at one d, by rising n.
struct RatioCurve {
  double dimension = 0;
  std::vector<double> records;
  std::vector<double> ratio;      ///< gradient of the warm start over that of DP-SPIDER
  std::vector<double> low, high;  ///< over seeds
  std::vector<double> promised;   ///< the same of the schedules' α
  /// The cells where both methods are at most a third of their start, and their ratios.
  std::vector<double> moved_records, moved_ratio;
};
std::vector<RatioCurve> ratio_curves(const Runs& runs, const Study& study);

/// A cell where the medians of both methods are at most a third of their start.
struct MovedCell {
  double records;
  double dimension;
  std::vector<double> ratios;  ///< of the seeds that finished everywhere, in their order
};
std::vector<MovedCell> moved_cells(const Runs& runs, const Study& study);

/// The n from which a ratio stays below 1, log-linear between the cells around the last crossing;
/// none where it is not below 1 at the last cell or at no cell above.
std::optional<double> crossing(const std::vector<double>& records,
                               const std::vector<double>& ratio);

}  // namespace dpsosp::lowy_2024_exhibit
