// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"

namespace dpsosp::liu_talwar_2025 {
namespace {

constexpr std::string_view key = "liu-talwar-2025/adaptive-spider";
constexpr double a = 2.0;  // replace-one

double square(double x) { return x * x; }

/// As count_of, of any size: a run of that many steps is refused when its schedule is made.
double whole(double value) { return std::max(1.0, std::ceil(value * (1.0 - 1e-12) - 1e-9)); }

/// A batch that a sensitivity requires is rounded up exactly, so that no charge exceeds its share.
/// One that accuracy requires may lie 1e-9 above an integer and is then that integer.
double batch_for(double by_sensitivity, double by_accuracy) {
  return std::max({1.0, std::ceil(by_sensitivity), std::ceil(by_accuracy - 1e-9)});
}

}  // namespace

// liu-talwar-2025 notes, 3.2; Gaussian noise, fixed batches, quadratic drift: 3.3
Numbers numbers_at(const ProblemNumbers& f, double phi, double alpha, double kappa,
                   const Switches& sw, const Knobs& k) {
  const double d = f.d, G = f.G, M = f.M, rho = f.rho, B = f.B;
  const bool hessian = sw.escape == EscapeKind::hessian_power;
  const bool tree = sw.noise == SpiderNoise::tree;
  const bool adaptive = sw.batch == SpiderBatch::adaptive;
  const double curvature = std::sqrt(rho * alpha);
  Numbers s{};
  s.alpha = alpha;
  s.drift_threshold = kappa;
  s.steps = whole(k.c_steps * B * M / square(alpha));
  s.escape_radius = std::sqrt(alpha / rho);
  s.escapes_per_refresh = sw.tau_mode == TauMode::one
                              ? 1
                              : whole(k.c_tau * G * std::sqrt(rho) / (M * std::sqrt(alpha)));
  s.escape_steps = whole(std::log(2.0 * M * d / (k.theta_escape * curvature)) /
                         std::log1p(curvature / (2.0 * M)));
  // The noise of Gaussian increments accumulates, so an epoch has at most κ/α of them.
  s.max_leaves = tree || !adaptive ? s.steps : whole(kappa / alpha);
  s.levels = 1.0 + std::ilogb(s.max_leaves);
  s.escape_deviation = k.theta_escape * alpha / std::sqrt(d);

  // Within an epoch the lengths of the steps sum to κ/M if drift is linear; their squares sum to κ
  // if it is quadratic.
  const bool linear = sw.drift_kind == DriftKind::linear;
  const double largest_move = linear ? kappa / M : std::sqrt(kappa);  // D
  const double stat = square(k.theta_stat * alpha);

  double refresh_sensitivity = 0;  // s₁; with a tree s_g
  if (tree) {
    s.tree_deviation = k.theta_tree * alpha / std::sqrt(d * s.levels);
    s.gradient_sensitivity = s.tree_deviation * std::sqrt(2.0 * phi / s.levels);
    refresh_sensitivity = s.gradient_sensitivity;
  } else {
    s.refresh_deviation = k.theta_tree * alpha / std::sqrt(2.0 * d);
    refresh_sensitivity = s.refresh_deviation * std::sqrt(2.0 * phi);
    s.increment_deviation = adaptive ? k.theta_tree * alpha / std::sqrt(2.0 * d * s.max_leaves)
                                     : k.theta_tree * alpha / (std::sqrt(2.0 * d) * largest_move);
    s.gradient_sensitivity = s.increment_deviation * std::sqrt(2.0 * phi);
  }
  // Mean squared error: G²/b_O1 of O1, κM/c₂ or (MD)²/b₂ of an epoch's increments.
  s.refresh_batch = batch_for(a * G / refresh_sensitivity, G * G / stat);
  if (adaptive) {
    s.batch_rate = std::max(a * M / s.gradient_sensitivity, kappa * M / stat);
  } else if (tree) {
    s.increment_batch =
        batch_for(a * M * largest_move / s.gradient_sensitivity, square(M * largest_move) / stat);
  } else {
    s.increment_batch = batch_for(a * M / s.gradient_sensitivity, square(M * largest_move) / stat);
  }
  const double T = s.steps;
  const double path = k.c_path * B * M / alpha;                      // S
  const double escapes = B * std::sqrt(rho) / std::pow(alpha, 1.5);  // E
  s.refreshes = 1.0 + (linear ? path / kappa : k.c_path * B / (M * kappa));
  if (!tree && adaptive) s.refreshes += T / s.max_leaves;
  if (hessian) {
    s.refreshes += escapes / s.escapes_per_refresh;
    s.hessian_sensitivity = s.escape_deviation / s.escape_radius *
                            std::sqrt(2.0 * phi / (s.escape_steps * s.escapes_per_refresh));
    const double accuracy = square(k.theta_hessian) * rho * alpha;
    s.hessian_batch = batch_for(a * M / s.hessian_sensitivity, M * M / accuracy);
    s.hessian_batch_rate = std::max(a * rho / s.hessian_sensitivity,
                                    rho * kappa / (M * square(k.theta_hessian) * alpha));
  } else if (sw.escape == EscapeKind::isotropic_fresh) {
    s.refreshes += escapes;
  }
  s.records = s.refreshes * (s.refresh_batch + s.hessian_batch);
  s.records += adaptive
                   ? path / M * (s.batch_rate + s.hessian_batch_rate) + (hessian ? 2.0 : 1.0) * T
                   : T * s.increment_batch + (hessian ? path / M * s.hessian_batch_rate + T : 0.0);
  return s;
}

Numbers solve(const ProblemNumbers& f, double phi, double records, const Switches& sw,
              const Knobs& k) {
  const bool paper = sw.noise == SpiderNoise::tree && sw.batch == SpiderBatch::adaptive &&
                     sw.escape == EscapeKind::hessian_power && sw.tau_mode == TauMode::repaired;
  const double kappa_unit = sw.drift_kind == DriftKind::linear ? f.G : square(f.G / f.M);
  // Steps are at most 1e15; beyond, where nothing runs, the formulas have no end.
  const bool runs = records <= 1e15;
  const auto best_at = [&](double alpha) {
    if (paper) return numbers_at(f, phi, alpha, k.c_drift * f.G, sw, k);
    std::optional<Numbers> best;
    for (double kappa = (runs ? 1e-8 : 1e-30) * kappa_unit; kappa <= 1e4 * kappa_unit;
         kappa *= 1.1) {
      const Numbers s = numbers_at(f, phi, alpha, kappa, sw, k);
      if (!best || s.records < best->records) best = s;
    }
    return *best;
  };
  const double low = std::sqrt(k.c_steps * f.B * f.M * (runs ? 1e-15 : 1e-45)) * 1.001;
  const double high = 1e3 * f.G;
  const double alpha =
      smallest_alpha(low, high, [&](double at) { return best_at(at).records <= records; });
  const Numbers s = best_at(alpha);
  if (!(s.records <= records))
    throw InputError(fmt::format("{}: {} records are too few for one pass", key, records));
  return s;
}

// liu-talwar-2025, Theorem 3.17
double theorem_3_17_alpha(const ProblemNumbers& f, double epsilon) {
  const auto& [n, d, G, M, rho, B] = f;
  const double u = std::sqrt(d) / (n * epsilon);
  return (std::cbrt(B * G * M) + std::sqrt(B * M)) * std::sqrt(u) +
         (std::pow(B * M, 2.0 / 9) * std::pow(G, 5.0 / 9) +
          std::pow(B * M, 4.0 / 9) * std::pow(G, 1.0 / 9)) *
             std::pow(n, -1.0 / 3) +
         std::sqrt(M * B / n) + std::sqrt(B * M * M / (rho * n)) +  // dev: the proof's term (L11)
         std::cbrt(B) * std::pow(M, 4.0 / 3) / (std::pow(G, 1.0 / 6) * std::sqrt(rho * n)) +
         std::pow(B, 2.0 / 3) * std::pow(G, 1.0 / 6) * std::sqrt(rho) /
             (std::cbrt(M) * std::sqrt(n)) +
         B * rho * std::sqrt(d) / (M * n * epsilon);
}

Theorem317 theorem_3_17_at(const ProblemNumbers& f, double epsilon, double alpha, bool logarithms) {
  const auto& [n, d, G, M, rho, B] = f;
  constexpr double failure = 0.01;  // ι, ω
  const auto log_or_one = [&](double x) { return logarithms ? std::max(1.0, std::log(x)) : 1.0; };
  Theorem317 t{};
  t.alpha = alpha;
  t.drift_threshold = std::max(alpha * std::sqrt(d) / epsilon, std::cbrt(B * G * M));
  t.gamma = alpha * std::sqrt(log_or_one(n * d / failure));
  t.refresh_batch = G * std::sqrt(d) / (epsilon * alpha) + G * G / (alpha * alpha) +
                    M * std::sqrt(d) / (rho * epsilon) + M * M / (rho * alpha);
  t.radius = std::sqrt(t.gamma / rho);
  t.tau = std::pow(alpha, 1.5) / (M * std::sqrt(rho));
  const double lambda = log_or_one(d * M * B / (rho * t.gamma * failure));
  t.escape_steps = M * lambda / std::sqrt(rho * t.gamma);
  t.deviation = alpha / std::sqrt(d);
  t.steps = B * M * std::pow(lambda, 4) / (t.gamma * t.gamma);
  t.threshold = t.gamma * std::pow(log_or_one(B * M * d / (rho * failure)), 3);
  return t;
}

double theorem_3_17_rate(const ProblemNumbers& f, double epsilon, const Theorem317& t) {
  return std::max({std::sqrt(f.d) / (t.alpha * epsilon), t.drift_threshold / square(t.alpha),
                   f.rho * t.drift_threshold / (square(f.M) * t.alpha)});
}

double theorem_3_17_batch(const ProblemNumbers& f, double epsilon, const Theorem317& t, double w) {
  return std::max(w * theorem_3_17_rate(f, epsilon, t), 1.0);
}

// liu-talwar-2025, Theorem 3.17: gradient and Hessian have a batch of b or b_t each (Algorithm 4).
Numbers printed_at(const ProblemNumbers& f, double epsilon, double alpha, const Knobs& knobs) {
  const Theorem317 t = theorem_3_17_at(f, epsilon, alpha, false);
  // Steps, levels and escapes do not depend on the zCDP of a record.
  Numbers s = numbers_at(f, 1.0, alpha, t.drift_threshold, {.tau_mode = TauMode::one}, knobs);
  s.tree_deviation = s.escape_deviation = t.deviation;
  s.refresh_batch = s.hessian_batch = std::ceil(t.refresh_batch - 1e-9);
  s.batch_rate = s.hessian_batch_rate = f.M * theorem_3_17_rate(f, epsilon, t);
  s.gradient_sensitivity = 2.0 * f.G / s.refresh_batch;
  s.hessian_sensitivity = 2.0 * f.M / s.hessian_batch;
  const double path = knobs.c_path * f.B * f.M / alpha;  // S
  s.records = 2.0 * s.refreshes * s.refresh_batch + 2.0 * path / f.M * s.batch_rate + 2.0 * s.steps;
  return s;
}

Numbers solve_printed(const ProblemNumbers& f, double epsilon, const Knobs& k) {
  const double low = std::sqrt(k.c_steps * f.B * f.M * 1e-15) * 1.001;
  const double alpha = smallest_alpha(
      low, 1e3 * f.G, [&](double at) { return printed_at(f, epsilon, at, k).records <= f.n; });
  const Numbers s = printed_at(f, epsilon, alpha, k);
  if (!(s.records <= f.n))
    throw InputError(fmt::format("{}: {} records are too few for one pass", key, f.n));
  return s;
}

Scheduled AdaptiveSpider::schedule(Schedule kind, const PublicFacts& facts,
                                   const PrivacyBudget& budget, Calibrator calibrator) {
  SpiderParameters& p = parameters.spider;
  SelectionParameters& selection = parameters.selection;
  check_problem(facts);
  if (p.noise == SpiderNoise::gaussian_fixed && p.batch == SpiderBatch::fixed)
    throw InputError(fmt::format(
        "{}: noise = gaussian_fixed has a schedule only with batch_rule = adaptive; with fixed "
        "batches set noise = gaussian_proportional",
        key));
  if (p.drift_kind == DriftKind::quadratic && p.batch == SpiderBatch::adaptive)
    throw InputError(fmt::format(
        "{}: drift = quadratic has a schedule only with batch_rule = fixed: an epoch's path is "
        "bounded by the linear drift",
        key));
  const bool printed = parameters.release == Release::printed;
  if (printed && (p.noise != SpiderNoise::tree || p.batch != SpiderBatch::adaptive ||
                  p.drift_kind != DriftKind::linear || p.escape.kind != EscapeKind::hessian_power))
    throw InputError(fmt::format(
        "{}: release = printed is Theorem 3.17's, with the tree, adaptive batches, linear drift "
        "and escape = hessian_power; set release = accounted for another",
        key));
  const ProblemNumbers f = numbers_of(facts);
  const Knobs& knobs = parameters.knobs;
  const Switches switches{.noise = p.noise,
                          .batch = p.batch,
                          .drift_kind = p.drift_kind,
                          .escape = p.escape.kind,
                          .tau_mode = parameters.tau_mode};
  Scheduled s{.rule = filter_rule(budget, calibrator), .alpha = 0, .utility = {}, .note = {}};
  const double phi = s.rule.capacity * (1.0 - 1e-12);
  const bool selects = !printed && selection.share > 0 && selection_fits(facts, calibrator);
  const double held_out = selects ? std::floor(selection.share * f.n) : 0.0;

  p.step_size = 1.0 / f.M;
  p.refresh = RefreshTrigger::drift;
  p.oracle.sampling = Sampling::fresh;
  p.oracle.clip_refresh = f.G;
  p.oracle.increment_clip = IncrementClip::capped;
  p.oracle.clip_increment = f.M;
  p.escape.hessian_clip = f.M;
  p.escape.hessian_lipschitz = f.rho;
  // dev: the paper's schedule, too, has the τ of tau_mode, and unless release = printed noise and
  // batches that fit the budget (L4, L6).
  const auto numbers = [&] {
    if (kind == Schedule::practical)
      return printed ? solve_printed(f, budget.epsilon, knobs)
                     : solve(f, phi, f.n - held_out, switches, knobs);
    const double alpha = theorem_3_17_alpha(f, budget.epsilon);
    if (printed) return printed_at(f, budget.epsilon, alpha, knobs);
    const double kappa = theorem_3_17_at(f, budget.epsilon, alpha).drift_threshold;
    return numbers_at(f, phi, alpha, kappa, switches, knobs);
  };
  const Numbers e = numbers();
  s.alpha = e.alpha;
  p.steps = count_of(key, "steps", e.steps);
  p.drift_threshold = e.drift_threshold;
  p.max_leaves = count_of(key, "leaves", e.max_leaves);
  p.tree_deviation = e.tree_deviation > 0 ? e.tree_deviation : p.tree_deviation;
  p.refresh_deviation = e.refresh_deviation > 0 ? e.refresh_deviation : p.refresh_deviation;
  p.increment_deviation = e.increment_deviation > 0 ? e.increment_deviation : p.increment_deviation;
  p.oracle.refresh_batch = count_of(key, "records", e.refresh_batch);
  p.oracle.increment_batch =
      e.increment_batch > 0 ? count_of(key, "records", e.increment_batch) : p.oracle.refresh_batch;
  p.batch_rate = e.batch_rate > 0 ? e.batch_rate : p.batch_rate;
  p.escape.steps = count_of(key, "escape steps", e.escape_steps);
  p.escape.escapes_per_refresh = count_of(key, "escapes", e.escapes_per_refresh);
  p.escape.radius = e.escape_radius;
  p.escape.deviation = e.escape_deviation;
  p.escape.kick_deviation = knobs.theta_escape * e.alpha / std::sqrt(f.d);
  p.escape.threshold = knobs.c_trigger * e.alpha;
  if (e.hessian_batch > 0) {
    p.escape.hessian_batch = count_of(key, "records", e.hessian_batch);
    p.escape.hessian_batch_rate = e.hessian_batch_rate;
  }
  p.oracle.refresh_noise = p.oracle.increment_noise = noise_ratio_for(phi, 1.0);
  s.utility = Utility::repaired;
  if (p.escape.kind != EscapeKind::hessian_power) {
    s.utility = Utility::disputed;
    s.note = "an ablation: the escape's proof needs a frozen estimate";
  }
  if (printed) {
    s.utility = Utility::heuristic;
    s.note = "the noise of Theorem 3.17 is not (eps, delta)-DP (docs/errata.md, L6)";
  }
  if (kind == Schedule::paper) {
    const Theorem317 t = theorem_3_17_at(f, budget.epsilon, e.alpha);
    p.escape.threshold = t.threshold;
    p.escape.steps = count_of(key, "escape steps", t.escape_steps);
    p.escape.radius = t.radius;
    if (e.hessian_batch > 0 &&
        !printed) {  // dev: batches that fit the budget at the printed Γ and Ξ
      const double products =
          static_cast<double>(p.escape.steps) * static_cast<double>(p.escape.escapes_per_refresh);
      const double most = e.escape_deviation / t.radius * std::sqrt(2.0 * phi / products);
      p.escape.hessian_batch =
          std::max(p.escape.hessian_batch, count_of(key, "records", std::ceil(a * f.M / most)));
      p.escape.hessian_batch_rate = std::max(p.escape.hessian_batch_rate, a * f.rho / most);
    }
    p.steps = count_of(key, "steps", t.steps);
    s.utility = Utility::outside_theory;
    s.note = fmt::format(
        "alpha, kappa, T, Gamma, Xi and threshold as printed; the printed tau = {:.3g} is below 1 "
        "and the printed noise is not ({}, {})-DP{}",
        t.tau, budget.epsilon, budget.delta,
        printed ? "" : ", so batches and noise are the repaired ones");
    if (t.threshold >= f.G) {
      s.utility = Utility::vacuous;
      s.note = fmt::format(
          "vacuous here: the escape threshold {:.4g} is no smaller than the gradient bound {:.4g}; "
          "{}",
          t.threshold, f.G, s.note);
    }
  }
  selection.epsilon =
      selects ? std::sqrt(2.0 * s.rule.capacity / selection.charges()) * (1.0 - 1e-12) : 0.0;
  selection.alpha = s.alpha;
  mark_vacuous(s, f.G);
  // check() refuses batches larger than the data; this refuses a run without a first refresh.
  const auto most = static_cast<Index>(f.n - held_out);
  if (p.oracle.refresh_batch + (e.hessian_batch > 0 ? p.escape.hessian_batch : 0) > most)
    throw InputError(
        fmt::format("{}: {} records are too few for the first refresh", key, facts.records));
  return s;
}

}  // namespace dpsosp::liu_talwar_2025
