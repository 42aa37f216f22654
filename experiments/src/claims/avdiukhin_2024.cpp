// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "avdiukhin_2024_runs.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/probe.hpp"
#include "dpsosp/experiments/run.hpp"
#include "predicates.hpp"
#include "printed_noise.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using namespace avdiukhin_2024;
using namespace avdiukhin_2024_exhibit;

std::vector<json> no_jobs(Scale) { return {}; }
std::vector<json> sweep_jobs(Scale scale) { return jobs_of(rate_sweep(scale)); }

Finding finding(bool holds, std::string measured, std::string reason = "") {
  return {.verdict = holds ? Verdict::holds : Verdict::fails,
          .measured = std::move(measured),
          .reason = holds ? "" : std::move(reason)};
}

Finding nothing_ran() { return {.verdict = Verdict::inconclusive, .reason = "no run finished"}; }

/// Every finished run of an arm in the parts named.
void each_run(
    const Runs& runs,
    Scale scale,
    std::string_view arm,
    std::initializer_list<std::string_view> parts,
    const std::function<void(const Part&, const json& description, const json& result)>& visit) {
  const Sweep sweep = rate_sweep(scale);
  for (const Part& part : sweep.parts) {
    if (std::ranges::find(parts, part.name) == parts.end()) continue;
    for (const Cell& cell : cells_of(sweep, part)) {
      if (!arm.empty() && sweep.arms[cell.arm].name != arm) continue;
      for (const json& run : cell.runs)
        if (const StoredRun& stored = runs.at(run); stored.status == RunStatus::finished)
          visit(part, run, stored.result);
    }
  }
}

/// Least-squares slope of ln y on ln x.
double log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  const auto count = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += std::log(x[k]) / count;
    my += std::log(y[k]) / count;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xy += (std::log(x[k]) - mx) * (std::log(y[k]) - my);
    xx += (std::log(x[k]) - mx) * (std::log(x[k]) - mx);
  }
  return xy / xx;
}

std::vector<double> log_grid(double from, double to, int points) {
  std::vector<double> grid;
  for (int k = 0; k < points; ++k) grid.push_back(from * std::pow(to / from, k / (points - 1.0)));
  return grid;
}

/// T·B at the smallest budget that reaches α by Theorem 3.5, with Δ² = σ²/B.
double oracle_calls(double alpha, double sigma, double dimension) {
  constexpr double batch = 1000.0, c_step = 1.0 / 128, k_steps = 64.0;
  Numbers n = well_numbers(1e6, dimension);
  n.deviation = sigma;
  const double X_per_kc2 = k_steps * n.gap * n.smoothness / c_step;
  const double kc = std::sqrt(std::pow(alpha, 4) / (X_per_kc2 * (dimension + 1.0)));
  const auto target = circle_for(n, alpha, batch, kc, c_step, k_steps);
  return target->steps * batch;
}

Finding theorem_1_1(const Runs&, Scale) {
  const auto slope = [](const std::vector<double>& grid, const auto& calls) {
    std::vector<double> y;
    for (const double x : grid) y.push_back(calls(x));
    return log_slope(grid, y);
  };
  const double in_alpha =
      slope(log_grid(1e-2, 1e-1, 5), [](double a) { return oracle_calls(a, 1, 10); });
  const double in_sigma =
      slope(log_grid(0.25, 4, 5), [](double s) { return oracle_calls(0.05, s, 10); });
  const double in_d = slope(log_grid(4, 256, 7), [](double d) { return oracle_calls(0.05, 1, d); });
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0.05; };
  return finding(
      near(in_alpha, -4) && near(in_sigma, 2) && near(in_d, 0),
      fmt::format("exponents {:+.3f} in α, {:+.3f} in σ, {:+.3f} in d", in_alpha, in_sigma, in_d),
      "the calls grow with the dimension");
}

Finding theorem_3_1(const Runs&, Scale) {
  std::vector<std::string> texts;
  bool holds = true;
  for (const double epsilon : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    const double implied = theorem_3_1_epsilon(1.0, epsilon);
    holds = holds && implied <= epsilon;
    double low = 0.1, high = 100.0;
    for (int k = 0; k < 16; ++k) {
      const double middle = std::sqrt(low * high);
      (theorem_3_1_epsilon(middle, epsilon) <= epsilon ? high : low) = middle;
    }
    texts.push_back(
        fmt::format("ε = {:g} costs {:.3g}, enough is c_{{2}} = {:.3g}", epsilon, implied, high));
  }
  return finding(holds, fmt::format("{}", fmt::join(texts, "; ")), "c_{2} = 1 is too little noise");
}

Finding theorem_3_1_repaired(const Runs& runs, Scale scale) {
  int count = 0, kept = 0;
  double worst = 0;
  each_run(
      runs, scale, "DP-SGD", {"n", "d", "epsilon"}, [&](const Part&, const json& d, const json& r) {
        const json& p = r.at("privacy");
        const double share = from_json_number(p.at("spent")) / d.at("epsilon").get<double>();
        worst = std::max(worst, share);
        ++count;
        kept += p.at("label") == "enforced" && share <= 1.0 + 1e-9;
      });
  if (count == 0) return nothing_ran();
  return finding(
      kept == count,
      fmt::format("{} of {} runs enforced and within the budget; at most {:.3g} of it spent",
                  kept,
                  count,
                  worst));
}

Finding lemma_3_2(const Runs& runs, Scale scale) {
  double worst = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  std::vector<double> first, last;
  double first_steps = std::numeric_limits<double>::infinity(), last_steps = 0;
  int count = 0;
  each_run(runs,
           scale,
           "noisy SGD",
           {"n", "d", "epsilon"},
           [&](const Part& part, const json& d, const json& r) {
             const Gradients g = gradients_met(r, d);
             ++count;
             worst = std::max(worst, g.longest / g.lemma_3_2);
             least = std::min(least, g.longest);
             most = std::max(most, g.longest);
             if (part.name != "n") return;
             if (g.steps < first_steps) first.clear();
             if (g.steps > last_steps) last.clear();
             first_steps = std::min(first_steps, g.steps);
             last_steps = std::max(last_steps, g.steps);
             if (g.steps == first_steps) first.push_back(g.longest);
             if (g.steps == last_steps) last.push_back(g.longest);
           });
  if (count == 0) return nothing_ran();
  const double growth = median(last) / median(first);
  return finding(
      worst <= 1.0 && std::abs(growth - 1.0) <= 0.1,
      fmt::format("longest gradients {:.3g} to {:.3g}, at most {:.3g} of the printed C; from T = "
                  "{:.0f} to {:.0f} the median changes by the factor {:.3g}",
                  least,
                  most,
                  worst,
                  first_steps,
                  last_steps,
                  growth),
      worst > 1.0 ? "a gradient exceeds C" : "not flat in T");
}

Finding lemma_3_2_units(const Runs&, Scale) {
  Numbers n = well_numbers(1e5, 10);
  const double C = lemma_3_2_bound(n, 1e4, 1e-5);
  n.smoothness *= 10;
  n.gap *= 10;
  n.deviation *= 10;
  const double ratio = lemma_3_2_bound(n, 1e4, 1e-5) / C;
  return finding(std::abs(ratio - 10) <= 1e-9,
                 fmt::format("C of 10 f is {:.4g} times C of f", ratio),
                 "the terms have different units");
}

Finding lemma_3_2_repaired(const Runs& runs, Scale scale) {
  int count = 0, kept = 0;
  double worst = 0;
  each_run(runs,
           scale,
           "noisy SGD",
           {"n", "d", "epsilon"},
           [&](const Part&, const json& d, const json& r) {
             const Gradients g = gradients_met(r, d);
             ++count;
             worst = std::max(worst, g.longest / g.nominal);
             kept += g.violations == 0 && r.at("privacy").at("label") == "conditional";
           });
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
                  kept,
                  count,
                  worst,
                  ratio));
}

Finding theorem_3_3(const Runs&, Scale) {
  const double reached = extremal_delta(1.0, 0.01, 0.01);
  return finding(reached <= 0.02 + 1e-12,
                 fmt::format("δ = {:.4g} against 0.02 at ε = 1", reached),
                 "e^{ε} δ is missing");
}

Finding theorem_3_3_repaired(const Runs& runs, Scale scale) {
  double off = 0;
  for (const double epsilon : {0.125, 1.0, 8.0}) {
    constexpr double delta = 1e-5;
    off = std::max(off,
                   std::abs(extremal_delta(epsilon, delta, delta) -
                            class_relative_delta({.epsilon = epsilon, .delta = delta}, delta)));
  }
  int count = 0, stated = 0;
  each_run(runs,
           scale,
           "noisy SGD",
           {"n", "d", "epsilon"},
           [&](const Part&, const json& d, const json& r) {
             ++count;
             const json& p = r.at("privacy");
             if (!p.contains("class_relative")) return;
             const double delta = d.at("delta"), epsilon = d.at("epsilon");
             const double failure = p.at("class_relative").at("bound_failure");
             stated +=
                 std::abs(class_relative_delta({.epsilon = epsilon, .delta = delta / 2}, failure) -
                          delta) <= 1e-9 * delta;
           });
  if (count == 0) return nothing_ran();
  return finding(
      off <= 1e-12 && stated == count,
      fmt::format(
          "the extremal pair is off by {:.1g}; {} of {} runs state it", off, stated, count));
}

Finding theorem_3_4_share(const Runs& runs, Scale scale) {
  int count = 0, kept = 0, empty = 0;
  double least = 1.0;
  each_run(runs, scale, "", {"n", "paper-schedule"}, [&](const Part&, const json&, const json& r) {
    const auto alpha = metric_of(r, "schedule.alpha");
    const auto share = metric_of(r, "trace.fraction_solved");
    const auto start = start_metric(r, "output.sosp_level");
    if (!alpha || !share || !start || start_over_result * *alpha >= *start) {
      ++empty;
      return;
    }
    ++count;
    least = std::min(least, *share);
    kept += *share >= 0.5;
  });
  if (count == 0)
    return {.verdict = Verdict::inconclusive,
            .measured = fmt::format("{} runs say nothing", empty),
            .reason = "the promise is no better than the start"};
  return finding(
      kept == count,
      fmt::format("at least {:.3g} of the iterates in each of {} runs; {} more say nothing",
                  least,
                  count,
                  empty),
      fmt::format("{} runs below one half", count - kept));
}

/// Decrease that the proof's buckets add up to, over f_max.
double bucket_decrease(TheoremConstants constants) {
  constexpr double rho = 1.5, alpha = 0.05, noise = 0.05, delta = 1e-6;
  const Numbers n{.records = 1e7, .dimension = 20, .smoothness = 1, .gap = 1, .deviation = 1};
  const double total_noise = noise * noise * (1.0 + n.dimension);
  const Theorem34 t = theorem_3_4(n, rho, alpha, total_noise, noise, delta, constants);
  return t.steps / t.escape_steps / 24.0 * t.escape_drop / n.gap;
}

Finding theorem_3_4_constants(const Runs&, Scale) {
  const double printed = bucket_decrease(TheoremConstants::paper);
  return finding(
      printed >= 1.0,
      fmt::format("{:.3g} f_{{max}} as printed, {:.3g} f_{{max}} with k_{{T}} = max(64, 32 "
                  "c_{{I}}/c_{{F}})",
                  printed,
                  bucket_decrease(TheoremConstants::corrected)),
      "k_{T} = 64 is too short");
}

Finding theorem_3_4_noise(const Runs&, Scale) {
  constexpr double allowed = 1e-5 / 1e4;  // δ/T
  const auto exceeds = [](double share) { return std::erfc(share / std::sqrt(2.0)); };
  double low = 1, high = 40;  // of Δ √B/σ
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (exceeds(middle) <= allowed ? high : low) = middle;
  }
  return finding(
      exceeds(1) <= allowed,
      fmt::format("a normal sampling error exceeds Δ with probability {:.3g} a step where "
                  "δ/T = {:.0e}; Δ² = {:.3g} σ²/B is enough",
                  exceeds(1),
                  allowed,
                  high * high),
      "the largest of T sampling errors has a logarithm");
}

Finding noise_is_needed(const Runs& runs, Scale scale) {
  int still = 0, quiet = 0, below = 0, noisy = 0;
  double off = 0;
  for (const char* arm : {"noisy SGD, epsilon = infinity", "DP-SGD, epsilon = infinity"})
    each_run(runs, scale, arm, {"controls"}, [&](const Part&, const json&, const json& r) {
      const double distance = std::abs(*metric_of(r, "output.sosp_level") - saddle_level());
      off = std::max(off, distance);
      ++quiet;
      still += distance <= 1e-9;
    });
  for (const char* arm : {"noisy SGD", "DP-SGD"})
    each_run(runs, scale, arm, {"n"}, [&](const Part&, const json&, const json& r) {
      ++noisy;
      below += *metric_of(r, "output.sosp_level") < *metric_of(r, "schedule.alpha");
    });
  if (quiet == 0 || noisy == 0) return nothing_ran();
  return finding(
      still == quiet && below == noisy,
      fmt::format(
          "without noise {} of {} runs end at 1/ρ (off by {:.1g}); with it {} of {} end below α",
          still,
          quiet,
          off,
          below,
          noisy));
}

Finding theorem_3_5_gap(const Runs&, Scale) {
  std::vector<double> alpha;
  const std::vector<double> gaps = log_grid(0.1, 10, 5);
  for (const double gap : gaps) {
    const Numbers n{.records = 1e6, .dimension = 10, .smoothness = 1, .gap = gap, .deviation = 1};
    const CircleSpec spec{.kappa = naive_kappa(1e6, {.epsilon = 1, .delta = 1e-5}), .delta = 1e-5};
    alpha.push_back(resolve_circle(n, spec, [&](double, double, double, double) {
                      return 2.0 * std::sqrt(gap);
                    }).alpha);
  }
  const double slope = log_slope(gaps, alpha);
  return finding(std::abs(slope - 1.0) <= 0.02,
                 fmt::format("exponent {:+.3f} in f_{{max}}", slope),
                 "√(L f_{max})");
}

std::vector<json> escape_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const double records : log_grid(1e3, 1e5, 5))
    jobs.push_back(describe_probe(
        "avdiukhin-2024/escape-time",
        {{"records", records}, {"dimension", 10}, {"runs", scale == Scale::smoke ? 5 : 200}}));
  return jobs;
}

Finding escape_time(const Runs& runs, Scale scale) {
  std::vector<double> x, y;
  for (const json& job : escape_jobs(scale)) {
    const StoredRun& stored = runs.at(job);
    if (stored.status != RunStatus::finished) return nothing_ran();
    x.push_back(std::log(job.at("parameters").at("records").get<double>()));
    y.push_back(stored.result.at("mean_time"));
  }
  const auto count = static_cast<double>(x.size());
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += x[k] / count;
    my += y[k] / count;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xy += (x[k] - mx) * (y[k] - my);
    xx += (x[k] - mx) * (x[k] - mx);
  }
  const double slope = xy / xx;
  double off = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    off = std::max(off, std::abs(y[k] / (my + slope * (x[k] - mx)) - 1.0));
  return finding(
      off <= 0.1 && slope >= 0.4 && slope <= 0.6,
      fmt::format("{:.3g} at n = 1e3..1e5; slope {:.3g} in ln n, off the line by {:.2g} %",
                  fmt::join(y, ", "),
                  slope,
                  100 * off),
      "not linear in ln n with a slope near 1/2");
}

constexpr std::array escape_steps_seen{1, 10, 20, 50};

std::vector<json> lemma_b8_jobs(Scale) {
  return {describe_probe("avdiukhin-2024/quadratic-escape",
                         {{"step_times_curvature", 0.1},
                          {"noise", 0.05},
                          {"runs", 4000},
                          {"steps", escape_steps_seen}})};
}

Finding lemma_b8(const Runs& runs, Scale scale) {
  const StoredRun& stored = runs.at(lemma_b8_jobs(scale).front());
  if (stored.status != RunStatus::finished) return nothing_ran();
  double worst = 0;
  for (std::size_t k = 0; k < escape_steps_seen.size(); ++k) {
    const double expected = 0.1 * 0.05 * growth(0.1, escape_steps_seen[k]);
    const double error =
        expected / std::sqrt(2.0 * 4000);  // of a sample deviation of normal values
    worst = std::max(
        worst, std::abs(stored.result.at("deviations").at(k).get<double>() - expected) / error);
  }
  bool between = true;
  for (int t = 20; t <= 200; ++t) {
    const double alpha = growth(0.1, t), beta = growth_bound(0.1, t);
    between = between && beta / 3 <= alpha && alpha <= beta;
  }
  return finding(worst <= 4 && between,
                 fmt::format("within {:.2g} standard errors of ηΔα_{{t}} at t = 1, 10, 20, 50; "
                             "β_{{t}}/3 ≤ α_{{t}} ≤ β_{{t}} {}",
                             worst,
                             between ? "at t = 20..200" : "fails"));
}

struct Clipped {
  const char* problem;
  double deviation;  // 0: of the gradient bound
  double share;      // of the proved C
};
constexpr std::array clipped_runs{Clipped{"double-well", 1.0, 1.0},
                                  Clipped{"double-well", 1.0, 0.5},
                                  Clipped{"glm-sigmoid", 0.0, 1.0},
                                  Clipped{"glm-sigmoid", 0.0, 0.05}};

std::vector<json> clipping_jobs(Scale scale) {
  std::vector<json> jobs;
  for (const Clipped& c : clipped_runs)
    for (std::uint64_t seed = 0; seed < (scale == Scale::smoke ? 2U : 10U); ++seed) {
      json parameters{{"problem", c.problem}, {"records", 10000}, {"share", c.share}};
      if (c.deviation > 0) parameters["deviation"] = c.deviation;
      jobs.push_back(describe_probe("avdiukhin-2024/clipping-apart", parameters, seed));
    }
  return jobs;
}

Finding clipping_is_inactive(const Runs& runs, Scale scale) {
  int count = 0, kept = 0, violated = 0, parted = 0, below = 0;
  for (const json& job : clipping_jobs(scale)) {
    const StoredRun& stored = runs.at(job);
    if (stored.status != RunStatus::finished) return nothing_ran();
    const std::int64_t violation = stored.result.at("first_violation"),
                       apart = stored.result.at("parted");
    const bool proved = job.at("parameters").at("share") == 1.0;
    ++count;
    below += proved;
    violated += violation >= 0;
    parted += apart >= 0;
    // x_t is made of the steps before t
    kept += violation < 0 ? apart < 0 : !proved && (apart < 0 || apart > violation);
  }
  if (violated == 0)
    return {.verdict = Verdict::inconclusive, .reason = "no gradient was longer than C"};
  return finding(
      kept == count,
      fmt::format("{} of {} pairs of runs are equal up to the first longer gradient; {} met one, "
                  "{} parted after it; {} have the proved C",
                  kept,
                  count,
                  violated,
                  parted,
                  below),
      "they part before a gradient exceeds C");
}

constexpr double selection_candidates = 6, selection_failure = 0.05;

std::vector<json> selection_jobs(Scale scale) {
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
  spec.observations = 0;
  std::vector<json> jobs;
  for (spec.seed = 0; spec.seed < (scale == Scale::full    ? 200U
                                   : scale == Scale::quick ? 40U
                                                           : 5U);
       ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

Finding section_3_4(const Runs& runs, Scale scale) {
  int count = 0, none = 0, far = 0;
  double needed = 0, records = 0, worst = 0;
  for (const json& job : selection_jobs(scale)) {
    const StoredRun& stored = runs.at(job);
    if (stored.status != RunStatus::finished) continue;
    const json& r = stored.result;
    const auto parameter = [&](const char* name) {
      return *metric_of(r, fmt::format("parameters.{}", name));
    };
    const double alpha = parameter("selection_alpha"), rho = 1.0 / saddle_level();
    records = job.at("records");
    needed = std::max(needed,
                      32.0 *
                          std::max(parameter("clip") / alpha,
                                   parameter("hessian_limit") / std::sqrt(rho * alpha)) *
                          (std::log(selection_candidates) + std::log(2.0 / selection_failure)) /
                          parameter("selection_epsilon"));
    ++count;
    if (*metric_of(r, "counts.selected") == 0) {
      ++none;
      continue;
    }
    const double level = *metric_of(r, "output.sosp_level") / alpha;
    worst = std::max(worst, level);
    far += level > 4.0;
  }
  if (count == 0) return nothing_ran();
  if (needed > records)
    return {.verdict = Verdict::inconclusive,
            .reason = fmt::format("needs n = {:.3g}, has {:.3g}", needed, records)};
  return finding(
      none <= 0.1 * count && far <= selection_failure * count,
      fmt::format("{} of {} runs accept nothing, {} a point above 4 α (largest {:.3g} α), at n = "
                  "{:.3g} against {:.3g} needed",
                  none,
                  count,
                  far,
                  worst,
                  records,
                  needed));
}

constexpr double test_epsilon = 0.1;
constexpr int tested = 10;

std::vector<json> independent_jobs(Scale) {
  return {describe_probe("avdiukhin-2024/independent-tests",
                         {{"epsilon", test_epsilon}, {"candidates", tested}})};
}

Finding section_3_4_privacy(const Runs& runs, Scale scale) {
  const StoredRun& stored = runs.at(independent_jobs(scale).front());
  if (stored.status != RunStatus::finished) return nothing_ran();
  const double added = stored.result.at("added"),
               spent = from_json_number(stored.result.at("spent"));
  return finding(std::min(added, spent) <= test_epsilon + 1e-12,
                 fmt::format("{} candidates cost {:.4g} ε, by the ledger {:.4g} ε at δ = 1e-6",
                             tested,
                             added / test_epsilon,
                             spent / test_epsilon),
                 "every question has two tests, and each has half the noise of replace-one");
}

std::vector<json> appendix_c_jobs(Scale scale) {
  RunSpec spec;
  spec.algorithm = "avdiukhin-2024/noisy-sgd";
  spec.problem = "phase-retrieval";
  spec.problem_settings = {{"design", "gaussian"}, {"start", "saddle"}};
  spec.records = 10000;
  spec.dimension = 2;
  spec.epsilon = 8;
  spec.calibrator = "rdp";
  spec.door = Door::no_clipping;
  std::vector<json> jobs;
  for (spec.seed = 0; spec.seed < (scale == Scale::full ? 20U : 3U); ++spec.seed) {
    spec.data_seed = spec.seed;
    jobs.push_back(describe(spec));
  }
  return jobs;
}

Finding appendix_c(const Runs& runs, Scale scale) {
  int count = 0, kept = 0;
  double least = 1.0, promise = 0, start = std::numeric_limits<double>::infinity();
  for (const json& job : appendix_c_jobs(scale)) {
    const StoredRun& stored = runs.at(job);
    if (stored.status != RunStatus::finished) continue;
    const double share = *metric_of(stored.result, "trace.fraction_solved");
    promise = std::max(promise, *metric_of(stored.result, "schedule.alpha"));
    start = std::min(start, *metric_of(stored.result, "start.sosp_level"));
    ++count;
    least = std::min(least, share);
    kept += share >= 0.5;
  }
  if (count == 0) return nothing_ran();
  const std::string measured = fmt::format(
      "{} of {} runs; at least {:.3g} of the iterates below {:.3g}, of the saddle's {:.3g}",
      kept,
      count,
      least,
      promise,
      start);
  if (promise >= start)
    return {.verdict = Verdict::inconclusive,
            .measured = measured,
            .reason = "the promise is no less than the saddle's own level"};
  return finding(kept == count, measured);
}

}  // namespace

std::vector<PredicateEntry> avdiukhin_2024_predicates() {
  return {
      {"avdiukhin-2024/theorem-1.1-gradients", no_jobs, theorem_1_1},
      {"avdiukhin-2024/theorem-3.1", no_jobs, theorem_3_1},
      {"avdiukhin-2024/theorem-3.1-repaired", sweep_jobs, theorem_3_1_repaired},
      {"avdiukhin-2024/lemma-3.2", sweep_jobs, lemma_3_2},
      {"avdiukhin-2024/lemma-3.2-units", no_jobs, lemma_3_2_units},
      {"avdiukhin-2024/lemma-3.2-repaired", sweep_jobs, lemma_3_2_repaired},
      {"avdiukhin-2024/theorem-3.3", no_jobs, theorem_3_3},
      {"avdiukhin-2024/theorem-3.3-repaired", sweep_jobs, theorem_3_3_repaired},
      {"avdiukhin-2024/theorem-3.4", sweep_jobs, theorem_3_4_share},
      {"avdiukhin-2024/theorem-3.4-constants", no_jobs, theorem_3_4_constants},
      {"avdiukhin-2024/theorem-3.4-noise", no_jobs, theorem_3_4_noise},
      {"avdiukhin-2024/noise-is-needed", sweep_jobs, noise_is_needed},
      {"avdiukhin-2024/escape-time", escape_jobs, escape_time},
      {"avdiukhin-2024/theorem-3.5-gap", no_jobs, theorem_3_5_gap},
      {"avdiukhin-2024/clipping-is-inactive", clipping_jobs, clipping_is_inactive},
      {"avdiukhin-2024/section-3.4", selection_jobs, section_3_4},
      {"avdiukhin-2024/section-3.4-privacy", independent_jobs, section_3_4_privacy},
      {"avdiukhin-2024/lemma-b.8", lemma_b8_jobs, lemma_b8},
      {"avdiukhin-2024/appendix-c", appendix_c_jobs, appendix_c},
  };
}

}  // namespace dpsosp
