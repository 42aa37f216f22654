// SPDX-License-Identifier: Apache-2.0
// What schedules, refreshes and uniform convergence come to.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

/// Refreshes that escapes cause, one after each, as the printed τ is below 1, against those of
/// drift; at unit constants.
Finding refreshes_finding() {
  std::vector<std::string> pairs;
  bool holds = true;
  for (const double alpha : {0.2, 0.05, 0.01, 1e-4}) {
    const double escapes = std::pow(alpha, -1.5), by_drift = 1 / alpha;
    holds = holds && escapes <= by_drift * (1 + 1e-9);
    pairs.push_back(fmt::format("{:.4g} against {:.4g} (printed quotient {:.4g})", escapes,
                                by_drift, escapes / std::pow(alpha, 1.5)));
  }
  return finding(
      holds,
      fmt::format("refreshes by escapes against those by drift, α = 0.2, 0.05, 0.01, 1e-4: {}",
                  fmt::join(pairs, "; ")));
}

/// Ganesh et al.'s schedule (Gaussian noise, fixed batches, quadratic drift κ) with the Hessian
/// escape: exponents in α of the records, in units of √d/ε or without privacy; constants 1.
Finding hessian_escape_finding() {
  struct Terms {
    double gradients, hessians;
  };
  const auto private_terms = [](double alpha) {
    const double kappa = std::pow(alpha, 4.0 / 3), tau = std::pow(alpha, -1.0 / 6);
    const double steps = std::pow(alpha, -2);
    const double refreshes = std::max(1 / kappa, std::pow(alpha, -1.5) / tau);
    // A record may move each of τΓ products at radius √α by so much that noise α/√d hides it.
    const double sensitivity = std::sqrt(alpha) / std::sqrt(tau * std::pow(alpha, -0.5));
    return Terms{std::max(refreshes / alpha, std::sqrt(kappa) / std::pow(alpha, 3)),
                 std::max(refreshes, steps * std::sqrt(kappa)) / sensitivity};
  };
  const auto other_terms = [](double alpha) {
    const double kappa = alpha, tau = std::pow(alpha, -0.5), steps = std::pow(alpha, -2);
    const double refreshes = std::max(1 / kappa, std::pow(alpha, -1.5) / tau);
    return Terms{std::max(refreshes, steps * kappa) / (alpha * alpha),
                 std::max(refreshes, steps * kappa) / alpha};
  };
  const auto exponents = [](const auto& terms) {
    const Terms small = terms(1e-6), large = terms(1e-3);
    return Terms{std::log10(large.gradients / small.gradients) / 3,
                 std::log10(large.hessians / small.hessians) / 3};
  };
  const Terms with = exponents(private_terms), without = exponents(other_terms);
  const double slack = 1e-9;
  return finding(
      with.gradients >= -7.0 / 3 - slack && with.hessians >= -7.0 / 3 - slack &&
          without.gradients >= -3 - slack && without.hessians >= -3 - slack,
      fmt::format("records follow α to the power {:+.3f} for gradients and {:+.3f} for "
                  "Hessians where privacy leads (bound -7/3), and {:+.3f}, {:+.3f} without (-3)",
                  with.gradients, with.hessians, without.gradients, without.hessians));
}

std::vector<JobCell> gap_cells(const Study& study) {
  return joined({uniform_gap_by_records(study), uniform_gap_by_dimension(study)});
}

Finding gap_finding(const Evidence& e) {
  const double in_n = curve_of(e.cells, "records", &UniformGap::Result::gap).slope();
  const double in_d = curve_of(e.cells, "dimension", &UniformGap::Result::gap).slope();
  Finding f = finding(std::abs(in_n + 0.5) <= 0.1 && in_d <= 0.6,
                      fmt::format("exponents {:+.3f} in n, {:+.3f} in d", in_n, in_d));
  if (f.verdict == Verdict::holds && in_d < 0.4) {
    f.verdict = Verdict::bound_met;
    f.reason = "the gap does not grow with d as the bound allows";
  }
  return f;
}

/// The schedules of one ε, a cell a variant: without privacy where runs are, with it so far beyond
/// that the logarithms bend no slope by half the distance of two predictions.
std::vector<JobCell> solved_cells(const Study& study, double epsilon) {
  std::vector<JobCell> cells;
  for (const auto& v : ablations())
    cells.push_back(epsilon < 1
                        ? solved_alpha(study, v.name, epsilon, 1e30, {1e46, 1e47, 1e48, 1e49, 1e50})
                        : solved_alpha(study, v.name, epsilon));
  return cells;
}

Finding solved_finding(const Evidence& e, double epsilon) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<std::string> slopes, misses, unclear;
  // Half the distance between the predictions, −1/2, −3/7, −2/5 and −1/3, −3/10, −2/7, at least.
  const double apart = epsilon < 1 ? 0.5 / 35 : 0.5 / 70;
  for (std::size_t k = 0; k < e.cells.size(); ++k) {
    const auto& v = ablations()[k];
    const double slope = solved_curve(e.cells[k]).slope();
    const double predicted = epsilon < 1 ? v.private_exponent : v.statistical_exponent;
    slopes.push_back(fmt::format("{} {:+.3f} for {:+.3f}", v.name, slope, predicted));
    if (std::abs(slope - predicted) > slope_tolerance)
      misses.push_back(v.name);
    else if (std::abs(slope - predicted) > apart)
      unclear.push_back(v.name);
  }
  Finding f = finding(
      misses.empty(), fmt::format("solved schedules: {}", fmt::join(slopes, "; ")),
      misses.empty() ? "" : fmt::format("off by more than 0.05: {}", fmt::join(misses, ", ")));
  if (misses.empty() && !unclear.empty()) {
    f.verdict = Verdict::inconclusive;
    f.reason = fmt::format("{} cannot be told from another prediction: logarithms bend the slopes",
                           fmt::join(unclear, ", "));
  }
  return f;
}

/// The trees with fixed batches, and the paper's method.
std::vector<JobCell> fixed_batch_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const char* variant : {"V2", "V2′", "V4"})
    cells.push_back(solved_alpha(study, variant, small_epsilon));
  return cells;
}

Finding fixed_batch_finding(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<double> slopes;
  for (const JudgedCell& cell : e.cells) slopes.push_back(solved_curve(cell).slope());
  return finding(std::min(slopes[0], slopes[1]) >= slopes[2] + 0.05,
                 fmt::format("exponents of the solved α in n: tree and fixed batches {:+.3f} and "
                             "{:+.3f}, adaptive batches {:+.3f}",
                             slopes[0], slopes[1], slopes[2]));
}

Predicate solved_predicate(std::string claim, double epsilon) {
  return {.claim = std::move(claim),
          .cells = [epsilon](const Study& study) { return solved_cells(study, epsilon); },
          .judge = [epsilon](const Evidence& e) { return solved_finding(e, epsilon); }};
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_rate_predicates() {
  return {
      by_formulas("liu-talwar-2025/10-refreshes", refreshes_finding),
      {"liu-talwar-2025/13", gap_cells, gap_finding},
      {"liu-talwar-2025/1-2-fixed-batches", fixed_batch_cells, fixed_batch_finding},
      by_formulas("liu-talwar-2025/1-2-applied", hessian_escape_finding),
      solved_predicate("liu-talwar-2025/ablation-private", small_epsilon),
      solved_predicate("liu-talwar-2025/ablation-statistical", no_privacy),
  };
}

}  // namespace dpsosp
