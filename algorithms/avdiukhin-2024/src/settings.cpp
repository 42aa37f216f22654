// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024 {

Fields MinibatchSgd::fields() {
  MinibatchSgdParameters& p = parameters;
  return {
      field("steps", p.steps, "T"),
      field("step_size", p.step_size, "eta"),
      field("clip", p.clip, "C: bound of a record's gradient; nominal where nothing is clipped"),
      sampling_field(p.sampling),
      field("batch", p.batch, "B; set before a schedule it is kept"),
      field("noise", p.noise, "Delta over 2C/B; 0 = no noise, unsound door only"),
      output_field(p.output),
      field("selection_share",
            p.selection_share,
            "of the budget, for a private selection among iterates; 0 = no selection"),
      field("selection_epsilon", p.selection_epsilon, "epsilon of the selection"),
      field("candidates", p.candidates, "K: iterates that the selection looks at"),
      field("alpha", p.alpha, "alpha that the selection asks for"),
      field("curvature_scale", p.curvature_scale, "sqrt(rho alpha) of the selection"),
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
}

std::vector<PlannedQuery> MinibatchSgd::plan(const PublicFacts& facts) const {
  const MinibatchSgdParameters& p = parameters;
  return {{batch_policy(p.sampling, p.batch, facts.records), p.steps}};
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
  if (p.sampling != Sampling::all && !(p.batch >= 1 && p.batch <= facts.records))
    reject(key,
           "batch",
           static_cast<double>(p.batch),
           fmt::format("in [1, records] with records = {}", facts.records));
  require_not_negative(key, "noise", p.noise);
  if (!(p.selection_share >= 0 && p.selection_share < 1))
    reject(key, "selection_share", p.selection_share, "in [0, 1)");
  positive("selection_epsilon", p.selection_epsilon);
  positive("candidates", p.candidates);
  positive("alpha", p.alpha);
  positive("curvature_scale", p.curvature_scale);
  positive("hessian_limit", p.hessian_limit);
  require_not_negative(key, "deviation", p.deviation);
  require_not_negative(key, "largest_deviation", p.largest_deviation);
  positive("length_scale", p.length_scale);
  positive("horizon_slack", p.horizon_slack);
}

}  // namespace dpsosp::avdiukhin_2024
