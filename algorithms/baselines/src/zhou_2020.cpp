// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/zhou_2020.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {
namespace {

AlgorithmCard make_zhou_card(Zhou2020::Rule rule) {
  AlgorithmCard card{
      .paper = "Zhou, Chen, Hong, Wu, Banerjee 2020",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical; population as claimed lacks a term eps sqrt(d)",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate =
          "(sqrt(d)/(n eps))^(1/2), also claimed for the population, where eps sqrt(d) is to "
          "be added",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .population = Exponents{-0.5, 0.25, -0.5},
      .operations = "gradient",
      .output_rule = "a uniformly random iterate"};
  switch (rule) {
    case Zhou2020::Rule::sgd:
      card.key = "zhou-2020/dp-sgd";
      card.title = "DP-SGD (Zhou et al.)";
      card.place = "DP-SGD";
      card.utility = Utility::proved;
      card.same_without_noise =
          "wang-ye-xu-2017/dp-gd: both are gradient descent at 1/M; horizon and claim differ";
      break;
    case Zhou2020::Rule::rmsprop:
      card.key = "zhou-2020/dp-rmsprop";
      card.title = "DP-RMSProp";
      card.place = "DP-RMSProp";
      break;
    case Zhou2020::Rule::adam:
      card.key = "zhou-2020/dp-adam";
      card.title = "DP-Adam (Zhou et al.)";
      card.place = "DP-Adam";
      break;
  }
  return card;
}

const AlgorithmCard& zhou_card(Zhou2020::Rule rule) {
  static const AlgorithmCard sgd = make_zhou_card(Zhou2020::Rule::sgd);
  static const AlgorithmCard rmsprop = make_zhou_card(Zhou2020::Rule::rmsprop);
  static const AlgorithmCard adam = make_zhou_card(Zhou2020::Rule::adam);
  return rule == Zhou2020::Rule::sgd ? sgd : rule == Zhou2020::Rule::rmsprop ? rmsprop : adam;
}

}  // namespace

Zhou2020::Zhou2020(Rule rule) : rule_(rule), card_(zhou_card(rule)) {}

Outcome Zhou2020::run(Curator& curator, Stream stream, Observer& observer) const {
  const AdaptiveDescentParameters& p = parameters;
  const Index d = curator.facts().dimension;
  Vector m = Vector::Zero(d), v = Vector::Zero(d);
  return noisy_descent(curator, stream, observer, p, [&](Index, const Vector& g, Vector& x) {
    if (rule_ == Rule::sgd) {  // step 3
      x -= p.step_size * g;
      return;
    }
    v = p.second_decay * v + (1.0 - p.second_decay) * g.cwiseAbs2();
    if (rule_ == Rule::adam) m = p.first_decay * m + (1.0 - p.first_decay) * g;
    const Vector& direction = rule_ == Rule::adam ? m : g;
    x.array() -= p.step_size * direction.array() / (v.array().sqrt() + p.damping);
  });
}

Scheduled Zhou2020::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const double R = planned_zcdp(budget, calibrator);
  full_batch(
      q, count_of(card().key, "steps",
                  kind == Schedule::paper ? q.n * std::sqrt(R / q.d) / q.G : balanced_steps(q, R)));
  parameters.output = OutputRule::uniform;
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .note = {}};
  const double deviation = parameters.deviation(facts.records);
  if (rule_ == Rule::sgd) {
    s.utility = Utility::proved;
    s.alpha = descent_bound(q.B, q.M, parameters.step_size, static_cast<double>(parameters.steps),
                            q.d * deviation * deviation);
    if (parameters.population) {
      s.alpha = q.G * zhou_2020_population_bound(q.n, q.d, budget.epsilon);
      s.utility = Utility::disputed;
      s.note = "population bound with the term eps sqrt(d) that the paper drops; constants 1";
    }
    mark_vacuous(s, q.G);
    return s;
  }
  // With ν far below s noise is divided by noise: every coordinate then moves by about η a step,
  // whether there is a signal or not.
  parameters.damping = deviation;
  parameters.step_size = 0.01 * q.G / q.M;
  s.note =
      "the paper states no constants: step 0.01 G/M and the damping nu = s, the noise's deviation";
  return s;
}

Fields Zhou2020::fields() {
  AdaptiveDescentParameters& p = parameters;
  Fields f;
  p.add_fields(f);
  if (rule_ == Rule::sgd) {
    f.push_back(field("population", p.population, "promise the population gradient"));
    return f;
  }
  if (rule_ == Rule::adam)
    f.push_back(
        field("first_decay", p.first_decay, range::unit_without_1, "beta1; 0 = no momentum"));
  f.push_back(field("second_decay", p.second_decay, range::unit_without_1, "beta2; 0 = no memory"));
  f.push_back(field("damping", p.damping, range::positive,
                    "nu, added to the root of the second moment; unit of the gradient"));
  return f;
}

double zhou_2020_population_bound(double n, double d, double epsilon) {
  return std::sqrt(std::sqrt(d) / (n * epsilon)) + epsilon * std::sqrt(d);
}

}  // namespace dpsosp::baselines
