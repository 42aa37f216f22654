// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "curves.hpp"
#include "dpsosp/experiments/fit.hpp"

/// What is said of curves of accuracy in numbers.
namespace dpsosp::avdiukhin_2024_figures {

using EpochMetric = double TrainedEpoch::*;

/// After the last epoch, run by run.
std::vector<double> final_values(const Curve& curve, EpochMetric metric);
/// The largest over the epochs, run by run.
std::vector<double> best_values(const Curve& curve, EpochMetric metric);

/// A number with its 95 % interval over seeds: bootstrap_interval. NaN where there is none.
struct Estimate {
  double value;
  Interval interval;
};
/// "0.254 [0.231, 0.280]"; a dash for NaN; the value alone where the interval has no ends.
std::string to_text(const Estimate& estimate);
/// Mean and range, in the same form; a dash for no value, the value alone for one.
std::string mean_and_range(const std::vector<double>& values);

/// Spearman's rank correlation of ε with the mean over seeds of the final metric; curves without
/// noise are left out. Equal values share their ranks, and where all are equal it is 0. Over the
/// seeds that all curves have. NaN below three curves.
Estimate rank_correlation(const std::vector<Curve>& curves, EpochMetric metric);

/// Mean of the final metric of `upper` less that of `lower`, over the seeds that both have.
Estimate gap(const Curve& upper, const Curve& lower, EpochMetric metric);

/// The curve of that ε; null if there is none.
const Curve* curve_at(const std::vector<Curve>& curves, std::optional<double> epsilon);

}  // namespace dpsosp::avdiukhin_2024_figures
