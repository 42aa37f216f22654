// SPDX-License-Identifier: Apache-2.0
// How escapes leave a saddle, at what accuracy, and what holds them there.
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
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

int pairs_of(const Study& study) { return study.scale == Scale::smoke ? 50 : 500; }

std::vector<JobCell> stuck_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double share : {1.0, 0.5})
    for (const double gamma : {0.01, 0.1})
      cells.push_back(
          probe_cell(study, StuckPairs{.gamma = gamma, .share = share, .pairs = pairs_of(study)}));
  return cells;
}

Finding stuck_finding(const Evidence& e) {
  std::vector<double> free;
  for (const JudgedCell& cell : e.cells)
    free.push_back(number(cell, &StuckPairs::Result::free) / pairs_of(e.study));
  return finding(std::min(free[0], free[1]) >= 1,
                 fmt::format("one of two leaves in {:.1f} % of the pairs at γ = 0.01 and {:.1f} % "
                             "at 0.1; within half of Γ in {:.1f} % and {:.1f} %",
                             100 * free[0], 100 * free[1], 100 * free[2], 100 * free[3]));
}

/// The curvature over √(ρα) at which half of the escapes leave, between two cells of the grid.
double half_success(const Curve& left, int seeds) {
  for (std::size_t k = 1; k < left.x.size(); ++k) {
    const double a = left.y[k - 1] / seeds, b = left.y[k] / seeds;
    if (a < 0.5 && b >= 0.5)
      return left.x[k - 1] * std::pow(left.x[k] / left.x[k - 1], (0.5 - a) / (b - a));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr double threshold_alphas[] = {1e-4, 1e-3, 1e-2, 1e-1};
constexpr int threshold_dimensions[] = {4, 16, 64, 256};

std::vector<JobCell> escape_cells(const Study& study) {
  std::vector<JobCell> cells =
      joined({escapes_by_alpha(study),
              escapes_by_curvature("cosine-saddle", "hessian_power", "benign", 0.01, 16, study,
                                   {{"problem", "cosine-saddle"}})});
  if (study.scale == Scale::smoke) return cells;
  const auto add = [&](double alpha, int dimension, const Coordinates& of) {
    for (JobCell& cell : escapes_by_curvature("quartic-saddle", "hessian_power", "adversarial",
                                              alpha, dimension, study, of))
      cells.push_back(std::move(cell));
  };
  for (const double alpha : threshold_alphas) add(alpha, 16, {{"threshold_alpha", alpha}});
  for (const int d : threshold_dimensions) add(0.01, d, {{"threshold_dimension", d}});
  return cells;
}

Finding escape_finding(const Evidence& e) {
  const int seeds = escape_seeds(e.study);
  Curve steps = curve_of(e.cells, "alpha", &Escapes::Result::steps),
        decrease = curve_of(e.cells, "alpha", &Escapes::Result::change);
  for (std::size_t k = 0; k < steps.x.size(); ++k) {
    steps.y[k] /= std::log(1 / steps.x[k]);
    decrease.y[k] = -decrease.y[k];
  }
  const Curve cosine =
      curve_of(e.cells, "curvature", &Escapes::Result::left, {{"problem", "cosine-saddle"}});
  const auto one = std::ranges::find(cosine.x, 1.0) - cosine.x.begin();
  const double least =
      std::min(std::ranges::min(curve_of(e.cells, "alpha", &Escapes::Result::left).y),
               cosine.y[static_cast<std::size_t>(one)]) /
      seeds;
  const double lower =
      std::min(
          std::ranges::min(curve_of(e.cells, "alpha", &Escapes::Result::lowered).y),
          curve_of(e.cells, "curvature", &Escapes::Result::lowered, {{"problem", "cosine-saddle"}})
              .y[static_cast<std::size_t>(one)]) /
      seeds;
  const bool falls = std::ranges::min(decrease.y) > 0;
  if (e.study.scale == Scale::smoke)
    return {.verdict = Verdict::inconclusive,
            .measured =
                fmt::format("at least {:.0f} % leave, {:.0f} % lower F", 100 * least, 100 * lower),
            .reason = "thresholds are not measured at this scale"};
  const auto thresholds = [&](const char* of, const auto& grid) {
    Curve c;
    for (const auto v : grid) {
      c.x.push_back(v);
      c.y.push_back(
          half_success(curve_of(e.cells, "curvature", &Escapes::Result::left, {{of, v}}), seeds));
    }
    return c;
  };
  Curve by_alpha = thresholds("threshold_alpha", threshold_alphas);
  for (std::size_t k = 0; k < by_alpha.x.size(); ++k) by_alpha.y[k] *= std::sqrt(by_alpha.x[k]);
  const double in_alpha = by_alpha.slope();
  const double in_d = thresholds("threshold_dimension", threshold_dimensions).slope();
  const double step_slope = steps.slope();
  const double drop_slope = falls ? decrease.slope() : std::nan("");
  std::vector<std::string> misses;
  const auto need = [&](bool ok, const char* what) {
    if (!ok) misses.emplace_back(what);
  };
  need(least >= 0.95, "success below 95 % at curvature √(ρα)");
  need(lower >= 0.95, "F falls in less than 95 %");
  need(falls, "F does not fall in the mean");
  need(std::abs(in_alpha - 0.5) <= 0.1, "λ* against α");
  need(std::abs(in_d) <= 0.1, "λ* against d");
  need(step_slope >= -0.6, "steps against α");
  need(std::abs(drop_slope - 1.5) <= 0.15, "decrease against α");
  Finding f = finding(
      misses.empty(),
      fmt::format("at λ = √(ρα) at least {:.0f} % leave and {:.0f} % lower F; exponents: λ* "
                  "{:+.3f} in α and {:+.3f} in d, steps over ln(1/α) {:+.3f}, mean decrease "
                  "{:+.3f} in α",
                  100 * least, 100 * lower, in_alpha, in_d, step_slope, drop_slope),
      fmt::format("{}", fmt::join(misses, "; ")));
  if (!std::isfinite(in_alpha) || !std::isfinite(in_d)) {
    f.verdict = Verdict::inconclusive;
    f.reason = "the share of escapes crosses one half nowhere on the grid";
  }
  return f;
}

Finding literal_finding() {
  return vacuous_below(
      [](double n) {
        const ProblemNumbers f{n, 100, 1, 1, 1, 1};
        const double alpha = liu_talwar_2025::theorem_3_17_alpha(f, 1);
        return liu_talwar_2025::theorem_3_17_at(f, 1, alpha).threshold < 1;
      },
      "gamma ln^3(BMd/(rho omega)) > G", "d = 100, eps = 1, unit constants",
      "below that n every point counts as a saddle");
}

/// Records of Lemma 3.15 at the κ and α of Lemma 3.16 and γ = α, over n; constants and
/// logarithms 1.
double records_over_n(const ProblemNumbers& f, double epsilon, double alpha) {
  const auto& [n, d, G, M, rho, B] = f;
  const auto t = liu_talwar_2025::theorem_3_17_at(f, epsilon, alpha, false);
  const double kappa = t.drift_threshold, squared = alpha * alpha;
  return (t.refresh_batch * B * M / (kappa * alpha) +
          B * M *
              (std::sqrt(d) / (squared * epsilon) + kappa / (squared * alpha) +
               rho * kappa / (M * M * squared) + 1 / squared)) /
         n;
}

Finding accuracy_finding() {
  constexpr int trials = 20000;
  Stream stream({.seed = 0, .purpose = Purpose::statistics});
  const auto decades = [&](double low, double high) {
    return std::pow(10, low + (high - low) * stream.uniform());
  };
  double printed = 0, proof = 0;
  for (int k = 0; k < trials; ++k) {
    const ProblemNumbers f{.n = decades(2, 20),
                           .d = decades(0, 6),
                           .G = decades(-4, 4),
                           .M = decades(-4, 4),
                           .rho = decades(-4, 4),
                           .B = decades(-4, 4)};
    const double epsilon = decades(-6, 0);
    const double alpha = liu_talwar_2025::theorem_3_17_alpha(f, epsilon);
    proof = std::max(proof, records_over_n(f, epsilon, alpha));
    // The statement has √(BM²)/(ρ√n) where its proof, and the function, have √(BM²/(ρn)).
    const double term = f.M * std::sqrt(f.B / f.n);
    printed = std::max(printed,
                       records_over_n(f, epsilon, alpha - term / std::sqrt(f.rho) + term / f.rho));
  }
  return finding(
      std::max(printed, proof) <= 4,
      fmt::format("over {} random settings the records are at most {:.2f} n at the printed "
                  "α, and {:.2f} n with the proof's fourth term",
                  trials, printed, proof));
}

Finding radius_finding() {
  std::vector<double> left;
  for (const double gamma : {0.1, 0.01, 0.001})  // Γ = M/√(ργ), unit constants
    left.push_back(std::sqrt(gamma) - 3 * gamma / std::sqrt(gamma));
  return finding(std::ranges::min(left) > 0,
                 fmt::format("Ξ − 3γηΓ = {:+.3f} at γ = 0.1, 0.01, 0.001", fmt::join(left, ", ")));
}

constexpr double flat_gammas[] = {1e-3, 1e-4, 1e-5, 1e-6};

int flat_escapes_of(const Study& study) { return study.scale == Scale::smoke ? 100 : 1000; }

std::vector<JobCell> flat_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const bool gamma_in_log : {false, true})
    for (const double gamma : flat_gammas)
      cells.push_back(probe_cell(
          study,
          FlatEscapes{
              .gamma = gamma, .gamma_in_log = gamma_in_log, .escapes = flat_escapes_of(study)},
          {{gamma_in_log ? "repaired" : "printed", gamma}}));
  return cells;
}

Finding flat_finding(const Evidence& e) {
  const auto percent = [&](const char* series) {
    std::vector<double> share = curve_of(e.cells, series, &FlatEscapes::Result::lowered).y;
    for (double& s : share) s *= 100.0 / flat_escapes_of(e.study);
    return share;
  };
  const std::vector<double> printed = percent("printed");
  return finding(std::ranges::min(printed) >= 90,
                 fmt::format("F falls in {:.0f} % of the escapes at γ = {}; with 1/γ in the "
                             "logarithm in {:.0f} %",
                             fmt::join(printed, " %, "), fmt::join(flat_gammas, ", "),
                             fmt::join(percent("repaired"), " %, ")),
                 "the printed logarithm has no γ in it");
}

/// Which escape meets which error, at λ = √(ρα) = 2√(ργ), γ = α/4, and four times that.
struct Held {
  const char *method, *error, *words;
};
constexpr Held held[] = {
    {"isotropic", "adversarial", "isotropic kick, errors that see the trajectory"},
    {"hessian_power", "adversarial", "Hessian powers, a frozen pair"},
    {"isotropic", "benign", "isotropic kick, benign error"},
    {"hessian_power", "benign", "Hessian powers, benign error"},
    {"isotropic", "frozen", "isotropic kick, a frozen error"},
    {"hessian_power", "seeing", "Hessian powers, errors that see the trajectory"}};
constexpr double held_ratios[] = {1, 4};

std::vector<JobCell> held_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const Held& h : held)
    for (const double ratio : held_ratios)
      cells.push_back(escape_cell("quartic-saddle", h.method, h.error, ratio, 0.01, 16, study));
  return cells;
}

/// The first four decide; the other two show whether escape or adversary makes the difference.
Finding held_finding(const Evidence& e) {
  std::vector<double> left;
  std::vector<std::string> words;
  for (std::size_t k = 0; k < std::size(held); ++k) {
    for (std::size_t j = 0; j < std::size(held_ratios); ++j)
      left.push_back(number(e.cells[2 * k + j], &Escapes::Result::left) / escape_seeds(e.study));
    words.push_back(fmt::format("{} {:.3g} %, {:.3g} %", held[k].words, 100 * left[2 * k],
                                100 * left[2 * k + 1]));
  }
  const bool stays = left[0] == 0 && left[1] == 0;
  const bool leaves =
      std::all_of(left.begin() + 2, left.begin() + 8, [](double share) { return share >= 0.95; });
  return finding(stays && leaves,
                 fmt::format("left at λ = √(ρα), 4√(ρα): {}", fmt::join(words, "; ")));
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_escape_predicates() {
  return {
      {"liu-talwar-2025/6-stuck", stuck_cells, stuck_finding},
      {"liu-talwar-2025/7", escape_cells, escape_finding},
      by_formulas("liu-talwar-2025/7-constants", radius_finding),
      {"liu-talwar-2025/7-logarithm", flat_cells, flat_finding},
      by_formulas("liu-talwar-2025/12-literal", literal_finding),
      by_formulas("liu-talwar-2025/lemma-3-16", accuracy_finding),
      {"liu-talwar-2025/14", held_cells, held_finding},
  };
}

}  // namespace dpsosp
