// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_storm.hpp"

#include <algorithm>
#include <cmath>

#include "recursive_momentum.hpp"

namespace dpsosp::baselines {

Outcome DpStorm::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpStormParameters& p = parameters;
  return recursive_momentum(
      curator, stream, observer,
      {.steps = p.steps,
       .policy = p.policy(curator.facts().records),
       .momentum = p.momentum,
       .clip = p.clip,
       .first_noise = p.noise,
       .noise = p.noise,
       .output = p.output,
       .difference_limit =
           [&](const Vector& move) { return std::min(p.smoothness * move.norm(), 2.0 * p.clip); }},
      [&](const Vector& v, Vector& x) { x -= p.step_size * v; });
}

double dp_storm_accuracy(const ProblemNumbers& q, double zcdp) {
  return std::cbrt(8.0 * q.d * q.M * q.B * q.G / (zcdp * q.n * q.n));
}

/// Full batches, η = 1/(2M), γ = α/(2G), T = 4MB/α². Both kinds are the same: the source has no
/// private schedule.
Scheduled DpStorm::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                            Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  DpStormParameters& p = parameters;
  const double alpha = dp_storm_accuracy(q, planned_zcdp(budget, calibrator));
  full_batch(q, count_of(card().key, "steps", std::ceil(4.0 * q.M * q.B / (alpha * alpha))));
  p.step_size = 0.5 / q.M;
  p.momentum = std::min(1.0, alpha / (2.0 * q.G));
  p.smoothness = q.M;
  Scheduled s{.rule = calibrate(facts, budget, calibrator),
              .alpha = std::sqrt(2.0) * alpha,
              .utility = Utility::heuristic,
              .note = "no theorem: moves are taken to be as short as at the accuracy"};
  mark_vacuous(s, q.G);
  return s;
}

const AlgorithmCard& DpStorm::card() const {
  static const AlgorithmCard card{
      .key = "cutkosky-orabona-2019/dp-storm",
      .title = "DP-STORM",
      .paper = "Cutkosky, Orabona 2019",
      .place = "Algorithm 1 (STORM), made private",
      .source = Source::derived,
      .guarantee = "FOSP, empirical, as a heuristic",
      .metric = Metric::gradient_norm,
      .statistic = "last iterate; the aim is a uniform iterate's",
      .rate = "none proved",
      .operations = "gradient, and combination of gradient and gradient difference",
      .output_rule = "last iterate",
      .utility = Utility::heuristic};
  return card;
}

Fields DpStorm::fields() {
  using namespace range;
  DpStormParameters& p = parameters;
  Fields f;
  p.add_fields(f);
  f.push_back(
      field("momentum", p.momentum, unit_without_0, "gamma in (0, 1]: weight of the new gradient"));
  f.push_back(field("smoothness", p.smoothness, positive,
                    "L: a difference is clipped at L times the move, at most at 2G"));
  return f;
}

}  // namespace dpsosp::baselines
