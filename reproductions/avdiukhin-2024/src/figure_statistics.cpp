// SPDX-License-Identifier: Apache-2.0
#include "figure_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "dpsosp/claims/judging.hpp"

namespace dpsosp::avdiukhin_2024_figures {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

double final_value(const CurveRun& run, EpochMetric metric) {
  return run.result.epochs.back().*metric;
}

/// Final values of each curve (rows) at the seeds that all have (columns).
std::vector<std::vector<double>> at_common_seeds(const std::vector<const Curve*>& curves,
                                                 EpochMetric metric) {
  std::vector<std::vector<double>> values(curves.size());
  if (curves.empty()) return values;
  for (const CurveRun* first : curves.front()->runs) {
    std::vector<double> of_seed;
    for (const Curve* curve : curves) {
      const auto run = std::ranges::find(curve->runs, first->seed, &CurveRun::seed);
      if (run != curve->runs.end()) of_seed.push_back(final_value(**run, metric));
    }
    if (of_seed.size() < curves.size()) continue;
    for (std::size_t k = 0; k < curves.size(); ++k) values[k].push_back(of_seed[k]);
  }
  return values;
}

double mean_of(const std::vector<double>& values, std::span<const std::size_t> seeds) {
  double sum = 0;
  for (const std::size_t k : seeds) sum += values[k];
  return sum / static_cast<double>(seeds.size());
}

/// For each value, how many are below it; equal ones count half.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> all;
  for (const double v : values) {
    const auto below = std::ranges::count_if(values, [v](double w) { return w < v; });
    const auto equal = std::ranges::count(values, v);
    all.push_back(static_cast<double>(below) + 0.5 * static_cast<double>(equal));
  }
  return all;
}

double spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double centre = 0.5 * static_cast<double>(x.size());
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ab += (a[k] - centre) * (b[k] - centre);
    aa += (a[k] - centre) * (a[k] - centre);
    bb += (b[k] - centre) * (b[k] - centre);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// A statistic of seeds, drawn or each once.
template <class Statistic>
Estimate estimate_of(std::size_t seeds, const Statistic& statistic) {
  if (seeds == 0) return {undefined, {}};
  std::vector<std::size_t> each_once(seeds);
  for (std::size_t k = 0; k < seeds; ++k) each_once[k] = k;
  const double value = statistic(each_once);
  return {value, bootstrap_interval(seeds, value, statistic)};
}

}  // namespace

std::vector<double> final_values(const Curve& curve, EpochMetric metric) {
  std::vector<double> values;
  for (const CurveRun* run : curve.runs) values.push_back(final_value(*run, metric));
  return values;
}

std::vector<double> best_values(const Curve& curve, EpochMetric metric) {
  std::vector<double> values;
  for (const CurveRun* run : curve.runs) {
    double best = -std::numeric_limits<double>::infinity();
    for (const TrainedEpoch& epoch : run->result.epochs) best = std::max(best, epoch.*metric);
    values.push_back(best);
  }
  return values;
}

std::string to_text(const Estimate& e) {
  if (std::isnan(e.value)) return "–";
  if (!std::isfinite(e.interval.high)) return fmt::format("{:.3f}", e.value);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", e.value, e.interval.low, e.interval.high);
}

std::string mean_and_range(const std::vector<double>& values) {
  if (values.empty()) return "–";
  Estimate e{mean(values), {std::ranges::min(values), std::ranges::max(values)}};
  if (values.size() == 1) e.interval.high = std::numeric_limits<double>::infinity();
  return to_text(e);
}

Estimate rank_correlation(const std::vector<Curve>& curves, EpochMetric metric) {
  std::vector<const Curve*> with_noise;
  std::vector<double> epsilons;
  for (const Curve& c : curves)
    if (c.epsilon) {
      with_noise.push_back(&c);
      epsilons.push_back(*c.epsilon);
    }
  if (with_noise.size() < 3) return {undefined, {}};
  const auto values = at_common_seeds(with_noise, metric);
  Estimate e = estimate_of(values.front().size(), [&](std::span<const std::size_t> seeds) {
    std::vector<double> means;
    for (const std::vector<double>& of_curve : values) means.push_back(mean_of(of_curve, seeds));
    return spearman(epsilons, means);
  });
  if (std::isfinite(e.interval.low)) e.interval.low = std::max(e.interval.low, -1.0);
  if (std::isfinite(e.interval.high)) e.interval.high = std::min(e.interval.high, 1.0);
  return e;
}

Estimate gap(const Curve& upper, const Curve& lower, EpochMetric metric) {
  const auto values = at_common_seeds({&upper, &lower}, metric);
  return estimate_of(values[0].size(), [&](std::span<const std::size_t> seeds) {
    return mean_of(values[0], seeds) - mean_of(values[1], seeds);
  });
}

const Curve* curve_at(const std::vector<Curve>& curves, std::optional<double> epsilon) {
  const auto found = std::ranges::find(curves, epsilon, &Curve::epsilon);
  return found == curves.end() ? nullptr : &*found;
}

}  // namespace dpsosp::avdiukhin_2024_figures
