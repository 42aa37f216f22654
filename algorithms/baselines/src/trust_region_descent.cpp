// SPDX-License-Identifier: Apache-2.0
#include "trust_region_descent.hpp"

#include "dpsosp/algorithms/trust_region.hpp"

namespace dpsosp::baselines {

// Steps of baselines notes, 5.
Outcome trust_region_descent(Curator& curator, Observer& observer, const TrustRegionDescent& p) {
  const SecondOrderQueries& q = p.queries;
  const BatchPolicy policy = q.policy(curator.facts().records);
  const GradientQuery gradient{q.clip, Noise::sensitivity_ratio(q.gradient_noise)};
  const HessianQuery hessian{q.hessian_limit, q.hessian_rank,
                             Noise::sensitivity_ratio(q.hessian_noise)};
  Vector w = curator.facts().initial_point;
  Vector g(w.size());
  Matrix H(w.size(), w.size());
  std::int64_t hard = 0;
  const auto outcome = [&](Status status, Index steps) {
    return Outcome{w, status, steps, {{"hard_cases", hard}}};
  };
  for (Index t = 0; t < p.steps; ++t) {  // step 1
    observer.iterate(t, w);
    try {  // step 2
      curator.gradient(Point(w), curator.draw(policy), gradient, g);
      curator.hessian(Point(w), curator.draw(policy), hessian, H);
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    if (!g.allFinite() || !H.allFinite()) return outcome(Status::not_finite, t + 1);
    const TrustRegionStep step = trust_region_step(H, g, p.radius);  // step 3
    hard += step.hard_case ? 1 : 0;
    w += step.step;  // step 4
    if (!w.allFinite()) return outcome(Status::not_finite, t + 1);
    if (step.multiplier <= p.exit_multiplier) return outcome(Status::certified, t + 1);  // step 5
  }
  return outcome(Status::steps_done, p.steps);  // step 6
}

}  // namespace dpsosp::baselines
