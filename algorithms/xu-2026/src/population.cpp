// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/core/errors.hpp"
#include "schedules.hpp"

namespace dpsosp::xu_2026 {
namespace {

constexpr std::string_view owner = "xu-2026/dp-rgda";

/// Sizes of a run at one α and q, rounded to whole numbers, and the records that it uses.
struct Sizes {
  double refresh_batch, increment_batch, steps, period, records;
};

Sizes sizes_at(const PopulationNumbers& n, double alpha, double period) {
  Sizes s{};
  const double slack = n.smoothness / n.value_smoothness;  // L/L_Φ
  const double e = std::sqrt(2.0 * n.rho_z);
  s.period = std::max(1.0, period);
  s.refresh_batch = std::ceil(std::max(std::pow(4.0 * n.deviation / alpha, 2),
                                       8.0 * n.clip * std::sqrt(n.dimension) / (e * alpha)));
  const double increments =
      n.increments_per_step * s.period;  // increments between refreshes, whose errors add up
  s.increment_batch = std::ceil(
      std::max(increments * slack * slack, 2.0 * slack * std::sqrt(increments * n.dimension) / e));
  s.steps = std::ceil(16.0 * n.value_smoothness * n.gap / (alpha * alpha));
  s.records = std::ceil(s.steps / s.period) * s.refresh_batch +
              n.increments_per_step * s.steps * s.increment_batch;
  return s;
}

/// The q of the lowest cost. S₂ is the larger of a multiple of q and one of √q. The candidates are
/// the minimiser of the cost in either case and the q where the two are equal, rounded up and down.
Sizes cheapest(const PopulationNumbers& n, double alpha) {
  const Sizes one = sizes_at(n, alpha, 1.0);
  const double slack = n.smoothness / n.value_smoothness;
  const double asks = n.increments_per_step;  // asks · S₂ = a q or b √q
  const double a = asks * asks * slack * slack;
  const double b = asks * 2.0 * slack * std::sqrt(asks * n.dimension / (2.0 * n.rho_z));
  Sizes best = one;
  for (const double q : {std::sqrt(one.refresh_batch / a),
                         std::pow(2.0 * one.refresh_batch / b, 2.0 / 3.0), std::pow(b / a, 2)})
    for (const double rounded : {std::floor(q), std::ceil(q)}) {
      const Sizes s = sizes_at(n, alpha, std::clamp(rounded, 1.0, one.steps));
      if (s.records < best.records) best = s;
    }
  return best;
}

}  // namespace

PracticalPopulation practical_population(const PopulationNumbers& n) {
  const auto fits = [&](double alpha) { return cheapest(n, alpha).records <= n.records; };
  const double high = 1e6 * (n.clip + n.deviation);
  if (!fits(high))
    throw InputError(fmt::format("{}: {} records are too few for one pass", owner, n.records));
  // An α above the gradient bound promises nothing; it is returned and labelled vacuous.
  const double alpha = smallest_alpha(1e-12 * n.clip, high, fits);
  const Sizes s = cheapest(n, alpha);
  return {alpha, s.steps, s.period, s.refresh_batch, s.increment_batch, s.records};
}

PaperPopulation paper_population(double n, double d, double epsilon, double delta, double L) {
  PaperPopulation s{};
  s.ebar = std::sqrt(d * std::log(1.0 / delta)) / (n * epsilon);
  s.alpha = std::pow(n, -1.0 / 3.0) + std::sqrt(s.ebar);
  s.steps = std::pow(s.ebar, -2.0 / 3.0);
  s.refresh_batch = std::pow(n, 2.0 / 3.0);
  s.period = s.increment_batch = std::pow(s.ebar, -1.0 / 3.0);
  s.step = std::sqrt(s.ebar) / L;
  s.records = s.steps * s.refresh_batch / s.period + s.steps * s.increment_batch;
  return s;
}

Scheduled practical_population_schedule(DpRgdaParameters& p, const PublicFacts& facts,
                                        const PrivacyBudget& budget, Calibrator calibrator) {
  const Constants& c = facts.constants;
  const bool released = p.dual_release == DualRelease::released;
  const auto d1 = static_cast<double>(facts.dimension);
  const std::int64_t streams = released && p.streams == Streams::separate ? 2 : 1;
  if (released && p.selection == Selection::last) p.selection = Selection::ascended;
  const double asks = increments_per_step(p);
  // Every batch is fresh, so a record answers one query, or one for each stream.
  const CalibratedNoise noise =
      calibrate_common_noise(std::vector<PlannedQuery>{{BatchPolicy::fresh(1), streams}},
                             facts.records, budget, calibrator);
  PopulationNumbers n{
      .records = static_cast<double>(facts.records),
      .dimension = d1 + (released ? static_cast<double>(facts.dual_dimension) : 0.0),
      .clip = c[constant::lipschitz],
      .deviation = p.deviation > 0 ? p.deviation : c[constant::lipschitz],
      .smoothness = difference_smoothness(p, c),
      .value_smoothness = c[constant::smoothness],
      .gap = c[constant::suboptimality],
      .rho_z = 0.5 / (noise.sensitivity_ratio * noise.sensitivity_ratio),
      .increments_per_step = asks};
  const PracticalPopulation s = practical_population(n);
  const double L_phi = n.value_smoothness;
  const double rho_phi = c[constant::hessian_lipschitz];
  const double eta = s.alpha / (4.0 * L_phi);
  p.alpha = s.alpha;
  p.descent_step = eta;
  p.descent_rule = DescentRule::normalised;
  p.escape_step = 1.0 / (4.0 * L_phi);
  p.steps = count_of(owner, "steps", s.steps);
  p.period = count_of(owner, "steps between refreshes", s.period);
  p.inner_steps = least_inner_steps(p);
  p.ascent_step = 1.0 / n.smoothness;
  p.oracle.sampling = Sampling::fresh;
  p.oracle.refresh_batch = count_of(owner, "records", s.refresh_batch);
  p.oracle.increment_batch = count_of(owner, "records", s.increment_batch);
  p.oracle.clip_refresh = n.clip;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = n.smoothness;
  p.oracle.refresh_noise = p.oracle.increment_noise = noise.sensitivity_ratio;

  // ν²: privacy noise and sampling noise of v at the end of a period of descent
  const double s1 = 2.0 * n.clip / s.refresh_batch * noise.sensitivity_ratio;
  const double s2 = 2.0 * n.smoothness * eta / s.increment_batch * noise.sensitivity_ratio;
  const double nu = std::sqrt(
      d1 * (s1 * s1 + asks * s.period * s2 * s2) + n.deviation * n.deviation / s.refresh_batch +
      asks * s.period * std::pow(n.smoothness * eta, 2) / s.increment_batch);
  p.perturb_radius = std::min(eta, std::sqrt(s.alpha / rho_phi) / 8.0);
  p.escape_steps =
      count_of(owner, "escape steps",
               4.0 * L_phi / std::sqrt(rho_phi * s.alpha) * std::log(16.0 * std::sqrt(d1)));
  p.escape_mean_sq_move = std::max(eta * eta, 4.0 * std::pow(p.escape_step * nu, 2));
  Scheduled made{.rule = noise.rule, .alpha = s.alpha, .utility = Utility::heuristic};
  made.note = "one pass; the rate of the private part is 3/7, derived and not the paper's";
  if (s.alpha < 1.5 * nu) {
    made.utility = Utility::outside_theory;
    made.note =
        fmt::format("alpha = {:.4g} is below 1.5 times the noise floor {:.4g}; ", s.alpha, nu) +
        made.note;
  }
  mark_vacuous(made, n.clip);
  return made;
}

Scheduled paper_population_schedule(DpRgdaParameters& p, const PublicFacts& facts,
                                    const PrivacyBudget& budget, Calibrator calibrator) {
  const Constants& c = facts.constants;
  const auto records = static_cast<double>(facts.records);
  const auto d1 = static_cast<double>(facts.dimension);
  const double d = std::max(d1, static_cast<double>(facts.dual_dimension));
  const double L = c[constant::joint_smoothness];
  const double L_phi = c[constant::smoothness];
  const double rho_phi = c[constant::hessian_lipschitz];
  const double M = c[constant::lipschitz];
  const double gap = c[constant::suboptimality];
  constexpr double failure = 0.1;  // δ₂
  const PaperPopulation s = paper_population(records, d, budget.epsilon, budget.delta, L);
  p.alpha = s.alpha;
  p.steps = count_of(owner, "steps", s.steps);
  p.period = floor_of(owner, "steps between refreshes", s.period);
  p.inner_steps = count_of(owner, "inner steps", L / c[constant::strong_concavity]);
  p.ascent_step = 1.0 / (6.0 * L);
  p.descent_step = s.step;
  p.descent_rule = DescentRule::normalised;
  p.perturb_radius = s.step;
  const double r0 = failure * p.perturb_radius / std::sqrt(d1);
  p.escape_step = std::min(1.0 / L_phi, r0 / (2.0 * s.ebar));
  const double alpha_h = std::sqrt(rho_phi * s.alpha);
  const double growth = std::max(std::exp(1.0), p.escape_step * alpha_h * L_phi / (rho_phi * r0));
  p.escape_steps =
      count_of(owner, "escape steps", 2.0 * std::log(growth) / (p.escape_step * alpha_h));
  p.escape_mean_sq_move = s.step * s.step;
  p.oracle.sampling = Sampling::fresh;
  const auto batch = [&](double size) {
    return std::min(facts.records, count_of(owner, "records", size));
  };
  p.oracle.refresh_batch = batch(s.refresh_batch);
  p.oracle.increment_batch = batch(s.increment_batch);
  p.oracle.clip_refresh = M;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = difference_smoothness(p, c);
  const std::int64_t streams =
      p.dual_release == DualRelease::released && p.streams == Streams::separate ? 2 : 1;
  const CalibratedNoise noise =
      calibrate_common_noise(std::vector<PlannedQuery>{{BatchPolicy::fresh(1), streams}},
                             facts.records, budget, calibrator);
  p.oracle.refresh_noise = p.oracle.increment_noise = noise.sensitivity_ratio;
  if (p.release == Release::printed) {  // Lemma 8, over the replace-one sensitivity of a mean
    const double of_one_query = std::sqrt(std::log(1.25 / budget.delta)) / budget.epsilon;
    p.oracle.refresh_noise = of_one_query / 2.0;
    p.oracle.increment_noise =
        of_one_query * static_cast<double>(p.oracle.increment_batch) / records;
  }
  // To first order, what T steps of length η lower Φ by where its gradient has length α.
  const double fall = s.steps * s.step * s.alpha;
  Scheduled made{.rule = noise.rule, .alpha = s.alpha, .utility = Utility::disputed};
  if (fall < gap) {
    made.utility = Utility::vacuous;
    made.note = fmt::format("vacuous here: T eta alpha = {:.3g} cannot lower Phi by F0 = {:.3g}; ",
                            fall, gap);
  }
  made.note += "S1, q as in Theorem 2 (Lemma 8 prints S1 = n and q = ebar^(1/3)); noise ";
  made.note += p.release == Release::printed
                   ? "of Lemma 8, which is not (eps, delta)-DP (docs/errata.md, X8)"
                   : "by this suite's accountant for one pass, not amplified";
  return made;
}

}  // namespace dpsosp::xu_2026
