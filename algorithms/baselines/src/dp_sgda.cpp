// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_sgda.hpp"

#include <algorithm>
#include <cmath>

#include "descent_ascent.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

Outcome DpSgda::run(Curator& curator, Stream, Observer& observer) const {
  const DpSgdaParameters& p = parameters;
  return descent_ascent(
      curator, observer,
      {.steps = p.steps,
       .step_size = p.step_size,
       .ascent_step = p.ascent_step,
       .local_dual = p.local_dual,
       .policy = batch_policy(p.sampling, p.batch, curator.facts().records),
       .query = {p.clip, Noise::sensitivity_ratio(p.noise), p.local_dual ? Block::x : Block::joint},
       .average = p.average});
}

const AlgorithmCard& DpSgda::card() const {
  static const AlgorithmCard card{
      .key = "yang-2022/dp-sgda",
      .title = "DP-SGDA",
      .paper = "Yang, Hu, Guo, Lyu, Ying 2022",
      .place = "Algorithm 1",
      .source = Source::reconstructed,
      .guarantee = "weak primal-dual risk, population (convex-concave); none for SOSP",
      .metric = Metric::gradient_norm,
      .rate = "n^(-1/2) + sqrt(d)/(n eps), weak primal-dual risk",
      .empirical = {},
      .population = Exponents{-1.0, 0.5, -1.0},
      .sampling = -0.5,
      .operations = "gradient in x and y",
      .output_rule = "last iterate, or the mean of all",
      .printed = "the dual is released",
      .needs_dual = true,
      .same_without_noise =
          "wang-ye-xu-2017/dp-gd: where duals stay with their records both are "
          "gradient descent at 1/M"};
  return card;
}

Fields DpSgda::fields() {
  using namespace range;
  DpSgdaParameters& p = parameters;
  return {field("steps", p.steps, positive, "T"),
          field("step_size", p.step_size, positive, "eta_x"),
          field("ascent_step", p.ascent_step, positive, "eta_y"),
          field("local_dual", p.local_dual, "y_i stays with record i"),
          field("average", p.average, "return the mean of the iterates, for convex-concave f"),
          sampling_field(p.sampling),
          field("batch", p.batch, not_negative, "m"),
          field("clip", p.clip, positive, "per-record clip of the joint gradient"),
          noise_field("noise", p.noise, "std / sensitivity")};
}

void DpSgda::set_variant(Variant variant) { parameters.local_dual = variant == Variant::repaired; }

void DpSgda::set_common_noise(double sensitivity_ratio) { parameters.noise = sensitivity_ratio; }

std::vector<PlannedQuery> DpSgda::plan(const PublicFacts& facts) const {
  return {{batch_policy(parameters.sampling, parameters.batch, facts.records), parameters.steps}};
}

/// Noisy gradient descent at 1/L_Φ on full batches, for the T that balances optimisation against
/// noise: T = n sqrt(L_Φ F₀ ρ/d)/G. \source baselines notes, 1
Scheduled DpSgda::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                           Calibrator calibrator) {
  require_dual(card(), facts);
  DpSgdaParameters& p = parameters;
  if (facts.dual_kind == DualKind::shared) p.local_dual = false;
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const double d = static_cast<double>(facts.dimension + (p.local_dual ? 0 : facts.dual_dimension));
  const double L = c[constant::smoothness];
  const double G = c[constant::lipschitz];
  const double F0 = c[constant::suboptimality];
  Scheduled s{.rule = filter_rule(budget, calibrator),
              .alpha = 0,
              .utility = Utility::heuristic,
              .note = {}};
  const double steps = std::ceil(n / G * std::sqrt(L * F0 * s.rule.capacity / d));
  if (!(steps < 1e15)) throw InputError("yang-2022/dp-sgda: the schedule needs over 1e15 steps");
  p.steps = std::max<Index>(1, static_cast<Index>(steps));
  p.step_size = 1.0 / L;
  p.ascent_step = 1.0 / c[constant::joint_smoothness];
  p.sampling = Sampling::all;
  p.clip = G;
  p.noise = noise_ratio_for(s.rule.capacity, static_cast<double>(p.steps));
  s.note = "no SOSP guarantee exists; step and horizon of DP gradient descent";
  return s;
}

void DpSgda::check_settings(const PublicFacts& facts) const {
  const DpSgdaParameters& p = parameters;
  require_dual(card(), facts);
  check_descent_ascent(card().key, facts, p.local_dual);
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
}

}  // namespace dpsosp::baselines
