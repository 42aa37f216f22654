// SPDX-License-Identifier: Apache-2.0
#include "recursive_momentum.hpp"

#include <cmath>

namespace dpsosp::baselines {

Outcome recursive_momentum(Curator& curator,
                           Stream& stream,
                           Observer& observer,
                           const RecursiveMomentum& p,
                           const EstimateStep& step) {
  Vector w = curator.facts().initial_point;
  Vector w_prev = w;
  Vector v(w.size()), combination(w.size());
  OutputKeeper output(p.output, p.steps, stream);
  const auto outcome = [&](Status status, Index steps) {
    return Outcome{status == Status::not_finite ? w : output.point(w), status, steps, {}};
  };
  for (Index t = 0; t < p.steps; ++t) {  // step 2
    observer.iterate(t, w);
    try {
      if (t == 0) {  // step 1
        curator.gradient(Point(w),
                         curator.draw(p.policy),
                         GradientQuery{p.clip, Noise::sensitivity_ratio(p.first_noise)},
                         v);
      } else {  // step 5: v = ∇F_B(w) + (1 − γ)(v − ∇F_B(w_prev)) + noise
        const CombinationQuery query{
            p.clip, p.difference_limit(w - w_prev), Noise::sensitivity_ratio(p.noise)};
        curator.gradient_combination(
            p.momentum, Point(w), Point(w_prev), curator.draw(p.policy), query, combination);
        v = (1.0 - p.momentum) * v + combination;
      }
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    observer.estimate(t, w, v);
    output.visit(t, w, v);
    w_prev = w;
    if (!std::isfinite(v.norm())) return outcome(Status::not_finite, t + 1);
    step(v, w);  // steps 3 and 4
    if (!w.allFinite()) return outcome(Status::not_finite, t + 1);
  }
  return outcome(Status::steps_done, p.steps);  // step 6
}

}  // namespace dpsosp::baselines
