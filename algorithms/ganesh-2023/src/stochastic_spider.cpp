// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::ganesh_2023 {

StochasticSpider::StochasticSpider() {
  parameters.spider.oracle.increment_clip = IncrementClip::proportional;
}

// Algorithm 1 is run_spider with fixed batches, proportional Gaussian noise, quadratic drift and
// the isotropic kick; select_output is the selection (ganesh-2023 notes, 2.1 and 2.3).
Outcome StochasticSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const StochasticSpiderParameters& p = parameters;
  const SpiderOracleParameters& o = p.spider.oracle;
  if (!p.selection.on()) return run_spider(p.spider, curator, stream, observer);
  Candidates candidates(p.selection.candidates, p.spider.steps, stream);
  if (p.target == Target::empirical) {
    Outcome outcome = run_spider(p.spider, curator, stream, observer, &candidates);
    select_output(outcome, curator, candidates, p.selection, o.clip_refresh, o.clip_increment);
    return outcome;
  }
  const Index n = curator.facts().records;
  const Index n2 = static_cast<Index>(std::floor(p.selection.share * static_cast<double>(n)));
  const double share = p.split == BudgetSplit::half ? 0.5 : 1.0;
  Curator first =
      curator.child({.name = "optimise", .share = share, .range = RecordRange{0, n - n2}});
  Outcome outcome = run_spider(p.spider, first, stream, observer, &candidates);
  if (n2 == 0) return outcome;
  Curator second =
      curator.child({.name = "select", .share = share, .range = RecordRange{n - n2, n}});
  select_output(outcome, second, candidates, p.selection, o.clip_refresh, o.clip_increment);
  return outcome;
}

const AlgorithmCard& StochasticSpider::card() const {
  static const AlgorithmCard card{
      .key = "ganesh-2023/stochastic-spider",
      .title = "Stochastic Spider",
      .paper = "Ganesh, Liu, Oh, Thakurta 2023",
      .place = "Algorithm 1, Theorems 4.2 and 4.6",
      .guarantee = "SOSP among the iterates, empirical or population",
      .statistic = "best iterate",
      .rate = "(sqrt(d)/(n eps))^(2/3) empirical; n^(-1/3) + (sqrt(d)/(n eps))^(3/7) population",
      .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
      .population = Exponents{-3.0 / 7, 3.0 / 14, -3.0 / 7},
      .sampling = -1.0 / 3,
      .operations = "gradient, gradient difference; sparse-vector test of gradient and Hessian",
      .output_rule =
          "privately selected among failed escapes, random iterates, last and start; else the last",
      .printed =
          "O1 at every escape, the kick stays in the estimate, two thresholds in the selection",
      .utility = Utility::repaired,
      .numbers_version = 2};
  return card;
}

Fields StochasticSpider::fields() {
  using namespace range;
  SpiderParameters& p = parameters.spider;
  Fields f{
      field("target", parameters.target, "full batches, or one pass over disjoint ones"),
      field("split", parameters.split, "budget of the halves D1 and D2 (population)"),
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta"),
      field("refresh", p.refresh, "when O1 is called"),
      field("drift_threshold", p.drift_threshold, positive, "kappa"),
      field("period", p.period, positive, "steps between refreshes under refresh = period"),
      field("refresh_cap", p.refresh_cap, not_negative, "T1; 0 = none"),
      field("escape", p.escape.kind,
            {EscapeKind::isotropic_fresh, EscapeKind::isotropic_reuse, EscapeKind::none},
            "estimate of an escape step"),
  };
  p.escape.add_isotropic_fields(f);
  p.oracle.add_fields(f);
  parameters.selection.add_fields(f, "of the budget, or of the records (population)");
  PracticalKnobs& k = parameters.knobs;
  f.push_back(
      field("theta", k.theta, positive, "noise of the estimate / alpha, practical schedule"));
  f.push_back(
      field("c_steps", k.c_steps, positive, "c_T: steps over B M/alpha^2, practical schedule"));
  f.push_back(
      field("c_cap", k.c_cap, positive, "c_K: refreshes over B/(M kappa), practical schedule"));
  f.push_back(
      field("c_trigger", k.c_trigger, positive, "escape threshold / alpha, practical schedule"));
  return f;
}

void StochasticSpider::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  EscapeParameters& escape = parameters.spider.escape;
  // dev: an escape keeps the running estimate and calls no O1 (docs/errata.md, G2)
  escape.kind = printed ? EscapeKind::isotropic_fresh : EscapeKind::isotropic_reuse;
  escape.carry_kick = printed;
  // dev: one scaled scalar (docs/errata.md, G8)
  parameters.selection.form = printed ? SelectionForm::two_tests : SelectionForm::scalar;
}

void StochasticSpider::set_common_noise(double sensitivity_ratio) {
  SpiderOracleParameters& o = parameters.spider.oracle;
  o.refresh_noise = o.increment_noise = sensitivity_ratio;
}

double StochasticSpider::planned_share(const FilterRule& rule) const {
  const SelectionParameters& selection = parameters.selection;
  if (parameters.target == Target::empirical) return selection.leaves(rule);
  return selection.on() && parameters.split == BudgetSplit::half ? 0.5 : 1.0;  // other records
}

std::vector<PlannedQuery> StochasticSpider::plan(const PublicFacts& facts) const {
  const SpiderParameters& p = parameters.spider;
  const Index n = facts.records;
  if (p.refresh == RefreshTrigger::period && p.escape.kind != EscapeKind::isotropic_fresh) {
    const Index refreshes = (p.steps + p.period - 1) / p.period;
    return {{p.oracle.refresh_policy(n), refreshes},
            {p.oracle.increment_policy(n), p.steps - refreshes}};
  }
  if (p.refresh_cap > 0 && p.refresh_cap < p.steps)
    return {{p.oracle.refresh_policy(n), p.refresh_cap}, {p.oracle.increment_policy(n), p.steps}};
  return {{p.oracle.dearest_policy(n), p.steps}};  // every step may be a refresh
}

void StochasticSpider::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  parameters.spider.check(card().key, facts.records);
  if (parameters.target == Target::population &&
      parameters.spider.oracle.sampling != Sampling::fresh)
    throw InputError(card().key +
                     ": target = population reads each record once; set sampling = fresh");
}

}  // namespace dpsosp::ganesh_2023
