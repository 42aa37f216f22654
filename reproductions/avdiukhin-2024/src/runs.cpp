// SPDX-License-Identifier: Apache-2.0
// Statements that private runs decide.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/probes.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"
#include "gradients.hpp"
#include "parts.hpp"

namespace dpsosp {
namespace {

using namespace avdiukhin_2024;
using namespace avdiukhin_2024_exhibit;
using namespace avdiukhin_2024_probe;

std::vector<JobCell> lemma_3_2_cells(const Study& study) {
  std::vector<JobCell> cells = sweep_cells(study, rate_sweep);
  for (const double dimension : {1e2, 1e3, 1e4})
    cells.push_back(probe_cell(
        study, GradientsWithNoise{.records = 1000, .dimension = static_cast<Index>(dimension)},
        {{"dimension", dimension}}, study.scale == Scale::smoke ? 2 : 20));
  return cells;
}

Finding lemma_3_2(const Evidence& e) {
  std::vector<std::string> noisy;
  bool bounded = true;
  for (const JudgedCell& cell : e.cells) {
    if (!cell.cell().sweep.empty()) continue;
    if (!cell.all_finished()) return nothing_ran();
    std::vector<double> ratios = cell.numbers(&GradientsWithNoise::Result::longest);
    const std::vector<double> bounds = cell.numbers(&GradientsWithNoise::Result::bound);
    int below = 0;
    for (std::size_t k = 0; k < ratios.size(); ++k) below += (ratios[k] /= bounds[k]) <= 1.0;
    bounded = bounded && below >= 0.9 * static_cast<double>(ratios.size());
    noisy.push_back(
        fmt::format("{:.3g} C at d = {:.0e}", median(ratios), cell.number_at("dimension")));
  }
  double worst = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  std::vector<double> first, last;
  double first_steps = std::numeric_limits<double>::infinity(), last_steps = 0;
  int count = 0;
  for (const FinishedRun& r : e.finished(rate_sweep, {"n", "d", "epsilon"}, "noisy SGD")) {
    const Gradients g = gradients_met(r);
    ++count;
    worst = std::max(worst, g.longest / g.lemma_3_2);
    least = std::min(least, g.longest);
    most = std::max(most, g.longest);
  }
  for (const FinishedRun& r : e.finished(rate_sweep, {"n"}, "noisy SGD")) {
    const Gradients g = gradients_met(r);
    if (g.steps < first_steps) first.clear();
    if (g.steps > last_steps) last.clear();
    first_steps = std::min(first_steps, g.steps);
    last_steps = std::max(last_steps, g.steps);
    if (g.steps == first_steps) first.push_back(g.longest);
    if (g.steps == last_steps) last.push_back(g.longest);
  }
  if (count == 0) return nothing_ran();
  const double growth = median(last) / median(first);
  return finding(
      bounded && worst <= 1.0,
      fmt::format(
          "the longest gradient of runs at η = 1/L with the noise of Theorem 3.3 has the "
          "median {}; with the steps of the rate {:.3g} to {:.3g}, at most {:.3g} of C, and "
          "from T = {:.0f} to {:.0f} the median changes by the factor {:.3g}",
          fmt::join(noisy, ", "), least, most, worst, first_steps, last_steps, growth),
      "gradients exceed C");
}

Finding lemma_3_2_repaired(const Evidence& e) {
  int count = 0, kept = 0;
  double worst = 0;
  for (const FinishedRun& r : e.finished(rate_sweep, {"n", "d", "epsilon"}, "noisy SGD")) {
    const Gradients g = gradients_met(r);
    ++count;
    worst = std::max(worst, g.longest / g.nominal);
    kept += g.violations == 0 && r.result->privacy.label == PrivacyLabel::conditional;
  }
  if (count == 0) return nothing_ran();
  Numbers n = well_numbers(1e5, 10);
  UnclippedRun run{
      .batch = 1000, .steps = 1e4, .step_size = 0.1, .largest_deviation = 1, .failure = 1e-6};
  const auto C = proved_bound(n, run, 1e-3);
  n.smoothness *= 10;
  n.gap *= 10;
  n.deviation *= 10;
  run.step_size /= 10;
  run.largest_deviation *= 10;
  const auto scaled = proved_bound(n, run, 1e-3);
  const double ratio = C && scaled ? *scaled / *C : std::numeric_limits<double>::quiet_NaN();
  return finding(
      kept == count && std::abs(ratio - 10) <= 1e-8,
      fmt::format("{} of {} runs without a longer gradient, the longest {:.3g} of C; C of 10 f is "
                  "{:.10g} times C of f",
                  kept, count, worst, ratio));
}

std::vector<JobCell> theorem_3_4_cells(const Study& study) {
  std::vector<JobCell> cells = sweep_cells(study, rate_sweep);
  for (JobCell& cell : given_noise_cells(study, "sphere", {1.0})) cells.push_back(std::move(cell));
  return cells;
}

Finding theorem_3_4_share(const Evidence& e) {
  const GivenNoise met = given_noise_met(e);
  if (!met.done) return nothing_ran();
  int count = 0, kept = 0, empty = 0;
  double least = 1.0;
  for (const FinishedRun& r : e.finished(rate_sweep, {"n", "paper-schedule"})) {
    const auto alpha = metric_of(*r.result, "schedule.alpha");
    const auto share = metric_of(*r.result, "trace.fraction_solved");
    const auto start = start_metric(*r.result, "output.sosp_level");
    if (!alpha || !share || !start || start_over_result * *alpha >= *start) {
      ++empty;
      continue;
    }
    ++count;
    least = std::min(least, *share);
    kept += *share >= 0.5;
  }
  return finding(
      kept == count && met.kept == met.runs,
      fmt::format("at least {:.3g} of the iterates in each of {} runs with the theorem's η and T, "
                  "{:.3g} in each of {} runs of the rate; {} more are uninformative",
                  met.least, met.runs, least, count, empty),
      fmt::format("{} runs below one half", count - kept + met.runs - met.kept));
}

Finding noise_is_needed(const Evidence& e) {
  int still = 0, quiet = 0, below = 0, noisy = 0;
  double off = 0;
  for (const char* arm : {"noisy SGD, epsilon = infinity", "DP-SGD, epsilon = infinity"})
    for (const FinishedRun& r : e.finished(rate_sweep, {"controls"}, arm)) {
      const double distance = std::abs(*metric_of(*r.result, "output.sosp_level") - saddle_level());
      off = std::max(off, distance);
      ++quiet;
      still += distance <= 1e-9;
    }
  for (const char* arm : {"noisy SGD", "DP-SGD"})
    for (const FinishedRun& r : e.finished(rate_sweep, {"n"}, arm)) {
      ++noisy;
      below += *metric_of(*r.result, "output.sosp_level") < *metric_of(*r.result, "schedule.alpha");
    }
  if (quiet == 0 || noisy == 0) return nothing_ran();
  return finding(
      still == quiet && below == noisy,
      fmt::format(
          "without noise {} of {} runs end at 1/ρ (off by {:.1g}); with it {} of {} end below α",
          still, quiet, off, below, noisy));
}

constexpr double selection_candidates = 6, selection_failure = 0.05;
constexpr double oja_gain = 8.0;

/// DP-SGD on the double well, which selects with half of its budget.
JobCell selecting_runs(const Study& study, const std::map<std::string, std::string>& settings) {
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
  spec.settings.insert(settings.begin(), settings.end());
  spec.observations = 0;
  return seeded_cell(spec, study.scale == Scale::full ? 200 : study.scale == Scale::quick ? 40 : 5);
}

/// What the runs of a selection accept.
struct Selected {
  int runs = 0;
  int none = 0;      ///< runs that accept nothing
  int far = 0;       ///< runs that accept a point above 4 α
  double worst = 0;  ///< level of what is accepted, over α

  void add(const RunResult& r) {
    ++runs;
    if (*metric_of(r, "counts.selected") == 0) {
      ++none;
      return;
    }
    const double level =
        *metric_of(r, "output.sosp_level") / *metric_of(r, "parameters.selection_alpha");
    worst = std::max(worst, level);
    far += level > 4.0;
  }
  bool mostly_near() const { return none <= 0.1 * runs && far <= selection_failure * runs; }
};

std::vector<JobCell> selection_cells(const Study& study) { return {selecting_runs(study, {})}; }

Finding section_3_4(const Evidence& e) {
  Selected selected;
  double needed = 0, records = 0, printed = 0;
  for (const FinishedRun& run : e.finished()) {
    const auto parameter = [&](const char* name) {
      return *metric_of(*run.result, fmt::format("parameters.{}", name));
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
    selected.add(*run.result);
  }
  if (selected.runs == 0) return nothing_ran();
  if (needed > records)
    return {.verdict = Verdict::inconclusive,
            .reason = fmt::format("needs n = {:.3g}, has {:.3g}", needed, records)};
  return finding(
      selected.mostly_near() && printed <= selection_failure,
      fmt::format("noise of the printed scales exceeds α/2 or √(ρα)/2 in {} tests with probability "
                  "at most {:.2g}; {} of {} runs accept nothing, {} a point above 4 α (largest "
                  "{:.3g} α), at n = {:.3g} against {:.3g} needed",
                  selection_candidates, printed, selected.none, selected.runs, selected.far,
                  selected.worst, records, needed));
}

/// The selection with its eigenvalues by the power method, the power step and Oja's.
std::vector<JobCell> power_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double gain : {0.0, oja_gain}) {
    cells.push_back(selecting_runs(
        study, {{"selection_eigenvalue", "power"}, {"power_gain", fmt::format("{:g}", gain)}}));
    cells.push_back(probe_cell(
        study, PowerErrors{.records = 40000, .dimension = 10, .gain = gain, .points = 20},
        {{"gain", gain}}, study.scale == Scale::smoke ? 1 : 20));
  }
  return cells;
}

Finding section_3_4_power(const Evidence& e) {
  Selected selected;
  double spent = 0;
  for (const FinishedRun& run : e.finished()) {
    spent = std::max(spent, run.result->privacy.spent / run.run->epsilon);
    selected.add(*run.result);
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
  if (selected.runs == 0 || products == 0) return nothing_ran();
  return finding(
      selected.mostly_near() && share <= selection_failure,
      fmt::format("{:.2g} of the eigenvalues are off by more than √(ρα)/2, by {:.2g} √(ρα) at "
                  "most, after {:g} products; {} of {} runs accept nothing, {} a point above 4 α "
                  "(largest {:.3g} α); at most {:.3f} ε spent",
                  share, largest, products, selected.none, selected.runs, selected.far,
                  selected.worst, spent));
}

}  // namespace

std::vector<Predicate> avdiukhin_2024_run_predicates() {
  return {
      {"avdiukhin-2024/lemma-3.2", lemma_3_2_cells, lemma_3_2},
      on_sweeps("avdiukhin-2024/lemma-3.2-repaired", {rate_sweep}, lemma_3_2_repaired),
      {"avdiukhin-2024/theorem-3.4", theorem_3_4_cells, theorem_3_4_share},
      on_sweeps("avdiukhin-2024/noise-is-needed", {rate_sweep}, noise_is_needed),
      {"avdiukhin-2024/section-3.4", selection_cells, section_3_4},
      {"avdiukhin-2024/section-3.4-power", power_cells, section_3_4_power},
  };
}

}  // namespace dpsosp
