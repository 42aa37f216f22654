// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_gd.hpp"

#include <algorithm>
#include <cmath>

namespace dpsosp::baselines {

Outcome DpGd::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpGdParameters& p = parameters;
  return noisy_descent(curator, stream, observer, p, [&](Index, const Vector& g, Vector& x) {
    x -= p.step_size * g;  // step 3: w_{t+1} = w_t − g/M
  });
}

Scheduled DpGd::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                         Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const double R = planned_zcdp(budget, calibrator);
  const double log_delta = std::log(1.0 / budget.delta);
  double steps = balanced_steps(q, R);
  if (kind == Schedule::paper)
    steps = q.n * budget.epsilon * std::sqrt(q.M) / (q.G * std::sqrt(q.d * log_delta));
  double mu = 0.0;
  if (parameters.pl) {
    mu = facts.constants[constant::pl];
    const double ratio =
        kind == Schedule::paper
            ? std::pow(q.n * budget.epsilon / q.G, 2) / (q.d * log_delta)
            : std::pow(q.n * mu / q.G, 2) * q.B * R / (q.d * q.M);  // a pure number
    steps = q.M / mu * std::max(1.0, std::log(ratio));
  }
  full_batch(q, count_of(card().key, "steps", steps));
  parameters.output = parameters.pl ? OutputRule::last : OutputRule::uniform;
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .utility = Utility::proved};
  const auto T = static_cast<double>(parameters.steps);
  const double variance = q.d * std::pow(parameters.deviation(facts.records), 2);
  s.alpha = descent_bound(q.B, q.M, parameters.step_size, T, variance);
  if (parameters.pl) {
    // E[F(w_T) − F*] ≤ (1 − μ/M)^T B + d s²/(2μ), and ‖∇F‖² ≤ 2M (F − F*)
    s.excess_risk = std::pow(1.0 - mu / q.M, T) * q.B + variance / (2.0 * mu);
    s.alpha = std::sqrt(2.0 * q.M * s.excess_risk);
  }
  if (kind == Schedule::paper)
    s.note = "the printed number of steps with constant 1; noise by the accountant";
  mark_vacuous(s, q.G);
  return s;
}

Fields DpGd::fields() {
  Fields f;
  parameters.add_fields(f);
  f.push_back(field("pl", parameters.pl, "schedule for PL losses: T ~ (M/mu) ln n, last iterate"));
  return f;
}

const AlgorithmCard& DpGd::card() const {
  static const AlgorithmCard card{
      .key = "wang-ye-xu-2017/dp-gd",
      .title = "DP-GD",
      .paper = "Wang, Ye, Xu 2017",
      .place = "Theorems 6.2 and 6.3",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical; excess risk for PL losses",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate = "(sqrt(d)/(n eps))^(1/2)",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .operations = "gradient",
      .output_rule = "a uniformly random iterate; the last one for PL losses",
      .utility = Utility::proved};
  return card;
}

Outcome RrPsgd::run(Curator& curator, Stream stream, Observer& observer) const {
  const DescentParameters& p = parameters;
  return noisy_descent(curator, stream, observer, p,
                       [&](Index, const Vector& g, Vector& x) { x -= p.step_size * g; });
}

Scheduled RrPsgd::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                           Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const bool amplified = calibrator == Calibrator::rdp;
  full_batch(q,
             count_of(card().key, "steps",
                      amplified ? q.n * q.n : balanced_steps(q, planned_zcdp(budget, calibrator))));
  if (amplified) {
    parameters.sampling = Sampling::sample;
    parameters.batch = 1;
  }
  parameters.output = OutputRule::uniform;
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .utility = Utility::proved};
  const auto T = static_cast<double>(parameters.steps);
  const double variance =
      (amplified ? q.G * q.G : 0.0) + q.d * std::pow(parameters.deviation(facts.records), 2);
  if (amplified) parameters.step_size = best_step(q.B, q.M, T, variance);
  s.alpha = descent_bound(q.B, q.M, parameters.step_size, T, variance);
  if (!amplified)
    s.note =
        "single-record steps are private by amplification alone, which needs the calibrator rdp; "
        "full batches instead";
  mark_vacuous(s, q.G);
  return s;
}

Fields RrPsgd::fields() {
  Fields f;
  parameters.add_fields(f);
  return f;
}

const AlgorithmCard& RrPsgd::card() const {
  static const AlgorithmCard card{
      .key = "zhang-2017/rrpsgd",
      .title = "RRPSGD",
      .paper = "Zhang, Zheng, Mou, Wang 2017",
      .place = "random-round private SGD",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate = "(sqrt(d)/(n eps))^(1/2)",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .operations = "gradient",
      .output_rule = "a uniformly random iterate",
      .utility = Utility::proved,
      .same_without_noise =
          "wang-ye-xu-2017/dp-gd: with full batches both are gradient descent at "
          "1/M; with single records the steps differ"};
  return card;
}

}  // namespace dpsosp::baselines
