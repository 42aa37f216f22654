// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/abadi_2016.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {
namespace {

AlgorithmCard make_abadi_card(Abadi2016::Rule rule) {
  const bool sgd = rule == Abadi2016::Rule::sgd;
  AlgorithmCard card{.key = sgd ? "abadi-2016/dp-sgd" : "abadi-2016/dp-adam",
                     .title = sgd ? "DP-SGD" : "DP-Adam",
                     .paper = "Abadi et al. 2016",
                     .place = sgd ? "Algorithm 1" : "Algorithm 1 with Adam's step",
                     .source = Source::full_text,
                     .guarantee = "FOSP, empirical, where clipping is inactive",
                     .metric = Metric::gradient_norm,
                     .statistic = "last iterate; the bound is a uniform iterate's",
                     .rate = "(sqrt(d)/(n eps))^(1/2)",
                     .empirical = Exponents{-0.5, 0.25, -0.5},
                     .operations = "gradient",
                     .output_rule = "last iterate, a uniform one, or the mean of the last ones",
                     .numbers_version = sgd ? 1 : 2};
  if (sgd)
    card.same_without_noise =
        "wang-ye-xu-2017/dp-gd: with full batches both are gradient descent at 1/M; sampled "
        "batches and the output differ";
  return card;
}

const AlgorithmCard& abadi_card(Abadi2016::Rule rule) {
  static const AlgorithmCard sgd = make_abadi_card(Abadi2016::Rule::sgd);
  static const AlgorithmCard adam = make_abadi_card(Abadi2016::Rule::adam);
  return rule == Abadi2016::Rule::sgd ? sgd : adam;
}

}  // namespace

Abadi2016::Abadi2016(Rule rule) : rule_(rule), card_(abadi_card(rule)) {
  parameters.output = OutputRule::last;
  if (rule == Rule::sgd) parameters.first_decay = 0.0;
}

Outcome Abadi2016::run(Curator& curator, Stream stream, Observer& observer) const {
  const Abadi2016Parameters& p = parameters;
  const Index d = curator.facts().dimension;
  const double s = p.deviation(curator.facts().records);
  const double of_noise = s > 0 ? s * s / 100.0 : p.damping * p.damping;
  const double floor = p.moment_floor > 0 ? p.moment_floor : of_noise;
  const auto averaged =
      static_cast<Index>(std::ceil(p.tail_average * static_cast<double>(p.steps)));
  Vector m = Vector::Zero(d), v = Vector::Zero(d), mean = Vector::Zero(d);
  double start1 = 1.0, start2 = 1.0;  // β₁^t, β₂^t
  Outcome outcome =
      noisy_descent(curator, stream, observer, p, [&](Index t, const Vector& g, Vector& x) {
        m = p.first_decay * m + (1.0 - p.first_decay) * g;
        start1 *= p.first_decay;
        const double step = p.step_size / (1.0 - start1);  // η m̂ = step · m
        if (rule_ == Rule::sgd) {                          // step 3
          x -= step * m;
        } else {
          v = p.second_decay * v + (1.0 - p.second_decay) * g.cwiseAbs2();
          start2 *= p.second_decay;
          const auto second = v.array() / (1.0 - start2);  // v̂
          if (p.correction == MomentCorrection::start)
            x.array() -= step * m.array() / (second.sqrt() + p.damping);
          else
            x.array() -= step * m.array() / (second - s * s).max(floor).sqrt();
        }
        if (t >= p.steps - averaged) mean += x / static_cast<double>(averaged);
      });
  if (averaged > 0 && outcome.status == Status::steps_done) outcome.point = mean;
  return outcome;
}

/// Sampled: `epochs` epochs in batches of 256 (practical) or 1 % of the records (paper). The step
/// of DP-SGD minimises the bound of a uniform iterate; that of DP-Adam is 0.01 G/M.
Scheduled Abadi2016::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                              Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  Abadi2016Parameters& p = parameters;
  const bool paper = kind == Schedule::paper;
  Scheduled s;
  if (calibrator == Calibrator::rdp) {
    const Sampling chosen = p.sampling == Sampling::sample ? Sampling::sample : Sampling::poisson;
    p.batch = std::clamp<Index>(paper ? facts.records / 100 : 256, 1, facts.records);
    full_batch(q, count_of(card().key, "steps", p.epochs * q.n / static_cast<double>(p.batch)));
    p.sampling = chosen;
  } else {
    full_batch(q, count_of(card().key, "steps",
                           paper ? 100.0 * p.epochs
                                 : balanced_steps(q, planned_zcdp(budget, calibrator))));
    s.note = "without amplification: full batches";
  }
  s.rule = calibrate(facts, budget, calibrator);
  const double sd = p.deviation(facts.records);
  const double T = static_cast<double>(p.steps);
  const bool sampled = p.sampling != Sampling::all;
  const double variance =
      q.d * sd * sd + (sampled ? q.G * q.G / static_cast<double>(p.batch) : 0.0);
  if (rule_ == Rule::sgd) {
    if (paper)
      p.step_size = 0.05 / q.M;  // 0.05 in the published MNIST runs
    else if (sampled)
      p.step_size = best_step(q.B, q.M, T, variance);
    if (p.step_size * q.M <= 1.0) s.alpha = descent_bound(q.B, q.M, p.step_size, T, variance);
    const std::string bound =
        p.step_size * q.M <= 1.0
            ? "alpha is the bound of a uniform iterate; the last one is returned"
            : "the step is longer than 1/M";
    s.add_note(bound);
    if (s.alpha > 0) mark_vacuous(s, q.G);
    return s;
  }
  p.step_size = 0.01 * q.G / q.M;
  p.damping = 1e-8 * q.G;
  p.moment_floor = 0.0;  // of the noise that settings and the noise rule come to
  s.add_note("no bound is known for the step");
  return s;
}

Fields Abadi2016::fields() {
  using namespace range;
  Abadi2016Parameters& p = parameters;
  Fields f;
  p.add_fields(f);
  f.push_back(field("epochs", p.epochs, positive, "T = epochs/q in the sampled schedules"));
  f.push_back(field("tail_average", p.tail_average, probability,
                    "share of iterates averaged at the end; 0 = none"));
  f.push_back(field("first_decay", p.first_decay, unit_without_1, "beta1; 0 = no momentum"));
  if (rule_ == Rule::sgd) return f;
  f.push_back(field("second_decay", p.second_decay, unit_without_1, "beta2; 0 = no memory"));
  f.push_back(
      field("correction", p.correction,
            "of the second moment: Adam's for the start, or AdamBC's for the noise as well"));
  f.push_back(field("damping", p.damping, positive, "nu of Adam"));
  f.push_back(
      field("moment_floor", p.moment_floor, not_negative,
            "nu' of AdamBC: least second moment; unit of the gradient squared; 0 = s^2/100"));
  return f;
}

}  // namespace dpsosp::baselines
