// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/judging.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/math/tools/toms748_solve.hpp>

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

Finding vacuous_below(const std::function<bool(double)>& says_something, std::string_view trivial,
                      std::string_view setting, std::string reason) {
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

double least_constant(const std::function<double(double)>& cost, double budget, double guess) {
  // The cost is about a power of c, so that its logarithm is nearly linear in ln c.
  const auto excess = [&](double log_c) {
    return std::clamp(std::log(cost(std::exp(log_c)) / budget), -50.0, 50.0);
  };
  double low = std::log(guess), high = low;
  double at_low = excess(low), at_high = at_low;
  constexpr double step = 0.25, farthest = 12 * std::numbers::ln10;
  for (double s = step; at_high > 0 && s < farthest; s *= 2) {
    low = high, at_low = at_high;
    at_high = excess(high += s);
  }
  for (double s = step; at_low <= 0 && s < farthest; s *= 2) {
    high = low, at_high = at_low;
    at_low = excess(low -= s);
  }
  if (at_high > 0 || at_low <= 0)
    throw InputError(fmt::format("least_constant: no c near {:g} costs {:g}", guess, budget));
  std::uintmax_t evaluations = 60;
  return std::exp(boost::math::tools::toms748_solve(
                      excess, low, high, at_low, at_high,
                      [](double a, double b) { return std::abs(b - a) <= 1e-5; }, evaluations)
                      .second);
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

}  // namespace dpsosp
