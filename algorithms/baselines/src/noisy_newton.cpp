// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/noisy_newton.hpp"

#include <cmath>

#include "trust_region_descent.hpp"
#include "variance_reduced.hpp"

namespace dpsosp::baselines {

// dev: the source takes the inverse of the noisy Hessian, which is for convex losses; within a
// radius the step exists whatever its signs are, and is that inverse's wherever it is short enough.
Outcome NoisyNewton::run(Curator& curator, Stream, Observer& observer) const {
  const NoisyNewtonParameters& p = parameters;
  return trust_region_descent(curator, observer,
                              {.queries = p, .steps = p.steps, .radius = p.radius});
}

/// Full batches, r = M/ρ_H, T = ⌈sqrt(2B/M)/r⌉ + ⌈ln n⌉, R/2 for each kind of query. Both kinds
/// are the same.
Scheduled NoisyNewton::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                                Calibrator calibrator) {
  require_second_order(card(), facts);
  const ProblemNumbers q = numbers_of(facts);
  NoisyNewtonParameters& p = parameters;
  p.radius = q.M / q.rho;
  p.steps = count_of(card().key, "steps",
                     std::ceil(std::sqrt(2.0 * q.B / q.M) / p.radius) + std::ceil(std::log(q.n)));
  p.sampling = Sampling::all;
  p.clip = q.G;
  p.hessian_limit = q.M;
  Scheduled s{.rule = filter_rule(budget, calibrator),
              .utility = Utility::heuristic,
              .note = "stated for convex losses, from a start near the minimiser"};
  p.gradient_noise = noise_ratio_for(s.rule.capacity / 2.0, static_cast<double>(p.steps));
  p.hessian_noise = p.gradient_noise;
  return s;
}

const AlgorithmCard& NoisyNewton::card() const {
  static const AlgorithmCard card{
      .key = "avella-medina-2023/noisy-newton",
      .title = "Noisy Newton",
      .paper = "Avella-Medina, Bradshaw, Loh 2023",
      .place = "noisy Newton's method",
      .source = Source::reconstructed,
      .guarantee = "excess risk, empirical, strongly convex losses; none beyond",
      .metric = Metric::gradient_norm,
      .rate = "sqrt(d)/(n eps), strongly convex",
      .empirical = Exponents{-1.0, 0.5, -1.0},
      .operations = "gradient and Hessian",
      .output_rule = "last iterate"};
  return card;
}

Fields NoisyNewton::fields() {
  using namespace range;
  NoisyNewtonParameters& p = parameters;
  Fields fields{field("steps", p.steps, positive, "T"),
                field("radius", p.radius, positive, "r: longest step; unit of x")};
  p.add_fields(fields, "gradients", "Hessians");
  fields.push_back(
      field("gradient_share", p.gradient_share, unit_without_1,
            "share of the budget for gradients under noise = calibrated; 0 = one ratio"));
  return fields;
}

void NoisyNewton::set_variant(Variant) {}

void NoisyNewton::set_common_noise(double sensitivity_ratio) {
  NoisyNewtonParameters& p = parameters;
  const SplitNoise noise = split_noise(sensitivity_ratio, p.gradient_share, p.steps, p.steps);
  p.gradient_noise = noise.refresh;
  p.hessian_noise = noise.increment;
}

std::vector<PlannedQuery> NoisyNewton::plan(const PublicFacts& facts) const {
  return parameters.plan(facts.records, parameters.steps, parameters.steps);
}

void NoisyNewton::check_settings(const PublicFacts& facts) const {
  require_second_order(card(), facts);
  parameters.check(card().key, facts);
  check_share(card().key, "gradient_share", parameters.gradient_share, parameters.sampling);
}

}  // namespace dpsosp::baselines
