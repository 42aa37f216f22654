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
#include "parts.hpp"

namespace dpsosp {
namespace {

constexpr const char* spider_sweep = "ganesh-2023-stochastic-spider";

/// Public facts of the problem that a description of a run names.
PublicFacts facts_of(const RunDescription& run) {
  const auto family = find_problem(run.problem);
  Fields fields = family->fields();
  for (const auto& [name, text] : run.problem_settings)
    set_field(fields, family->name(), name, text);
  return family->facts({.records = run.records, .dimension = run.dimension});
}

/// Laplace scale of a question of the scalar selection on n records at unit constants.
double selection_scale(double n, double epsilon) {
  return plan_stationarity({.epsilon = epsilon,
                            .gradient_scale = 1,
                            .curvature_scale = 1,
                            .gradient_limit = 1,
                            .hessian_limit = 1},
                           n)
      .front()
      .question_scale();
}

std::vector<JobCell> cells_of_parts(const Study& study,
                                    std::string_view sweep,
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

Finding spider_estimator_error(const Evidence& e) {
  double largest = 0;
  std::map<std::string, std::pair<double, double>> spread;
  for (const JudgedCell& cell : e.cells) {
    std::vector<double> ratios;
    for (const FinishedRun& r : cell.finished())
      ratios.push_back(metric_of(*r.result, "estimate.largest").value() /
                       metric_of(*r.result, "schedule.alpha").value());
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
  return {.verdict = holds_if(largest <= 1.0 && flat),
          .measured = fmt::format("largest error over promise {:.3f}; medians of cells, {}",
                                  largest,
                                  fmt::join(words, "; ")),
          .reason = largest > 1.0 ? "an error exceeds the promise"
                    : flat        ? ""
                                  : "not flat"};
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
  for (const SpiderRun& r : spider_runs(e)) {
    const double kappa = r.metric("parameters.drift_threshold");
    largest = std::max(
        largest,
        r.metric("counts.refreshes") / (1.0 + r.numbers[constant::suboptimality] /
                                                  (r.numbers[constant::smoothness] * kappa)));
    capped += r.result->algorithm.status == Status::cap;
    ++all;
  }
  return {
      .verdict = holds_if(largest <= 1.0 && capped == 0),
      .measured = fmt::format("at most {:.3f} of 1 + B/(M kappa) over {} runs; {} end at the cap",
                              largest,
                              all,
                              capped)};
}

Finding spider_budget_kept(const Evidence& e) {
  int all = 0, kept = 0;
  double largest = 0;
  for (const SpiderRun& r : spider_runs(e)) {
    const PrivacyResult& privacy = r.result->privacy;
    const double share = privacy.spent / privacy.guarantee;
    largest = std::max(largest, share);
    kept += share <= 1.0 + 1e-12 && privacy.label == PrivacyLabel::enforced;
    ++all;
  }
  return {
      .verdict = holds_if(kept == all && all > 0),
      .measured = fmt::format("{} of {} runs enforced and within; at most {:.3f} of epsilon spent",
                              kept,
                              all,
                              largest)};
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
  // The scale of the selection at ε = sqrt(φ): a formula in n and φ.
  const auto noise = [](double n, double phi) { return selection_scale(n, std::sqrt(phi)); };
  const double in_n =
      log_slope({1e4, 1e6, 1e8}, {noise(1e4, 0.01), noise(1e6, 0.01), noise(1e8, 0.01)});
  const double in_phi =
      log_slope({0.1, 0.2, 0.4}, {noise(1e6, 0.01), noise(1e6, 0.04), noise(1e6, 0.16)});
  if (ratios.empty()) return {.verdict = Verdict::fails, .measured = "no run accepts a point"};
  return {
      .verdict = holds_if(accepted >= 0.95 * all && worst <= 4.0 && std::abs(in_n + 1) <= 0.02 &&
                          std::abs(in_phi + 1) <= 0.02),
      .measured = fmt::format(
          "{} of {} runs accept; level at most {:.3f} alpha, median {:.3f} of the best iterate's; "
          "Laplace scale ~ n^{:.3f}, sqrt(phi)^{:.3f}",
          accepted,
          all,
          worst,
          median(ratios),
          in_n,
          in_phi)};
}

}  // namespace

std::vector<Predicate> ganesh_2023_run_predicates() {
  return {
      {"ganesh-2023/1", spider_empirical_cells, spider_estimator_error},
      {"ganesh-2023/2-benign", spider_empirical_cells, spider_benign_escape},
      {"ganesh-2023/4", spider_empirical_cells, spider_refresh_count},
      {"ganesh-2023/7-privacy-repaired", spider_empirical_cells, spider_budget_kept},
      {"ganesh-2023/10", spider_empirical_cells, spider_selection_cost},
  };
}

}  // namespace dpsosp
