// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"
#include "parts.hpp"
#include "path_length.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

bool is_private(const JudgedCell& cell) {
  const std::string& arm = cell.cell().arm;
  return arm == "adaptive batches" || arm == "adaptive batches, large epsilon";
}

/// The finished runs of the main sweep's private arms, cell by cell.
std::vector<FinishedRun> private_runs(const Evidence& e) {
  std::vector<FinishedRun> all;
  for (const JudgedCell* cell : e.of(main_sweep))
    if (is_private(*cell))
      for (const FinishedRun& r : cell->finished()) all.push_back(r);
  return all;
}

Finding estimate_finding(const Evidence& e) {
  double largest = 0, low = std::numeric_limits<double>::infinity(), high = 0;
  for (const JudgedCell* cell : e.of(main_sweep)) {
    if (!is_private(*cell)) continue;
    std::vector<double> ratios;
    for (const auto& [run, r] : cell->finished()) {
      const auto error = metric_of(*r, "estimate.largest"), alpha = metric_of(*r, "schedule.alpha");
      if (error && alpha) ratios.push_back(*error / *alpha);
    }
    if (ratios.empty()) continue;
    largest = std::max(largest, std::ranges::max(ratios));
    low = std::min(low, median(ratios));
    high = std::max(high, median(ratios));
  }
  return finding(largest <= 1 && high <= 2 * low,
                 fmt::format("largest error {:.2f} α; medians of cells between {:.2f} and {:.2f} α",
                             largest, low, high));
}

/// The runs whose α says more than their start.
struct Solved {
  double runs = 0;
  double share = 0;  ///< whose best recorded iterate is an α-SOSP
  int left_out = 0;  ///< runs whose α does not
};
Solved solved_share(const Evidence& e) {
  double solved = 0;
  Solved s;
  for (const auto& [run, r] : private_runs(e)) {
    const auto best = metric_of(*r, "best.sosp_level"), alpha = metric_of(*r, "schedule.alpha");
    if (!alpha || !says_something(*r, "best.sosp_level", *alpha)) {
      ++s.left_out;
      continue;
    }
    ++s.runs;
    solved += best && *best <= *alpha;
  }
  s.share = solved / std::max(s.runs, 1.0);
  return s;
}

std::vector<JobCell> iteration_cells(const Study& study) {
  std::vector<JobCell> cells = ramp_steps_by_gamma(study);
  for (const double drop : {0.5, 1.0, 2.0, 4.0})
    cells.push_back(probe_cell(study, RampSteps{.gamma = 0.01, .drop = drop}, {{"drop", drop}}));
  return joined({cells, sweep_cells(study, main_sweep)});
}

Finding iteration_finding(const Evidence& e) {
  const double in_gamma = curve_of(e.cells, "gamma", &RampSteps::Result::steps).slope();
  const double in_drop = curve_of(e.cells, "drop", &RampSteps::Result::steps).slope();
  const Solved solved = solved_share(e);
  if (solved.runs == 0)
    return {.verdict = Verdict::inconclusive, .reason = std::string(no_better_than_start)};
  return finding(
      std::abs(in_gamma + 2) <= 0.05 && std::abs(in_drop - 1) <= 0.05 && solved.share >= 0.95,
      fmt::format(
          "exponents on the ramp {:+.3f} in γ, {:+.3f} in B; an α-SOSP among the "
          "recorded iterates of {:.1f} % of {:g} runs; the α of {} more is above a third of "
          "the start's level",
          in_gamma, in_drop, 100 * solved.share, solved.runs, solved.left_out));
}

/// A cell a seed, of a run on each problem.
std::vector<JobCell> path_cells(const Study& study) {
  std::vector<JobCell> cells;
  const std::uint64_t seeds = study.scale == Scale::smoke ? 2 : 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto run = [&](const char* problem, Index records, int dimension, double epsilon) {
      return study.probe(
          PathLength{
              .problem = problem, .records = records, .dimension = dimension, .epsilon = epsilon},
          seed);
    };
    cells.push_back(
        {.at = {},
         .jobs = {run("cosine-saddle", 100000000, 4, 0.01), run("staircase", 1000000000, 10, 1)}});
  }
  return cells;
}

Finding path_finding(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  int paths = 0;
  double worst = 0, unsolved = 0, share_of_steps = 0;
  for (const JudgedCell& cell : e.cells)
    for (const auto& r : cell.results<PathLength::Result>()) {
      ++paths;
      unsolved += !r.solved;
      worst = std::max(worst, r.path / r.bound);
      share_of_steps = std::max(
          share_of_steps, static_cast<double>(r.steps) / static_cast<double>(r.planned_steps));
    }
  return finding(
      unsolved == 0 && worst <= 1,
      fmt::format("path up to the first α-SOSP at most {:.3f} of 2BM/α over {} runs, {:g} "
                  "of them without one; at most {:.3f} of T steps",
                  worst, paths, unsolved, share_of_steps));
}

std::vector<JobCell> data_cells(const Study& study) {
  std::vector<JobCell> cells;
  const std::uint64_t seeds = study.scale == Scale::smoke ? 1 : 5;
  for (const double epsilon : {1e-4, 100.0})
    cells.push_back(
        probe_cell(study, SolvedSchedule{.variant = "V4",
                                         .epsilon = epsilon,
                                         .dimension = 16.0,
                                         .alpha = std::vector{1e-4, 3e-4, 1e-3, 3e-3, 1e-2},
                                         .records = {}}));
  for (const double n : {1e6, 1e7, 1e8, 1e9})
    cells.push_back(probe_cell(
        study,
        PathLength{
            .problem = "cosine-saddle", .records = std::llround(n), .dimension = 4, .epsilon = 1},
        {{"path_records", n}}, seeds));
  return joined({cells, sweep_cells(study, main_sweep)});
}

Finding data_finding(const Evidence& e) {
  const JudgedCell &small = e.cells[0], &large = e.cells[1];
  if (!small.all_finished() || !large.all_finished()) return nothing_ran();
  Curve read = curve_of(e.cells, "path_records", &PathLength::Result::records_used);
  bool all_solved = true;
  for (std::size_t k = 0; k < read.x.size(); ++k) {
    read.y[k] /= read.x[k];
    const JudgedCell& paths = e.cells[2 + k];
    all_solved =
        all_solved && paths.all_finished() &&
        std::ranges::all_of(paths.results<PathLength::Result>(), &PathLength::Result::solved);
  }
  const double at_small = solved_curve(small).slope();
  const double at_large = solved_curve(large).slope();
  int out_of_records = 0;
  for (const auto& [run, r] : private_runs(e))
    out_of_records += r->algorithm.status == Status::data;
  const Solved solved = solved_share(e);
  if (solved.runs == 0)
    return {.verdict = Verdict::inconclusive, .reason = std::string(no_better_than_start)};
  Finding f = finding(
      all_solved && read.slope() <= 0.05 && solved.share >= 0.95 && std::abs(at_small + 2) <= 0.2 &&
          std::abs(at_large + 3) <= 0.1,
      fmt::format(
          "read up to the first α-SOSP: {:.3f} of N(α) at n = {:g} and {:.3f} at {:g}, exponent "
          "{:+.3f} in n; N(α) has exponent {:+.3f} at ε = 1e-4 and {:+.3f} at ε = 100; an "
          "α-SOSP within the budget in {:.1f} % of {:g} runs ({} more have an α above a third "
          "of the start's level); {} ran out of records",
          read.y.front(), read.x.front(), read.y.back(), read.x.back(), read.slope(), at_small,
          at_large, 100 * solved.share, solved.runs, solved.left_out, out_of_records));
  if (f.verdict == Verdict::holds && read.slope() < -0.05) {
    f.verdict = Verdict::bound_met;
    f.reason = "the share of N(α) that is read falls with n";
  }
  return f;
}

Finding repaired_refreshes_finding(const Evidence& e) {
  double worst = 0;
  for (const auto& finished : private_runs(e)) {
    const auto value = [&](const char* name) { return metric_of(*finished.result, name).value(); };
    // For quartic-saddle with γ = 2: B = γ²/4, and the schedule's own M and ρ.
    constexpr double B = 1;
    const double M = 1 / value("parameters.step_size");
    const double rho = value("parameters.hessian_lipschitz");
    const double alpha = value("schedule.alpha");
    const double bound =
        1 + 2 * B * M / (alpha * value("parameters.drift_threshold")) +
        B * std::sqrt(rho) / (std::pow(alpha, 1.5) * value("parameters.escapes_per_refresh"));
    worst = std::max(worst, value("counts.refreshes") / bound);
  }
  if (worst == 0) return nothing_ran();
  return finding(worst <= 1,
                 fmt::format("refreshes of the runs at most {:.2f} of the plan", worst));
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_run_predicates() {
  return {
      on_sweeps("liu-talwar-2025/4", {main_sweep}, estimate_finding),
      {"liu-talwar-2025/8", iteration_cells, iteration_finding},
      {"liu-talwar-2025/9", path_cells, path_finding},
      {"liu-talwar-2025/10", data_cells, data_finding},
      on_sweeps("liu-talwar-2025/10-refreshes-repaired", {main_sweep}, repaired_refreshes_finding),
  };
}

}  // namespace dpsosp
