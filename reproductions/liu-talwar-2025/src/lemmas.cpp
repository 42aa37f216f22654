// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "parts.hpp"
#include "probes.hpp"
#include "series.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;
using namespace liu_talwar_2025_claims;

/// Epsilon of a zCDP cost at δ = 1e-6, by the bound that the paper's own conversion is.
double epsilon_of_zcdp(double rho) { return rho + 2 * std::sqrt(rho * std::log(1e6)); }

// ------------------------------------------------------------------------------ trees and privacy

json covariance_job(const Study& study) {
  return study.probe("liu-talwar-2025/tree-noise",
                     {{"leaves", 64},
                      {"trees", study.scale == Scale::smoke ? 200 : 4000},
                      {"dimension", 4},
                      {"covariance", true}});
}

std::vector<json> tree_jobs(const Study& study) {
  std::vector<json> jobs = tree_noise(study).jobs;
  jobs.push_back(covariance_job(study));
  return jobs;
}

Finding tree_finding(const Runs& runs, const Study& study) {
  const ProbeSeries s = tree_noise(study);
  const std::vector<double> largest = numbers(runs, s, "mean_largest");
  const double worst = number(runs, covariance_job(study), "worst_standard_errors");
  double most = 0;
  for (std::size_t k = 0; k < s.x.size(); ++k)
    most = std::max(most, largest[k] / std::sqrt(std::log2(s.x[k])));
  return finding(
      worst <= 5 && most <= 2,
      fmt::format("covariance within {:.2g} standard errors of the common nodes; largest "
                  "norm over σ√d at most {:.2f} √log_{{2}} Σ for Σ = {:g}..{:g}",
                  worst,
                  most,
                  s.x.front(),
                  s.x.back()));
}

Finding printed_tree_finding(const Runs&, const Study&) {
  std::vector<std::int64_t> missing;
  for (std::int64_t most = 1; most <= 64; ++most) {
    bool misses = false;
    for (std::int64_t t = 1; t <= most; ++t) {
      const auto nodes = liu_talwar_2025_probe::printed_nodes(t, most);
      misses = misses || nodes.empty() || nodes.back().second != t;
    }
    if (misses) missing.push_back(most);
  }
  return finding(missing.empty(),
                 fmt::format("an element is missed for Σ = {}", fmt::join(missing, ", ")));
}

Finding printed_noise_finding(const Runs&, const Study&) {
  const auto [refresh, increment] = liu_talwar_2025_probe::printed_costs(0.05, 16, 1, 400, 0.02);
  return finding(epsilon_of_zcdp(refresh) <= 1 && epsilon_of_zcdp(increment) <= 1,
                 fmt::format("a record of the refresh pays {:.3g} of zCDP, ε = {:.2f}; one of an "
                             "increment {:.3g}, ε = {:.2f}",
                             refresh,
                             epsilon_of_zcdp(refresh),
                             increment,
                             epsilon_of_zcdp(increment)));
}

Finding tree_privacy_finding(const Runs&, const Study&) {
  double most = 0;
  for (const double leaves : {2.0, 16.0, 1024.0, 1048576.0})
    for (const double epsilon : {0.1, 1.0, 8.0}) {
      const double sigma = 4 * std::sqrt(std::log(leaves) * std::log(1e6)) / epsilon;
      const double levels = std::floor(std::log2(leaves)) + 1;
      most = std::max(most, epsilon_of_zcdp(levels / (2 * sigma * sigma)) / epsilon);
    }
  return finding(most <= 1, fmt::format("the tree costs at most {:.2f} of ε", most));
}

// -------------------------------------------------------------------------------- steps and
// oracles

std::vector<json> descent_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* problem : {"cosine-saddle", "quartic-saddle", "double-well"})
    jobs.push_back(study.probe("liu-talwar-2025/descent",
                               {{"problem", problem},
                                {"gamma", 0.1},
                                {"pairs", study.scale == Scale::smoke ? 500 : 10000}}));
  return jobs;
}

Finding descent_finding(const Runs& runs, const Study& study) {
  double sixth = 0, sixteenth = 0, largest = -1;
  for (const json& job : descent_jobs(study)) {
    sixth += number(runs, job, "above_sixth");
    sixteenth += number(runs, job, "above_sixteenth");
    largest = std::max(largest, number(runs, job, "largest_change"));
  }
  return finding(sixth == 0,
                 fmt::format("{:g} pairs above −|g|²/(6M), {:g} above −|g|²/(16M); largest change "
                             "{:+.3f} |g|²/M",
                             sixth,
                             sixteenth,
                             largest));
}

std::vector<json> oracle_jobs(const Study& study) {
  return joined({oracle_errors_by_batch(study), oracle_errors_by_distance(study)});
}

Finding oracle_finding(const Runs& runs, const Study& study) {
  const auto slopes = [&](const ProbeSeries& s) {
    std::vector<double> all;
    for (std::size_t oracle = 0; oracle < 4; ++oracle) {
      std::vector<double> y;
      for (const json& job : s.jobs) y.push_back(runs.at(job).result.at("quantiles").at(oracle));
      all.push_back(log_slope(s.x, y));
    }
    return all;
  };
  const std::vector<double> batch = slopes(oracle_errors_by_batch(study));
  const std::vector<double> distance = slopes(oracle_errors_by_distance(study));
  const bool holds =
      std::ranges::all_of(batch, [](double s) { return std::abs(s + 0.5) <= 0.05; }) &&
      std::abs(distance[1] - 1) <= 0.05 && std::abs(distance[3] - 1) <= 0.05;
  return finding(
      holds,
      fmt::format("exponents in the batch {:+.3f} (O1 to O4), in the distance {:+.3f} (O2) "
                  "and {:+.3f} (O4)",
                  fmt::join(batch, ", "),
                  distance[1],
                  distance[3]));
}

// --------------------------------------------------------------------------------------- escapes

std::vector<json> model_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* problem : {"quartic-saddle", "cosine-saddle"})
    for (const char* error : {"benign", "adversarial"})
      for (const json& job :
           escapes_by_curvature(problem, "hessian_power", error, 0.01, 16, study).jobs)
        jobs.push_back(job);
  return jobs;
}

Finding model_finding(const Runs& runs, const Study& study) {
  double worst = 0;
  for (const json& job : model_jobs(study))
    worst = std::max(worst, number(runs, job, "error_over_bound"));
  return finding(
      worst <= 1 + 1e-9,
      fmt::format("error of the frozen model at most {:.2f} of the bound, over {} saddles "
                  "with {} escapes each",
                  worst,
                  model_jobs(study).size(),
                  escape_seeds(study)));
}

std::vector<json> coupling_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const double gamma : {0.01, 0.1})
    jobs.push_back(
        study.probe("liu-talwar-2025/coupling",
                    {{"gamma", gamma}, {"offset", 1.0}, {"steps", 100}, {"hessians", 20}}));
  return jobs;
}

Finding coupling_finding(const Runs& runs, const Study& study) {
  double error = 0, growth = std::numeric_limits<double>::infinity();
  for (const json& job : coupling_jobs(study)) {
    error = std::max(error, number(runs, job, "largest_relative_error"));
    growth = std::min(growth, number(runs, job, "least_growth_over_bound"));
  }
  return finding(
      error <= 1e-9 && growth >= 1 - 1e-9,
      fmt::format("distance exact to a relative {:.1e}; least growth over the bound {:.3f}",
                  error,
                  growth));
}

/// The curvature over √(ρα) at which half of the escapes leave, between two cells of the grid.
double half_success(const Runs& runs, const ProbeSeries& s, int seeds) {
  const std::vector<double> left = numbers(runs, s, "left");
  for (std::size_t k = 1; k < s.x.size(); ++k) {
    const double a = left[k - 1] / seeds, b = left[k] / seeds;
    if (a < 0.5 && b >= 0.5) return s.x[k - 1] * std::pow(s.x[k] / s.x[k - 1], (0.5 - a) / (b - a));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr double threshold_alphas[] = {1e-4, 1e-3, 1e-2, 1e-1};
constexpr int threshold_dimensions[] = {4, 16, 64, 256};

std::vector<json> escape_jobs(const Study& study) {
  std::vector<ProbeSeries> all{
      escapes_by_alpha(study),
      escapes_by_curvature("cosine-saddle", "hessian_power", "benign", 0.01, 16, study)};
  if (study.scale != Scale::smoke) {
    for (const double alpha : threshold_alphas)
      all.push_back(
          escapes_by_curvature("quartic-saddle", "hessian_power", "adversarial", alpha, 16, study));
    for (const int d : threshold_dimensions)
      all.push_back(
          escapes_by_curvature("quartic-saddle", "hessian_power", "adversarial", 0.01, d, study));
  }
  return joined(all);
}

Finding escape_finding(const Runs& runs, const Study& study) {
  const int seeds = escape_seeds(study);
  const ProbeSeries s = escapes_by_alpha(study);
  std::vector<double> steps = numbers(runs, s, "steps"), decrease = numbers(runs, s, "change");
  const std::vector<double> left = numbers(runs, s, "left");
  double least = std::ranges::min(left) / seeds;
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    steps[k] /= std::log(1 / s.x[k]);
    decrease[k] = -decrease[k];
  }
  const ProbeSeries cosine =
      escapes_by_curvature("cosine-saddle", "hessian_power", "benign", 0.01, 16, study);
  const auto one = std::ranges::find(cosine.x, 1.0) - cosine.x.begin();
  const double on_cosine = numbers(runs, cosine, "left")[static_cast<std::size_t>(one)] / seeds;
  least = std::min(least, on_cosine);
  const bool falls = std::ranges::min(decrease) > 0;
  if (study.scale == Scale::smoke)
    return {.verdict = Verdict::inconclusive,
            .measured = fmt::format("at least {:.0f} % leave", 100 * least),
            .reason = "thresholds are not measured at this scale"};
  const auto thresholds = [&](const auto& grid, const auto& series_at) {
    std::vector<double> x, y;
    for (const auto v : grid) {
      x.push_back(static_cast<double>(v));
      y.push_back(half_success(runs, series_at(v), seeds));
    }
    return std::pair(x, y);
  };
  auto [alphas, by_alpha] = thresholds(threshold_alphas, [&](double alpha) {
    return escapes_by_curvature("quartic-saddle", "hessian_power", "adversarial", alpha, 16, study);
  });
  for (std::size_t k = 0; k < alphas.size(); ++k) by_alpha[k] *= std::sqrt(alphas[k]);
  const auto [dimensions, by_dimension] = thresholds(threshold_dimensions, [&](int d) {
    return escapes_by_curvature("quartic-saddle", "hessian_power", "adversarial", 0.01, d, study);
  });
  const double in_alpha = log_slope(alphas, by_alpha);
  const double in_d = log_slope(dimensions, by_dimension);
  const double step_slope = log_slope(s.x, steps);
  const double drop_slope = falls ? log_slope(s.x, decrease) : std::nan("");
  std::vector<std::string> misses;
  const auto need = [&](bool ok, const char* what) {
    if (!ok) misses.emplace_back(what);
  };
  need(least >= 0.95, "success below 95 % at curvature √(ρα)");
  need(falls, "F does not fall in the mean");
  need(std::abs(in_alpha - 0.5) <= 0.1, "λ* against α");
  need(std::abs(in_d) <= 0.1, "λ* against d");
  need(step_slope >= -0.6, "steps against α");
  need(std::abs(drop_slope - 1.5) <= 0.15, "decrease against α");
  Finding f =
      finding(misses.empty(),
              fmt::format("at λ = √(ρα) at least {:.0f} % leave; exponents: λ* {:+.3f} in α and "
                          "{:+.3f} in d, steps over ln(1/α) {:+.3f}, mean decrease {:+.3f} in α",
                          100 * least,
                          in_alpha,
                          in_d,
                          step_slope,
                          drop_slope),
              fmt::format("{}", fmt::join(misses, "; ")));
  if (!std::isfinite(in_alpha) || !std::isfinite(in_d)) {
    f.verdict = Verdict::inconclusive;
    f.reason = "the share of escapes crosses one half nowhere on the grid";
  }
  return f;
}

Finding radius_finding(const Runs&, const Study&) {
  std::vector<double> left;
  for (const double gamma : {0.1, 0.01, 0.001})  // Γ = M/√(ργ), unit constants
    left.push_back(std::sqrt(gamma) - 3 * gamma / std::sqrt(gamma));
  return finding(std::ranges::min(left) > 0,
                 fmt::format("Ξ − 3γηΓ = {:+.3f} at γ = 0.1, 0.01, 0.001", fmt::join(left, ", ")));
}

constexpr double frozen_ratio = 4;  // λ = 2√(ργ) with γ = α/4 is √(ρα); 4 leaves no doubt

std::vector<json> frozen_pair_jobs(const Study& study) {
  std::vector<json> jobs;
  for (const char* method : {"isotropic", "hessian_power"})
    for (const char* error : {"adversarial", "benign"})
      for (const double ratio : {1.0, frozen_ratio})
        jobs.push_back(escape_job("quartic-saddle", method, error, ratio, 0.01, 16, study));
  return jobs;
}

Finding frozen_pair_finding(const Runs& runs, const Study& study) {
  const int seeds = escape_seeds(study);
  std::vector<double> share;
  for (const json& job : frozen_pair_jobs(study))
    share.push_back(number(runs, job, "left") / seeds);
  const bool holds = share[0] == 0 && share[1] == 0 &&
                     std::ranges::min(std::vector(share.begin() + 2, share.end())) >= 0.95;
  return finding(
      holds,
      fmt::format(
          "left at λ = √(ρα), 4√(ρα): isotropic {:.0f} %, {:.0f} % against the adversary and "
          "{:.0f} %, {:.0f} % with benign error; Hessian powers {:.0f} %, {:.0f} % and "
          "{:.0f} %, {:.0f} %",
          100 * share[0],
          100 * share[1],
          100 * share[2],
          100 * share[3],
          100 * share[4],
          100 * share[5],
          100 * share[6],
          100 * share[7]));
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_lemma_predicates() {
  return {
      judged_by("liu-talwar-2025/1", tree_jobs, tree_finding),
      judged_by("liu-talwar-2025/1-printed", no_jobs, printed_tree_finding),
      judged_by("liu-talwar-2025/1-privacy", no_jobs, printed_noise_finding),
      judged_by("liu-talwar-2025/1-privacy-tree", no_jobs, tree_privacy_finding),
      judged_by("liu-talwar-2025/2", descent_jobs, descent_finding),
      judged_by("liu-talwar-2025/3", oracle_jobs, oracle_finding),
      judged_by("liu-talwar-2025/5", model_jobs, model_finding),
      judged_by("liu-talwar-2025/6", coupling_jobs, coupling_finding),
      judged_by("liu-talwar-2025/7", escape_jobs, escape_finding),
      judged_by("liu-talwar-2025/7-constants", no_jobs, radius_finding),
      judged_by("liu-talwar-2025/14", frozen_pair_jobs, frozen_pair_finding),
  };
}

}  // namespace dpsosp
