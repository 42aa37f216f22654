// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/experiments/fit.hpp"

/// Ranking by levels; lower is better.
namespace dpsosp::league {

/// What one contender reached: levels[place][seed]. A place without values: it did not run there.
/// NaN: the run failed.
struct Contender {
  std::string name;
  std::vector<std::vector<double>> levels;
};

/// An algorithm whose level is not below this share of the start's counts as not improving.
inline constexpr double share_of_start = 0.99;

/// An output above this many times the start's level has diverged.
inline constexpr double diverged = 10;

/// Median over seeds; infinite where it did not run or any run failed.
double level_at(const Contender& c, std::size_t place);

/// Smallest median of any contender at every place; infinite where none ran.
std::vector<double> best_levels(const std::vector<Contender>& contenders);

struct Standing {
  std::size_t contender = 0;
  std::size_t wins = 0;  ///< places where its median is the best
  /// Geometric mean over places of its median over the best one. A place without a median, or with
  /// one above the start's, counts with the median of the start.
  double ratio = 1;
  std::size_t useless = 0;  ///< places where it ran and did not improve
  std::size_t absent = 0;   ///< places without a median
  /// Its levels over the leader's, all places and seeds that both have.
  PairedComparison against_leader;
};

/// From the best ratio to the worst, the leader first. The comparisons with the leader are adjusted
/// over all contenders that share a run with it.
/// \param start  levels of the initial point, [place][seed]
std::vector<Standing> standings(const std::vector<Contender>& contenders, const Contender& start);

/// Performance profile: for every factor τ at which it rises, the share of places where the
/// contender's median is within τ of the best. Starts at τ = 1 and ends at `largest`.
/// \source Dolan & Moré (2002), Mathematical Programming 91
std::vector<std::pair<double, double>> profile(const std::vector<Contender>& contenders,
                                               std::size_t contender,
                                               double largest);

/// Position of the smallest median; the first of equal ones. A candidate with a missing or failed
/// run is chosen only if all have one.
std::size_t choose(const std::vector<std::vector<double>>& levels);

}  // namespace dpsosp::league
