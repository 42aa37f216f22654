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
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "gradients.hpp"
#include "parts.hpp"
#include "probes.hpp"
#include "selection.hpp"

namespace dpsosp {
namespace {

using namespace avdiukhin_2024;
using namespace avdiukhin_2024_exhibit;
using namespace avdiukhin_2024_probe;

std::vector<JobCell> escape_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double records : log_grid(1e3, 1e5, 5))
    cells.push_back(probe_cell(
        study,
        EscapeTime{
            .records = records, .dimension = 10, .runs = study.scale == Scale::smoke ? 5 : 200},
        {{"records", records}}));
  return cells;
}

Finding logarithmic_escape(const Evidence& e) {
  std::vector<double> x, y;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.all_finished()) return nothing_ran();
    x.push_back(std::log(cell.number_at("records")));
    y.push_back(cell.numbers(&EscapeTime::Result::mean_time).front());
  }
  const auto count = static_cast<double>(x.size());
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += x[k] / count;
    my += y[k] / count;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xy += (x[k] - mx) * (y[k] - my);
    xx += (x[k] - mx) * (x[k] - mx);
  }
  const double slope = xy / xx;
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

constexpr double selection_candidates = 6, selection_failure = 0.05;
constexpr double oja_gain = 8.0;

std::vector<JobCell> selection_cells(const Study& study) {
  RunSpec spec;
  spec.algorithm = "avdiukhin-2024/dp-sgd";
  spec.problem = "double-well";
  spec.records = 40000;
  spec.dimension = 10;
  spec.delta = 1e-5;
  spec.settings = {{"selection_share", "0.5"},
                   {"selection_candidates", fmt::format("{:g}", selection_candidates)},
                   {"bound", "proved"},
                   {"deviation", "1"},
                   {"largest_deviation", "1"}};
  spec.observations = 0;
  return {seeded_cell(spec, study.scale == Scale::full    ? 200
                            : study.scale == Scale::quick ? 40
                                                          : 5)};
}

Finding section_3_4(const Evidence& e) {
  int count = 0, none = 0, far = 0;
  double needed = 0, records = 0, worst = 0, printed = 0;
  for (const FinishedRun& run : e.finished()) {
    const RunResult& r = *run.result;
    const auto parameter = [&](const char* name) {
      return *metric_of(r, fmt::format("parameters.{}", name));
    };
    const double alpha = parameter("selection_alpha"), rho = 1.0 / saddle_level();
    records = static_cast<double>(run.run->records);
    needed =
        std::max(needed, 32.0 *
                             std::max(parameter("clip") / alpha,
                                      parameter("hessian_limit") / std::sqrt(rho * alpha)) *
                             (std::log(selection_candidates) + std::log(2.0 / selection_failure)) /
                             parameter("selection_epsilon"));
    // P(|Lap(b)| > w) = e^{−w/b} with the printed scales, of 2K numbers; L = 1
    const double answers = records * parameter("selection_epsilon");
    printed = std::max(
        printed, selection_candidates * (std::exp(-0.5 * alpha * answers / parameter("clip")) +
                                         std::exp(-0.5 * std::sqrt(rho * alpha) * answers)));
    ++count;
    if (*metric_of(r, "counts.selected") == 0) {
      ++none;
      continue;
    }
    const double level = *metric_of(r, "output.sosp_level") / alpha;
    worst = std::max(worst, level);
    far += level > 4.0;
  }
  if (count == 0) return nothing_ran();
  if (needed > records)
    return {.verdict = Verdict::inconclusive,
            .reason = fmt::format("needs n = {:.3g}, has {:.3g}", needed, records)};
  return finding(
      none <= 0.1 * count && far <= selection_failure * count && printed <= selection_failure,
      fmt::format("noise of the printed scales exceeds α/2 or √(ρα)/2 in {} tests with probability "
                  "at most {:.2g}; {} of {} runs accept nothing, {} a point above 4 α (largest "
                  "{:.3g} α), at n = {:.3g} against {:.3g} needed",
                  selection_candidates, printed, none, count, far, worst, records, needed));
}

/// The selection with its eigenvalues by the power method, the power step and Oja's.
std::vector<JobCell> power_cells(const Study& study) {
  const bool smoke = study.scale == Scale::smoke;
  std::vector<JobCell> cells;
  for (const double gain : {0.0, oja_gain}) {
    RunSpec spec;
    spec.algorithm = "avdiukhin-2024/dp-sgd";
    spec.problem = "double-well";
    spec.records = 40000;
    spec.dimension = 10;
    spec.delta = 1e-5;
    spec.settings = {{"selection_share", "0.5"},
                     {"selection_candidates", fmt::format("{:g}", selection_candidates)},
                     {"selection_eigenvalue", "power"},
                     {"power_gain", fmt::format("{:g}", gain)},
                     {"bound", "proved"},
                     {"deviation", "1"},
                     {"largest_deviation", "1"}};
    spec.observations = 0;
    cells.push_back(seeded_cell(spec, study.scale == Scale::full ? 200 : smoke ? 5 : 40));
    cells.push_back(probe_cell(
        study, PowerErrors{.records = 40000, .dimension = 10, .gain = gain, .points = 20},
        {{"gain", gain}}, smoke ? 1 : 20));
  }
  return cells;
}

Finding section_3_4_power(const Evidence& e) {
  int count = 0, none = 0, far = 0;
  double worst = 0, spent = 0;
  for (const FinishedRun& run : e.finished()) {
    const RunResult& r = *run.result;
    ++count;
    spent = std::max(spent, r.privacy.spent / run.run->epsilon);
    if (*metric_of(r, "counts.selected") == 0) {
      ++none;
      continue;
    }
    const double level =
        *metric_of(r, "output.sosp_level") / *metric_of(r, "parameters.selection_alpha");
    worst = std::max(worst, level);
    far += level > 4.0;
  }
  double largest = 0, products = 0, share = 0;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.finished().empty()) continue;  // of runs
    if (!cell.all_finished()) return nothing_ran();
    for (const double v : cell.numbers(&PowerErrors::Result::largest))
      largest = std::max(largest, v);
    for (const double v : cell.numbers(&PowerErrors::Result::products))
      products = std::max(products, v);
    share = std::max(share, mean(cell.numbers(&PowerErrors::Result::far)));
  }
  if (count == 0 || products == 0) return nothing_ran();
  return finding(
      none <= 0.1 * count && far <= selection_failure * count && share <= selection_failure,
      fmt::format("{:.2g} of the eigenvalues are off by more than √(ρα)/2, by {:.2g} √(ρα) at "
                  "most, after {:g} products; {} of {} runs accept nothing, {} a point above 4 α "
                  "(largest {:.3g} α); at most {:.3f} ε spent",
                  share, largest, products, none, count, far, worst, spent));
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
      {"avdiukhin-2024/section-3.4", selection_cells, section_3_4},
      {"avdiukhin-2024/section-3.4-power", power_cells, section_3_4_power},
      {"avdiukhin-2024/section-3.4-privacy", independent_cells, section_3_4_privacy},
      by_formulas("avdiukhin-2024/lemma-b.8", lemma_b8),
      {"avdiukhin-2024/lemma-b.11", saddle_drop_cells, lemma_b11},
      {"avdiukhin-2024/appendix-c", appendix_c_cells, appendix_c},
  };
}

}  // namespace dpsosp
