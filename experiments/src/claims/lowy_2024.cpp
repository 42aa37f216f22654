// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../exhibits/lowy_2024_contour.hpp"
#include "../exhibits/lowy_2024_published.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "lowy_2024_formulas.hpp"
#include "predicates.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

using namespace lowy_2024_claims;

constexpr double rounding = 1e-9;

std::vector<json> no_jobs(Scale) { return {}; }

/// A finding that rests on no run.
template <Finding (*Find)()>
Finding formula(const Runs&, Scale) {
  return Find();
}

double mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

/// 0 for fewer than two values.
double standard_error(const std::vector<double>& v) {
  if (v.size() < 2) return 0;
  const double m = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - m) * (x - m);
  const auto n = static_cast<double>(v.size());
  return std::sqrt(sum / (n - 1) / n);
}

/// Finished results of a cell, with the run's description.
struct Result {
  const json* run;
  const json* result;
};
std::vector<Result> results(const Runs& runs, const std::vector<json>& descriptions) {
  std::vector<Result> all;
  for (const json& d : descriptions) {
    const StoredRun& run = runs.at(d);
    if (run.status == RunStatus::finished) all.push_back({&d, &run.result});
  }
  return all;
}

/// Cells of one arm of a part; none where the scale does not have the part.
std::vector<Cell> arm_cells(const Sweep& sweep, std::string_view part, std::string_view arm) {
  std::vector<Cell> found;
  for (const Part& p : sweep.parts) {
    if (p.name != part) continue;
    for (Cell& c : cells_of(sweep, p))
      if (sweep.arms[c.arm].name == arm) found.push_back(std::move(c));
  }
  return found;
}

std::vector<double> values_of(const std::vector<Result>& all, std::string_view metric) {
  std::vector<double> values;
  for (const Result& r : all)
    if (const auto v = metric_of(*r.result, metric)) values.push_back(*v);
  return values;
}

struct ArmOfPart {
  std::string_view sweep, part, arm;
};

constexpr std::string_view no_better_than_start = "the promise is no better than the start";

/// Whether the promise says more than the start, so that a run below it shows something.
bool says_something(const json& result, std::string_view metric, double promise) {
  const auto start = start_metric(result, metric);
  return start && start_over_result * promise < *start;
}

template <std::size_t N>
std::vector<json> sweep_jobs(const std::array<std::string_view, N>& names, Scale scale) {
  std::vector<json> jobs;
  for (const std::string_view name : names)
    for (json& job : jobs_of(built_in_sweep(name, scale))) jobs.push_back(std::move(job));
  return jobs;
}

// ------------------------------------------------------------------------------ sweeps' own cells

/// E‖∇F‖² over a uniform output: over the iterates looked at, a row for those since the row before.
double mean_square_gradient(const json& result) {
  const json& trace = result.at("trace");
  double sum = 0, before = trace.front().at(0).get<double>() - 1;
  const double first = before;
  for (const json& row : trace) {
    const double t = row.at(0).get<double>(), g = from_json_number(row.at(2));
    sum += (t - before) * g * g;
    before = t;
  }
  return sum / (before - first);
}

constexpr std::array<std::string_view, 3> bound_sweeps{
    "arora-2023-dp-spider", "lowy-2024-warm-exponential", "lowy-2024-warm-quasar"};

std::vector<json> c2_jobs(Scale scale) { return sweep_jobs(bound_sweeps, scale); }

Finding c2(const Runs& runs, Scale scale) {
  int cells = 0, broken = 0;
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const std::string_view name : bound_sweeps) {
    const Sweep sweep = built_in_sweep(name, scale);
    for (const char* part : {"n", "d", "epsilon"})
      for (const char* arm : {"DP-SPIDER", "warm start"})
        for (const Cell& cell : arm_cells(sweep, part, arm)) {
          const auto all = results(runs, cell.runs);
          const auto promise = values_of(all, "schedule.alpha");
          if (all.empty() || promise.size() != all.size()) continue;
          std::vector<double> squares;
          for (const Result& r : all) squares.push_back(mean_square_gradient(*r.result));
          const double bound = promise.front() * promise.front();
          ++cells;
          broken += mean(squares) > bound + 3 * standard_error(squares);
          least = std::min(least, std::sqrt(mean(squares) / bound));
          largest = std::max(largest, std::sqrt(mean(squares) / bound));
        }
  }
  if (cells == 0) return {.reason = "no cell at this scale"};
  return {.verdict = holds_if(broken == 0),
          .measured = fmt::format("{} cells, {} above the bound; root mean square gradient over "
                                  "promise {:.2f} to {:.2f}",
                                  cells,
                                  broken,
                                  least,
                                  largest),
          .value = largest};
}

constexpr std::array<double, 5> excesses{1e-3, 3.162e-3, 1e-2, 3.162e-2, 1e-1};

std::vector<json> c2_excess_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const double psi : excesses)
    for (std::uint64_t seed = 0; seed < (scale == Scale::smoke ? 2U : 6U); ++seed)
      jobs.push_back(
          describe_probe("lowy-2024/start-at-excess",
                         {{"excess", psi}, {"records", scale == Scale::smoke ? 10000 : 100000}},
                         seed));
  return jobs;
}

Finding c2_excess(const Runs& runs, Scale scale) {
  std::vector<FitCell> measured;
  std::vector<double> psi(excesses.begin(), excesses.end()), promised;
  const auto jobs = c2_excess_jobs(scale);
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const json& result = runs.at(jobs[k]).result;
    const double x = result.at("excess");
    if (measured.empty() || measured.back().x != x) {
      measured.push_back({.x = x});
      promised.push_back(result.at("promise"));
    }
    measured.back().seeds.push_back(jobs[k].at("seed"));
    measured.back().values.push_back(result.at("mean_gradient"));
  }
  const double of_promise = exact_slope(psi, promised);
  const SlopeFit fit = fit_slope(measured);
  return {
      .verdict = holds_if(std::abs(of_promise - 1.0 / 3) <= slope_tolerance &&
                          fit.interval.low <= 1.0 / 3 + slope_tolerance),
      .measured = fmt::format("exponent in ψ: promise {:+.3f}, measured {:+.3f} [{:+.3f}, {:+.3f}]",
                              of_promise,
                              fit.slope,
                              fit.interval.low,
                              fit.interval.high),
      .value = fit.slope,
      .interval = fit.interval};
}

constexpr std::array<std::string_view, 3> warm_sweeps{
    "lowy-2024-warm-exponential", "lowy-2024-warm-quasar", "lowy-2024-warm-kl"};

std::vector<json> warm_jobs(Scale scale) { return sweep_jobs(warm_sweeps, scale); }

Finding warm_privacy(const Runs& runs, Scale scale) {
  int counted = 0, broken = 0;
  double largest = 0;
  for (const std::string_view name : warm_sweeps)
    for (const json& job : jobs_of(built_in_sweep(name, scale))) {
      const StoredRun& run = runs.at(job);
      if (run.status != RunStatus::finished || job.at("door") != "enforced" ||
          !job.at("algorithm").get<std::string>().starts_with("lowy-2024/warm-"))
        continue;
      const double share =
          from_json_number(run.result.at("privacy").at("spent")) / job.at("epsilon").get<double>();
      ++counted;
      broken += share > 1 + rounding;
      largest = std::max(largest, share);
    }
  return {.verdict = holds_if(broken == 0),
          .measured =
              fmt::format("{} runs, {} above ε; at most {:.4f} ε spent", counted, broken, largest),
          .reason =
              "the door refuses a child's query beyond its slice, so the total is what is left to "
              "check",
          .value = largest};
}

std::vector<json> c5_jobs(Scale scale) { return lowy_2024_exhibit::contour_jobs(scale); }

Finding c5(const Runs& runs, Scale scale) {
  std::vector<double> d, n, promised_d, promised_n;
  std::vector<std::string> cells;
  bool stays = true;
  for (const auto& curve : lowy_2024_exhibit::ratio_curves(runs, scale)) {
    const auto at = lowy_2024_exhibit::crossing(curve.moved_records, curve.moved_ratio);
    if (const auto promised = lowy_2024_exhibit::crossing(curve.records, curve.promised)) {
      promised_d.push_back(curve.dimension);
      promised_n.push_back(*promised);
    }
    cells.push_back(at ? fmt::format("d = {:g}: {:.3g}", curve.dimension, *at)
                       : fmt::format("d = {:g}: none", curve.dimension));
    if (!at) continue;
    d.push_back(curve.dimension);
    n.push_back(*at);
    for (std::size_t k = 0; k < curve.moved_records.size(); ++k)
      stays = stays && (curve.moved_records[k] < 2 * *at || curve.moved_ratio[k] < 1);
  }
  Finding f{.measured = fmt::format("n at ratio 1: {}", fmt::join(cells, ", "))};
  if (promised_d.size() >= 2)
    f.measured += fmt::format("; of the promises {:.3g} to {:.3g}, exponent in d {:+.3f}",
                              promised_n.front(),
                              promised_n.back(),
                              exact_slope(promised_d, promised_n));
  if (d.size() < 3) {
    f.verdict = Verdict::inconclusive;
    f.reason =
        "fewer than three crossings between cells where both methods are at most a third of their "
        "start";
    return f;
  }
  const double slope = exact_slope(d, n);
  f.measured += fmt::format("; exponent in d {:+.3f}", slope);
  f.value = slope;
  f.verdict = holds_if(std::abs(slope - 1) <= 0.15 && stays);
  return f;
}

Finding c11(const Runs& runs, Scale scale) {
  struct Arm {
    std::string_view sweep, arm;
  };
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::string> slopes;
  for (const Arm a : {Arm{"lowy-2024-warm-quasar", "warm start"},
                      Arm{"lowy-2024-warm-kl", "warm start, k = 2"},
                      Arm{"lowy-2024-warm-kl", "warm start, k = 4/3"}}) {
    std::vector<FitCell> cells;
    for (const Cell& cell : arm_cells(built_in_sweep(a.sweep, scale), "n", a.arm)) {
      FitCell c{.x = coordinate(cell.at, "records").value()};
      for (const Result& r : results(runs, cell.runs)) {
        const double unit = metric_of(*r.result, "parameters.second.clip_refresh").value() *
                            std::sqrt(r.run->at("dimension").get<double>()) /
                            (r.run->at("epsilon").get<double>() * c.x);
        c.seeds.push_back(r.run->at("seed"));
        c.values.push_back(metric_of(*r.result, "trace.mean_gradient_norm").value() / unit);
      }
      if (c.values.empty()) continue;
      least = std::min(least, mean(c.values));
      cells.push_back(std::move(c));
    }
    if (cells.size() < 3) continue;
    slopes.push_back(fmt::format("{} {:+.3f}", a.arm, fit_slope(cells).slope));
  }
  if (!std::isfinite(least)) return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
  return {.verdict = holds_if(least >= 0.1),
          .measured = fmt::format("measured over L√d/(εn) at least {:.3g}; exponents in n: {}",
                                  least,
                                  fmt::join(slopes, ", ")),
          .reason =
              "consistent with the bound, no proof of it; a ratio that falls with n has not come "
              "down to the bound's rate yet",
          .value = least};
}

std::vector<json> c10_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 1>{"lowy-2024-warm-kl"}, scale);
}

/// Either term of the bound may lead, so each slope may lie anywhere between their exponents.
Finding c10(const Runs& runs, Scale scale) {
  using enum Verdict;
  struct Range {
    std::string_view axis, arm;
    double low, high;
  };
  constexpr double k2 = 2, k43 = 4.0 / 3;
  constexpr std::array ranges{Range{"records", "warm start, k = 2", -(k2 + 2) / 3, -1},
                              Range{"dimension", "warm start, k = 2", 0.5, (k2 + 2) / 6},
                              Range{"records", "warm start, k = 4/3", -(k43 + 2) / 3, -1},
                              Range{"dimension", "warm start, k = 4/3", 0.5, (k43 + 2) / 6}};
  const std::vector<Slope> slopes = slopes_of(runs, built_in_sweep("lowy-2024-warm-kl", scale));
  std::vector<Verdict> verdicts;
  std::vector<std::string> measured, reasons;
  for (const Range& r : ranges) {
    const auto s = std::ranges::find_if(slopes, [&](const Slope& slope) {
      return slope.arm == r.arm && slope.request.axis == r.axis &&
             slope.request.metric == "trace.mean_gradient_norm";
    });
    const std::string name = fmt::format("{}, {}", r.axis, r.arm.substr(r.arm.find('k')));
    if (s == slopes.end()) {
      reasons.push_back(fmt::format("{}: not run at this scale", name));
      continue;
    }
    const SlopeVerdict v = s->fit ? judge(*s->fit, std::clamp(s->fit->slope, r.low, r.high))
                                  : SlopeVerdict{inconclusive, s->verdict.reason};
    verdicts.push_back(v.verdict);
    if (!v.reason.empty()) reasons.push_back(fmt::format("{}: {}", name, v.reason));
    if (s->fit)
      measured.push_back(fmt::format("{} {:+.3f} [{:+.3f}, {:+.3f}] for {:+.3f} to {:+.3f}",
                                     name,
                                     s->fit->slope,
                                     s->fit->interval.low,
                                     s->fit->interval.high,
                                     r.low,
                                     r.high));
  }
  const auto any = [&](Verdict v) { return std::ranges::find(verdicts, v) != verdicts.end(); };
  return {.verdict = verdicts.empty()           ? not_measured
                     : any(worse_than_claimed)  ? worse_than_claimed
                     : any(inconclusive)        ? inconclusive
                     : any(better_than_claimed) ? better_than_claimed
                                                : as_claimed,
          .measured = fmt::format("{}", fmt::join(measured, "; ")),
          .reason = fmt::format("{}", fmt::join(reasons, "; "))};
}

std::vector<json> c11_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 2>{"lowy-2024-warm-quasar", "lowy-2024-warm-kl"},
                    scale);
}

std::vector<json> c9_floor_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 1>{"menart-2024-kl-spider"}, scale);
}

Finding c9_floor(const Runs& runs, Scale scale) {
  int cells = 0, broken = 0;
  double worst = 0;
  const Sweep sweep = built_in_sweep("menart-2024-kl-spider", scale);
  for (const char* part : {"n", "d"})
    for (const char* arm : {"KL-SPIDER, k = 2", "KL-SPIDER, k = 4/3"})
      for (const Cell& cell : arm_cells(sweep, part, arm)) {
        const auto all = results(runs, cell.runs);
        const auto excess = values_of(all, "output.excess_risk");
        const auto target = values_of(all, "schedule.alpha");
        if (excess.empty() || target.size() != excess.size()) continue;
        std::size_t above = 0;
        for (std::size_t k = 0; k < excess.size(); ++k) {
          above += excess[k] > target[k];
          worst = std::max(worst, excess[k] / target[k]);
        }
        ++cells;
        broken += static_cast<double>(above) > 0.05 * static_cast<double>(excess.size());
      }
  return {.verdict = holds_if(broken == 0),
          .measured = fmt::format(
              "{} cells, {} with more than 5 % of the seeds above ψ; largest excess {:.3g} ψ",
              cells,
              broken,
              worst),
          .value = worst};
}

std::vector<json> c12_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 1>{"lowy-2024-exponential-mechanism-population"},
                    scale);
}

Finding c12_bound(const Runs& runs, Scale scale) {
  constexpr double failure = 0.05;
  int cells = 0, broken = 0, vacuous = 0;
  double largest = 0;
  const Sweep sweep = built_in_sweep("lowy-2024-exponential-mechanism-population", scale);
  for (const char* part : {"n", "d"})
    for (const Cell& cell : arm_cells(sweep, part, "exponential mechanism")) {
      std::size_t above = 0, counted = 0;
      for (const Result& r : results(runs, cell.runs)) {
        const double L = metric_of(*r.result, "parameters.lipschitz").value();
        const double lambda = metric_of(*r.result, "parameters.inverse_temperature").value();
        const double rad = metric_of(*r.result, "parameters.net_radius").value();
        const double n = r.run->at("records"), d = r.run->at("dimension");
        const double D = r.run->at("epsilon").get<double>() * n / (2 * L * lambda);
        // cells of side 2 rad/√d over a box of side D/√d
        const double log_net = d * std::log(std::ceil(D / (2 * rad)));
        const double psi = population_psi(log_net, lambda, L * rad, L, D, n, failure);
        constexpr std::string_view excess = "population.output.excess_risk";
        if (!says_something(*r.result, excess, psi)) continue;
        const double share = metric_of(*r.result, excess).value() / psi;
        ++counted;
        above += share > 1;
        largest = std::max(largest, share);
      }
      if (counted == 0) {
        ++vacuous;
        continue;
      }
      ++cells;
      broken += static_cast<double>(above) > failure * static_cast<double>(counted);
    }
  if (cells == 0)
    return {.verdict = Verdict::inconclusive,
            .measured = fmt::format("{} cells say nothing", vacuous),
            .reason = std::string(no_better_than_start)};
  return {.verdict = holds_if(broken == 0),
          .measured = fmt::format("{} cells, {} with more than 5 % of the seeds above ψ; largest "
                                  "excess {:.2g} ψ; {} more cells say nothing",
                                  cells,
                                  broken,
                                  largest,
                                  vacuous),
          .value = largest};
}

std::vector<json> c19_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 1>{"lowy-2024-ramp"}, scale);
}

Finding c19(const Runs& runs, Scale scale) {
  std::vector<FitCell> cells;
  double least = 1;
  for (const Cell& cell : arm_cells(built_in_sweep("lowy-2024-ramp", scale), "n", "DP-SPIDER")) {
    FitCell c{.x = coordinate(cell.at, "records").value()};
    for (const Result& r : results(runs, cell.runs)) {
      const double at = metric_of(*r.result, "trace.mean_gradient_norm").value();
      least = std::min(least, at / metric_of(*r.result, "start.gradient_norm").value());
      c.seeds.push_back(r.run->at("seed"));
      c.values.push_back(at);
    }
    cells.push_back(std::move(c));
  }
  const SlopeFit fit = fit_slope(cells);
  return {
      .verdict = holds_if(least >= 0.99 && std::abs(fit.slope + 2.0 / 3) <= slope_tolerance),
      .measured = fmt::format(
          "exponent {:+.3f} in n; mean gradient at least {:.4f} of the start's", fit.slope, least),
      .value = fit.slope,
      .interval = fit.interval};
}

// ------------------------------------------------------------------------------ runs of their own

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

std::vector<json> c6_quasar_cell(Scale scale, const char* amplitude) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", scale == Scale::smoke ? 2000 : 10000, 16);
  spec.problem_settings["amplitude"] = amplitude;
  std::vector<json> jobs;
  const std::uint64_t seeds = scale == Scale::smoke ? 2 : scale == Scale::quick ? 6 : 20;
  for (spec.seed = 0; spec.seed < seeds; ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

std::vector<json> c6_quasar_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const char* a : amplitudes)
    for (json& job : c6_quasar_cell(scale, a)) jobs.push_back(std::move(job));
  return jobs;
}

Finding c6_quasar(const Runs& runs, Scale scale) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const char* a : amplitudes) {
    const auto all = results(runs, c6_quasar_cell(scale, a));
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

std::vector<json> c8_cell(Scale scale, const char* failure) {
  RunSpec spec = radial("lowy-2024/quasar-dp-sgd", scale == Scale::smoke ? 1000 : 5000, 8);
  spec.settings = {{"boosted", "true"}, {"failure", failure}};
  spec.observations = 0;
  std::vector<json> jobs;
  const std::uint64_t seeds = scale == Scale::smoke ? 3 : scale == Scale::quick ? 60 : 200;
  for (spec.seed = 0; spec.seed < seeds; ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

std::vector<json> c8_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const char* z : failures)
    for (json& job : c8_cell(scale, z)) jobs.push_back(std::move(job));
  return jobs;
}

Finding c8(const Runs& runs, Scale scale) {
  std::vector<std::string> cells;
  int counted = 0;
  bool holds = true;
  for (const char* z : failures) {
    const auto all = results(runs, c8_cell(scale, z));
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

std::vector<json> c9_printed_jobs(Scale) {
  RunSpec spec = radial("menart-2024/kl-spider", 1000000, 16);
  spec.settings = {{"handover", "previous"}};
  return {describe(spec)};
}

Finding c9_printed(const Runs& runs, Scale scale) {
  const json& r = runs.at(c9_printed_jobs(scale).front()).result;
  const double start = metric_of(r, "start.value").value();
  const double end = metric_of(r, "output.value").value();
  return {.verdict = holds_if(start != end),
          .measured = fmt::format("F = {:.6g} at the start and {:.6g} at the end, after {:g} steps",
                                  start,
                                  end,
                                  metric_of(r, "steps").value_or(0))};
}

json reused(Scale) {
  RunSpec spec;
  spec.algorithm = "lowy-2024/warm-population";
  spec.problem = "ripple-location";
  spec.records = 100000;
  spec.dimension = 1;
  spec.variant = "printed";
  return describe(spec);
}

/// Length of the overlap of the records that the first stage's queries read and those of the
/// second.
Index records_in_both_stages(const json& privacy) {
  Index first_end = 0, second_begin = std::numeric_limits<Index>::max(), second_end = 0;
  for (const json& e : privacy.at("ledger").at("entries")) {
    const Index begin = e.at("records").at(0), end = e.at("records").at(1);
    if (e.at("scope") == "/first/") {
      first_end = std::max(first_end, end);
    } else {
      second_begin = std::min(second_begin, begin);
      second_end = std::max(second_end, end);
    }
  }
  return std::max<Index>(0, std::min(first_end, second_end) - second_begin);
}

std::vector<json> c13_privacy_jobs(Scale scale) { return {reused(scale)}; }

Finding c13_privacy(const Runs& runs, Scale scale) {
  const json d = reused(scale);
  const StoredRun& run = runs.at(d);
  if (run.status != RunStatus::finished)
    return {.verdict = Verdict::inconclusive, .reason = run.reason};
  const double spent = from_json_number(run.result.at("privacy").at("spent"));
  const Index shared = records_in_both_stages(run.result.at("privacy"));
  return {
      .verdict = holds_if(spent <= d.at("epsilon").get<double>() * (1 + rounding) && shared == 0),
      .measured = fmt::format("spent {:.4f} of ε = 1; {} of the {} records in both stages",
                              spent,
                              shared,
                              d.at("records").get<Index>()),
      .reason = shared > 0 ? "the second stage's samples are among those that its start was "
                             "computed from"
                           : ""};
}

std::vector<json> population_jobs(Scale scale) {
  return sweep_jobs(std::array<std::string_view, 1>{"lowy-2024-population"}, scale);
}

/// The warm start's slope in n, where the second stage adds something to the first.
/// \param control  the arm without noise
Finding second_stage_slope(const Runs& runs,
                           Scale scale,
                           std::string_view arm,
                           std::string_view control,
                           std::string_view metric,
                           double claimed) {
  const Sweep sweep = built_in_sweep("lowy-2024-population", scale);
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
  if (fewest <= 2)
    f.reason = "the second stage ends after 2 steps: the level is the spacing of the first's net";
  else if (start_over_result * *quiet > *noisy)
    f.reason =
        "without noise the level is no third of the private one: the records' sampling or the "
        "first "
        "stage's net sets it";
  else {
    const SlopeVerdict v = judge(*slope->fit, claimed);
    f.verdict = v.verdict;
    f.reason = v.reason;
    return f;
  }
  f.verdict = Verdict::inconclusive;
  return f;
}

Finding c13(const Runs& runs, Scale scale) {
  return second_stage_slope(
      runs, scale, "warm start", "no noise", "output.gradient_norm", -1.0 / 2);
}

Finding c13_second_order(const Runs& runs, Scale scale) {
  return second_stage_slope(runs,
                            scale,
                            "warm start, Stochastic Spider",
                            "no noise, Stochastic Spider",
                            "output.sosp_level",
                            -1.0 / 2);
}

Finding c13_privacy_repaired(const Runs& runs, Scale scale) {
  int counted = 0, overlapping = 0, over = 0;
  for (const Cell& cell :
       arm_cells(built_in_sweep("lowy-2024-population", scale), "n", "warm start"))
    for (const Result& r : results(runs, cell.runs)) {
      const json& privacy = r.result->at("privacy");
      ++counted;
      overlapping += records_in_both_stages(privacy) > 0;
      over += from_json_number(privacy.at("spent")) >
              r.run->at("epsilon").get<double>() * (1 + rounding);
    }
  if (counted == 0) return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
  return {.verdict = holds_if(overlapping == 0 && over == 0),
          .measured = fmt::format(
              "{} runs: {} with a record in both stages, {} above ε", counted, overlapping, over)};
}

std::vector<json> c16_glm_jobs(Scale scale) {
  RunSpec spec;
  spec.algorithm = "lowy-2024/warm-glm";
  spec.problem = "glm-sigmoid";
  spec.problem_settings = {
      {"features", "low_rank"}, {"rank", "3"}, {"support", "100"}, {"simulate", "whole"}};
  spec.settings = {{"rank", "3"}, {"fallback", "false"}, {"finder", "stochastic_spider"}};
  spec.dimension = 400;
  spec.epsilon = 4;
  std::vector<json> jobs;
  for (const Index n : {1000, 3000, 10000})
    for (std::uint64_t seed = 0; seed < (scale == Scale::full ? 20U : 3U); ++seed) {
      if (scale == Scale::smoke && n > 1000) continue;
      spec.records = n;
      spec.seed = spec.data_seed = seed;
      jobs.push_back(describe(spec));
    }
  return jobs;
}

Finding c16_glm(const Runs& runs, Scale scale) {
  int counted = 0, above = 0, vacuous = 0;
  double largest = 0;
  for (const Result& r : results(runs, c16_glm_jobs(scale))) {
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
            .measured = fmt::format("{} runs say nothing", vacuous),
            .reason = std::string(vacuous > 0 ? no_better_than_start : "no run finished")};
  return {
      .verdict = holds_if(above <= 0.05 * counted),
      .measured = fmt::format("{} runs, {} above; largest curvature part {:.2g} of the promise; "
                              "{} more say nothing",
                              counted,
                              above,
                              largest,
                              vacuous),
      .value = largest};
}

// ------------------------------------------------------------------------------------ by probes

std::vector<json> c3_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const int d : {1, 2, 3})
    jobs.push_back(describe_probe(
        "lowy-2024/exact-exponential-mechanism",
        {{"dimension", d}, {"pairs", scale == Scale::smoke ? 5 : 100}, {"records", 20}}));
  return jobs;
}

Finding c3(const Runs& runs, Scale scale) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c3_jobs(scale)) {
    const json& r = runs.at(job).result;
    const double ratio = r.at("log_ratio_over_bound"), tail = r.at("tail_over_bound");
    holds = holds && ratio <= 1 + 1e-12 && tail <= 1;
    cells.push_back(fmt::format("d = {}, {} points: log-ratio {:.3f} of its bound, tail {:.2g}",
                                job.at("parameters").at("dimension").get<int>(),
                                r.at("points").get<Index>(),
                                ratio,
                                tail));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

std::vector<json> c3_bound_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const int d : {2, 16})
    jobs.push_back(describe_probe(
        "lowy-2024/exponential-mechanism-tail",
        {{"dimension", d}, {"records", 100000}, {"seeds", scale == Scale::smoke ? 10 : 1000}}));
  return jobs;
}

Finding c3_bound(const Runs& runs, Scale scale) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c3_bound_jobs(scale)) {
    const json& r = runs.at(job).result;
    const int above = r.at("above"), seeds = r.at("seeds");
    const double p = r.at("failure");
    // P[Bin(seeds, p) ≥ above], refused below 1e-3
    double tail = 1, term = std::pow(1 - p, seeds);
    for (int k = 0; k < above; ++k) {
      tail -= term;
      term *= static_cast<double>(seeds - k) / (k + 1) * p / (1 - p);
    }
    holds = holds && tail >= 1e-3;
    cells.push_back(fmt::format("d = {}: {} of {} above, largest {:.2g} of ψ",
                                job.at("parameters").at("dimension").get<int>(),
                                above,
                                seeds,
                                r.at("largest").get<double>()));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

std::vector<json> c14_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const int d : {100, 400, 1600})
    for (const int r : {5, 50, 200})
      for (const int k : {4, 16, 64, 256}) {
        if (r > d || (scale == Scale::smoke && (d > 100 || k > 16))) continue;
        jobs.push_back(describe_probe("lowy-2024/projection-deviation",
                                      {{"dimension", d},
                                       {"rank", r},
                                       {"projected", k},
                                       {"maps", scale == Scale::full ? 20 : 5}}));
      }
  return jobs;
}

Finding c14(const Runs& runs, Scale scale) {
  std::vector<double> medians, all;
  for (const json& job : c14_jobs(scale)) {
    const std::vector<double> scaled = runs.at(job).result.at("scaled");
    medians.push_back(median(scaled));
    all.insert(all.end(), scaled.begin(), scaled.end());
  }
  const auto above = std::ranges::count_if(all, [](double v) { return v > 1; });
  const bool holds = static_cast<double>(above) <= 0.05 * static_cast<double>(all.size());
  return {
      .verdict = holds_if(holds),
      .measured = fmt::format("√k × deviation over L: medians {:.2f} to {:.2f}, largest {:.2f}, "
                              "{} of {} above 1",
                              std::ranges::min(medians),
                              std::ranges::max(medians),
                              std::ranges::max(all),
                              above,
                              all.size()),
      .reason = holds ? "" : "more than 5 % of the deviations found are above 1",
      .value = std::ranges::max(all)};
}

/// From small to large.
std::vector<int> projected_dimensions(Scale scale) {
  if (scale == Scale::full) return {4, 8, 16, 32, 64, 128, 256, 512};
  return {64, 256, 512};
}

std::vector<json> c14_projection_cell(Scale scale, int projected) {
  std::vector<json> jobs;
  for (std::uint64_t seed = 0; seed < (scale == Scale::full ? 20U : 2U); ++seed)
    jobs.push_back(describe_probe("lowy-2024/projection-size",
                                  {{"rank", 50},
                                   {"support", 400},
                                   {"records", 100000},
                                   {"dimension", 1000},
                                   {"projected", projected},
                                   {"epsilon", 1}},
                                  seed));
  return jobs;
}

std::vector<json> c14_projection_jobs(Scale scale) {
  std::vector<json> jobs;
  if (scale == Scale::smoke) return jobs;
  for (const int k : projected_dimensions(scale))
    for (json& job : c14_projection_cell(scale, k)) jobs.push_back(std::move(job));
  return jobs;
}

Finding c14_projection(const Runs& runs, Scale scale) {
  if (scale == Scale::smoke)
    return {.verdict = Verdict::inconclusive, .reason = "runs at scale quick or full alone"};
  std::vector<std::vector<double>> values;
  std::vector<double> medians;
  std::vector<std::string> cells;
  for (const int k : projected_dimensions(scale)) {
    values.emplace_back();
    for (const Result& r : results(runs, c14_projection_cell(scale, k)))
      values.back().push_back(r.result->at("mean_gradient"));
    if (values.back().empty())
      return {.verdict = Verdict::inconclusive, .reason = "no run finished"};
    medians.push_back(median(values.back()));
    cells.push_back(fmt::format("{}: {:.3g}", k, medians.back()));
  }
  const auto least = static_cast<std::size_t>(std::ranges::min_element(medians) - medians.begin());
  const std::string measured =
      fmt::format("median gradient norm at k = {}", fmt::join(cells, ", "));
  if (least == 0 || least + 1 == medians.size())
    return {.verdict = Verdict::fails,
            .measured = measured,
            .reason = least == 0 ? "least at the smallest k" : "still falls at the largest k"};
  std::vector<PairedComparison> ends{compare("small k", values.front(), values[least]),
                                     compare("large k", values.back(), values[least])};
  adjust(ends);
  const bool higher =
      std::ranges::all_of(ends, [](const PairedComparison& c) { return c.ratio >= 1.1; });
  if (higher && ends.front().pairs < 7)  // Holm's p of two comparisons cannot be below 0.05
    return {.verdict = Verdict::inconclusive, .measured = measured, .reason = "too few seeds"};
  const bool holds = higher && std::ranges::all_of(ends, [](const PairedComparison& c) {
                       return c.adjusted_p < 0.05;
                     });
  return {.verdict = holds_if(holds),
          .measured = measured,
          .reason = holds ? "" : "an end does not exceed the least by 10 %"};
}

std::vector<json> c14_privacy_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const double stretch : {10.0, 1000.0})
    jobs.push_back(describe_probe(
        "lowy-2024/projected-sensitivity",
        {{"stretch", stretch}, {"cap", 2}, {"maps", scale == Scale::smoke ? 2 : 20}}));
  return jobs;
}

Finding c14_privacy(const Runs& runs, Scale scale) {
  std::vector<std::string> cells;
  bool holds = true;
  for (const json& job : c14_privacy_jobs(scale)) {
    const json& r = runs.at(job).result;
    const double clipped = r.at("clipped"), capped = r.at("capped");
    holds = holds && clipped <= 1 + rounding && capped <= 1 + rounding;
    cells.push_back(fmt::format("stretched by {:g}: {:.4f} of the charge, {:.4f} without a clip",
                                job.at("parameters").at("stretch").get<double>(),
                                clipped,
                                capped));
  }
  return {.verdict = holds_if(holds), .measured = fmt::format("{}", fmt::join(cells, "; "))};
}

Finding c17(const Runs& runs, Scale scale) {
  using namespace lowy_2024_exhibit;
  const bool tuned = scale != Scale::smoke;
  const auto train = [&](const char* variant, const char* stage, double epsilon) {
    return published_cell(runs, scale, {variant, tuned}, stage, epsilon).train;
  };
  std::vector<PairedComparison> comparisons, as_script;
  for (const double epsilon : published_epsilons(scale))
    for (const char* stage : {"dp_sgd", "dp_spider"}) {
      const std::string name = fmt::format("ε = {:g} {}", epsilon, stage);
      comparisons.push_back(compare(
          name, train("repaired", "warm_start", epsilon), train("repaired", stage, epsilon)));
      as_script.push_back(
          compare(name, train("printed", "warm_start", epsilon), train("printed", stage, epsilon)));
    }
  adjust(comparisons);
  adjust(as_script);
  const auto better = [](const PairedComparison& c) { return c.ratio < 1 && c.adjusted_p < 0.05; };
  const auto worse = [](const PairedComparison& c) { return c.ratio > 1 && c.adjusted_p < 0.05; };
  const auto won = std::ranges::count_if(comparisons, better);
  const auto lost = std::ranges::count_if(comparisons, worse);
  const auto all = std::ssize(comparisons);
  std::vector<std::string> rest;
  for (const PairedComparison& c : comparisons)
    if (!better(c))
      rest.push_back(fmt::format("{} {:.3f} (p = {:.2g})", c.name, c.ratio, c.adjusted_p));
  return {
      .verdict = won == all ? Verdict::holds
                 : lost > 0 ? Verdict::fails
                            : Verdict::inconclusive,
      .measured = fmt::format(
          "significantly better in {} of {} comparisons, worse in {}, {} step sizes; with the "
          "script's noise better in {}, worse in {}, which does not count: its methods spend "
          "unequal ε (lowy-2024/c17-privacy)",
          won,
          all,
          lost,
          tuned ? "tuned" : "default",
          std::ranges::count_if(as_script, better),
          std::ranges::count_if(as_script, worse)),
      .reason = rest.empty() ? "" : fmt::format("ratios to the others: {}", fmt::join(rest, ", "))};
}

Finding c17_privacy(const Runs& runs, Scale scale) {
  using namespace lowy_2024_exhibit;
  std::vector<std::string> cells;
  double largest = 0;
  for (const char* stage : {"dp_sgd", "dp_spider", "warm_start"}) {
    const double spent = published_cell(runs, scale, {"printed", false}, stage, 1).spent;
    largest = std::max(largest, spent);
    cells.push_back(fmt::format("{} {:.3g}", stage, spent));
  }
  return {.verdict = holds_if(largest <= 1),
          .measured = fmt::format("ε spent at ε = 1: {}", fmt::join(cells, ", ")),
          .value = largest};
}

std::vector<json> published_claim_jobs(Scale scale) {
  return lowy_2024_exhibit::published_jobs(scale);
}

}  // namespace

std::vector<PredicateEntry> lowy_2024_predicates() {
  return {{"lowy-2024/introduction-glm", no_jobs, formula<introduction_glm>},
          {"lowy-2024/c1-period", no_jobs, formula<c1_period>},
          {"lowy-2024/c2", c2_jobs, c2},
          {"lowy-2024/c2-excess", c2_excess_jobs, c2_excess},
          {"lowy-2024/theorem-3.2-privacy", warm_jobs, warm_privacy},
          {"lowy-2024/c3", c3_jobs, c3},
          {"lowy-2024/c3-tail-printed", no_jobs, formula<c3_tail_printed>},
          {"lowy-2024/c3-bound", c3_bound_jobs, c3_bound},
          {"lowy-2024/c5", c5_jobs, c5},
          {"lowy-2024/c6-quasar", c6_quasar_jobs, c6_quasar},
          {"lowy-2024/c6-batch", no_jobs, formula<c6_batch>},
          {"lowy-2024/c8", c8_jobs, c8},
          {"lowy-2024/c9-floor", c9_floor_jobs, c9_floor},
          {"lowy-2024/c9-printed", c9_printed_jobs, c9_printed},
          {"lowy-2024/c9-privacy", no_jobs, formula<c9_privacy>},
          {"lowy-2024/c10", c10_jobs, c10},
          {"lowy-2024/section-6-example", no_jobs, formula<section_6_example>},
          {"lowy-2024/c11", c11_jobs, c11},
          {"lowy-2024/c12-bound", c12_jobs, c12_bound},
          {"lowy-2024/c13", population_jobs, c13},
          {"lowy-2024/c13-second-order", population_jobs, c13_second_order},
          {"lowy-2024/c13-privacy", c13_privacy_jobs, c13_privacy},
          {"lowy-2024/c13-privacy-repaired", population_jobs, c13_privacy_repaired},
          {"lowy-2024/corollary-e.4", no_jobs, formula<corollary_e4>},
          {"lowy-2024/c14", c14_jobs, c14},
          {"lowy-2024/c14-projection", c14_projection_jobs, c14_projection},
          {"lowy-2024/c14-privacy", c14_privacy_jobs, c14_privacy},
          {"lowy-2024/c15", no_jobs, formula<c15>},
          {"lowy-2024/c16-glm", c16_glm_jobs, c16_glm},
          {"lowy-2024/c17", published_claim_jobs, c17},
          {"lowy-2024/c17-privacy", published_claim_jobs, c17_privacy},
          {"lowy-2024/c19", c19_jobs, c19}};
}

}  // namespace dpsosp
