// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

constexpr const char* spider_sweep = "ganesh-2023-stochastic-spider";

/// Public facts of the problem that a description of a run names.
PublicFacts facts_of(const RunDescription& run) {
  return find_problem(run.problem, run.problem_settings)
      ->facts({.records = run.records, .dimension = run.dimension});
}

std::vector<JobCell> cells_of_parts(const Study& study, std::string_view sweep,
                                    std::initializer_list<std::string_view> parts) {
  std::vector<JobCell> cells = sweep_cells(study, sweep);
  std::erase_if(cells, [&](const JobCell& cell) {
    return std::ranges::find(parts, cell.part) == parts.end();
  });
  return cells;
}

struct SpiderRun {
  const RunResult* result;
  Constants numbers;

  double metric(std::string_view name) const { return metric_of(*result, name).value(); }
};

/// The finished runs with the constants of their problem, which those of a cell share.
std::vector<SpiderRun> spider_runs(const Evidence& e, std::string_view part = {}) {
  std::vector<SpiderRun> all;
  for (const JudgedCell* cell : e.of(spider_sweep, part)) {
    std::optional<Constants> numbers;
    for (const auto& [run, result] : cell->finished()) {
      if (!numbers) numbers = facts_of(*run).constants;
      all.push_back({result, *numbers});
    }
  }
  return all;
}

/// The runs that are about Theorem 4.2.
std::vector<JobCell> spider_empirical_cells(const Study& study) {
  return cells_of_parts(study, spider_sweep, {"n", "d", "epsilon"});
}

struct LemmaBound {
  double bare;     ///< γ/4 with C = 1 and the logarithm 1
  double printed;  ///< γ/4 with C = 1
};

/// γ/4 = √((ζ₂²κ + 4ζ₁²) ln(Td/ω)) of Lemma 3.3 at ω = 0.01, with the noise that the run had.
LemmaBound quarter_gamma(const FinishedRun& r) {
  const auto parameter = [&](const char* name) {
    return metric_of(*r.result, fmt::format("parameters.{}", name)).value();
  };
  const auto n = static_cast<double>(r.run->records);
  const auto d = static_cast<double>(r.run->dimension.value());
  // Variances of a coordinate of the noise; the second per squared move.
  const double first = std::pow(2 * parameter("clip_refresh") * parameter("refresh_noise") / n, 2);
  const double second =
      std::pow(2 * parameter("clip_increment") * parameter("increment_noise") / n, 2);
  const double bare = std::sqrt(d * (parameter("drift_threshold") * second + 4 * first));
  return {.bare = bare, .printed = bare * std::sqrt(std::log(parameter("steps") * d / 0.01))};
}

Finding spider_estimator_error(const Evidence& e) {
  double largest = 0, largest_printed = 0;
  int within = 0, all = 0;
  std::map<std::string, std::pair<double, double>> spread;
  for (const JudgedCell& cell : e.cells) {
    std::vector<double> ratios;
    for (const FinishedRun& r : cell.finished()) {
      const double error = metric_of(*r.result, "estimate.largest").value();
      const LemmaBound bound = quarter_gamma(r);
      ratios.push_back(error / bound.bare);
      largest_printed = std::max(largest_printed, error / bound.printed);
      within += error <= bound.bare;
      ++all;
    }
    if (ratios.empty()) continue;
    largest = std::max(largest, std::ranges::max(ratios));
    const double middle = median(ratios);
    auto [at, fresh] = spread.try_emplace(cell.cell().part, middle, middle);
    at->second = {std::min(at->second.first, middle), std::max(at->second.second, middle)};
  }
  std::vector<std::string> words;
  bool flat = true;
  for (const auto& [part, range] : spread) {
    words.push_back(fmt::format("part {}: {:.3f} to {:.3f}", part, range.first, range.second));
    flat = flat && range.second <= 2.0 * range.first;
  }
  const bool bounded = largest_printed <= 1.0 && within >= 0.95 * all;
  return {
      .verdict = holds_if(bounded && flat),
      .measured = fmt::format("largest error over gamma/4 at C = 1: {:.3f}, and {:.3f} with the "
                              "logarithm 1, below it in {} of {} runs; medians of cells over "
                              "the latter, {}",
                              largest_printed, largest, within, all, fmt::join(words, "; ")),
      .reason = !bounded ? "errors exceed gamma/4"
                : flat   ? ""
                         : "not flat"};
}

/// Lemma 3.6 with log³ and the constant put to 1: some iterate's level against γ.
Finding spider_visits_sosp(const Evidence& e) {
  int visited = 0, all = 0;
  double largest = 0;
  for (const JudgedCell& cell : e.cells)
    for (const FinishedRun& r : cell.finished()) {
      const double gamma = 4 * quarter_gamma(r).bare;
      if (r.result->start.sosp_level <= 3 * gamma) continue;
      const double ratio = metric_of(*r.result, "best.sosp_level").value() / gamma;
      largest = std::max(largest, ratio);
      visited += ratio <= 1;
      ++all;
    }
  if (all == 0) return nothing_ran();
  return {
      .verdict = holds_if(visited >= 0.99 * all),
      .measured = fmt::format("the least level is at most {:.3f} gamma, and below gamma in {} of "
                              "{} runs that start above 3 gamma",
                              largest, visited, all),
      .value = largest};
}

/// The first-order rate that goes with Theorem 4.2.
Finding spider_gradients(const Evidence& e) {
  double largest = 0;
  int all = 0;
  std::vector<double> records, medians;
  for (const JudgedCell& cell : e.cells) {
    std::vector<double> norms;
    for (const FinishedRun& r : cell.finished()) {
      if (r.result->algorithm.status != Status::certified) continue;
      norms.push_back(metric_of(*r.result, "output.gradient_norm").value());
      largest = std::max(largest, norms.back() / metric_of(*r.result, "schedule.alpha").value());
      ++all;
    }
    if (cell.cell().part != "n" || norms.empty()) continue;
    records.push_back(static_cast<double>(cell.finished().front().run->records));
    medians.push_back(median(norms));
  }
  if (all == 0) return nothing_ran();
  return {.verdict = largest <= 2 ? Verdict::bound_met : Verdict::fails,
          .measured = fmt::format("at most {:.3f} alpha in {} runs; medians go as n^{:.3f}",
                                  largest, all, log_slope(records, medians)),
          .reason = "the slope is judged by the level"};
}

Finding spider_benign_escape(const Evidence& e) {
  int left = 0, all = 0;
  for (const SpiderRun& r : spider_runs(e, "n")) {
    const double alpha = r.metric("schedule.alpha");
    // Only from where an escape is due at once.
    if (r.result->start.gradient_norm > alpha) continue;
    const double drop = r.metric("start.value") - r.result->best.value().value;
    const double curvature = r.result->best.value().lambda_min;
    left +=
        drop >= std::pow(alpha, 1.5) / (4.0 * std::sqrt(r.numbers[constant::hessian_lipschitz])) &&
        curvature >= -std::sqrt(r.numbers[constant::hessian_lipschitz] * alpha);
    ++all;
  }
  if (all == 0)
    return {.verdict = Verdict::inconclusive, .reason = "no run started where an escape is due"};
  return {.verdict = holds_if(left >= 0.95 * all),
          .measured = fmt::format("{} of {} runs left the saddle with the decrease", left, all)};
}

Finding spider_refresh_count(const Evidence& e) {
  double largest = 0;
  int capped = 0, all = 0;
  std::vector<double> thresholds, counts;
  for (const SpiderRun& r : spider_runs(e)) {
    const double kappa = r.metric("parameters.drift_threshold");
    const double refreshes = r.metric("counts.refreshes");
    const double bound =
        1.0 + r.numbers[constant::suboptimality] / (4.0 * r.numbers[constant::smoothness] * kappa);
    largest = std::max(largest, refreshes / bound);
    capped += r.result->algorithm.status == Status::cap;
    thresholds.push_back(kappa);
    counts.push_back(refreshes);
    ++all;
  }
  if (all == 0) return nothing_ran();
  const bool met = largest <= 1.0 && capped == 0;
  return {
      .verdict = met ? Verdict::bound_met : Verdict::fails,
      .measured = fmt::format("at most {:.3f} of 1 + B/(4 M kappa) over {} runs, as kappa^{:.2f} "
                              "for -1; {} end at the cap, 16 times as high",
                              largest, all, log_slope(thresholds, counts), capped),
      .reason =
          met ? "most of the drift is one descent, so that the power of kappa is not seen" : ""};
}

Finding spider_selection_cost(const Evidence& e) {
  int accepted = 0, all = 0;
  double worst = 0;
  std::vector<double> ratios;
  for (const SpiderRun& r : spider_runs(e, "n")) {
    ++all;
    if (r.result->algorithm.status != Status::certified) continue;
    ++accepted;
    const double level = r.metric("output.sosp_level");
    worst = std::max(worst, level / r.metric("schedule.alpha"));
    ratios.push_back(level / r.metric("best.sosp_level"));
  }
  if (ratios.empty()) return {.verdict = Verdict::fails, .measured = "no run accepts a point"};
  return {
      .verdict = holds_if(accepted >= 0.95 * all && worst <= 4.0),
      .measured = fmt::format(
          "{} of {} runs accept; level at most {:.3f} alpha, median {:.3f} of the best iterate's",
          accepted, all, worst, median(ratios))};
}

}  // namespace

std::vector<Predicate> ganesh_2023_run_predicates() {
  return {
      {"ganesh-2023/1", spider_empirical_cells, spider_estimator_error},
      {"ganesh-2023/2-benign", spider_empirical_cells, spider_benign_escape},
      {"ganesh-2023/4", spider_empirical_cells, spider_refresh_count},
      {"ganesh-2023/10", spider_empirical_cells, spider_selection_cost},
      {"ganesh-2023/table-2-algorithm-1", spider_empirical_cells, spider_gradients},
      {"ganesh-2023/lemma-3-6", spider_empirical_cells, spider_visits_sosp},
  };
}

}  // namespace dpsosp
