// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "parts.hpp"
#include "probes.hpp"
#include "series.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using namespace liu_talwar_2025_claims;
using liu_talwar_2025_probe::ablations;

/// Finished runs of the arms of the parts with these names, cell by cell.
struct CellRuns {
  std::string where;
  std::vector<const RunResult*> results;
};
std::vector<CellRuns> results_of(const Runs& runs,
                                 const Study& study,
                                 std::string_view name,
                                 const std::function<bool(const std::string& arm)>& wanted) {
  const Sweep sweep = study.sweep(name);
  std::vector<CellRuns> all;
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part)) {
      if (!wanted(sweep.arms[cell.arm].name)) continue;
      CellRuns c{.where = fmt::format("{}, {}", part.name, to_text(cell.at)), .results = {}};
      for (const FinishedRun& r : finished(runs, cell.runs)) c.results.push_back(r.result);
      all.push_back(std::move(c));
    }
  return all;
}

bool is_private_arm(const std::string& arm) {
  return arm == "adaptive batches" || arm == "adaptive batches, large epsilon";
}

std::vector<CellRuns> adaptive_runs(const Runs& runs, const Study& study) {
  return results_of(runs, study, main_sweep, is_private_arm);
}

std::vector<json> main_jobs(const Study& study) { return jobs_of(study.sweep(main_sweep)); }

Finding estimate_finding(const Runs& runs, const Study& study) {
  double largest = 0, low = std::numeric_limits<double>::infinity(), high = 0;
  for (const CellRuns& c : adaptive_runs(runs, study)) {
    std::vector<double> ratios;
    for (const RunResult* r : c.results) {
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
                             largest,
                             low,
                             high));
}

// ----------------------------------------------------------------------------------- whole runs

/// Of the runs whose α says more than their start.
struct Solved {
  double runs = 0;
  double share = 0;  ///< whose best recorded iterate is an α-SOSP
  int left_out = 0;  ///< runs whose α does not
};
Solved solved_share(const Runs& runs, const Study& study) {
  double solved = 0;
  Solved s;
  for (const CellRuns& c : adaptive_runs(runs, study))
    for (const RunResult* r : c.results) {
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

ProbeSeries ramp_steps_by_drop(const Study& study) {
  ProbeSeries s{.x = {0.5, 1, 2, 4}, .jobs = {}};
  for (const double drop : s.x)
    s.jobs.push_back(study.probe("liu-talwar-2025/ramp-steps", {{"gamma", 0.01}, {"drop", drop}}));
  return s;
}

std::vector<json> iteration_jobs(const Study& study) {
  std::vector<json> jobs = joined({ramp_steps_by_gamma(study), ramp_steps_by_drop(study)});
  for (json& job : main_jobs(study)) jobs.push_back(std::move(job));
  return jobs;
}

Finding iteration_finding(const Runs& runs, const Study& study) {
  const ProbeSeries gamma = ramp_steps_by_gamma(study), drop = ramp_steps_by_drop(study);
  const double in_gamma = log_slope(gamma.x, numbers(runs, gamma, "steps"));
  const double in_drop = log_slope(drop.x, numbers(runs, drop, "steps"));
  const Solved solved = solved_share(runs, study);
  if (solved.runs == 0)
    return {.verdict = Verdict::inconclusive, .reason = std::string(no_better_than_start)};
  return finding(
      std::abs(in_gamma + 2) <= 0.05 && std::abs(in_drop - 1) <= 0.05 && solved.share >= 0.95,
      fmt::format(
          "exponents on the ramp {:+.3f} in γ, {:+.3f} in B; an α-SOSP among the "
          "recorded iterates of {:.1f} % of {:g} runs; the α of {} more is above a third of "
          "the start's level",
          in_gamma,
          in_drop,
          100 * solved.share,
          solved.runs,
          solved.left_out));
}

std::vector<json> path_jobs(const Study& study) {
  std::vector<json> jobs;
  const std::uint64_t seeds = study.scale == Scale::smoke ? 2 : 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    jobs.push_back(study.probe(
        "liu-talwar-2025/path-length",
        {{"problem", "cosine-saddle"}, {"records", 100000000}, {"dimension", 4}, {"epsilon", 0.01}},
        seed));
    jobs.push_back(study.probe(
        "liu-talwar-2025/path-length",
        {{"problem", "staircase"}, {"records", 1000000000}, {"dimension", 10}, {"epsilon", 1.0}},
        seed));
  }
  return jobs;
}

Finding path_finding(const Runs& runs, const Study& study) {
  double worst = 0, unsolved = 0, share_of_steps = 0;
  for (const json& job : path_jobs(study)) {
    const json& r = runs.at(job).result;
    unsolved += !r.at("solved").get<bool>();
    worst = std::max(worst, r.at("path").get<double>() / r.at("bound").get<double>());
    share_of_steps =
        std::max(share_of_steps, r.at("steps").get<double>() / r.at("planned_steps").get<double>());
  }
  return finding(
      unsolved == 0 && worst <= 1,
      fmt::format("path up to the first α-SOSP at most {:.3f} of 2BM/α over {} runs, {:g} "
                  "of them without one; at most {:.3f} of T steps",
                  worst,
                  path_jobs(study).size(),
                  unsolved,
                  share_of_steps));
}

ProbeSeries planned_records(const Study& study, double epsilon) {
  ProbeSeries s{.x = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2}, .jobs = {}};
  s.jobs = {
      study.probe("liu-talwar-2025/solved-schedule",
                  {{"variant", "V4"}, {"epsilon", epsilon}, {"dimension", 16.0}, {"alpha", s.x}})};
  return s;
}

std::vector<json> data_jobs(const Study& study) {
  std::vector<json> jobs = joined({planned_records(study, 1e-4), planned_records(study, 100)});
  for (json& job : main_jobs(study)) jobs.push_back(std::move(job));
  return jobs;
}

Finding data_finding(const Runs& runs, const Study& study) {
  const auto slope = [&](double epsilon) {
    const ProbeSeries s = planned_records(study, epsilon);
    return log_slope(s.x, runs.at(s.jobs[0]).result.at("records").get<std::vector<double>>());
  };
  const double at_small = slope(1e-4), at_large = slope(100);
  int out_of_records = 0;
  for (const CellRuns& c : adaptive_runs(runs, study))
    for (const RunResult* r : c.results) out_of_records += r->algorithm.status == Status::data;
  const Solved solved = solved_share(runs, study);
  if (solved.runs == 0)
    return {.verdict = Verdict::inconclusive, .reason = std::string(no_better_than_start)};
  return finding(
      solved.share >= 0.95 && std::abs(at_small + 2) <= 0.2 && std::abs(at_large + 3) <= 0.1,
      fmt::format(
          "N(α) has exponent {:+.3f} at ε = 1e-4 and {:+.3f} at ε = 100; an "
          "α-SOSP within the budget in {:.1f} % of {:g} runs ({} more have an α above a third "
          "of the start's level); {} ran out of records",
          at_small,
          at_large,
          100 * solved.share,
          solved.runs,
          solved.left_out,
          out_of_records));
}

Finding refreshes_finding(bool repaired) {
  std::vector<std::string> pairs;
  bool holds = true;
  for (const double alpha : {0.2, 0.05, 0.01, 1e-4}) {
    const double tau = repaired ? std::ceil(1 / std::sqrt(alpha) - 1e-9) : std::pow(alpha, 1.5);
    const double by_escapes = 1 / (std::pow(alpha, 1.5) * tau);
    holds = holds && by_escapes <= 1 / alpha * (1 + 1e-9);
    pairs.push_back(fmt::format("{:.4g} against {:.4g}", by_escapes, 1 / alpha));
  }
  return finding(
      holds,
      fmt::format("refreshes by escapes against those by drift, α = 0.2, 0.05, 0.01, 1e-4: {}",
                  fmt::join(pairs, "; ")));
}

Finding printed_refreshes_finding(const Runs&, const Study&) { return refreshes_finding(false); }

Finding repaired_refreshes_finding(const Runs& runs, const Study& study) {
  Finding f = refreshes_finding(true);
  double worst = 0;
  for (const CellRuns& c : adaptive_runs(runs, study))
    for (const RunResult* r : c.results) {
      const auto value = [&](const char* name) { return metric_of(*r, name).value(); };
      // Of quartic-saddle with γ = 2: B = γ²/4, and the schedule's own M and ρ.
      constexpr double B = 1;
      const double M = 1 / value("parameters.step_size");
      const double rho = value("parameters.hessian_lipschitz");
      const double alpha = value("schedule.alpha");
      const double bound =
          1 + 2 * B * M / (alpha * value("parameters.drift_threshold")) +
          B * std::sqrt(rho) / (std::pow(alpha, 1.5) * value("parameters.escapes_per_refresh"));
      worst = std::max(worst, value("counts.refreshes") / bound);
    }
  f.measured += fmt::format("; refreshes of the runs at most {:.2f} of the plan", worst);
  if (worst > 1) f.verdict = Verdict::fails;
  return f;
}

Finding ledger_finding(const Runs& runs, const Study& study) {
  double most = 0;
  const Sweep sweep = study.sweep(main_sweep);
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part)) {
      if (!is_private_arm(sweep.arms[cell.arm].name)) continue;
      for (const FinishedRun& r : finished(runs, cell.runs))
        most = std::max(most, r.result->privacy.spent / r.run->epsilon);
    }
  // The most charged record of a full tree, and of a Hessian batch that answers every product at Ξ.
  double least = 1, highest = 0;
  for (const double alpha : {0.05, 0.01, 0.001}) {
    const auto [leaf, products] = liu_talwar_2025_probe::planned_costs(alpha, 1e-4);
    least = std::min({least, leaf, products});
    highest = std::max({highest, leaf, products});
  }
  return finding(
      most <= 1 && least >= 0.99 && highest <= 1,
      fmt::format("spent ε of the runs at most {:.3f} of the budget; full trees and escapes "
                  "cost {:.4f} to {:.4f} of φ",
                  most,
                  least,
                  highest));
}

std::vector<json> gap_jobs(const Study& study) {
  return joined({uniform_gap_by_records(study), uniform_gap_by_dimension(study)});
}

Finding gap_finding(const Runs& runs, const Study& study) {
  const ProbeSeries n = uniform_gap_by_records(study), d = uniform_gap_by_dimension(study);
  const double in_n = log_slope(n.x, medians(runs, n, "gap"));
  const double in_d = log_slope(d.x, medians(runs, d, "gap"));
  return finding(std::abs(in_n + 0.5) <= 0.1 && in_d <= 0.6,
                 fmt::format("exponents {:+.3f} in n, {:+.3f} in d", in_n, in_d));
}

std::vector<json> direct_fix_jobs(const Study& study) {
  return jobs_of(study.sweep(ablation_sweep));
}

Finding direct_fix_finding(const Runs& runs, const Study& study) {
  double all = 0, weak = 0, strong = 0;
  int vacuous = 0;
  const double rho = 12;  // of quartic-saddle at its default radius
  for (const CellRuns& c :
       results_of(runs, study, ablation_sweep, [](const auto& arm) { return arm == "V1"; }))
    for (const RunResult* r : c.results) {
      const double lambda = r->best.value().lambda_min;
      const double alpha = metric_of(*r, "schedule.alpha").value();
      const double weaker = -std::sqrt(rho) * std::pow(16, 0.2) * std::pow(alpha, 0.4);
      if (r->start.lambda_min >= weaker) {
        ++vacuous;
        continue;
      }
      ++all;
      weak += lambda >= weaker;
      strong += lambda >= -std::sqrt(rho * alpha);
    }
  if (all == 0)
    return {.verdict = Verdict::inconclusive, .reason = "the saddle itself meets the weaker bound"};
  return finding(
      weak >= 0.95 * all,
      fmt::format("the weaker bound in {:.1f} %, the stronger one in {:.1f} % of {:g} runs; in {} "
                  "more the saddle itself meets the weaker one",
                  100 * weak / all,
                  100 * strong / all,
                  all,
                  vacuous));
}

// ------------------------------------------------------------------------------------- ablation

std::vector<json> solved_jobs(const Study& study, double epsilon) {
  std::vector<json> jobs;
  for (const auto& v : ablations()) jobs.push_back(solved_alpha(study, v.name, epsilon).jobs[0]);
  return jobs;
}

Finding solved_finding(const Runs& runs, const Study& study, double epsilon) {
  std::vector<std::string> slopes, misses, unclear;
  // Half the distance between the predictions, −1/2, −3/7, −2/5 and −1/3, −3/10, −2/7, at least.
  const double apart = epsilon < 1 ? 0.5 / 35 : 0.5 / 70;
  for (const auto& v : ablations()) {
    const ProbeSeries s = solved_alpha(study, v.name, epsilon);
    const double slope =
        log_slope(s.x, runs.at(s.jobs[0]).result.at("alpha").get<std::vector<double>>());
    const double predicted = epsilon < 1 ? v.private_exponent : v.statistical_exponent;
    slopes.push_back(fmt::format("{} {:+.3f} for {:+.3f}", v.name, slope, predicted));
    if (std::abs(slope - predicted) > slope_tolerance)
      misses.push_back(v.name);
    else if (std::abs(slope - predicted) > apart)
      unclear.push_back(v.name);
  }
  Finding f = finding(
      misses.empty(),
      fmt::format("solved schedules: {}", fmt::join(slopes, "; ")),
      misses.empty() ? "" : fmt::format("off by more than 0.05: {}", fmt::join(misses, ", ")));
  if (misses.empty() && !unclear.empty()) {
    f.verdict = Verdict::inconclusive;
    f.reason = fmt::format("{} cannot be told from another prediction: logarithms bend the slopes",
                           fmt::join(unclear, ", "));
  }
  return f;
}

std::vector<json> private_jobs(const Study& study) { return solved_jobs(study, small_epsilon); }
std::vector<json> statistical_jobs(const Study& study) { return solved_jobs(study, no_privacy); }
Finding private_finding(const Runs& runs, const Study& study) {
  return solved_finding(runs, study, small_epsilon);
}
Finding statistical_finding(const Runs& runs, const Study& study) {
  return solved_finding(runs, study, no_privacy);
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_run_predicates() {
  return {
      judged_by("liu-talwar-2025/introduction-direct-fix", direct_fix_jobs, direct_fix_finding),
      judged_by("liu-talwar-2025/4", main_jobs, estimate_finding),
      judged_by("liu-talwar-2025/8", iteration_jobs, iteration_finding),
      judged_by("liu-talwar-2025/9", path_jobs, path_finding),
      judged_by("liu-talwar-2025/10", data_jobs, data_finding),
      judged_by("liu-talwar-2025/10-refreshes", no_jobs, printed_refreshes_finding),
      judged_by("liu-talwar-2025/10-refreshes-repaired", main_jobs, repaired_refreshes_finding),
      judged_by("liu-talwar-2025/11", main_jobs, ledger_finding),
      judged_by("liu-talwar-2025/13", gap_jobs, gap_finding),
      judged_by("liu-talwar-2025/ablation-private", private_jobs, private_finding),
      judged_by("liu-talwar-2025/ablation-statistical", statistical_jobs, statistical_finding),
  };
}

}  // namespace dpsosp
