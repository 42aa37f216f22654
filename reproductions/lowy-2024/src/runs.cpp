// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

RunSpec radial(std::string algorithm, Index n, Index d) {
  RunSpec spec;
  spec.algorithm = std::move(algorithm);
  spec.problem = "radial-ripple";
  spec.problem_settings = {{"sampling", "stream"}, {"tilt", "0"}};
  spec.records = n;
  spec.dimension = d;
  return spec;
}

std::uint64_t seeds_at(const Study& study, std::uint64_t smoke, std::uint64_t quick,
                       std::uint64_t full) {
  return study.scale == Scale::smoke ? smoke : study.scale == Scale::quick ? quick : full;
}

std::vector<JobCell> c6_quasar_cells(const Study& study) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", study.scale == Scale::smoke ? 2000 : 10000, 16);
  std::vector<JobCell> cells;
  for (const char* a : {"0.1", "0.3", "0.4", "0.43"}) {
    spec.problem_settings["amplitude"] = a;
    cells.push_back(seeded_cell(spec, seeds_at(study, 2, 6, 20), {{"amplitude", a}}));
  }
  return cells;
}

Finding c6_quasar(const Evidence& e) {
  std::vector<std::string> cells;
  std::vector<double> inverse, ratio;
  bool below = true;
  for (const JudgedCell& cell : e.cells) {
    if (cell.finished().empty()) return nothing_ran();
    // q = min(1, p − ab/√(1 − a²)) of radial-ripple at its defaults p = 2, b = 4
    const double a = std::stod(cell.text_at("amplitude"));
    const double q = std::min(1.0, 2 - 4 * a / std::sqrt(1 - a * a));
    const std::vector<double> values = cell.metric("trace.mean_excess_risk");
    const double bound = cell.metric("schedule.alpha").front();
    below = below && mean(values) <= bound + 3 * standard_error(values);
    inverse.push_back(1 / q);
    ratio.push_back(mean(values) / bound);
    cells.push_back(fmt::format("q = {:.2g}: {:.2g} of {:.2g}", q, mean(values), bound));
  }
  const double slope = 1 + log_slope(inverse, ratio);
  const std::string measured = fmt::format("mean excess, of its bound: {}; exponent in 1/q {:+.2f}",
                                           fmt::join(cells, "; "), slope);
  if (!below || slope > 1.15)
    return {.verdict = Verdict::inconclusive,
            .measured = measured,
            .reason = below ? "the excess outgrows the bound as q falls" : "above its bound",
            .value = slope};
  return {.verdict = slope < 0.85 ? Verdict::bound_met : Verdict::holds,
          .measured = measured,
          .reason = slope < 0.85 ? "the excess grows more slowly than 1/q" : "",
          .value = slope};
}

std::vector<JobCell> c8_cells(const Study& study) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", study.scale == Scale::smoke ? 1000 : 16000, 8);
  spec.observations = 0;
  std::vector<JobCell> cells;
  for (const char* z : {"0.2", "0.05"}) {
    spec.settings = {{"boosted", "true"}, {"failure", z}};
    cells.push_back(seeded_cell(spec, seeds_at(study, 3, 60, 200), {{"failure", z}}));
  }
  return cells;
}

Finding c8(const Evidence& e) {
  std::vector<std::string> cells;
  int counted = 0;
  bool holds = true;
  for (const JudgedCell& cell : e.cells) {
    const std::string z = cell.text_at("failure");
    const auto all = cell.finished();
    const auto excess = cell.metric("output.excess_risk");
    const auto bound = cell.metric("schedule.alpha");
    if (excess.empty() || bound.size() != excess.size())
      return {.verdict = Verdict::inconclusive, .reason = "no run finished with a bound"};
    if (!says_something(*all.front().result, "output.excess_risk", std::ranges::max(bound))) {
      cells.push_back(fmt::format("ζ = {}: bound {:.3g}, excess of the start {:.3g}", z,
                                  std::ranges::max(bound),
                                  *start_metric(*all.front().result, "output.excess_risk")));
      continue;
    }
    ++counted;
    std::size_t above = 0;
    double largest = 0;
    for (std::size_t k = 0; k < excess.size(); ++k) {
      above += excess[k] > bound[k];
      largest = std::max(largest, excess[k] / bound[k]);
    }
    holds =
        holds && static_cast<double>(above) <= std::stod(z) * static_cast<double>(excess.size());
    cells.push_back(fmt::format("ζ = {}: {} of {} above, largest {:.2g} of the bound", z, above,
                                excess.size(), largest));
  }
  Finding f{.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
  if (counted == 0) {
    f.verdict = Verdict::inconclusive;
    f.reason = no_better_than_start;
  }
  return f;
}

std::vector<JobCell> unmoved_cell(const Study&) {
  RunSpec spec = radial("menart-2024/kl-spider", 1000000, 16);
  spec.settings = {{"handover", "previous"}};
  return {seeded_cell(spec, 1)};
}

Finding c9_printed(const Evidence& e) {
  const auto all = e.finished();
  if (all.empty()) return nothing_ran();
  const RunResult& r = *all.front().result;
  const double start = metric_of(r, "start.value").value();
  const double end = metric_of(r, "output.value").value();
  return {.verdict = holds_if(start != end),
          .measured = fmt::format("F = {:.6g} at the start and {:.6g} at the end, after {:g} steps",
                                  start, end, metric_of(r, "steps").value_or(0))};
}

constexpr const char* population_sweep = "lowy-2024-population";

/// The warm start's slope in n, where the second stage adds something to the first.
/// \param control  the arm without noise, shown beside it: about as good where the sampling of
///   records leads, as claimed for n > d/ε²
Finding second_stage_slope(const Evidence& e, std::string_view arm, std::string_view control,
                           std::string_view metric, ClaimedExponent claimed) {
  double fewest = std::numeric_limits<double>::infinity();
  bool below = true;
  std::optional<double> quiet, noisy;
  const JudgedCell& controlled = *e.of(population_sweep, "controls", control).front();
  const double control_records = controlled.number_at("records");
  if (const auto v = controlled.metric(metric); !v.empty()) quiet = median(v);
  for (const JudgedCell* cell : e.of(population_sweep, "n", arm)) {
    if (const auto v = cell->metric("steps"); !v.empty()) fewest = std::min(fewest, median(v));
    const auto v = cell->metric(metric), promise = cell->metric("schedule.alpha");
    below = below && !v.empty() && !promise.empty() && mean(v) <= promise.front() * (1 + rounding);
    if (!v.empty() && cell->number_at("records") == control_records) noisy = median(v);
  }
  const std::vector<Slope> slopes = slopes_of(e.runs, e.study.sweep(population_sweep));
  const auto slope = std::ranges::find_if(slopes, [&](const Slope& s) {
    return s.part == "n" && s.arm == arm && s.request.metric == metric;
  });
  if (!quiet || !noisy || slope == slopes.end() || !slope->fit)
    return {.verdict = Verdict::inconclusive, .reason = "too few runs finished"};
  Finding f{.measured =
                fmt::format("exponent in n {:+.3f} [{:+.3f}, {:+.3f}] for {}; median "
                            "steps at least {:g}; at n = {:.0e} {:.2g}, without noise {:.2g}",
                            slope->fit->slope, slope->fit->interval.low, slope->fit->interval.high,
                            to_text(claimed), fewest, control_records, *noisy, *quiet),
            .value = slope->fit->slope,
            .interval = slope->fit->interval};
  if (fewest <= 2) {
    f.verdict = below ? Verdict::bound_met : Verdict::inconclusive;
    f.reason = "the second stage ends after 2 steps: the level is the spacing of the first's net";
    if (below) f.reason += ", below the solved α in every cell";
    return f;
  }
  const SlopeVerdict v = judge(*slope->fit, claimed, slope->request.rivals);
  f.verdict = v.verdict;
  f.reason = v.reason;
  return f;
}

Finding c13(const Evidence& e) {
  return second_stage_slope(e, "warm start", "no noise", "output.gradient_norm", -1.0 / 2);
}

Finding c13_second_order(const Evidence& e) {
  return second_stage_slope(e, "warm start, Stochastic Spider", "no noise, Stochastic Spider",
                            "output.sosp_level", ClaimedExponent(-9.0 / 14, -1.0 / 2));
}

std::vector<JobCell> c16_glm_cells(const Study& study) {
  RunSpec spec;
  spec.algorithm = "lowy-2024/warm-glm";
  spec.problem = "glm-sigmoid";
  spec.problem_settings = {
      {"features", "low_rank"}, {"rank", "3"}, {"support", "100"}, {"sampling", "whole"}};
  spec.settings = {{"rank", "3"},
                   {"fallback", "false"},
                   {"finder", "stochastic_spider"},
                   {"first.most_steps", "100000000"}};
  spec.dimension = 400;
  spec.epsilon = 4;
  std::vector<JobCell> cells;
  for (const Index n : {30000, 50000, 100000}) {
    if (study.scale == Scale::smoke && n > 30000) continue;
    if (study.scale == Scale::quick && n > 50000) continue;
    spec.records = n;
    cells.push_back(seeded_cell(spec, seeds_at(study, 1, 3, 20)));
  }
  return cells;
}

Finding c16_glm(const Evidence& e) {
  int counted = 0, above = 0, vacuous = 0;
  double largest = 0;
  for (const FinishedRun& r : e.finished()) {
    const auto curvature = metric_of(*r.result, "output.lambda_min");
    const auto promise = metric_of(*r.result, "schedule.alpha");
    if (!curvature || !promise) continue;
    if (!says_something(*r.result, "output.gradient_norm", *promise)) {
      ++vacuous;
      continue;
    }
    constexpr double hessian_lipschitz = 0.10101;  // of glm-sigmoid, ‖x‖ ≤ 1
    const double part = std::pow(std::max(0.0, -*curvature), 2) / hessian_lipschitz;
    ++counted;
    above += part > *promise;
    largest = std::max(largest, part / *promise);
  }
  if (counted == 0)
    return {.verdict = Verdict::inconclusive,
            .measured = fmt::format("{} runs are uninformative", vacuous),
            .reason = std::string(vacuous > 0 ? no_better_than_start : "no run finished")};
  // a curvature part far below the promise could not have failed
  return {
      .verdict = largest < 0.01 ? Verdict::inconclusive : holds_if(above <= 0.05 * counted),
      .measured = fmt::format("{} runs, {} above; largest curvature part {:.2g} of the promise; "
                              "{} more are uninformative",
                              counted, above, largest, vacuous),
      .reason = largest < 0.01 ? "the output has no curvature to speak of, and the first stage is "
                                 "another than the corollary's"
                               : "",
      .value = largest};
}

}  // namespace

std::vector<Predicate> lowy_2024_run_predicates() {
  return {
      {"lowy-2024/c6-quasar", c6_quasar_cells, c6_quasar},
      {"lowy-2024/c8", c8_cells, c8},
      {"lowy-2024/c9-printed", unmoved_cell, c9_printed},
      on_sweeps("lowy-2024/c13", {population_sweep}, c13),
      on_sweeps("lowy-2024/c13-second-order", {population_sweep}, c13_second_order),
      {"lowy-2024/c16-glm", c16_glm_cells, c16_glm},
  };
}

}  // namespace dpsosp
