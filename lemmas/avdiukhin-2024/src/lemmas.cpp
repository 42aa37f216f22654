// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/avdiukhin_2024.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"

namespace dpsosp {
namespace {

using namespace avdiukhin_2024;
using namespace avdiukhin_2024_exhibit;
using namespace avdiukhin_2024_probe;

std::vector<JobCell> escape_cells(const Study& study) {
  const std::int64_t runs = study.scale == Scale::smoke ? 5 : 200;
  return probe_cells(study, "records", log_grid(1e3, 1e5, 5), [runs](double records) {
    return EscapeTime{.records = records, .dimension = 10, .runs = runs};
  });
}

Finding logarithmic_escape(const Evidence& e) {
  std::vector<double> x, y;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.all_finished()) return nothing_ran();
    x.push_back(std::log(cell.number_at("records")));
    y.push_back(cell.numbers(&EscapeTime::Result::mean_time).front());
  }
  const double slope = plain_slope(x, y), mx = mean(x), my = mean(y);
  double off = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    off = std::max(off, std::abs(y[k] / (my + slope * (x[k] - mx)) - 1.0));
  return finding(
      off <= 0.1 && slope >= 0.4 && slope <= 0.6,
      fmt::format("{:.3g} at n = 1e3..1e5; slope {:.3g} in ln n, off the line by {:.2g} %",
                  fmt::join(y, ", "), slope, 100 * off),
      "not linear in ln n with a slope near 1/2");
}

std::vector<JobCell> saddle_drop_cells(const Study& study) {
  return {probe_cell(study, SaddleDrop{.runs = study.scale == Scale::smoke ? 20 : 1000})};
}

Finding lemma_b11(const Evidence& e) {
  const auto results = e.cells.front().results<SaddleDrop::Result>();
  if (results.empty()) return nothing_ran();
  const auto& [steps, fallen, risen] = results.front();
  return finding(fallen >= 1.0 / 3 && risen <= 0.01,
                 fmt::format("f has fallen by more than 𝓕 after {} steps in {:.1f} % of the runs, "
                             "and risen by 𝓕/100 in {:.1f} %",
                             steps, 100 * fallen, 100 * risen),
                 "f falls too seldom, or rises");
}

/// β_t/α_t over ηγ < 1: largest for t ≥ 2/(ηγ), least for any t.
Finding lemma_b8() {
  double largest = 0, least = std::numeric_limits<double>::infinity();
  for (const double curvature : log_grid(1e-4, 0.999, 25))
    for (const double t : log_grid(1, 300 / std::log1p(curvature), 200)) {
      const double steps = std::ceil(t);
      const double ratio = growth_bound(curvature, steps) / growth(curvature, steps);
      least = std::min(least, ratio);
      if (steps >= 2 / curvature) largest = std::max(largest, ratio);
    }
  return finding(least >= 1 && largest <= 3,
                 fmt::format("β_{{t}}/α_{{t}} is at least {:.3f} and, for t ≥ 2/(ηγ), at most "
                             "{:.3f}, over ηγ = 1e-4 to 0.999",
                             least, largest));
}

// What the noise of Section 3.4 costs, from below and from above.

/// ln P(X > x), x ≥ 0, of a Laplace variable of scale 1 plus one of scale `other` ≤ 1.
double log_tail(double x, double other) {
  if (other == 1.0) return std::log(0.5) - x + std::log1p(0.5 * x);
  const double square = other * other;
  const double less = other == 0.0 ? 0.0 : square * std::exp(x - x / other);
  return std::log(0.5) - x + std::log1p(-less) - std::log1p(-square);
}

double laplace_cdf(double z) { return z < 0 ? 0.5 * std::exp(z) : 1.0 - 0.5 * std::exp(-z); }

/// ln P of `tests` − 1 failures of numbers at `early` and then a success of one at `last`.
double log_first_success(int tests, double early, double last) {
  constexpr double reach = 60.0, step = 1.0 / 128;
  double sum = 0.0;
  for (double z = -reach; z <= reach; z += step)
    sum += 0.5 * std::exp(-std::abs(z)) * std::pow(laplace_cdf(z - early), tests - 1) *
           laplace_cdf(last - z);
  return std::log(sum * step);
}

/// The pair of data sets of avdiukhin-2024 notes, 2.3, at L = ρ = σ = 1.
struct CurvaturePair {
  double length;     ///< s = √(ln n): of the added gradient
  double frequency;  ///< k = √(n/(2s))
  double move;       ///< s k/n: of λ_min
  /// Mean of exp(‖∇f_i − ∇f‖²) over the records at the worst point; Assumption B: below e.
  double concentration;
};
CurvaturePair curvature_pair(double records) {
  const double s = std::sqrt(std::log(records)), k = std::sqrt(records / (2.0 * s));
  return {.length = s,
          .frequency = k,
          .move = s * k / records,
          .concentration = std::exp(std::pow(s * (1.0 - 1.0 / records), 2)) / records +
                           std::exp(s * s / (records * records))};
}

/// Least ε that one answer to "λ_min is above its value in D" shows of the pair at δ, with noise
/// Lap(1/(nε)) at the query and `threshold` times that scale at the threshold, 0 to 1.
double curvature_cost(double records, double epsilon, double delta, double threshold) {
  const double x = curvature_pair(records).move * records * epsilon;
  return std::log(0.5 - delta) - log_tail(x, threshold);
}

/// Least ε that AboveThreshold shows after so many tests, of which the last succeeds: each number
/// may move by `sensitivity`, in units of the noise of queries and threshold. The most is three
/// times the sensitivity.
double above_threshold_cost(double sensitivity, int tests) {
  double most = 0.0;
  for (const double last : {-40.0, -20.0, -10.0, 0.0, 5.0})
    most = std::max(most, log_first_success(tests, 0.0, last) -
                              log_first_success(tests, sensitivity, last - sensitivity));
  return most;
}

constexpr double test_epsilon = 0.1;
constexpr int tested = 10;

std::vector<JobCell> independent_cells(const Study& study) {
  return {probe_cell(study, IndependentTests{.epsilon = test_epsilon, .candidates = tested})};
}

Finding section_3_4_privacy(const Evidence& e) {
  const JudgedCell& cell = e.cells.front();
  if (!cell.all_finished()) return nothing_ran();
  const double added = cell.numbers(&IndependentTests::Result::added).front();
  constexpr double allowed = 16.0 * test_epsilon, delta = 1e-6;
  double least = std::numeric_limits<double>::infinity();
  bool meets_assumptions = true;
  std::vector<std::string> shown;
  for (const double records : {1e4, 1e6, 1e8}) {
    const CurvaturePair pair = curvature_pair(records);
    meets_assumptions = meets_assumptions && pair.concentration < std::exp(1.0) &&
                        pair.move <= 0.5 && pair.move * pair.frequency <= 0.5 * (1.0 + rounding);
    double weakest = std::numeric_limits<double>::infinity();
    for (const double threshold : {0.0, 0.5, 1.0})
      weakest = std::min(weakest, curvature_cost(records, test_epsilon, delta, threshold));
    least = std::min(least, weakest);
    shown.push_back(fmt::format("{:.4g} ε at n = {:.0e}", weakest / test_epsilon, records));
  }
  if (!meets_assumptions)
    return {.verdict = Verdict::inconclusive, .reason = "the pair leaves Assumption A or B"};
  // The cost of one stream if every record's Hessian is at most L: a record moves a number by
  // 2/(nε).
  const double stream = above_threshold_cost(2.0 * test_epsilon, 1000) / test_epsilon;
  return finding(
      least <= allowed,
      fmt::format("one answer of the curvature test shows at least {}, δ = 1e-6, replace-one; if L "
                  "bounds every record's Hessian AboveThreshold costs [{:.3g} ε, 6 ε] a stream at "
                  "δ = 0, 12 ε "
                  "at most, and {} independent tests {:.3g} ε",
                  fmt::join(shown, ", "), stream, tested, added / test_epsilon),
      "a record moves λ_min by more than L/n");
}

std::vector<JobCell> appendix_c_cells(const Study& study) {
  return given_noise_cells(study, "t", {1.0, 20.0});
}

/// Assumption B at σ = 1 bounds every own gradient by this.
double longest_under_b() { return std::sqrt(1.0 + std::log(1e4)); }

Finding appendix_c(const Evidence& e) {
  const GivenNoise met = given_noise_met(e);
  if (!met.done) return nothing_ran();
  if (met.longest <= 2.0 * longest_under_b())
    return {.verdict = Verdict::inconclusive, .reason = "the records' tails are not heavy"};
  return finding(
      met.kept == met.runs,
      fmt::format("at least {:.3g} of the iterates in each of {} runs, with records whose "
                  "longest own gradient is at least {:.3g} σ",
                  met.least, met.runs, met.longest),
      fmt::format("{} runs below one half", met.runs - met.kept));
}

}  // namespace

std::vector<Predicate> avdiukhin_2024_lemma_predicates() {
  return {
      {"avdiukhin-2024/escape-time", escape_cells, logarithmic_escape},
      {"avdiukhin-2024/section-3.4-privacy", independent_cells, section_3_4_privacy},
      by_formulas("avdiukhin-2024/lemma-b.8", lemma_b8),
      {"avdiukhin-2024/lemma-b.11", saddle_drop_cells, lemma_b11},
      {"avdiukhin-2024/appendix-c", appendix_c_cells, appendix_c},
  };
}

}  // namespace dpsosp
