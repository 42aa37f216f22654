// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_prox_gd.hpp"

#include <cmath>

namespace dpsosp::baselines {

void prox_gradient(const Regulariser& r, double step_size, const Vector& x, const Vector& g,
                   Vector& out) {
  out = x - step_size * g;
  r.prox(step_size, out);
  out = (x - out) / step_size;
}

Outcome DpProxGd::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpProxGdParameters& p = parameters;
  return noisy_descent(
      curator, stream, observer, p,
      [&](Index, const Vector& g, Vector& x) {
        x -= p.step_size * g;  // step 3: w_{t+1} = prox_{r/M}(w_t − g/M)
        p.regulariser.prox(p.step_size, x);
      },
      [&](const Vector& x, const Vector& g, Vector& out) {
        prox_gradient(p.regulariser, p.step_size, x, g, out);
      });
}

Scheduled DpProxGd::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  // F + r starts at most r(w_0) above the bound on F, because r ≥ 0.
  const double B = q.B + parameters.regulariser.value(facts.initial_point);
  double steps = q.n / q.G * std::sqrt(q.M * B * planned_zcdp(budget, calibrator) / q.d);
  if (kind == Schedule::paper)
    steps = q.n * budget.epsilon * std::sqrt(q.M) /
            (q.G * std::sqrt(q.d * std::log(1.0 / budget.delta)));
  full_batch(q, count_of(card().key, "steps", steps));
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .utility = Utility::proved};
  // F + r falls by (η/2)‖p_t‖² − η⟨e_t, p_t⟩, p_t the noisy prox-gradient and e_t the noise. The
  // exact prox-gradient is within ‖e_t‖ of p_t and independent of e_t, so E⟨e_t, p_t⟩ ≤ E‖e_t‖²
  // (baselines notes, 2).
  const double variance = q.d * std::pow(parameters.deviation(facts.records), 2);
  s.alpha = std::sqrt(4.0 * q.M * B / static_cast<double>(parameters.steps) + 6.0 * variance);
  if (kind == Schedule::paper)
    s.note = "the printed number of steps with constant 1; noise by the accountant";
  if (parameters.population) {
    s.alpha += q.G * std::sqrt(q.d * std::log(q.n) / q.n);
    s.utility = Utility::heuristic;
    s.note = "uniform convergence with constant 1";
  }
  mark_vacuous(s, q.G);
  return s;
}

Fields DpProxGd::fields() {
  Fields f;
  parameters.add_fields(f);
  parameters.regulariser.add_fields(f);
  f.push_back(field("population", parameters.population, "promise the population gradient"));
  return f;
}

const AlgorithmCard& DpProxGd::card() const {
  static const AlgorithmCard card{
      .key = "wang-xu-2019/dp-prox-gd",
      .title = "DP-ProxGD",
      .paper = "Wang, Xu 2019",
      .place = "non-smooth regulariser; bodies derived",
      .source = Source::derived,
      .guarantee = "prox-gradient of F + r, empirical; population by uniform convergence",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate = "(sqrt(d)/(n eps))^(1/2) empirical; (d/(n eps))^(1/2) + (d/n)^(1/2) population",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .population = Exponents{-0.5, 0.5, -0.5},
      .sampling = -0.5,
      .operations = "gradient",
      .output_rule = "a uniformly random iterate",
      .utility = Utility::proved,
      .same_without_noise =
          "wang-ye-xu-2017/dp-gd: without a regulariser both are gradient descent at 1/M"};
  return card;
}

}  // namespace dpsosp::baselines
