// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/reference.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "variance_reduced.hpp"

namespace dpsosp::baselines {
namespace {

AlgorithmCard reference_card(const char* key, const char* title, const char* operations) {
  return {.key = key,
          .title = title,
          .paper = "reference line",
          .place = "textbook",
          .guarantee = "none; not private",
          .metric = Metric::gradient_norm,
          .rate = "none",
          .operations = operations,
          .output_rule = "last iterate",
          .privacy = PrivacyLabel::none};
}

constexpr const char* not_private = "not private; the budget is not used";

}  // namespace

Outcome ReferenceSgd::run(Curator& curator, Stream stream, Observer& observer) const {
  const DescentParameters& p = parameters;
  return noisy_descent(curator, stream, observer, p,
                       [&](Index, const Vector& g, Vector& x) { x -= p.step_size * g; });
}

Scheduled ReferenceSgd::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                                 Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  DescentParameters& p = parameters;
  p.sampling = Sampling::sample;
  p.batch = std::min<Index>(256, facts.records);
  p.step_size =
      best_step(q.B, q.M, static_cast<double>(p.steps), q.G * q.G / static_cast<double>(p.batch));
  return {.rule = filter_rule(budget, calibrator), .note = not_private};
}

Fields ReferenceSgd::fields() {
  DescentParameters& p = parameters;
  return {field("steps", p.steps, range::positive, "iterations"),
          field("step_size", p.step_size, range::positive, "eta"), sampling_field(p.sampling),
          field("batch", p.batch, range::not_negative, "records in a batch"),
          output_field(p.output)};
}

void ReferenceSgd::set_variant(Variant) {}

void ReferenceSgd::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "batch", parameters.sampling, parameters.batch, facts.records);
}

const AlgorithmCard& ReferenceSgd::card() const {
  static const AlgorithmCard card =
      reference_card("reference/sgd", "SGD (not private)", "gradient, no noise, no clipping");
  return card;
}

Outcome ReferenceSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const ReferenceSpiderParameters& p = parameters;
  const SpiderOracleParameters oracle{.sampling = p.sampling,
                                      .refresh_batch = p.refresh_batch,
                                      .increment_batch = p.increment_batch};
  return variance_reduced_descent(
      curator, stream, observer, {p.steps, p.period, VarianceReduced::Anchor::previous, p.output},
      oracle, [&](const Vector& v, Vector& x) { x -= p.step_size * v; });
}

/// b₁ = n, b₂ = q = √n, η = 1/(2M): the finite-sum setting of SpiderBoost.
Scheduled ReferenceSpider::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                                    Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  ReferenceSpiderParameters& p = parameters;
  const double root = std::sqrt(static_cast<double>(facts.records));
  p.sampling = Sampling::sample;
  p.refresh_batch = facts.records;
  p.increment_batch = p.period = floor_of(card().key, "records", root);
  p.step_size = 0.5 / facts.constants[constant::smoothness];
  return {.rule = filter_rule(budget, calibrator), .note = not_private};
}

Fields ReferenceSpider::fields() {
  using namespace range;
  ReferenceSpiderParameters& p = parameters;
  return {field("steps", p.steps, positive, "iterations"),
          field("period", p.period, positive, "q: steps between refreshes"),
          field("step_size", p.step_size, positive, "eta"),
          sampling_field(p.sampling),
          field("refresh_batch", p.refresh_batch, not_negative, "b1: records in a refresh"),
          field("increment_batch", p.increment_batch, not_negative, "b2: records in an increment"),
          output_field(p.output)};
}

void ReferenceSpider::set_variant(Variant) {}

void ReferenceSpider::check_settings(const PublicFacts& facts) const {
  const ReferenceSpiderParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "refresh_batch", p.sampling, p.refresh_batch, facts.records);
  require_batch(card().key, "increment_batch", p.sampling, p.increment_batch, facts.records);
}

const AlgorithmCard& ReferenceSpider::card() const {
  static const AlgorithmCard card =
      reference_card("reference/spider", "SPIDER (not private)",
                     "gradient and gradient difference, no noise, no clipping");
  return card;
}

Outcome PerturbedGd::run(Curator& curator, Stream stream, Observer& observer) const {
  const PerturbedGdParameters& p = parameters;
  const GradientQuery query{.limit = 1.0, .noise = Noise::sensitivity_ratio(0.0)};
  Vector x = curator.facts().initial_point;
  Vector x_prev = x, x_near = x;  // x̃: where the last kick began
  Vector g(x.size()), g_prev = Vector::Zero(x.size()), kick(x.size());
  Index since_kick = -1;      // iterates since the kick; −1: none is being followed
  double value_change = 0.0;  // f(x_t) − f(x̃), by the trapezoid rule
  std::int64_t kicks = 0;
  const auto outcome = [&](const Vector& point, Status status, Index steps) {
    return Outcome{point, status, steps, {{"escapes", kicks}}};
  };
  for (Index t = 0; t < p.steps; ++t) {
    observer.iterate(t, x);
    try {
      curator.gradient(Point(x), curator.draw(BatchPolicy::all()), query, g);
    } catch (const Refused& refusal) {
      return outcome(x, status_of(refusal), t);
    }
    if (since_kick >= 0) {
      value_change += 0.5 * (g + g_prev).dot(x - x_prev);
      // t_thres steps after the kick the value must have fallen by f_thres
      if (++since_kick > p.escape_steps) {
        if (value_change > -p.decrease) return outcome(x_near, Status::certified, t + 1);
        since_kick = -1;
      }
    }
    x_prev = x;
    g_prev = g;
    if (since_kick < 0 && g.norm() <= p.threshold) {
      x_near = x;
      stream.fill_ball(p.radius, kick);
      x += kick;  // dev: the kicked point is an iterate of its own, so that its gradient is seen
      since_kick = 0;
      value_change = 0.0;
      ++kicks;
    } else {
      x -= p.step_size * g;
    }
    if (!x.allFinite()) return outcome(x, Status::not_finite, t + 1);
  }
  return outcome(x, Status::steps_done, p.steps);
}

/// Paper: c = 1, failure probability 0.1. Practical: the same orders without the powers of χ, and
/// an escape long enough for the kick to grow to a length at which F falls.
Scheduled PerturbedGd::schedule(Schedule kind, const PublicFacts& facts,
                                const PrivacyBudget& budget, Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  PerturbedGdParameters& p = parameters;
  const ProblemNumbers q = numbers_of(facts);
  const double alpha = p.relative_alpha * q.G;
  const double curvature = std::sqrt(q.rho * alpha);
  const double unit = std::sqrt(std::pow(alpha, 3) / q.rho);
  Scheduled s{.rule = filter_rule(budget, calibrator), .alpha = alpha, .note = not_private};
  p.step_size = 1.0 / q.M;
  if (kind == Schedule::paper) {
    constexpr double failure = 0.1;
    const double chi = 3.0 * std::max(4.0, std::log(q.d * q.M * q.B / (alpha * alpha * failure)));
    p.threshold = alpha / (chi * chi);
    p.radius = p.threshold / q.M;
    p.decrease = unit / std::pow(chi, 3);
    p.escape_steps = count_of(card().key, "steps", chi * q.M / curvature);
    p.steps = count_of(card().key, "steps", std::pow(chi, 4) * q.M * q.B / (alpha * alpha));
    return s;
  }
  p.threshold = alpha;
  p.radius = 0.25 * alpha / q.M;
  p.decrease = unit / 50.0;
  p.escape_steps =
      count_of(card().key, "steps",
               std::log(8.0 * q.M * q.d / curvature) / std::log1p(curvature / (2.0 * q.M)));
  p.steps = count_of(card().key, "steps", 4.0 * q.M * q.B / (alpha * alpha)) + 2 * p.escape_steps;
  return s;
}

Fields PerturbedGd::fields() {
  using namespace range;
  PerturbedGdParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta"),
      field("relative_alpha", p.relative_alpha, positive,
            "epsilon/G: accuracy that the schedule plans for"),
      field("threshold", p.threshold, positive, "g_thres: kicks where the gradient is no longer"),
      field("radius", p.radius, positive, "r of the kicks"),
      field("escape_steps", p.escape_steps, positive, "t_thres: steps between kicks"),
      field("decrease", p.decrease, positive, "f_thres: of the value, after a kick")};
}

void PerturbedGd::set_variant(Variant) {}

void PerturbedGd::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
}

const AlgorithmCard& PerturbedGd::card() const {
  static const AlgorithmCard card = [] {
    AlgorithmCard c =
        reference_card("reference/perturbed-gd", "Perturbed gradient descent (not private)",
                       "gradient, no noise, no clipping");
    c.paper = "Jin, Ge, Netrapalli, Kakade, Jordan 2017";
    c.place = "Algorithm 2";
    c.guarantee = "SOSP, empirical; not private";
    c.metric = Metric::sosp_level;
    c.output_rule = "where the kick that led to no decrease began; at the horizon the last iterate";
    return c;
  }();
  return card;
}

}  // namespace dpsosp::baselines
