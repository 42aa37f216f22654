// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/momentum_aggregation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "variance_reduced.hpp"

namespace dpsosp::baselines {

MomentumAggregation::MomentumAggregation() {
  parameters.oracle.increment_clip = IncrementClip::proportional;
}

LevelNoise level_noise(double G, double M, double step_size, Index steps, double divisor,
                       double difference_budget) {
  LevelNoise levels{{}, {}, 0.0};
  std::vector<double> roots;
  for (Index width = 1; width <= steps; width *= 2) {
    const auto count = static_cast<double>(steps / width - steps / (2 * width));
    const double moved = step_size * static_cast<double>(width);
    levels.sensitivity.push_back(2.0 / divisor * std::min(2.0 * G, M * moved));
    roots.push_back(std::sqrt(count));
    levels.total += levels.sensitivity.back() * roots.back();
  }
  // Larger by more than the rounding of the charges, so that the filter grants the last of them.
  for (std::size_t l = 0; l < roots.size(); ++l)
    levels.deviation.push_back(
        std::sqrt(levels.sensitivity[l] * roots[l] * levels.total / (2.0 * difference_budget)) *
        (1.0 + 1e-14));
  return levels;
}

// Steps of baselines notes, 6.
Outcome MomentumAggregation::run(Curator& curator, Stream stream, Observer& observer) const {
  const MomentumAggregationParameters& p = parameters;
  const SpiderOracleParameters& o = p.oracle;
  const Index n = curator.facts().records;
  const LevelNoise levels =
      p.difference_budget > 0 ? level_noise(o.clip_refresh, o.clip_increment, p.step_size, p.steps,
                                            o.increment_policy(n).divisor(n), p.difference_budget)
                              : LevelNoise{};
  struct Anchor {
    Vector w, g;
  };
  // The last time of every level, and time 0 at the end: no later time refers to any other.
  const auto level_count =
      static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(p.steps)));
  Vector x = curator.facts().initial_point;
  std::vector<Anchor> anchors(level_count + 1, Anchor{x, Vector::Zero(x.size())});
  Vector g(x.size()), difference(x.size()), direction(x.size());
  OutputKeeper output(p.output, p.steps, stream);
  for (Index t = 0; t < p.steps; ++t) {  // step 1
    observer.iterate(t, x);
    const auto bits = static_cast<std::uint64_t>(t);
    const std::size_t level =
        t == 0 ? level_count : static_cast<std::size_t>(std::countr_zero(bits));
    try {
      if (t == 0) {  // step 2
        o.refresh(curator, Point(x), Block::x, g);
      } else {
        const std::uint64_t a = bits & (bits - 1);  // t − lowbit(t)
        const Anchor& anchor =
            anchors[a == 0 ? level_count : static_cast<std::size_t>(std::countr_zero(a))];
        // step 3: g_t = g_a + ∇F(w_t) − ∇F(w_a) + noise, clipped at M times the distance moved
        const double limit =
            std::min(o.increment_limit(Point(x), Point(anchor.w)), 2.0 * o.clip_refresh);
        const Noise noise = levels.deviation.empty()
                                ? Noise::sensitivity_ratio(o.increment_noise)
                                : Noise::standard_deviation(levels.deviation[level]);
        curator.gradient_difference(Point(x), Point(anchor.w), curator.draw(o.increment_policy(n)),
                                    {.limit = limit, .noise = noise}, difference);
        g = anchor.g + difference;
      }
    } catch (const Refused& refusal) {
      return {output.point(x), status_of(refusal), t, {}};
    }
    observer.estimate(t, x, g);
    output.visit(t, x, g);
    anchors[level].w = x;
    anchors[level].g = g;
    if (t == 0)  // step 4: m_t
      direction = g;
    else
      direction = (1.0 - p.momentum) * direction + p.momentum * g;
    const double length = direction.norm();
    if (length > 0) x -= p.step_size / length * direction;  // step 5: w_{t+1} = w_t − η m_t/‖m_t‖
    if (!x.allFinite()) return {x, Status::not_finite, t + 1, {}};
  }
  return {output.point(x), Status::steps_done, p.steps, {}};  // step 6
}

Scheduled MomentumAggregation::schedule(Schedule kind, const PublicFacts& facts,
                                        const PrivacyBudget& budget, Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  MomentumAggregationParameters& p = parameters;
  const ProblemNumbers q = numbers_of(facts, false);
  Scheduled s{.rule = filter_rule(budget, calibrator), .utility = Utility::proved};
  const double first = s.rule.capacity / 3.0;  // R_0
  // Less 1e-11, for the rounding of the charges that the filter adds up.
  p.difference_budget = s.rule.capacity * 2.0 / 3.0 * (1.0 - 1e-11);
  double alpha =
      std::pow(std::sqrt(68.0 * q.d * q.G * q.M * q.B / p.difference_budget) / q.n, 2.0 / 3.0);
  if (kind == Schedule::paper) {
    alpha =
        std::cbrt(q.G * q.M * q.B) *
        std::pow(std::sqrt(q.d * std::log(1.0 / budget.delta)) / (q.n * budget.epsilon), 2.0 / 3.0);
    s.note = "the published constants are not at hand; 1 in the claimed rate";
  }
  p.step_size = alpha / q.M;
  p.steps = count_of(card().key, "steps", q.M * q.B / (alpha * alpha));
  p.output = OutputRule::uniform;
  p.oracle.sampling = Sampling::all;
  p.oracle.clip_refresh = q.G;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = q.M;
  p.oracle.refresh_noise = noise_ratio_for(first, 1.0);
  const LevelNoise levels = level_noise(q.G, q.M, p.step_size, p.steps, q.n, p.difference_budget);
  const double s0 = 2.0 * q.G / q.n * p.oracle.refresh_noise;
  const double error =
      std::sqrt(q.d * (s0 * s0 + levels.total * levels.total / (2.0 * p.difference_budget)));
  // A normalised step lowers F by at least η‖∇F‖ − 2η‖e‖ − Mη²/2.
  s.alpha =
      q.B / (p.step_size * static_cast<double>(p.steps)) + 2.0 * error + q.M * p.step_size / 2.0;
  if (p.momentum < 1.0) {
    s.utility = Utility::heuristic;
    s.add_note("the bound is for gamma = 1");
  }
  mark_vacuous(s, q.G);
  return s;
}

std::vector<PlannedQuery> MomentumAggregation::plan(const PublicFacts& facts) const {
  const MomentumAggregationParameters& p = parameters;
  return {{p.oracle.refresh_policy(facts.records), 1},
          {p.oracle.increment_policy(facts.records), p.steps - 1}};
}

void MomentumAggregation::set_common_noise(double sensitivity_ratio) {
  MomentumAggregationParameters& p = parameters;
  p.difference_budget = 0.0;
  p.oracle.refresh_noise = p.oracle.increment_noise = sensitivity_ratio;
  if (p.refresh_share == 0.0 || p.steps < 2) return;
  p.oracle.refresh_noise = split_noise(sensitivity_ratio, p.refresh_share, 1, p.steps - 1).refresh;
  const double whole = static_cast<double>(p.steps) / (2.0 * sensitivity_ratio * sensitivity_ratio);
  p.difference_budget = (1.0 - p.refresh_share) * whole * (1.0 - 1e-11);
}

// Both variants are the same: the body is derived from the claimed rate.
void MomentumAggregation::set_variant(Variant) {}

void MomentumAggregation::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  parameters.oracle.check(card().key, facts.records);
  check_share(card().key, "refresh_share", parameters.refresh_share, parameters.oracle.sampling);
}

Fields MomentumAggregation::fields() {
  using namespace range;
  MomentumAggregationParameters& p = parameters;
  Fields f{
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta: length of every step"),
      field("momentum", p.momentum, unit_without_0, "gamma of the direction's average; 1 = none"),
      field("difference_budget", p.difference_budget, not_negative,
            "zCDP of all differences, split by level; 0 = all at increment_noise"),
      field("refresh_share", p.refresh_share, unit_without_1,
            "share of the budget for the first gradient under noise = calibrated, the rest split "
            "by level; 0 = one ratio"),
      output_field(p.output)};
  p.oracle.add_fields(f);
  return f;
}

const AlgorithmCard& MomentumAggregation::card() const {
  static const AlgorithmCard card{.key = "tran-cutkosky-2022/momentum-aggregation",
                                  .title = "Momentum aggregation",
                                  .paper = "Tran, Cutkosky 2022",
                                  .place = "abstract; full-batch form derived",
                                  .source = Source::derived,
                                  .guarantee = "FOSP, empirical",
                                  .metric = Metric::gradient_norm,
                                  .statistic = "uniformly random iterate",
                                  .rate = "d^(1/3)/(n eps)^(2/3)",
                                  .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
                                  .operations = "gradient and gradient difference",
                                  .output_rule = "a uniformly random iterate",
                                  .utility = Utility::proved};
  return card;
}

}  // namespace dpsosp::baselines
