// SPDX-License-Identifier: Apache-2.0
#include "recursive_momentum.hpp"

namespace dpsosp::baselines {

Outcome recursive_momentum(Curator& curator, Stream& stream, Observer& observer,
                           const RecursiveMomentum& p, const EstimateStep& step) {
  // estimated_descent is steps 2 to 4 and 6.
  Vector combination(curator.facts().initial_point.size());
  const auto estimate = [&](Index t, const Vector& w, const Vector& w_prev, Vector& v) {
    if (t == 0) {  // step 1
      curator.gradient(Point(w), curator.draw(p.policy),
                       GradientQuery{p.clip, Noise::sensitivity_ratio(p.first_noise)}, v);
    } else {  // step 5: v = ∇F_B(w) + (1 − γ)(v − ∇F_B(w_prev)) + noise
      const CombinationQuery query{p.clip, p.difference_limit(w - w_prev),
                                   Noise::sensitivity_ratio(p.noise)};
      curator.gradient_combination(p.momentum, Point(w), Point(w_prev), curator.draw(p.policy),
                                   query, combination);
      v = (1.0 - p.momentum) * v + combination;
    }
  };
  return estimated_descent(curator, stream, observer, p.steps, p.output, estimate, step);
}

}  // namespace dpsosp::baselines
