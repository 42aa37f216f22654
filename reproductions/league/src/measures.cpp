// SPDX-License-Identifier: Apache-2.0
#include "measures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "dpsosp/experiments/metric.hpp"

namespace dpsosp::league {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double family_error = 0.05;

/// Instances of each stratum.
std::vector<std::vector<std::size_t>> by_stratum(const Scores& scores) {
  std::map<std::size_t, std::vector<std::size_t>> strata;
  for (std::size_t k = 0; k < scores.strata.size(); ++k) strata[scores.strata[k]].push_back(k);
  std::vector<std::vector<std::size_t>> list;
  for (auto& [name, members] : strata) list.push_back(std::move(members));
  return list;
}

/// Standard error of the mean of x − y over drawn instances, stratum by stratum; infinite where one
/// instance is all of a stratum, which shows no spread.
double paired_error(const std::vector<double>& x, const std::vector<double>& y,
                    const std::vector<std::vector<std::size_t>>& drawn) {
  double variance = 0, count = 0;
  for (const auto& members : drawn) {
    const auto n = static_cast<double>(members.size());
    double sum = 0, squares = 0;
    for (const std::size_t k : members) sum += x[k] - y[k];
    for (const std::size_t k : members) squares += std::pow(x[k] - y[k] - sum / n, 2);
    variance += n > 1 ? n * squares / (n - 1) : infinite;
    count += n;
  }
  return std::sqrt(variance) / count;
}

double mean_of(const std::vector<double>& x, const std::vector<std::vector<std::size_t>>& drawn) {
  double sum = 0, count = 0;
  for (const auto& members : drawn) {
    for (const std::size_t k : members) sum += x[k];
    count += static_cast<double>(members.size());
  }
  return sum / count;
}

/// Standard errors that the leader may be ahead by.
double allowed_errors(std::size_t methods) {
  const auto m = static_cast<double>(methods);
  return methods < 2 ? 0 : -normal_lower_quantile(family_error / (m * (m - 1) / 2));
}

}  // namespace

Reached reached_by(const Runs& runs, const std::optional<Job>& job) {
  const RunResult* result = job ? runs.result(*job) : nullptr;
  if (result == nullptr) return {};
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {.level = metric_of(*result, "output.sosp_level").value_or(none),
          .start = metric_of(*result, "start.sosp_level").value_or(none),
          .evaluations = metric_of(*result, "evaluations").value_or(none),
          .outside = !result->output.in_region};
}

double counted(const Reached& reached, double start) {
  return reached.failed() || reached.outside ? start : std::min(reached.level, start);
}

std::size_t best_trial(const std::vector<std::vector<Reached>>& reached, std::size_t budget) {
  const std::size_t instances = reached.front().size();
  std::vector<double> sums(std::min(budget, reached.size()), 0);
  for (std::size_t i = 0; i < instances; ++i) {
    const auto ran = std::ranges::find_if(
        reached, [i](const auto& trial) { return std::isfinite(trial[i].start); });
    if (ran == reached.end()) continue;
    const double start = (*ran)[i].start;  // a level of almost zero shall not outweigh all others
    for (std::size_t trial = 0; trial < sums.size(); ++trial)
      sums[trial] += std::log(std::max(counted(reached[trial][i], start), 1e-5 * start));
  }
  return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
}

double target(double lipschitz, int k) { return lipschitz * std::pow(10.0, -k / 4.0); }

double cost_of(const Curve& curve, int k) {
  for (std::size_t p = 0; p < curve.records.size(); ++p)
    if (curve.levels[p] <= target(curve.lipschitz, k)) return curve.records[p];
  return infinite;
}

double share_within(std::span<const Curve> curves, double n) {
  std::size_t reached = 0;
  for (const Curve& curve : curves)
    for (int k = 0; k <= most_target; ++k) reached += cost_of(curve, k) <= n;
  return static_cast<double>(reached) / static_cast<double>(curves.size() * (most_target + 1));
}

double cost_of_half(std::span<const Curve> curves, int k) {
  std::vector<double> costs;
  for (const Curve& curve : curves) costs.push_back(cost_of(curve, k));
  std::ranges::sort(costs);
  return costs[(costs.size() - 1) / 2];
}

double score_of(const Curve& curve) {
  std::size_t reached = 0;
  for (const double level : curve.levels)
    for (int k = 0; k <= most_target; ++k) reached += level <= target(curve.lipschitz, k);
  return static_cast<double>(reached) /
         static_cast<double>(curve.levels.size() * (most_target + 1));
}

std::vector<double> first_group_frequency(const Scores& scores, std::size_t resamples,
                                          const Stream& random) {
  const auto strata = by_stratum(scores);
  const std::size_t methods = scores.values.size();
  const double z = allowed_errors(methods);
  std::vector<double> frequency(methods, 0);
  for (std::size_t r = 0; r < resamples; ++r) {
    Stream stream = random.child(r);
    auto drawn = strata;
    for (std::size_t s = 0; s < strata.size(); ++s)
      for (std::size_t& k : drawn[s])
        k = strata[s][static_cast<std::size_t>(stream.below(std::ssize(strata[s])))];
    std::vector<double> means;
    for (const auto& values : scores.values) means.push_back(mean_of(values, drawn));
    const auto leader = static_cast<std::size_t>(std::ranges::max_element(means) - means.begin());
    for (std::size_t m = 0; m < methods; ++m)
      frequency[m] += means[leader] - means[m] <=
                      z * paired_error(scores.values[leader], scores.values[m], drawn);
  }
  for (double& f : frequency) f /= static_cast<double>(resamples);
  return frequency;
}

double false_exclusions(const Scores& scores, std::size_t repetitions, std::size_t resamples,
                        const Stream& random) {
  std::size_t excluded = 0;
  for (std::size_t r = 0; r < repetitions; ++r) {
    const Stream of_repetition = random.child(r);
    Stream stream = of_repetition;
    Scores equal = scores;
    for (std::size_t k = 0; k < scores.strata.size(); ++k)
      for (std::size_t m = scores.values.size(); m > 1; --m)
        std::swap(equal.values[m - 1][k],
                  equal.values[static_cast<std::size_t>(stream.below(static_cast<Index>(m)))][k]);
    const auto frequency = first_group_frequency(equal, resamples, of_repetition);
    excluded += std::ranges::any_of(frequency, [](double f) { return f <= 1 - decided; });
  }
  return static_cast<double>(excluded) / static_cast<double>(repetitions);
}

}  // namespace dpsosp::league
