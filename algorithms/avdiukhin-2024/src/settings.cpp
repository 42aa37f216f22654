// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"

namespace dpsosp::avdiukhin_2024 {

Fields MinibatchSgd::fields() {
  MinibatchSgdParameters& p = parameters;
  Fields f{
      field("steps", p.steps, "T"),
      field("step_size", p.step_size, "eta"),
      field("clip", p.clip, "C: bound of a record's gradient; nominal where nothing is clipped"),
      sampling_field(p.sampling),
      field("batch", p.batch, "B; set before a schedule it is kept"),
      field("noise", p.noise, "Delta over 2C/B; 0 = no noise, unsound curator only"),
      output_field(p.output),
      field("hessian_limit", p.hessian_limit, "M: bound of a record's Hessian in the selection"),
      field("bound",
            p.bound,
            {{BoundRule::lipschitz, "lipschitz"},
             {BoundRule::lemma_3_2, "lemma_3_2"},
             {BoundRule::proved, "proved"},
             {BoundRule::given, "given"}},
            "where a schedule takes C from"),
      field("deviation", p.deviation, "sigma of a schedule; 0 = twice the gradient bound"),
      field("largest_deviation",
            p.largest_deviation,
            "sigma_inf of a schedule; 0 = sigma sqrt(1 + ln n)"),
      field("constants",
            p.constants,
            {{TheoremConstants::paper, "paper"},
             {TheoremConstants::unit, "unit"},
             {TheoremConstants::corrected, "corrected"}},
            "c_eta and k_T of the paper's schedule"),
      field("noise_form",
            p.noise_form,
            {{NoiseForm::accountant, "accountant"}, {NoiseForm::naive, "naive"}},
            "noise of the paper's schedule: what the budget needs, or Theorem 3.1 with c2 = 1"),
      field("lemma_step", p.lemma_step, "eta <= l/(sigma sqrt(T)), as Lemma 3.2 asks"),
      field("length_scale", p.length_scale, "l of Lemma 3.2"),
      field("strict_noise", p.strict_noise, "Delta^2 >= ln(T/delta) sigma^2/B"),
      field("horizon_slack", p.horizon_slack, "the least T whose alpha is this close to the best"),
  };
  p.selection.add_fields(f, "of the budget, for a private selection among iterates");
  f.push_back(field("selection_eigenvalue",
                    p.eigenvalue,
                    {{EigenvalueRule::exact, "exact"}, {EigenvalueRule::power, "power"}},
                    "of a selection that a schedule plans: dense inside the test, or by products"));
  f.push_back(field("power_failure", p.power_failure, "beta, of a schedule's power methods"));
  f.push_back(field("power_products",
                    p.power_products,
                    "k of a power method in the selection; 0 = no selection by one"));
  f.push_back(
      field("power_gain", p.power_gain, "gamma_0 of Oja's steps gamma_0/t; 0 = the power step"));
  f.push_back(
      field("power_noise",
            p.power_noise,
            "std / sensitivity of its gradients, products; 0 = no noise, unsound curator only"));
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
  parameters.selection.epsilon = 0.0;  // the plan has Gaussian queries alone
}

std::vector<PlannedQuery> MinibatchSgd::plan(const PublicFacts& facts) const {
  const MinibatchSgdParameters& p = parameters;
  std::vector<PlannedQuery> queries{{batch_policy(p.sampling, p.batch, facts.records), p.steps}};
  if (p.power_products > 0)
    queries.push_back(
        {BatchPolicy::all(), power_selection_queries(p.selection.candidates, p.power_products)});
  return queries;
}

void MinibatchSgd::check(const PublicFacts& facts) const {
  const MinibatchSgdParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  const auto positive = [&](std::string_view name, auto value) {
    require_positive(key, name, value);
  };
  positive("steps", p.steps);
  positive("step_size", p.step_size);
  positive("clip", p.clip);
  require_batch(key, "batch", p.sampling, p.batch, facts.records);
  require_not_negative(key, "noise", p.noise);
  p.selection.check(key);
  if (p.selects()) facts.constants.at(constant::hessian_lipschitz);  // scales the curvature
  if (p.power_products > 0) require_second_order(card(), facts, facts.dimension);
  if (!(p.power_failure > 0 && p.power_failure < 1))
    reject(key, "power_failure", p.power_failure, "in (0, 1)");
  require_not_negative(key, "power_products", p.power_products);
  require_not_negative(key, "power_gain", p.power_gain);
  require_not_negative(key, "power_noise", p.power_noise);
  positive("hessian_limit", p.hessian_limit);
  require_not_negative(key, "deviation", p.deviation);
  require_not_negative(key, "largest_deviation", p.largest_deviation);
  positive("length_scale", p.length_scale);
  positive("horizon_slack", p.horizon_slack);
}

}  // namespace dpsosp::avdiukhin_2024
