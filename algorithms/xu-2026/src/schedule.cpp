// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "schedules.hpp"

namespace dpsosp::xu_2026 {
namespace {

Index to_index(double value) {
  if (!(value < 1e15)) throw InputError("xu-2026/dp-rgda: the schedule needs over 1e15 steps");
  return static_cast<Index>(value);
}

/// d of the rates: the number of released coordinates, to which a local dual adds none.
double released_dimension(const DpRgdaParameters& p, const PublicFacts& facts) {
  const auto d1 = static_cast<double>(facts.dimension);
  return p.dual_release == DualRelease::local ? d1 : d1 + static_cast<double>(facts.dual_dimension);
}

/// The practical schedule: full batches, K = 1, differences clipped at L times the move, half the
/// budget for refreshes and half for increments. \source xu-2026 notes, 3.3
Scheduled practical(DpRgdaParameters& p, const PublicFacts& facts, const PrivacyBudget& budget,
                    Calibrator calibrator) {
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const double d = released_dimension(p, facts);
  const double d1 = static_cast<double>(facts.dimension);
  const double L = difference_smoothness(p, c);
  const double L_phi = c[constant::smoothness];
  const double rho_phi = c[constant::hessian_lipschitz];
  const double C1 = c[constant::lipschitz];
  const double F0 = c[constant::suboptimality];
  const FilterRule rule = filter_rule(budget, calibrator);
  const double rho_z = rule.capacity;
  constexpr double A = 4.0;

  const double alpha = A * std::cbrt(d * C1 * L * F0 / (n * n * rho_z));
  const double eta = alpha / (4.0 * L_phi);
  p.alpha = alpha;
  p.descent_step = eta;
  p.descent_rule = DescentRule::normalised;
  p.escape_step = 1.0 / (4.0 * L_phi);
  p.steps = to_index(std::ceil(16.0 * L_phi * F0 / (alpha * alpha)));
  p.period = std::max<Index>(1, to_index(std::round(C1 / (L * eta))));
  p.inner_steps = least_inner_steps(p);
  p.ascent_step = 1.0 / L;
  if (p.dual_release == DualRelease::released && p.selection == Selection::last)
    p.selection = Selection::ascended;
  p.oracle.sampling = Sampling::all;
  p.oracle.clip_refresh = C1;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = L;
  const double T = static_cast<double>(p.steps);
  const double q = static_cast<double>(p.period);
  const double refreshes = std::ceil(T / q);
  // Separate streams ask v and u apart; argmin_of_proof and argmin_after_start ask at y_0 and y_1.
  const bool released = p.dual_release == DualRelease::released;
  const double streams = released && p.streams == Streams::separate ? 2.0 : 1.0;
  const double asks = increments_per_step(p);
  p.oracle.refresh_noise = noise_ratio_for(0.5 * rho_z, streams * refreshes);
  p.oracle.increment_noise = noise_ratio_for(0.5 * rho_z, streams * asks * T);
  const double s1 = 2.0 * C1 / n * p.oracle.refresh_noise;
  const double s2 = 2.0 * L * eta / n * p.oracle.increment_noise;
  const double nu = std::sqrt(d1 * (s1 * s1 + asks * q * s2 * s2));
  p.perturb_radius = std::min(alpha / (4.0 * L_phi), std::sqrt(alpha / rho_phi) / 8.0);
  p.escape_steps = to_index(
      std::ceil(4.0 * L_phi / std::sqrt(rho_phi * alpha) * std::log(16.0 * std::sqrt(d1))));
  p.escape_mean_sq_move =
      std::max(std::pow(alpha / (4.0 * L_phi), 2), 4.0 * std::pow(p.escape_step * nu, 2));

  Scheduled s{
      .rule = rule,
      .alpha = alpha,
      .utility = Utility::heuristic,
      .note = "alpha is the target of the escape test; outputs measure 1.2 to 1.5 times it"};
  if (alpha >= C1) {
    s.utility = Utility::vacuous;
    s.note = fmt::format("alpha = {:.4g} is no smaller than the gradient bound {:.4g}", alpha, C1);
  } else if (alpha < 1.5 * nu) {
    s.utility = Utility::outside_theory;
    s.note = fmt::format("alpha = {:.4g} is below 1.5 times the noise floor {:.4g}", alpha, nu);
  }
  return s;
}

/// Theorem 1 with the choices that make its escape consistent; the noise is calibrated here.
/// \source xu-2026, Theorem 1; xu-2026, Appendix B.1; xu-2026 notes, 3.1
Scheduled paper(DpRgdaParameters& p, const PublicFacts& facts, const PrivacyBudget& budget,
                Calibrator calibrator) {
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const double d1 = static_cast<double>(facts.dimension);
  const double d = std::max(d1, static_cast<double>(facts.dual_dimension));
  const double L = c[constant::joint_smoothness];
  const double L_phi = c[constant::smoothness];
  const double rho_phi = c[constant::hessian_lipschitz];
  const double M = c[constant::lipschitz];
  const PaperErm erm =
      paper_erm(n, d, budget.epsilon, budget.delta, L, M, c[constant::suboptimality]);
  const double alpha_h = std::sqrt(rho_phi * erm.alpha);
  constexpr double failure = 0.1;  // δ₂
  p.alpha = erm.alpha;
  p.steps = to_index(std::ceil(erm.steps));
  p.period = std::max<Index>(1, erm.period);
  p.inner_steps = least_inner_steps(p);
  p.ascent_step = 1.0 / (6.0 * L);
  p.descent_step = 1.0 / (2.0 * L);
  p.escape_step = 1.0 / L_phi;
  const double r0 = 2.0 * std::pow(erm.ebar, 4.0 / 3.0) / L_phi;
  constexpr double R = 0.5;
  p.perturb_radius = std::min(R, std::sqrt(d1) * r0 / failure);
  const double growth = std::max(std::exp(1.0), p.escape_step * alpha_h * L_phi / (rho_phi * r0));
  p.escape_steps =
      std::max<Index>(1, to_index(std::ceil(2.0 * std::log(growth) / (p.escape_step * alpha_h))));
  p.escape_mean_sq_move = std::pow(R / static_cast<double>(p.escape_steps), 2);
  p.oracle.sampling = Sampling::sample;
  p.oracle.refresh_batch = facts.records;
  p.oracle.increment_batch = std::min(facts.records, to_index(std::ceil(erm.increment_batch)));
  p.oracle.clip_refresh = p.oracle.clip_increment = M;
  p.oracle.increment_clip = IncrementClip::fixed;

  Scheduled s{.rule = {}, .alpha = erm.alpha, .utility = Utility::disputed, .note = {}};
  if (p.release == Release::printed) {
    s.rule = filter_rule(budget, calibrator);
    const double T = static_cast<double>(p.steps), q = static_cast<double>(p.period);
    // Algorithm 3, lines 1 and 2, c = 1, over the replace-one sensitivity 2C/S of a mean of S
    const auto ratio = [&](Index batch, double queries) {
      const auto size = static_cast<double>(batch);
      return std::sqrt(-std::log(budget.delta)) / budget.epsilon *
             std::max(1.0, size * std::sqrt(queries) / n) / 2.0;
    };
    p.oracle.refresh_noise = ratio(p.oracle.refresh_batch, T / q);
    p.oracle.increment_noise = ratio(p.oracle.increment_batch, T);
  } else if (calibrator == Calibrator::rdp) {
    DpRgda run;
    run.parameters = p;
    const auto plan = run.plan(facts);
    const CalibratedNoise noise = calibrate_common_noise(plan, facts.records, budget, calibrator);
    p.oracle.refresh_noise = p.oracle.increment_noise = noise.sensitivity_ratio;
    s.rule = noise.rule;
  } else {
    DpRgda run;
    run.parameters = p;
    const auto plan = run.plan(facts);
    s.rule = filter_rule(budget, calibrator);
    p.oracle.refresh_noise =
        noise_ratio_for(0.5 * s.rule.capacity, static_cast<double>(plan[0].count));
    p.oracle.increment_noise =
        noise_ratio_for(0.5 * s.rule.capacity, static_cast<double>(plan[1].count));
  }
  s.note =
      p.release == Release::printed
          ? "the noise of Algorithm 3 with c = 1 is not (eps, delta)-DP (docs/errata.md, X7)"
          : "the proof's K = 1 keeps the printed dual at y_0; noise by this suite's accountant";
  if (erm.alpha >= M) s.utility = Utility::vacuous;
  return s;
}

}  // namespace

PaperErm paper_erm(double n, double d, double epsilon, double delta, double L, double M,
                   double F0) {
  PaperErm s{};
  s.ebar = std::sqrt(d * std::log(1.0 / delta)) / (n * epsilon);
  s.alpha = std::pow(s.ebar, 2.0 / 3.0);
  s.steps =
      std::max(std::pow(std::pow(L * F0, 0.25) / (std::sqrt(M) * s.ebar), 4.0 / 3.0), 1.0 / s.ebar);
  s.period = static_cast<Index>(std::floor(1.0 / (L * L * s.steps * s.ebar * s.ebar)));
  s.increment_batch =
      std::max(std::pow(M / (std::sqrt(F0 * L) * s.ebar), 2.0 / 3.0),
               std::cbrt(M) * n * std::pow(s.ebar, 2.0 / 3.0) / std::pow(L * F0, 1.0 / 6.0));
  return s;
}

Scheduled DpRgda::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                           Calibrator calibrator) {
  require_dual(card(), facts);
  if (facts.dual_kind == DualKind::shared) parameters.dual_release = DualRelease::released;
  if (parameters.release == Release::printed && kind != Schedule::paper)
    throw InputError("xu-2026/dp-rgda: release = printed is of schedule = paper");
  if (parameters.objective == ObjectiveKind::population)
    return kind == Schedule::paper
               ? paper_population_schedule(parameters, facts, budget, calibrator)
               : practical_population_schedule(parameters, facts, budget, calibrator);
  return kind == Schedule::paper ? paper(parameters, facts, budget, calibrator)
                                 : practical(parameters, facts, budget, calibrator);
}

}  // namespace dpsosp::xu_2026
