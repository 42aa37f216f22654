// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/gradient_descent_ascent.hpp"

#include "descent_ascent.hpp"

namespace dpsosp::baselines {

Outcome GradientDescentAscent::run(Curator& curator, Stream, Observer& observer) const {
  const GradientDescentAscentParameters& p = parameters;
  return descent_ascent(
      curator, observer,
      {.steps = p.steps,
       .step_size = p.step_size,
       .ascent_step = p.ascent_step,
       .local_dual = p.local_dual,
       .policy = BatchPolicy::all(),
       .query = {1.0, Noise::sensitivity_ratio(0.0), p.local_dual ? Block::x : Block::joint}});
}

const AlgorithmCard& GradientDescentAscent::card() const {
  static const AlgorithmCard card{.key = "reference/gradient-descent-ascent",
                                  .title = "Gradient descent ascent (not private)",
                                  .paper = "reference line",
                                  .place = "textbook",
                                  .guarantee = "none; not private",
                                  .metric = Metric::gradient_norm,
                                  .rate = "none",
                                  .empirical = {},
                                  .population = {},
                                  .operations = "gradient in x and y, no noise, no clipping",
                                  .output_rule = "last iterate",
                                  .privacy = PrivacyLabel::none,
                                  .needs_dual = true};
  return card;
}

Fields GradientDescentAscent::fields() {
  GradientDescentAscentParameters& p = parameters;
  return {field("steps", p.steps, range::positive, "iterations"),
          field("step_size", p.step_size, range::positive, "step in x"),
          field("ascent_step", p.ascent_step, range::positive, "step in y"),
          field("local_dual", p.local_dual, "y_i*(x) exactly")};
}

void GradientDescentAscent::set_variant(Variant) {}

Scheduled GradientDescentAscent::schedule(Schedule, const PublicFacts& facts,
                                          const PrivacyBudget& budget, Calibrator calibrator) {
  require_dual(card(), facts);
  if (facts.dual_kind == DualKind::shared) {
    parameters.local_dual = false;
    parameters.ascent_step = 1.0 / facts.constants[constant::joint_smoothness];
  }
  parameters.step_size = 1.0 / facts.constants[constant::smoothness];
  return {.rule = filter_rule(budget, calibrator),
          .alpha = 0,
          .utility = Utility::heuristic,
          .note = "not private; the budget is not used"};
}

std::vector<PlannedQuery> GradientDescentAscent::plan(const PublicFacts&) const { return {}; }

void GradientDescentAscent::set_common_noise(double) {}

void GradientDescentAscent::check_settings(const PublicFacts& facts) const {
  require_dual(card(), facts);
  check_descent_ascent(card().key, facts, parameters.local_dual);
}

}  // namespace dpsosp::baselines
