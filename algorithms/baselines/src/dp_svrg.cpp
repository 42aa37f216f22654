// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_svrg.hpp"

#include <algorithm>
#include <cmath>

#include "variance_reduced.hpp"

namespace dpsosp::baselines {

DpSvrg::DpSvrg() { parameters.oracle.increment_clip = IncrementClip::proportional; }

// Steps 1 to 4 are variance_reduced_descent. The first inner step of an epoch has w = u and a
// difference of 0 that is not asked for.
Outcome DpSvrg::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpSvrgParameters& p = parameters;
  return variance_reduced_descent(curator, stream, observer,
                                  {p.steps, p.period, VarianceReduced::Anchor::refresh, p.output},
                                  p.oracle, [&](const Vector& v, Vector& x) {
                                    x -= p.step_size * v;  // step 5: w = prox_{ηr}(w − ηv)
                                    p.regulariser.prox(p.step_size, x);
                                  });
}

/// η = 1/(10M) (Xiao & Zhang 2014), and m = 10, so that an epoch moves w by about G/M and the
/// differences are no longer than gradients. The horizon balances 2B/(ηT) against the variance
/// 4dG²T/(m n²R) of the epochs' gradients; half the budget is for them, half for the differences.
/// Under the calibrator rdp the differences are over sampled records, and all queries have one
/// noise ratio. \source baselines notes, 1
Scheduled DpSvrg::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                           Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  DpSvrgParameters& p = parameters;
  const ProblemNumbers q = numbers_of(facts, false);
  const bool sampled = calibrator == Calibrator::rdp;
  const double R = zcdp_budget(budget, sampled ? Calibrator::cks : calibrator);
  p.step_size = 1.0 / (10.0 * q.M);
  p.period = 10;
  const auto m = static_cast<double>(p.period);
  p.steps = count_of(
      card().key, "steps",
      kind == Schedule::paper
          ? m * q.n * budget.epsilon / (q.G * std::sqrt(q.d * std::log(1.0 / budget.delta)))
          : q.n / q.G * std::sqrt(m * q.B * R / (2.0 * p.step_size * q.d)));
  p.oracle.sampling = Sampling::all;
  p.oracle.clip_refresh = q.G;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = q.M;
  Scheduled s{.note = "stated for convex losses; the safe form has no published constants"};
  if (sampled) {
    p.oracle.sampling = Sampling::sample;
    p.oracle.refresh_batch = facts.records;
    p.oracle.increment_batch = std::min<Index>(256, facts.records);
    const CalibratedNoise noise =
        calibrate_common_noise(plan(facts), facts.records, budget, calibrator);
    set_common_noise(noise.sensitivity_ratio);
    s.rule = noise.rule;
    return s;
  }
  s.rule = filter_rule(budget, calibrator);
  const auto planned = plan(facts);
  p.oracle.refresh_noise = noise_ratio_for(R / 2.0, static_cast<double>(planned[0].count));
  p.oracle.increment_noise =
      noise_ratio_for(R / 2.0, std::max(1.0, static_cast<double>(planned[1].count)));
  return s;
}

std::vector<PlannedQuery> DpSvrg::plan(const PublicFacts& facts) const {
  const DpSvrgParameters& p = parameters;
  return {{p.oracle.refresh_policy(facts.records), epochs()},
          {p.oracle.increment_policy(facts.records), p.steps - epochs()}};
}

void DpSvrg::set_common_noise(double sensitivity_ratio) {
  DpSvrgParameters& p = parameters;
  const SplitNoise noise =
      split_noise(sensitivity_ratio, p.refresh_share, epochs(), p.steps - epochs());
  p.oracle.refresh_noise = noise.refresh;
  p.oracle.increment_noise = noise.increment;
}

// Both variants are the same: the printed noise is not private and is not run (docs/errata.md, F1).
void DpSvrg::set_variant(Variant) {}

void DpSvrg::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  parameters.oracle.check(card().key, facts.records);
  check_share(card().key, "refresh_share", parameters.refresh_share, parameters.oracle.sampling);
}

Fields DpSvrg::fields() {
  DpSvrgParameters& p = parameters;
  Fields f{
      field("steps", p.steps, range::positive, "S m: inner steps in all"),
      field("period", p.period, range::positive, "m: inner steps of an epoch"),
      field("step_size", p.step_size, range::positive, "eta"),
      field(
          "refresh_share", p.refresh_share, range::unit_without_1,
          "share of the budget for the epochs' gradients under noise = calibrated; 0 = one ratio"),
      output_field(p.output)};
  p.regulariser.add_fields(f);
  p.oracle.add_fields(f);
  return f;
}

const AlgorithmCard& DpSvrg::card() const {
  static const AlgorithmCard card{
      .key = "wang-ye-xu-2017/dp-svrg",
      .title = "DP-SVRG",
      .paper = "Wang, Ye, Xu 2017",
      .place = "Theorems 4.1 to 4.4",
      .source = Source::reconstructed,
      .guarantee = "excess risk, empirical, convex losses with a regulariser; none beyond",
      .metric = Metric::excess_risk,
      .rate = "sqrt(d)/(n eps), convex",
      .empirical = Exponents{-1.0, 0.5, -1.0},
      .operations = "gradient and gradient difference",
      .output_rule = "last iterate"};
  return card;
}

}  // namespace dpsosp::baselines
