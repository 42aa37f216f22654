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

#include "cells.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "matrix_sensing.hpp"
#include "parts.hpp"
#include "printed_noise.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using namespace xu_2026_exhibit;

Sweep rgda_sweep(const Study& study) { return study.sweep("xu-2026-dp-rgda"); }
std::vector<json> rgda_jobs(const Study& study) { return jobs_of(rgda_sweep(study)); }

const std::vector<std::string_view> empirical_parts{"n", "d", "epsilon"};
const std::vector<std::string_view> all_parts{"n",
                                              "d",
                                              "epsilon",
                                              "population-n",
                                              "population-d",
                                              "population-epsilon",
                                              "population-large-epsilon"};

Finding x8(const Runs& runs, const Study& study) {
  int count = 0, kept = 0;
  std::int64_t escapes = 0, breaks = 0;
  each_run(runs,
           rgda_sweep(study),
           "",
           all_parts,
           [&](const Part&, const RunDescription&, const RunResult& r) {
             ++count;
             escapes += r.algorithm.counts.at("escapes");
             breaks += r.algorithm.counts.at("breaks");
             std::int64_t gradients = 0, differences = 0, others = 0;
             for (const LedgerRow& row : r.privacy.ledger.rows) {
               std::int64_t& of_kind = row.query == "gradient"              ? gradients
                                       : row.query == "gradient_difference" ? differences
                                                                            : others;
               of_kind += row.count;
             }
             const std::int64_t refreshes = r.algorithm.counts.at("refreshes");
             kept += gradients == refreshes && others == 0 &&
                     differences <= r.algorithm.steps - refreshes;
           });
  if (count == 0) return nothing_ran();
  return finding(kept == count,
                 fmt::format("{} of {} runs have at most one gradient query a step and no other; "
                             "{} escapes, {} breaks",
                             kept,
                             count,
                             escapes,
                             breaks));
}

Finding x1_printed(const Runs& runs, const Study& study) {
  const std::vector<std::string_view> parts{"printed"};
  int count = 0, moved = 0;
  each_run(runs,
           rgda_sweep(study),
           "",
           parts,
           [&](const Part&, const RunDescription&, const RunResult& r) {
             ++count;
             moved += r.algorithm.counts.at("dual_kept") < r.algorithm.steps;
           });
  if (count == 0) return nothing_ran();
  return finding(moved == count,
                 fmt::format("the dual changes in {} of {} runs", moved, count),
                 "y_{t} is itself a candidate");
}

Finding x1_privacy(const Runs&, const Study&) {
  const double epsilon = printed_rgda_epsilon();
  return finding(epsilon <= 2.0,
                 fmt::format("ε = {:.3g} against 2", epsilon),
                 "K, the second stream and the factor 2 are missing");
}

Finding x1_privacy_repaired(const Runs& runs, const Study& study) {
  int count = 0, kept = 0;
  double worst = 0;
  each_run(runs,
           rgda_sweep(study),
           "",
           all_parts,
           [&](const Part&, const RunDescription& d, const RunResult& r) {
             const double share = r.privacy.spent / d.epsilon;
             ++count;
             worst = std::max(worst, share);
             kept += r.privacy.label == PrivacyLabel::enforced && share <= 1.0 + 1e-9;
           });
  if (count == 0) return nothing_ran();
  return finding(
      kept == count,
      fmt::format("{} of {} runs enforced and within the budget; at most {:.3g} of it spent",
                  kept,
                  count,
                  worst));
}

Finding definition_3(const Runs&, const Study&) {
  constexpr double delta = 1e-6;
  std::vector<std::string> texts;
  bool holds = true;
  for (const double epsilon : {0.25, 0.5, 0.9}) {
    const double exact = gaussian_delta(epsilon, epsilon / std::sqrt(std::log(1.25 / delta)));
    holds = holds && exact <= delta;
    texts.push_back(fmt::format("{:.3g} at ε = {:g}", exact, epsilon));
  }
  return finding(holds,
                 fmt::format("δ = {} against 1e-6", fmt::join(texts, ", ")),
                 "the factor 2 in the variance is missing");
}

Finding x2_privacy(const Runs&, const Study&) {
  const double epsilon = lemma_8_epsilon();
  return finding(epsilon <= 2.0,
                 fmt::format("ε = {:.3g} against 2", epsilon),
                 "amplified and charged for one pass");
}

Finding x3(const Runs& runs, const Study& study) {
  double least = std::numeric_limits<double>::infinity(), most = 0, largest = 0;
  const Sweep sweep = rgda_sweep(study);
  for (const std::string_view part : empirical_parts)
    for (const Cell& cell : arm_cells(sweep, part, "empirical")) {
      std::vector<double> shares;
      for (const FinishedRun& r : finished(runs, cell.runs))
        shares.push_back(r.result->evaluation_log.estimate_error.value().largest /
                         r.result->schedule.alpha);
      if (shares.empty()) continue;
      least = std::min(least, dpsosp::median(shares));
      most = std::max(most, dpsosp::median(shares));
      largest = std::max(largest, std::ranges::max(shares));
    }
  if (most == 0) return nothing_ran();
  return finding(most <= 2 * least,
                 fmt::format("largest error of a run: medians {:.3g} α to {:.3g} α over the cells, "
                             "at most {:.3g} α",
                             least,
                             most,
                             largest),
                 "its ratio to α is not flat");
}

Finding x4(const Runs& runs, const Study& study) {
  int certified = 0, wrong = 0;
  each_run(runs,
           rgda_sweep(study),
           "",
           all_parts,
           [&](const Part&, const RunDescription&, const RunResult& r) {
             if (r.algorithm.status != Status::certified) return;
             constexpr double rho = 0.5;  // gamma of cosine-minimax
             ++certified;
             wrong += r.output.lambda_min < -std::sqrt(rho * r.schedule.alpha);
           });
  if (certified == 0) return nothing_ran();
  constexpr double allowed = 0.05, level = 1e-3;
  double tail = 0;  // Pr[at least `wrong` of them] at 5 %
  for (int k = wrong; k <= certified; ++k)
    tail += std::exp(std::lgamma(certified + 1.0) - std::lgamma(k + 1.0) -
                     std::lgamma(certified - k + 1.0) + k * std::log(allowed) +
                     (certified - k) * std::log1p(-allowed));
  const std::string measured =
      fmt::format("{} of {} certificates at a point with λ_{{min}} < −√(ρα)", wrong, certified);
  if (wrong == 0 && certified * std::log1p(-allowed) > std::log(level))
    return {.verdict = Verdict::inconclusive, .measured = measured, .reason = "too few runs"};
  return finding(tail >= level, measured, "more than 5 %");
}

/// The exhibit's runs are of 20 steps at scale smoke.
std::optional<Finding> too_short(const Study& study) {
  if (study.scale != Scale::smoke) return {};
  return Finding{.verdict = Verdict::inconclusive,
                 .reason = "needs runs of 400 steps: scale quick or full"};
}

Finding x5(const Runs& runs, const Study& study) {
  if (auto f = too_short(study)) return *f;
  const Coverage c = coverage(runs, Setting::as_published, study);
  // A number of the same law lies outside the range of 20 others with probability 2/21.
  constexpr int expected_outside = 3;  // at most so many of 12 with probability 0.97
  return finding(
      c.all - c.within <= expected_outside && c.farthest <= 1.5,
      fmt::format(
          "{} of {} numbers inside the range of seeds, the farthest off by the factor {:.4g}",
          c.within,
          c.all,
          c.farthest),
      "with the settings chosen here where the paper is silent");
}

Finding x5_progress(const Runs& runs, const Study& study) {
  if (auto f = too_short(study)) return *f;
  double best = printed_rgda().published->value;
  for (const Method& m : methods())
    if (m.published) best = std::min(best, m.published->value);
  const CellRuns ours = cell(runs, printed_rgda(), Setting::as_published, Control::none, study);
  const CellRuns noise = cell(runs, printed_rgda(), Setting::as_published, Control::no_data, study);
  if (ours.finished.empty() || noise.finished.empty()) return nothing_ran();
  const double start = median_of(ours, at_the_start[0]);
  std::vector<double> with, without;
  for (std::size_t k = 0; k < noise.seeds.size(); ++k) {
    const auto found = std::ranges::find(ours.seeds, noise.seeds[k]);
    if (found == ours.seeds.end()) continue;
    with.push_back(
        at_the_end[0](*ours.finished[static_cast<std::size_t>(found - ours.seeds.begin())]));
    without.push_back(at_the_end[0](*noise.finished[k]));
  }
  const PairedComparison c = compare("data against noise alone", with, without);
  const std::string measured = fmt::format(
      "best printed Φ {:.4g}, start {:.3g}; DP-RGDA's final Φ is {:.3g} times that of noise alone "
      "(p = {:.2g}, {} pairs)",
      best,
      start,
      c.ratio,
      c.p,
      c.pairs);
  if (best < start && c.ratio < 1 && c.pairs < 6)  // p cannot be below 0.05
    return {.verdict = Verdict::inconclusive, .measured = measured, .reason = "too few seeds"};
  return finding(
      best < start && c.ratio < 1 && c.p < 0.05,
      measured,
      best >= start ? "every printed row is worse than the start" : "noise alone ends no worse");
}

Finding x5_data(const Runs& runs, const Study& study) {
  if (auto f = too_short(study)) return *f;
  const Swap s = swap_of(runs, printed_rgda(), Setting::as_published, study);
  if (s.pairs == 0) return nothing_ran();
  const auto differ = std::ranges::count_if(s.distances, [](double d) { return d > 1e-3; });
  return finding(
      10 * differ >= 9 * s.pairs,
      fmt::format("differs by more than 1e-3 on {} of {} seeds, identical in every bit on {}",
                  differ,
                  s.pairs,
                  s.identical),
      "the dual stays at 0, where the gradient in x vanishes");
}

Finding figure_1(const Runs& runs, const Study& study) {
  if (auto f = too_short(study)) return *f;
  const auto middle = [&](const Method& m, double t, double TraceRow::*column) {
    std::vector<double> values;
    for (const RunResult* r : cell(runs, m, Setting::as_published, Control::none, study).finished)
      values.push_back(seen_at(*r, t, column));
    return values.empty() ? std::nan("") : median(values);
  };
  const auto value_at_end = [&](const Method& m) {
    return median_of(cell(runs, m, Setting::ledgered, Control::none, study), at_the_end[0]);
  };
  int kept = 0, all = 0;
  for (const double t : {100.0, 200.0, 300.0, 399.0})
    for (const Method* other : {&sto_spider(), &ada_dp_spider()})
      for (double TraceRow::*const column :
           {&TraceRow::value, &TraceRow::gradient_norm, &TraceRow::lambda_min}) {
        const double ours = middle(printed_rgda(), t, column), theirs = middle(*other, t, column);
        ++all;
        kept += column == &TraceRow::lambda_min ? ours > theirs : ours < theirs;
      }
  return finding(
      kept == all,
      fmt::format(
          "{} of {} comparisons of medians, in the setting chosen to fit Table 2; at equal "
          "accounted ε the final Φ are {:.3g} (DP-RGDA), {:.3g} (Sto-) and {:.3g} (Ada-SPIDER)",
          kept,
          all,
          value_at_end(printed_rgda()),
          value_at_end(sto_spider()),
          value_at_end(ada_dp_spider())),
      "the order changes");
}

Method half_step() {
  Method m = printed_rgda();
  for (const char* step : {"descent_step", "escape_step"})
    m.settings[step] = fmt::format("{:g}", 0.5 * std::stod(m.settings.at(step)));
  return m;
}

std::vector<json> x7_jobs(const Study& study) {
  std::vector<json> jobs = xu_2026_jobs(study);
  const Method m = half_step();
  for (std::uint64_t seed = 0; seed < seeds(Setting::as_published, Control::none, m, study); ++seed)
    jobs.push_back(describe_run(m, Setting::as_published, Control::none, seed, study));
  return jobs;
}

Finding x7(const Runs& runs, const Study& study) {
  if (auto f = too_short(study)) return *f;
  const auto curvature = [&](const Method& m) {
    return std::abs(
        median_of(cell(runs, m, Setting::as_published, Control::none, study), at_the_end[2]));
  };
  const auto private_diff = std::ranges::find(methods(), "PrivateDiff", &Method::label);
  const double theirs = curvature(*private_diff);
  const auto factor = [&](double ours) { return std::max(ours, theirs) / std::min(ours, theirs); };
  const double ours = curvature(printed_rgda()), halved = curvature(half_step());
  return finding(factor(ours) <= 1.5 && factor(halved) <= 1.5,
                 fmt::format("|λ_{{min}}| {:.3g} of DP-RGDA and {:.3g} of PrivateDiff, the factor "
                             "{:.3g}; {:.3g} with half the step size, the factor {:.3g}",
                             ours,
                             theirs,
                             factor(ours),
                             halved,
                             factor(halved)),
                 factor(ours) > 1.5 ? "not comparable" : "it is the step size that sets it");
}

std::vector<json> x9_jobs(const Study& study) {
  std::vector<json> jobs;
  for (std::uint64_t seed = 0; seed < (study.scale == Scale::smoke ? 2U : 10U); ++seed)
    jobs.push_back(study.probe("xu-2026/same-estimator", {{"steps", 200}, {"period", 10}}, seed));
  return jobs;
}

Finding x9(const Runs& runs, const Study& study) {
  double points = 0, estimates = 0;
  int count = 0;
  for (const json& job : x9_jobs(study)) {
    const StoredRun& stored = runs.at(job);
    if (stored.status != RunStatus::finished) return nothing_ran();
    ++count;
    points = std::max(points, stored.result.at("points").get<double>());
    estimates = std::max(estimates, stored.result.at("estimates").get<double>());
  }
  return finding(points <= 1e-12 && estimates <= 1e-12,
                 fmt::format("{} runs of 200 steps: estimates apart by at most {:.2g}, the points "
                             "that they lead to by {:.2g}",
                             count,
                             estimates,
                             points));
}

/// The estimators of the two SPIDERs with DP-RGDA's normalised steps. A step is 0.2 long, so that a
/// drift threshold of 0.7 is passed every 18 steps and one of 0.01 at every step; the rest of the
/// estimator is the same (xu-2026/x9). Neither tests for a saddle.
struct EqualSteps {
  const char* label;
  const char* period;
  bool escapes;
};
constexpr std::array equal_steps{EqualSteps{"DP-RGDA", "10", true},
                                 EqualSteps{"Sto-SPIDER", "18", false},
                                 EqualSteps{"Ada-DP-SPIDER", "1", false}};

std::vector<RunDescription> equal_steps_cell(const EqualSteps& method, const Study& study) {
  constexpr Index n = 12800;
  RunSpec spec;
  spec.algorithm = "xu-2026/dp-rgda";
  spec.problem = "matrix-sensing";
  spec.records = n;
  spec.epsilon = 2;
  spec.delta = 1e-6;
  spec.settings = repaired_rgda().settings;
  spec.settings["steps"] = fmt::format("{}", steps(study));
  spec.settings["alpha"] = method.escapes ? "0.01" : "1e-300";
  spec.settings["period"] = method.period;
  spec.settings["inner_steps"] = "1";
  spec.settings["horizon_rule"] = "last";
  spec.settings["sampling"] = "poisson";
  spec.settings["refresh_batch"] = fmt::format("{}", n / 2);
  spec.settings["increment_batch"] = fmt::format("{}", n / 8);
  spec.noise = NoiseRule::calibrated;
  spec.calibrator = Calibrator::rdp;
  spec.observations = 0;
  std::vector<RunDescription> runs;
  for (spec.seed = 0; spec.seed < 20; ++spec.seed) {
    spec.data_seed = spec.seed;
    runs.push_back(describe(spec));
  }
  return runs;
}

std::vector<json> x6_jobs(const Study& study) {
  std::vector<json> jobs;
  if (study.scale == Scale::smoke) return jobs;  // a minute
  for (const EqualSteps& method : equal_steps)
    for (const RunDescription& run : equal_steps_cell(method, study)) jobs.emplace_back(run);
  return jobs;
}

Finding x6(const Runs& runs, const Study& study) {
  if (study.scale == Scale::smoke)
    return {.verdict = Verdict::inconclusive, .reason = "runs only at scale quick or full"};
  std::vector<std::vector<double>> values;
  std::vector<std::string> medians;
  for (const EqualSteps& method : equal_steps) {
    values.emplace_back();
    for (const RunDescription& run : equal_steps_cell(method, study)) {
      const RunResult* result = runs.result(run);
      if (result == nullptr) return nothing_ran();
      values.back().push_back(result->output.value);
    }
    medians.push_back(fmt::format("{} {:.3g}", method.label, dpsosp::median(values.back())));
  }
  std::vector<PairedComparison> comparisons;
  for (const std::size_t other : {1UL, 2UL})
    comparisons.push_back(compare(equal_steps[other].label, values[0], values[other]));
  adjust(comparisons);
  bool holds = true;
  std::vector<std::string> ratios;
  for (const PairedComparison& c : comparisons) {
    holds = holds && c.ratio < 1 && c.adjusted_p < 0.05;
    ratios.push_back(fmt::format("{:.3g} of {}'s (p = {:.2g})", c.ratio, c.name, c.adjusted_p));
  }
  return finding(holds,
                 fmt::format("medians of Φ: {}; {}, {} pairs",
                             fmt::join(medians, ", "),
                             fmt::join(ratios, ", "),
                             comparisons.front().pairs),
                 "not below both");
}

}  // namespace

std::vector<Predicate> xu_2026_predicates() {
  return {
      judged_by("xu-2026/x8", rgda_jobs, x8),
      judged_by("xu-2026/x1-printed", rgda_jobs, x1_printed),
      judged_by("xu-2026/x1-privacy", no_jobs, x1_privacy),
      judged_by("xu-2026/x1-privacy-repaired", rgda_jobs, x1_privacy_repaired),
      judged_by("xu-2026/definition-3", no_jobs, definition_3),
      judged_by("xu-2026/x2-privacy", no_jobs, x2_privacy),
      judged_by("xu-2026/x3", rgda_jobs, x3),
      judged_by("xu-2026/x4", rgda_jobs, x4),
      judged_by("xu-2026/x9", x9_jobs, x9),
      judged_by("xu-2026/x5", xu_2026_jobs, x5),
      judged_by("xu-2026/x5-progress", xu_2026_jobs, x5_progress),
      judged_by("xu-2026/x5-data", xu_2026_jobs, x5_data),
      judged_by("xu-2026/figure-1", xu_2026_jobs, figure_1),
      judged_by("xu-2026/x6", x6_jobs, x6),
      judged_by("xu-2026/x7", x7_jobs, x7),
  };
}

}  // namespace dpsosp
