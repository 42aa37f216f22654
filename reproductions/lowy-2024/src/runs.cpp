// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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

using nlohmann::json;

RunSpec radial(std::string algorithm, Index n, Index d) {
  RunSpec spec;
  spec.algorithm = std::move(algorithm);
  spec.problem = "radial-ripple";
  spec.problem_settings = {{"sampling", "stream"}, {"tilt", "0"}};
  spec.records = n;
  spec.dimension = d;
  return spec;
}

constexpr std::array<const char*, 4> amplitudes{"0.1", "0.2", "0.3", "0.4"};

std::vector<RunDescription> c6_quasar_cell(const Study& study, const char* amplitude) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", study.scale == Scale::smoke ? 2000 : 10000, 16);
  spec.problem_settings["amplitude"] = amplitude;
  std::vector<RunDescription> jobs;
  const std::uint64_t seeds = study.scale == Scale::smoke   ? 2
                              : study.scale == Scale::quick ? 6
                                                            : 20;
  for (spec.seed = 0; spec.seed < seeds; ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

std::vector<json> c6_quasar_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* a : amplitudes)
    for (const RunDescription& run : c6_quasar_cell(study, a)) jobs.emplace_back(run);
  return jobs;
}

Finding c6_quasar(const Runs& runs, const Study& study) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const char* a : amplitudes) {
    const auto all = finished(runs, c6_quasar_cell(study, a));
    if (all.empty()) return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
    const double excess = mean(values_of(all, "trace.mean_excess_risk"));
    const double bound = values_of(all, "schedule.alpha").front();
    holds = holds && excess <= bound;
    cells.push_back(fmt::format("a = {}: {:.2g} of {:.2g}", a, excess, bound));
  }
  return {.verdict = holds_if(holds),
          .measured = fmt::format("mean excess, of its bound: {}", fmt::join(cells, "; "))};
}

constexpr std::array<const char*, 2> failures{"0.2", "0.05"};

std::vector<RunDescription> c8_cell(const Study& study, const char* failure) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", study.scale == Scale::smoke ? 1000 : 5000, 8);
  spec.settings = {{"boosted", "true"}, {"failure", failure}};
  spec.observations = 0;
  std::vector<RunDescription> jobs;
  const std::uint64_t seeds = study.scale == Scale::smoke   ? 3
                              : study.scale == Scale::quick ? 60
                                                            : 200;
  for (spec.seed = 0; spec.seed < seeds; ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

std::vector<json> c8_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* z : failures)
    for (const RunDescription& run : c8_cell(study, z)) jobs.emplace_back(run);
  return jobs;
}

Finding c8(const Runs& runs, const Study& study) {
  std::vector<std::string> cells;
  int counted = 0;
  bool holds = true;
  for (const char* z : failures) {
    const auto all = finished(runs, c8_cell(study, z));
    const auto excess = values_of(all, "output.excess_risk");
    const auto bound = values_of(all, "schedule.alpha");
    if (excess.empty() || bound.size() != excess.size())
      return {.verdict = Verdict::inconclusive, .reason = "no run finished with a bound"};
    if (!says_something(*all.front().result, "output.excess_risk", std::ranges::max(bound))) {
      cells.push_back(fmt::format("ζ = {}: bound {:.3g}, excess of the start {:.3g}",
                                  z,
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
    cells.push_back(fmt::format(
        "ζ = {}: {} of {} above, largest {:.2g} of the bound", z, above, excess.size(), largest));
  }
  Finding f{.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
  if (counted == 0) {
    f.verdict = Verdict::inconclusive;
    f.reason = no_better_than_start;
  }
  return f;
}

RunDescription unmoved() {
  RunSpec spec = radial("menart-2024/kl-spider", 1000000, 16);
  spec.settings = {{"handover", "previous"}};
  return describe(spec);
}

std::vector<json> c9_printed_jobs(const Study&) { return {unmoved()}; }

Finding c9_printed(const Runs& runs, const Study&) {
  const RunResult* result = runs.result(unmoved());
  if (result == nullptr) return nothing_ran();
  const RunResult& r = *result;
  const double start = metric_of(r, "start.value").value();
  const double end = metric_of(r, "output.value").value();
  return {.verdict = holds_if(start != end),
          .measured = fmt::format("F = {:.6g} at the start and {:.6g} at the end, after {:g} steps",
                                  start,
                                  end,
                                  metric_of(r, "steps").value_or(0))};
}

RunDescription reused() {
  RunSpec spec;
  spec.algorithm = "lowy-2024/warm-population";
  spec.problem = "ripple-location";
  spec.records = 100000;
  spec.dimension = 1;
  spec.variant = Variant::printed;
  return describe(spec);
}

/// Length of the overlap of the records that the first stage's queries read and those of the
/// second.
Index records_in_both_stages(const LedgerSummary& ledger) {
  Index first_end = 0, second_begin = std::numeric_limits<Index>::max(), second_end = 0;
  for (const LedgerRow& row : ledger.rows) {
    if (row.scope == "/first/") {
      first_end = std::max(first_end, row.records_end);
    } else {
      second_begin = std::min(second_begin, row.records_begin);
      second_end = std::max(second_end, row.records_end);
    }
  }
  return std::max<Index>(0, std::min(first_end, second_end) - second_begin);
}

std::vector<json> c13_privacy_jobs(const Study&) { return {reused()}; }

Finding c13_privacy(const Runs& runs, const Study&) {
  const RunDescription d = reused();
  const StoredRun& run = runs.at(d);
  const RunResult* result = runs.result(run);
  if (result == nullptr) return {.verdict = Verdict::inconclusive, .reason = run.reason};
  const double spent = result->privacy.spent;
  const Index shared = records_in_both_stages(result->privacy.ledger);
  return {
      .verdict = holds_if(spent <= d.epsilon * (1 + rounding) && shared == 0),
      .measured = fmt::format(
          "spent {:.4f} of ε = 1; {} of the {} records in both stages", spent, shared, d.records),
      .reason = shared > 0 ? "the second stage's samples are among those that its start was "
                             "computed from"
                           : ""};
}

std::vector<json> population_jobs(const Study& study) {
  return sweep_jobs({"lowy-2024-population"}, study);
}

/// The warm start's slope in n, where the second stage adds something to the first.
/// \param control  the arm without noise, shown beside it: about as good where the sampling of
///   records leads, as claimed for n > d/ε²
Finding second_stage_slope(const Runs& runs,
                           const Study& study,
                           std::string_view arm,
                           std::string_view control,
                           std::string_view metric,
                           double claimed) {
  const Sweep sweep = study.sweep("lowy-2024-population");
  double fewest = std::numeric_limits<double>::infinity();
  std::optional<double> quiet, noisy;
  const auto controls = arm_cells(sweep, "controls", control);
  const double control_records = coordinate(controls.front().at, "records").value();
  if (const auto v = measure(runs, controls.front(), metric).values; !v.empty()) quiet = median(v);
  for (const Cell& cell : arm_cells(sweep, "n", arm)) {
    if (const auto v = measure(runs, cell, "steps").values; !v.empty())
      fewest = std::min(fewest, median(v));
    if (const auto v = measure(runs, cell, metric).values;
        !v.empty() && coordinate(cell.at, "records") == control_records)
      noisy = median(v);
  }
  const std::vector<Slope> slopes = slopes_of(runs, sweep);
  const auto slope = std::ranges::find_if(slopes, [&](const Slope& s) {
    return s.part == "n" && s.arm == arm && s.request.metric == metric;
  });
  if (!quiet || !noisy || slope == slopes.end() || !slope->fit)
    return {.verdict = Verdict::inconclusive, .reason = "too few runs finished"};
  Finding f{
      .measured = fmt::format("exponent in n {:+.3f} [{:+.3f}, {:+.3f}] for {:+.3f}; median "
                              "steps at least {:g}; at n = {:.0e} {:.2g}, without noise {:.2g}",
                              slope->fit->slope,
                              slope->fit->interval.low,
                              slope->fit->interval.high,
                              claimed,
                              fewest,
                              control_records,
                              *noisy,
                              *quiet),
      .value = slope->fit->slope,
      .interval = slope->fit->interval};
  if (fewest <= 2) {
    f.verdict = Verdict::inconclusive;
    f.reason = "the second stage ends after 2 steps: the level is the spacing of the first's net";
    return f;
  }
  const SlopeVerdict v = judge(*slope->fit, claimed);
  f.verdict = v.verdict;
  f.reason = v.reason;
  return f;
}

Finding c13(const Runs& runs, const Study& study) {
  return second_stage_slope(
      runs, study, "warm start", "no noise", "output.gradient_norm", -1.0 / 2);
}

Finding c13_second_order(const Runs& runs, const Study& study) {
  return second_stage_slope(runs,
                            study,
                            "warm start, Stochastic Spider",
                            "no noise, Stochastic Spider",
                            "output.sosp_level",
                            -1.0 / 2);
}

Finding c13_privacy_repaired(const Runs& runs, const Study& study) {
  int counted = 0, overlapping = 0, over = 0;
  for (const Cell& cell : arm_cells(study.sweep("lowy-2024-population"), "n", "warm start"))
    for (const FinishedRun& r : finished(runs, cell.runs)) {
      const PrivacyResult& privacy = r.result->privacy;
      ++counted;
      overlapping += records_in_both_stages(privacy.ledger) > 0;
      over += privacy.spent > r.run->epsilon * (1 + rounding);
    }
  if (counted == 0) return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
  return {.verdict = holds_if(overlapping == 0 && over == 0),
          .measured = fmt::format(
              "{} runs: {} with a record in both stages, {} above ε", counted, overlapping, over)};
}

std::vector<RunDescription> c16_glm_runs(const Study& study) {
  RunSpec spec;
  spec.algorithm = "lowy-2024/warm-glm";
  spec.problem = "glm-sigmoid";
  spec.problem_settings = {
      {"features", "low_rank"}, {"rank", "3"}, {"support", "100"}, {"simulate", "whole"}};
  spec.settings = {{"rank", "3"}, {"fallback", "false"}, {"finder", "stochastic_spider"}};
  spec.dimension = 400;
  spec.epsilon = 4;
  std::vector<RunDescription> jobs;
  for (const Index n : {1000, 3000, 10000})
    for (std::uint64_t seed = 0; seed < (study.scale == Scale::full ? 20U : 3U); ++seed) {
      if (study.scale == Scale::smoke && n > 1000) continue;
      spec.records = n;
      spec.seed = spec.data_seed = seed;
      jobs.push_back(describe(spec));
    }
  return jobs;
}

std::vector<json> c16_glm_jobs(const Study& study) {
  const auto runs = c16_glm_runs(study);
  return {runs.begin(), runs.end()};
}

Finding c16_glm(const Runs& runs, const Study& study) {
  int counted = 0, above = 0, vacuous = 0;
  double largest = 0;
  for (const FinishedRun& r : finished(runs, c16_glm_runs(study))) {
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
  return {
      .verdict = holds_if(above <= 0.05 * counted),
      .measured = fmt::format("{} runs, {} above; largest curvature part {:.2g} of the promise; "
                              "{} more are uninformative",
                              counted,
                              above,
                              largest,
                              vacuous),
      .value = largest};
}

}  // namespace

std::vector<Predicate> lowy_2024_run_predicates() {
  return {
      judged_by("lowy-2024/c6-quasar", c6_quasar_jobs, c6_quasar),
      judged_by("lowy-2024/c8", c8_jobs, c8),
      judged_by("lowy-2024/c9-printed", c9_printed_jobs, c9_printed),
      judged_by("lowy-2024/c13", population_jobs, c13),
      judged_by("lowy-2024/c13-second-order", population_jobs, c13_second_order),
      judged_by("lowy-2024/c13-privacy", c13_privacy_jobs, c13_privacy),
      judged_by("lowy-2024/c13-privacy-repaired", population_jobs, c13_privacy_repaired),
      judged_by("lowy-2024/c16-glm", c16_glm_jobs, c16_glm),
  };
}

}  // namespace dpsosp
