// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/kl_spider.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

KlSpider::KlSpider() { parameters.oracle.increment_clip = IncrementClip::proportional; }

double KlSpider::step_length(double target) const {
  const KlSpiderParameters& p = parameters;
  return std::pow(target, 1.0 / p.kl_exponent) / (4.0 * p.kl_gamma * p.oracle.clip_increment);
}

Index KlSpider::stage_length(double target) const {
  const KlSpiderParameters& p = parameters;
  const double e = (2.0 - p.kl_exponent) / p.kl_exponent;
  return count_of(card().key, "steps", std::pow(p.initial_excess / target, e));
}

// Steps of lowy-2024 notes, 2.6; the increment of step 8 is asked for when the next round begins.
Outcome KlSpider::run(Curator& curator, Stream, Observer& observer) const {
  const KlSpiderParameters& p = parameters;
  Vector w = curator.facts().initial_point, w_prev = w;
  Vector g(w.size()), difference(w.size());
  Index t = 0;
  std::int64_t short_stages = 0;  // that ended at a short gradient
  const auto outcome = [&](Status status) {
    return Outcome{w, status, t, {{"short_stages", short_stages}}};
  };
  if (p.target_excess >= p.initial_excess) {  // step 1: nothing to gain
    observer.iterate(0, w);
    return outcome(Status::steps_done);
  }
  double target = p.initial_excess;                              // Φ
  for (Index j = 1; j <= p.stages && t < p.steps; ++j) {         // step 2
    target = std::max(target / p.contraction, p.target_excess);  // step 3
    const Index length = stage_length(target);                   // T_j
    const double step = step_length(target);
    SpiderOracleParameters oracle = p.oracle;
    if (p.scale_noise)
      oracle.increment_noise = oracle.refresh_noise * std::sqrt(static_cast<double>(length));
    bool moved = false;
    for (Index i = 1; i <= length && t < p.steps; ++i) {  // step 5
      observer.iterate(t, w);
      try {
        if (i == 1) {  // step 4: g = ∇F(w) + N(0, ŝ² I)
          oracle.refresh(curator, Point(w), Block::x, g);
        } else {  // step 8: g += ∇F(w) − ∇F(w_prev) + N(0, s_j² I)
          oracle.increment(curator, Point(w), Point(w_prev), Block::x, difference);
          g += difference;
        }
      } catch (const Refused& refusal) {
        return outcome(status_of(refusal));
      }
      ++t;
      if (g.norm() < 3.5 * p.oracle.clip_increment * step) {  // step 6: 7Φ^{1/k}/(8γ)
        ++short_stages;
        break;
      }
      w_prev = w;
      w -= step / g.norm() * g;  // step 7
      moved = true;
      if (!w.allFinite()) return outcome(Status::not_finite);
    }
    // dev: the next stage starts where this one ended (docs/errata.md, F6)
    if (moved && p.handover == Handover::previous) w = w_prev;
  }
  return outcome(Status::steps_done);  // step 9
}

KlProblem kl_problem(const PublicFacts& facts) {
  const Constants& c = facts.constants;
  KlProblem p{.n = static_cast<double>(facts.records),
              .d = static_cast<double>(facts.dimension),
              .L = c[constant::lipschitz],
              .beta = c[constant::smoothness],
              .F0 = 0,
              .gamma = 0,
              .k = 2};
  if (!c.contains(constant::kl_gamma) && c.contains(constant::pl)) {
    p.gamma = 1.0 / std::sqrt(2.0 * c[constant::pl]);
  } else {
    p.gamma = c[constant::kl_gamma];
    if (c.contains(constant::kl_exponent)) p.k = c[constant::kl_exponent];
  }
  p.F0 = std::pow(p.gamma * p.L, p.k);
  if (c.contains(constant::suboptimality)) p.F0 = std::min(p.F0, c[constant::suboptimality]);
  return p;
}

double kl_floor(const KlProblem& p, double zcdp, const KlConstants& c, Index stages) {
  const double noise =
      std::sqrt(static_cast<double>(stages) * p.d * c.log_factor(stages) / zcdp) / p.n;
  return std::min(p.F0, std::pow(c.floor * p.gamma * p.L * noise, p.k));
}

KlNumbers kl_numbers(const KlProblem& p, double zcdp, const KlConstants& c) {
  const double e = (2.0 - p.k) / p.k;
  const double growth = std::pow(p.F0, e) / (c.stages * p.gamma * p.gamma * p.beta);
  const auto reached = [&](Index stages) {
    return p.F0 * std::exp(-static_cast<double>(stages) * std::log1p(growth)) <=
           kl_floor(p, zcdp, c, stages);
  };
  Index high = 1;
  while (!reached(high)) {
    if (high > Index{1} << 50)
      throw InputError("menart-2024/kl-spider: the schedule needs over 1e15 stages");
    high *= 2;
  }
  Index low = high / 2;  // not reached, or 0
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (reached(middle) ? high : low) = middle;
  }
  return {1.0 + growth, high, kl_floor(p, zcdp, c, high)};
}

double kl_printed_stages(const KlProblem& p, double zcdp) {
  const double e = (2.0 - p.k) / p.k;
  return std::ceil(
      (1.0 + 64.0 * p.gamma * p.gamma * p.beta * std::pow(p.F0, -e)) *
      std::log(p.F0 * std::pow(p.n * std::sqrt(zcdp) / (p.gamma * p.L * std::sqrt(p.d)), p.k)));
}

/// Practical: c_K = 8, c_F = 4, lg = 1. Paper: c_K = 64, c_F = 32, lg = ln(1/β′). Stages of full
/// length cost ρ together. \source lowy-2024 notes, 2.6
Scheduled KlSpider::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                             Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  KlSpiderParameters& p = parameters;
  const KlProblem q = kl_problem(facts);
  Scheduled s{.rule = filter_rule(budget, calibrator), .note = {}};
  const double rho = s.rule.capacity;
  KlConstants constants{8.0, 4.0, [](Index) { return 1.0; }};
  if (kind == Schedule::paper) {
    constexpr double failure = 0.1;
    constants = {64.0, 32.0, [&](Index stages) {
                   const auto K = static_cast<double>(stages);
                   const double unit = q.gamma * q.L * std::sqrt(K * q.d) /
                                       (q.n * std::sqrt(rho) * std::pow(q.F0, 1.0 / q.k));
                   return std::max(1.0, -std::log(failure / K * std::pow(unit, 2.0 - q.k)));
                 }};
  }
  KlNumbers k = kl_numbers(q, rho, constants);
  if (kind == Schedule::paper && p.printed_stages) {
    k.stages = count_of(card().key, "stages", std::max(1.0, kl_printed_stages(q, rho)));
    k.target = kl_floor(q, rho, constants, k.stages);
  }
  p.initial_excess = q.F0;
  p.contraction = k.contraction;
  p.target_excess = k.target;
  p.stages = k.stages;
  p.kl_gamma = q.gamma;
  p.kl_exponent = q.k;
  p.oracle.sampling = Sampling::all;
  p.oracle.clip_refresh = q.L;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = q.beta;
  p.scale_noise = true;
  p.steps = 0;
  double cost = 0.0;  // of all stages, in gradients: one, and 1/T_j for each of T_j − 1 differences
  double target = q.F0;
  for (Index j = 1; j <= p.stages; ++j) {
    target = std::max(target / p.contraction, p.target_excess);
    const Index length = stage_length(target);
    p.steps += length;
    cost += 2.0 - 1.0 / static_cast<double>(length);
  }
  // The noise makes exactly these costs ρ (lowy-2024 notes, 2.6), less 1e-11 for the rounding of a
  // sum of many unequal charges.
  p.oracle.refresh_noise = noise_ratio_for(rho * (1.0 - 1e-11), cost);
  s.alpha = s.excess_risk = k.target;
  s.note = kind == Schedule::paper ? "noise of replace-one" : "constants below the proof's";
  mark_vacuous(s, q.F0, "initial excess");
  return s;
}

std::vector<PlannedQuery> KlSpider::plan(const PublicFacts& facts) const {
  const KlSpiderParameters& p = parameters;
  const Index refreshes = std::min(p.stages, p.steps);
  const Index differences = p.kl_exponent == 2.0 ? 0 : p.steps - 1;  // k = 2: one step a stage
  return {{p.oracle.refresh_policy(facts.records), refreshes},
          {p.oracle.increment_policy(facts.records), differences}};
}

void KlSpider::set_common_noise(double sensitivity_ratio) {
  parameters.scale_noise = false;
  parameters.oracle.refresh_noise = parameters.oracle.increment_noise = sensitivity_ratio;
}

void KlSpider::set_variant(Variant variant) {
  parameters.printed_stages = variant == Variant::printed;
  parameters.handover = parameters.printed_stages ? Handover::previous : Handover::current;
}

void KlSpider::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  parameters.oracle.check(card().key, facts.records);
}

Fields KlSpider::fields() {
  using namespace range;
  KlSpiderParameters& p = parameters;
  Fields f{
      field("steps", p.steps, positive, "gradients at most"),
      field("stages", p.stages, positive, "K"),
      field("initial_excess", p.initial_excess, positive, "F0: public bound on F(w_0) - min F"),
      field("contraction", p.contraction, above(1), "c: targets fall by it a stage"),
      field("target_excess", p.target_excess, positive, "psi: the last target"),
      field("kl_gamma", p.kl_gamma, positive, "gamma"),
      field("kl_exponent", p.kl_exponent, between(1, 2), "k"),
      field("handover", p.handover, "the point from which the next stage starts"),
      field("printed_stages", p.printed_stages, "the printed K in the paper schedule"),
      field("scale_noise", p.scale_noise, "differences at refresh_noise times sqrt(T_j)")};
  p.oracle.add_fields(f);
  return f;
}

const AlgorithmCard& KlSpider::card() const {
  static const AlgorithmCard card{
      .key = "menart-2024/kl-spider",
      .title = "KL-SPIDER",
      .paper = "Menart, Ullah, Arora, Bassily, Guzman 2024",
      .place = "Algorithm 1",
      .source = Source::full_text,
      .guarantee = "excess risk, empirical, KL* losses",
      .metric = Metric::excess_risk,
      .rate = "(sqrt(d)/(n eps))^k",
      .empirical = Exponents{-2.0, 1.0, -2.0},
      .operations = "gradient and gradient difference",
      .output_rule = "last iterate",
      .printed = "a stage starts one point too early; K by the printed formula"};
  return card;
}

}  // namespace dpsosp::baselines
