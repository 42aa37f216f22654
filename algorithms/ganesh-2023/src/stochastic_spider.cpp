// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"

#include <algorithm>
#include <limits>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::ganesh_2023 {

StochasticSpider::StochasticSpider() {
  parameters.oracle.increment_clip = IncrementClip::proportional;
}

Outcome StochasticSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const StochasticSpiderParameters& p = parameters;
  Vector x = curator.facts().initial_point;  // x_t
  Vector x_prev = x;
  Vector g = Vector::Zero(x.size());  // ∇_t
  Vector step(x.size()), increment(x.size());
  double drift = std::numeric_limits<double>::infinity();
  Index frozen = 1;
  std::int64_t refreshes = 0, kicks = 0;
  const auto outcome = [&](Status status, Index steps) {
    return Outcome{x, status, steps, {{"refreshes", refreshes}, {"escapes", kicks}}};
  };

  for (Index t = 0; t < p.steps; ++t) {  // line 3
    observer.iterate(t, x);
    // line 4: g is still the estimate at x_{t−1}, as printed
    const bool kick =
        t > 0 && frozen == 0 && p.escape_threshold > 0 && g.norm() <= p.escape_threshold;
    // line 9: dev: the drift up to x_t, not x_{t−1} (docs/errata.md, G1)
    const bool due = p.refresh == RefreshTrigger::always ||
                     (p.refresh == RefreshTrigger::period && t % p.period == 0) ||
                     (p.refresh == RefreshTrigger::drift && drift >= p.drift_threshold);
    try {
      if (due || (kick && p.escape_oracle == EscapeOracle::printed_fresh)) {
        if (p.refresh_cap > 0 && refreshes == p.refresh_cap)
          return outcome(Status::cap, t);                  // (G3)
        p.oracle.refresh(curator, Point(x), Block::x, g);  // line 10: ∇_t = O1(x_t)
        ++refreshes;
        drift = 0.0;
      } else {
        p.oracle.increment(curator, Point(x), Point(x_prev), Block::x, increment);
        g += increment;  // line 12: ∇_t = ∇_{t−1} + O2(x_t, x_{t−1})
      }
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    step = g;
    if (kick) {  // lines 5-7
      stream.add_normal(p.kick_deviation, step);
      frozen = p.escape_steps;
      ++kicks;
      if (p.carry_kick) g = step;
    } else {
      frozen = std::max<Index>(0, frozen - 1);
    }
    x_prev = x;
    x -= p.step_size * step;  // line 14: x_{t+1} = x_t − η ∇_t
    drift += (x - x_prev).squaredNorm();
    if (!x.allFinite()) return outcome(Status::not_finite, t + 1);
  }
  return outcome(Status::steps_done, p.steps);
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
      .operations = "gradient and gradient difference",
      .output_rule = "last iterate; the paper selects among all iterates",
      .printed = "O1 at every escape, the kick stays in the estimate"};
  return card;
}

Fields StochasticSpider::fields() {
  StochasticSpiderParameters& p = parameters;
  Fields f{
      field("steps", p.steps, "T"),
      field("step_size", p.step_size, "eta"),
      field("refresh",
            p.refresh,
            {{RefreshTrigger::drift, "drift"},
             {RefreshTrigger::period, "period"},
             {RefreshTrigger::always, "always"}},
            "when O1 is called"),
      field("drift_threshold", p.drift_threshold, "kappa"),
      field("period", p.period, "steps between refreshes under refresh = period"),
      field("escape_threshold", p.escape_threshold, "escape when |g| is no larger; 0 = never"),
      field("kick_deviation", p.kick_deviation, "std of the kick per coordinate; 0 = no kick"),
      field("escape_steps", p.escape_steps, "Gamma"),
      field("refresh_cap", p.refresh_cap, "T1; 0 = none"),
      field("escape_oracle",
            p.escape_oracle,
            {{EscapeOracle::printed_fresh, "fresh"}, {EscapeOracle::reuse, "reuse"}},
            "estimate of an escape step"),
      field("carry_kick", p.carry_kick, "the kick stays in the estimate"),
      field("selection_share",
            p.selection_share,
            "of the budget, kept back for a selection; 0 = none"),
  };
  p.oracle.add_fields(f);
  return f;
}

void StochasticSpider::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  parameters.escape_oracle = printed ? EscapeOracle::printed_fresh : EscapeOracle::reuse;
  parameters.carry_kick = printed;
}

void StochasticSpider::set_common_noise(double sensitivity_ratio) {
  parameters.oracle.refresh_noise = parameters.oracle.increment_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> StochasticSpider::plan(const PublicFacts& facts) const {
  const StochasticSpiderParameters& p = parameters;
  const Index n = facts.records;
  if (p.refresh == RefreshTrigger::period && p.escape_oracle == EscapeOracle::reuse) {
    const Index refreshes = (p.steps + p.period - 1) / p.period;
    return {{p.oracle.refresh_policy(n), refreshes},
            {p.oracle.increment_policy(n), p.steps - refreshes}};
  }
  if (p.refresh_cap > 0 && p.refresh_cap < p.steps)
    return {{p.oracle.refresh_policy(n), p.refresh_cap}, {p.oracle.increment_policy(n), p.steps}};
  return {{p.oracle.dearest_policy(n), p.steps}};  // any step may be a refresh
}

void StochasticSpider::check(const PublicFacts& facts) const {
  const StochasticSpiderParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  require_positive(key, "steps", p.steps);
  require_positive(key, "step_size", p.step_size);
  require_positive(key, "drift_threshold", p.drift_threshold);
  require_positive(key, "period", p.period);
  require_not_negative(key, "escape_threshold", p.escape_threshold);
  require_not_negative(key, "kick_deviation", p.kick_deviation);
  require_positive(key, "escape_steps", p.escape_steps);
  require_not_negative(key, "refresh_cap", p.refresh_cap);
  if (!(p.selection_share >= 0 && p.selection_share < 1))
    reject(key, "selection_share", p.selection_share, "in [0, 1)");
  p.oracle.check(key, facts.records);
}

}  // namespace dpsosp::ganesh_2023
