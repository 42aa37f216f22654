// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"

namespace dpsosp::avdiukhin_2024 {

Fields MinibatchSgd::fields() {
  using namespace range;
  MinibatchSgdParameters& p = parameters;
  Fields f{
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta"),
      field("clip", p.clip, positive,
            "C: bound of a record's gradient; nominal where nothing is clipped"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative, "B; set before a schedule it is kept"),
      noise_field("noise", p.noise, "Delta over 2C/B"),
      output_field(p.output),
      field("hessian_limit", p.hessian_limit, positive,
            "M: bound of a record's Hessian in the selection"),
      field("bound", p.bound, "where a schedule takes C from"),
      field("deviation", p.deviation, not_negative,
            "sigma of a schedule; 0 = twice the gradient bound"),
      field("largest_deviation", p.largest_deviation, not_negative,
            "sigma_inf of a schedule; 0 = sigma sqrt(1 + ln n)"),
      field("constants", p.constants, "c_eta and k_T of the paper's schedule"),
      field("noise_form", p.noise_form,
            "noise of the paper's schedule: what the budget needs, or Theorem 3.1 with c2 = 1"),
      field("lemma_step", p.lemma_step, "eta <= l/(sigma sqrt(T)), as Lemma 3.2 asks"),
      field("length_scale", p.length_scale, positive, "l of Lemma 3.2"),
      field("strict_noise", p.strict_noise, "Delta^2 >= ln(T/delta) sigma^2/B"),
      field("horizon_slack", p.horizon_slack, positive,
            "the least T whose alpha is this close to the best"),
  };
  p.selection.add_fields(f, "of the budget, for a private selection among iterates");
  f.push_back(field("selection_eigenvalue", p.eigenvalue,
                    "of a selection that a schedule plans: dense inside the test, or by products"));
  f.push_back(
      field("power_failure", p.power_failure, open_unit, "beta, of a schedule's power methods"));
  f.push_back(field("power_products", p.power_products, not_negative,
                    "k of a power method in the selection; 0 = no selection by one"));
  f.push_back(field("power_gain", p.power_gain, not_negative,
                    "gamma_0 of Oja's steps gamma_0/t; 0 = the power step"));
  f.push_back(
      noise_field("power_noise", p.power_noise, "std / sensitivity of its gradients, products"));
  return f;
}

void MinibatchSgd::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  parameters.constants = printed ? TheoremConstants::paper : TheoremConstants::corrected;
  if (policy_ == GradientPolicy::clip) return;
  // dev: Lemma 3.2's C has no consistent units and no privacy noise (docs/errata.md, A5)
  parameters.bound = printed ? BoundRule::lemma_3_2 : BoundRule::proved;
  parameters.lemma_step = printed;
}

void MinibatchSgd::set_common_noise(double sensitivity_ratio) {
  parameters.noise = sensitivity_ratio;
  parameters.power_noise = sensitivity_ratio;
}

double MinibatchSgd::planned_share(const FilterRule& rule) const {
  return parameters.selection.leaves(rule);
}

std::vector<PlannedQuery> MinibatchSgd::plan(const PublicFacts& facts) const {
  const MinibatchSgdParameters& p = parameters;
  std::vector<PlannedQuery> queries{{batch_policy(p.sampling, p.batch, facts.records), p.steps}};
  if (p.power_products > 0)
    queries.push_back(
        {BatchPolicy::all(), power_selection_queries(p.selection.candidates, p.power_products)});
  return queries;
}

void MinibatchSgd::check_settings(const PublicFacts& facts) const {
  const MinibatchSgdParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
  if (p.selects()) facts.constants.at(constant::hessian_lipschitz);  // scales the curvature
  if (p.power_products > 0) require_second_order(card(), facts, facts.dimension);
}

}  // namespace dpsosp::avdiukhin_2024
