// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"

namespace dpsosp::ganesh_2023 {
namespace {

constexpr double a = 2.0;  // replace-one: one contribution leaves the sum, another enters it
constexpr std::string_view key = "ganesh-2023/stochastic-spider";

Index to_index(double value) { return count_of(key, "steps", value); }

}  // namespace

Index escape_length(double d, double M, double rho, double alpha, double theta) {
  const double curvature = std::sqrt(rho * alpha);
  return to_index(std::log(2.0 * M * d / (theta * curvature)) / std::log1p(curvature / (2.0 * M)));
}

PracticalNumbers practical_empirical(const ProblemNumbers& f, double oracle_budget, bool fresh,
                                     const PracticalKnobs& k) {
  const auto& [n, d, G, M, rho, B] = f;
  // O1 and O2 have φ/4 each (ganesh-2023 notes, 3.2).
  const double phi = 2.0 * oracle_budget;
  const auto at = [&, n = n, d = d, G = G, M = M, rho = rho, B = B](double alpha) {
    PracticalNumbers s{};
    s.alpha = alpha;
    s.drift_threshold = G * alpha / (M * M);
    s.steps = to_index(std::ceil(k.c_steps * B * M / (alpha * alpha)));
    s.refresh_cap = to_index(std::ceil(k.c_cap * B / (M * s.drift_threshold)));
    s.escape_steps = escape_length(d, M, rho, alpha, k.theta);
    if (fresh)
      s.refresh_cap += to_index(static_cast<double>(s.steps) / static_cast<double>(s.escape_steps));
    s.refresh_deviation = a * G / n * std::sqrt(2.0 * static_cast<double>(s.refresh_cap) / phi);
    s.increment_deviation = a * M / n * std::sqrt(2.0 * static_cast<double>(s.steps) / phi);
    return s;
  };
  const double closed = std::cbrt(2.0 * a * a * d * B * M * G * (k.c_cap + k.c_steps) /
                                  (phi * k.theta * k.theta * n * n));
  if (!fresh) return at(closed);
  return at(smallest_alpha(closed, 1e6 * closed, [&, d = d](double alpha) {
    const PracticalNumbers s = at(alpha);
    return std::sqrt(d * (std::pow(s.refresh_deviation, 2) +
                          s.drift_threshold * std::pow(s.increment_deviation, 2))) <=
           k.theta * alpha;
  }));
}

PracticalNumbers population_at(const ProblemNumbers& f, double records, double budget, double alpha,
                               double kappa, bool fresh, const PracticalKnobs& k) {
  PracticalNumbers s{};
  s.alpha = alpha;
  s.drift_threshold = kappa;
  s.steps = to_index(std::ceil(k.c_steps * f.B * f.M / (alpha * alpha)));
  s.refresh_cap = 1 + to_index(std::ceil(k.c_cap * f.B / (f.M * kappa)));
  s.escape_steps = escape_length(f.d, f.M, f.rho, alpha, k.theta);
  if (fresh)
    s.refresh_cap += to_index(static_cast<double>(s.steps) / static_cast<double>(s.escape_steps));
  s.refresh_batch = std::floor(records / (2.0 * static_cast<double>(s.refresh_cap)));
  s.increment_batch = std::floor(records / (2.0 * static_cast<double>(s.steps)));
  // Each record is in one batch, and pays (aG/b₁)²/(2σ₁²) = budget.
  const double ratio = 1.0 / std::sqrt(2.0 * budget);
  s.refresh_deviation = a * f.G / s.refresh_batch * ratio;
  s.increment_deviation = a * f.M / s.increment_batch * ratio;
  return s;
}

double population_error(const ProblemNumbers& f, const PracticalNumbers& s) {
  if (s.refresh_batch < 1 || s.increment_batch < 1) return std::numeric_limits<double>::infinity();
  return std::sqrt(f.d * (std::pow(s.refresh_deviation, 2) +
                          s.drift_threshold * std::pow(s.increment_deviation, 2)) +
                   f.G * f.G / s.refresh_batch + s.drift_threshold * f.M * f.M / s.increment_batch);
}

PracticalNumbers practical_population(const ProblemNumbers& f, double records, double budget,
                                      bool fresh, const PracticalKnobs& k) {
  const double unit = f.B / f.M;
  const auto best_at = [&](double alpha) {
    PracticalNumbers best{};
    double least = std::numeric_limits<double>::infinity();
    for (double kappa = 1e-9 * unit; kappa < 1e4 * unit; kappa *= 1.05) {
      const PracticalNumbers s = population_at(f, records, budget, alpha, kappa, fresh, k);
      const double error = population_error(f, s);
      if (error < least) {
        least = error;
        best = s;
      }
    }
    return std::pair{least, best};
  };
  // T is at most 1e15, so the search starts at the α where it is fewer.
  const double low = std::sqrt(k.c_steps * f.B * f.M * 1e-15) * 1.001;
  const double alpha =
      smallest_alpha(low, 1e6 * f.G, [&](double at) { return best_at(at).first <= k.theta * at; });
  const auto [error, best] = best_at(alpha);
  if (!std::isfinite(error))
    throw InputError(fmt::format("{}: {} records are too few for one pass", key, records));
  return best;
}

Theorem42 theorem_4_2(const ProblemNumbers& f, double phi) {
  const auto& [n, d, G, M, rho, B] = f;
  constexpr double omega = 0.01;
  Theorem42 s{};
  const double u = std::sqrt(d) / (n * std::sqrt(phi));
  s.drift_threshold =
      std::pow(G, 4.0 / 3) * std::cbrt(B) * std::pow(M, -5.0 / 3) * std::pow(u, 2.0 / 3);
  s.alpha = std::pow(std::sqrt(B * G * M) * u, 2.0 / 3) *
            std::pow(std::log(n * B * M * d / (rho * omega)), 6);
  // α = γ log³(BMd/(ρω)), so that Algorithm 1's escape threshold is α
  s.gamma = s.alpha / std::pow(std::max(1.0, std::log(B * M * d / (rho * omega))), 3);
  const double lambda = std::max(1.0, std::log(d * M * B / (rho * s.gamma * omega)));
  s.steps = B * M * std::pow(lambda, 4) / (s.gamma * s.gamma);
  s.refresh_cap = B * std::pow(lambda, 4) / (M * s.drift_threshold);
  s.escape_steps = M * lambda / std::sqrt(rho * s.gamma);
  return s;
}

Theorem46 theorem_4_6_at(const ProblemNumbers& f, double phi, double kappa, double alpha) {
  Theorem46 s{};
  s.drift_threshold = kappa;
  s.alpha = alpha;
  s.refresh_batch = f.n * kappa * f.M / f.B;
  s.increment_batch = f.n * alpha * alpha / (f.B * f.M);
  s.refresh_deviation = f.G / (s.refresh_batch * std::sqrt(phi));
  s.increment_deviation = f.M / (s.increment_batch * std::sqrt(phi));
  return s;
}

Theorem46 theorem_4_6(const ProblemNumbers& f, double phi, bool logarithms) {
  const auto& [n, d, G, M, rho, B] = f;
  constexpr double omega = 0.01;
  const double u = std::sqrt(d) / (n * std::sqrt(phi));
  const double log_d = logarithms ? std::max(1.0, std::log(d)) : 1.0;
  const double factor = logarithms ? std::pow(std::log(n * B * M * d / (rho * omega)), 3) : 1.0;
  const double kappa = std::max(
      std::pow(G, 4.0 / 3) * std::cbrt(B) * std::pow(M, -5.0 / 3) * std::cbrt(log_d) *
          std::pow(n, -1.0 / 3),
      std::pow(G * std::pow(B, 2.0 / 3) * std::pow(M, -5.0 / 3), 6.0 / 7) * std::pow(u, 4.0 / 7));
  const double alpha = (std::cbrt(B * G * M * log_d / n) +
                        std::pow(G, 1.0 / 7) * std::pow(B * M, 3.0 / 7) * std::pow(u, 3.0 / 7)) *
                       factor;
  return theorem_4_6_at(f, phi, kappa, alpha);
}

namespace {

void set_practical(SpiderParameters& p, const PracticalNumbers& e, const ProblemNumbers& f,
                   const PracticalKnobs& k) {
  p.steps = e.steps;
  p.drift_threshold = e.drift_threshold;
  p.refresh_cap = e.refresh_cap;
  p.escape.steps = e.escape_steps;
  p.escape.threshold = k.c_trigger * e.alpha;
  p.escape.kick_deviation = k.theta * e.alpha / std::sqrt(f.d);  // dev: docs/errata.md, G5
  p.escape.radius = std::sqrt(e.alpha / f.rho);
}

}  // namespace

Scheduled StochasticSpider::schedule(Schedule kind, const PublicFacts& facts,
                                     const PrivacyBudget& budget, Calibrator calibrator) {
  SpiderParameters& p = parameters.spider;
  SelectionParameters& selection = parameters.selection;
  refuse_shared_dual(card(), facts);
  const ProblemNumbers f = numbers_of(facts);
  const bool fresh = p.escape.kind == EscapeKind::isotropic_fresh;
  const PracticalKnobs& knobs = parameters.knobs;
  Scheduled s{.rule = filter_rule(budget, calibrator), .alpha = 0, .utility = {}, .note = {}};
  const double R = s.rule.capacity;
  const bool selects = selection.share > 0 && selection_fits(facts, calibrator);

  p.refresh = RefreshTrigger::drift;
  p.step_size = 1.0 / f.M;
  p.oracle.clip_refresh = f.G;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = f.M;

  if (parameters.target == Target::population) {
    // D₁ is optimised over, D₂ selects; without a selection all records are D₁.
    const double n1 = selects ? f.n - std::floor(selection.share * f.n) : f.n;
    const double R1 = selects && parameters.split == BudgetSplit::half ? 0.5 * R : R;
    p.oracle.sampling = Sampling::fresh;
    if (kind == Schedule::practical) {
      const PracticalNumbers e = practical_population(f, n1, R1, fresh, knobs);
      s.alpha = e.alpha;
      set_practical(p, e, f, knobs);
      p.oracle.refresh_batch = static_cast<Index>(e.refresh_batch);
      p.oracle.increment_batch = static_cast<Index>(e.increment_batch);
      s.utility = Utility::disputed;
      s.note = "the population escape is proved for exact coupling alone (docs/errata.md, G7)";
    } else {
      const Theorem46 e = theorem_4_6(f, R1);
      s.alpha = e.alpha;
      constexpr double omega = 0.01;
      const double gamma =
          e.alpha / std::pow(std::max(1.0, std::log(f.B * f.M * f.d / (f.rho * omega))), 3);
      const double lambda = std::max(1.0, std::log(f.d * f.M * f.B / (f.rho * gamma * omega)));
      p.steps = count_of(key, "steps", f.B * f.M * std::pow(lambda, 4) / (gamma * gamma));
      p.drift_threshold = e.drift_threshold;
      p.refresh_cap =
          count_of(key, "refreshes", f.B * std::pow(lambda, 4) / (f.M * e.drift_threshold));
      p.escape.steps = count_of(key, "escape steps", f.M * lambda / std::sqrt(f.rho * gamma));
      p.escape.threshold = e.alpha;
      p.escape.radius = std::sqrt(e.alpha / f.rho);
      p.oracle.refresh_batch =
          std::min(static_cast<Index>(n1), count_of(key, "records", e.refresh_batch));
      p.oracle.increment_batch =
          std::min(static_cast<Index>(n1), count_of(key, "records", e.increment_batch));
      s.utility = Utility::disputed;
      s.note = "noise by this suite's accountant; the printed totals differ (docs/errata.md, G6)";
    }
    // dev: noise from exact zCDP under replace-one (docs/errata.md, G6); each record pays once
    p.oracle.refresh_noise = p.oracle.increment_noise = noise_ratio_for(R1, 1.0);
    if (kind == Schedule::paper)
      // σ₁; the printed ζ₁/√d has the sampling error of O1 as well (ganesh-2023 notes, 6.5)
      p.escape.kick_deviation =
          2.0 * f.G / static_cast<double>(p.oracle.refresh_batch) * p.oracle.refresh_noise;
    if (selects) {
      const double R2 = parameters.split == BudgetSplit::half ? 0.5 * R : R;
      selection.epsilon = std::sqrt(2.0 * R2 / selection.charges()) * (1.0 - 1e-12);
    }
  } else {
    const double oracle_budget = R * (selects ? 1.0 - selection.share : 1.0);
    p.oracle.sampling = Sampling::all;
    if (kind == Schedule::practical) {
      const PracticalNumbers e = practical_empirical(f, oracle_budget, fresh, knobs);
      s.alpha = e.alpha;
      set_practical(p, e, f, knobs);
      s.utility = Utility::repaired;
    } else {
      const Theorem42 e = theorem_4_2(f, oracle_budget);
      s.alpha = e.alpha;
      p.steps = count_of(key, "steps", e.steps);
      p.drift_threshold = e.drift_threshold;
      p.refresh_cap = count_of(key, "refreshes", e.refresh_cap);
      p.escape.steps = count_of(key, "escape steps", e.escape_steps);
      p.escape.threshold = e.alpha;
      p.escape.radius = std::sqrt(e.alpha / f.rho);
      s.utility = Utility::disputed;
      s.note = "noise by this suite's accountant; the printed totals differ (docs/errata.md, G6)";
    }
    const double half = 0.5 * oracle_budget;  // dev: as above (docs/errata.md, G6)
    p.oracle.refresh_noise = noise_ratio_for(half, static_cast<double>(p.refresh_cap));
    p.oracle.increment_noise = noise_ratio_for(half, static_cast<double>(p.steps));
    if (kind == Schedule::paper)
      p.escape.kick_deviation = 2.0 * f.G / f.n * p.oracle.refresh_noise;  // ζ₁/√d = σ₁
    if (selects)
      selection.epsilon =
          std::sqrt(2.0 * selection.share * R / selection.charges()) * (1.0 - 1e-12);
  }
  if (!selects) selection.epsilon = 0.0;
  selection.alpha = s.alpha;
  mark_vacuous(s, f.G);
  return s;
}

}  // namespace dpsosp::ganesh_2023
