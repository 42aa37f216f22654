// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/judging.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp {

Verdict holds_if(bool condition) { return condition ? Verdict::holds : Verdict::fails; }

Finding finding(bool holds, std::string measured, std::string reason) {
  return {.verdict = holds_if(holds),
          .measured = std::move(measured),
          .reason = holds ? "" : std::move(reason)};
}

Finding nothing_ran() { return {.verdict = Verdict::inconclusive, .reason = "no run finished"}; }

Finding vacuous_below(const std::function<bool(double)>& says_something,
                      std::string_view trivial,
                      std::string_view setting,
                      std::string reason) {
  double low = 0, high = std::log(1e60);  // of ln n
  if (!says_something(std::exp(high)))
    throw InputError(fmt::format("vacuous_below: {} at n = 1e60, expected an end of it", trivial));
  while (high - low > 1e-3) {
    const double middle = 0.5 * (low + high);
    (says_something(std::exp(middle)) ? high : low) = middle;
  }
  return {
      .verdict = Verdict::vacuous,
      .measured = fmt::format("{} for every n below {:.1e} ({})", trivial, std::exp(high), setting),
      .reason = std::move(reason),
      .value = std::exp(high)};
}

std::vector<FinishedRun> finished(const Runs& runs, const std::vector<Job>& jobs) {
  std::vector<FinishedRun> all;
  for (const Job& job : jobs)
    if (const RunResult* result = runs.result(job)) all.push_back({job.run(), result});
  return all;
}

bool says_something(const RunResult& result, std::string_view metric, double promise) {
  const auto start = start_metric(result, metric);
  return start && start_over_result * promise < *start;
}

double mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double standard_error(const std::vector<double>& v) {
  if (v.size() < 2) return 0;
  const double m = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - m) * (x - m);
  const auto n = static_cast<double>(v.size());
  return std::sqrt(sum / (n - 1) / n);
}

std::vector<double> log_grid(double from, double to, int points) {
  std::vector<double> grid;
  for (int k = 0; k < points; ++k) grid.push_back(from * std::pow(to / from, k / (points - 1.0)));
  return grid;
}

double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += std::log(x[k]) / n;
    my += std::log(y[k]) / n;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (std::log(x[k]) - mx) * (std::log(x[k]) - mx);
    xy += (std::log(x[k]) - mx) * (std::log(y[k]) - my);
  }
  return xy / xx;
}

}  // namespace dpsosp
