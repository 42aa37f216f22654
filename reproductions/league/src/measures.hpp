// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/runs.hpp"

/// How levels become standings. The instance is the unit; lower levels are better.
namespace dpsosp::league {

/// What a run reached, as sosp_level; NaN of a run that failed or did not happen.
struct Reached {
  double level = std::numeric_limits<double>::quiet_NaN();
  double start = std::numeric_limits<double>::quiet_NaN();
  double evaluations = std::numeric_limits<double>::quiet_NaN();  ///< of single records
  bool outside = false;  ///< where the problem's constants, and so the level, are not proved

  bool failed() const { return !(level < std::numeric_limits<double>::infinity()); }
};
Reached reached_by(const Runs& runs, const std::optional<Job>& job);

/// The level that counts: the start's where the run failed, left the region of the constants, far
/// out in which many losses are flat, or went above the start, since whoever holds both may keep
/// it.
double counted(const Reached& reached, double start);

/// Position of the trial among the first `budget` whose geometric mean of counted levels over the
/// instances is least; the first of equal ones. Levels below 10⁻⁵ of the start count as that.
/// \param reached  [trial][instance], of one start an instance; failed runs may lack it
std::size_t best_trial(const std::vector<std::vector<Reached>>& reached, std::size_t budget);

/// Targets are G·10^{−k/4}, k = 0, …, 20, whatever is compared.
inline constexpr int most_target = 20;
double target(double lipschitz, int k);

/// Levels of a method on an instance, one an n of a rising grid.
struct Curve {
  double lipschitz = 1;  ///< G
  std::vector<double> records;
  std::vector<double> levels;  ///< counted
};
/// The smallest n of the grid at which the target is reached; infinite where it is not.
double cost_of(const Curve& curve, int k);
/// The share of pairs of instance and target that cost at most n. \source Hansen et al. 2021 (COCO)
double share_within(std::span<const Curve> curves, double n);
/// The smallest n at which at least half of the instances reach the target; infinite if none.
double cost_of_half(std::span<const Curve> curves, int k);
/// The share of targets reached, averaged over the grid: in [0, 1], more is better.
double score_of(const Curve& curve);

/// Scores of all methods on the same instances.
struct Scores {
  std::vector<std::size_t> strata;          ///< of the instances
  std::vector<std::vector<double>> values;  ///< [method][instance]
};

/// How often each method is in the first group: with the leader of that resample, those behind it
/// by no more than z standard errors of the paired difference. Instances are resampled within
/// their strata, all methods at once; with one instance a stratum nobody is told apart. z allows
/// for the choice of a leader, by Bonferroni over pairs at 5 %.
std::vector<double> first_group_frequency(const Scores& scores, std::size_t resamples,
                                          const Stream& random);

/// From this frequency on a method is in the first group, up to its complement it is not; between
/// them nothing is decided.
inline constexpr double decided = 0.9;

/// How often some method is put out of the first group although all are equal: scores change hands
/// at random on every instance.
double false_exclusions(const Scores& scores, std::size_t repetitions, std::size_t resamples,
                        const Stream& random);

}  // namespace dpsosp::league
