// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cells.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

using namespace xu_2026_exhibit;

constexpr const char* rgda_sweep = "xu-2026-dp-rgda";

/// The parts that slopes are fitted to.
const std::initializer_list<std::string_view> fitted_parts{"n",
                                                           "d",
                                                           "epsilon",
                                                           "population-n",
                                                           "population-d",
                                                           "population-epsilon",
                                                           "population-large-epsilon"};

std::vector<FinishedRun> fitted_runs(const Evidence& e) {
  return e.finished(rgda_sweep, fitted_parts);
}

/// Level of the output for the objective that the run is about: simulated records have the
/// population's alone.
double objective_level(const RunResult& result) {
  if (const auto population = metric_of(result, "population.output.sosp_level")) return *population;
  return metric_of(result, "output.sosp_level").value();
}

/// Tests both readings of the argmin's range that K = 1 leaves.
Finding x1_printed(const Evidence& e) {
  std::vector<std::string> words;
  double best = std::numeric_limits<double>::infinity(), start = 0;
  for (const char* arm : {"k from 0 to K - 1", "k from 1 to K"}) {
    std::vector<double> levels;
    std::ptrdiff_t moved = 0;
    for (const JudgedCell* cell : e.of(rgda_sweep, "range-of-k", arm))
      for (const FinishedRun& r : cell->finished()) {
        levels.push_back(objective_level(*r.result));
        start = r.result->start.sosp_level.value();
        moved += r.result->algorithm.counts.at("dual_kept") < r.result->algorithm.steps;
      }
    if (levels.empty()) return nothing_ran();
    best = std::min(best, median(levels));
    words.push_back(fmt::format("{}: median level {:.3g}, the dual moves in {} of {} runs", arm,
                                median(levels), moved, levels.size()));
  }
  return finding(best <= 0.5 * start,
                 fmt::format("from a start of {:.3g}, {}", start, fmt::join(words, "; ")),
                 "under no range");
}

/// Theorem 1 with its own step and sizes, the errors of the text apart mended.
std::vector<JobCell> x1_literal_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const Index n : {10000, 30000}) {
    if (study.scale == Scale::smoke && n > 10000) continue;
    RunSpec spec;
    spec.algorithm = "xu-2026/dp-rgda";
    spec.variant = Variant::printed;
    spec.schedule = Schedule::paper;
    spec.settings = {{"selection", "argmin_of_proof"},
                     {"refresh_rule", "repaired"},
                     {"break_rule", "repaired"},
                     {"horizon_rule", "last"}};
    spec.problem = "cosine-minimax";
    spec.records = n;
    spec.epsilon = 2;
    spec.delta = 1e-6;
    spec.observations = 0;
    cells.push_back(
        seeded_cell(std::move(spec), study.scale == Scale::smoke ? 1 : 20, {{"records", n}}));
  }
  return cells;
}

Finding x1_literal(const Evidence& e) {
  bool near = true;
  std::vector<std::string> words;
  for (const JudgedCell& cell : e.cells) {
    std::vector<double> levels;
    double alpha = 0;
    for (const FinishedRun& r : cell.finished()) {
      levels.push_back(objective_level(*r.result));
      alpha = metric_of(*r.result, "parameters.alpha").value();
    }
    if (levels.empty()) return nothing_ran();
    near = near && median(levels) <= 4 * alpha;
    words.push_back(fmt::format("{:.3g} at n = {:g}, where α is {:.3g}", median(levels),
                                cell.number_at("records"), alpha));
  }
  return finding(near, fmt::format("median level of the output {}", fmt::join(words, ", ")),
                 "steps of length 1/(2L) stop far from the point that is claimed");
}

Finding x3(const Evidence& e) {
  bool flat = true;
  std::vector<std::string> words;
  for (const bool population : {false, true}) {
    double least = std::numeric_limits<double>::infinity(), most = 0, largest = 0;
    for (const std::string_view part : fitted_parts) {
      if (part.starts_with("population") != population) continue;
      for (const JudgedCell* cell : e.of(rgda_sweep, part)) {
        std::vector<double> shares;
        for (const FinishedRun& r : cell->finished())
          shares.push_back(r.result->evaluation_log.estimate_error.value().largest /
                           r.result->schedule.alpha);
        if (shares.empty()) continue;
        least = std::min(least, median(shares));
        most = std::max(most, median(shares));
        largest = std::max(largest, std::ranges::max(shares));
      }
    }
    if (most == 0) return nothing_ran();
    flat = flat && most <= 2 * least;
    words.push_back(fmt::format("{}: medians {:.3g} α to {:.3g} α over the cells, at most {:.3g} α",
                                population ? "population" : "empirical", least, most, largest));
  }
  return finding(flat, fmt::format("largest error of a run, {}", fmt::join(words, "; ")),
                 "its ratio to α is not flat");
}

/// Whether at most 5 % of the certified runs are wrong, by a one-sided binomial test at 1e-3.
Finding wrong_certificates(int wrong, int certified, std::string measured, std::string reason) {
  if (certified == 0) return nothing_ran();
  constexpr double allowed = 0.05, level = 1e-3;
  double tail = 0;  // Pr[at least `wrong` of them] at 5 %
  for (int k = wrong; k <= certified; ++k)
    tail += std::exp(std::lgamma(certified + 1.0) - std::lgamma(k + 1.0) -
                     std::lgamma(certified - k + 1.0) + k * std::log(allowed) +
                     (certified - k) * std::log1p(-allowed));
  if (wrong == 0 && certified * std::log1p(-allowed) > std::log(level))
    return {.verdict = Verdict::inconclusive, .measured = measured, .reason = "too few runs"};
  return finding(tail >= level, std::move(measured), std::move(reason));
}

Finding x4(const Evidence& e) {
  int certified = 0, wrong = 0;
  std::int64_t escapes = 0, breaks = 0;
  for (const auto& [unused, r] : fitted_runs(e)) {
    escapes += r->algorithm.counts.at("escapes");
    breaks += r->algorithm.counts.at("breaks");
    if (r->algorithm.status != Status::certified) continue;
    constexpr double rho = 0.5;  // gamma of cosine-minimax
    ++certified;
    wrong += r->output.lambda_min < -std::sqrt(rho * r->schedule.alpha);
  }
  return wrong_certificates(
      wrong, certified,
      fmt::format("{} of {} certificates at a point with λ_{{min}} < −√(ρα); {} escapes, of which "
                  "{} broke",
                  wrong, certified, escapes, breaks),
      "more than 5 %");
}

Finding x4_level(const Evidence& e) {
  constexpr double far = 4;
  int certified = 0, above = 0, wrong = 0;
  std::map<std::string, std::vector<double>> medians;  // of cells, by objective
  for (const std::string_view part : fitted_parts) {
    const bool population = part.starts_with("population");
    for (const JudgedCell* cell : e.of(rgda_sweep, part)) {
      std::vector<double> ratios;
      for (const FinishedRun& r : cell->finished())
        if (r.result->algorithm.status == Status::certified)
          ratios.push_back(objective_level(*r.result) / r.result->schedule.alpha);
      if (ratios.empty()) continue;
      const auto larger_than = [&](double bound) {
        return static_cast<int>(
            std::ranges::count_if(ratios, [&](double ratio) { return ratio > bound; }));
      };
      certified += static_cast<int>(ratios.size());
      above += larger_than(1);
      wrong += larger_than(far);
      medians[population ? "population" : "empirical"].push_back(median(ratios));
    }
  }
  bool flat = true;
  std::vector<std::string> words;
  for (const auto& [objective, m] : medians) {
    const auto [low, high] = std::ranges::minmax(m);
    flat = flat && high <= 2 * low;
    words.push_back(fmt::format("{} {:.3g} to {:.3g}", objective, low, high));
  }
  std::string measured = fmt::format(
      "medians of cells over α: {}; {} of {} certified outputs above α, {} above {:g} α",
      fmt::join(words, ", "), above, certified, wrong, far);
  if (!flat) return finding(false, std::move(measured), "the ratio to α is not flat");
  return wrong_certificates(wrong, certified, std::move(measured), "more than 5 % are far above α");
}

}  // namespace

std::vector<Predicate> xu_2026_theorem_predicates() {
  return {
      {"xu-2026/x1-literal", x1_literal_cells, x1_literal},
      on_sweeps("xu-2026/x1-printed", {rgda_sweep}, x1_printed),
      on_sweeps("xu-2026/x3", {rgda_sweep}, x3),
      on_sweeps("xu-2026/x4", {rgda_sweep}, x4),
      on_sweeps("xu-2026/x4-level", {rgda_sweep}, x4_level),
  };
}

}  // namespace dpsosp
