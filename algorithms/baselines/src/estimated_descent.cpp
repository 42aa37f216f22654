// SPDX-License-Identifier: Apache-2.0
#include "estimated_descent.hpp"

#include <cmath>

namespace dpsosp::baselines {

Outcome estimated_descent(Curator& curator, Stream& stream, Observer& observer, Index steps,
                          OutputRule rule, const Estimate& estimate, const EstimateStep& step) {
  Vector x = curator.facts().initial_point;
  Vector previous = x;
  Vector v = Vector::Zero(x.size());
  OutputKeeper output(rule, steps, stream);
  const auto outcome = [&](Status status, Index done) {
    return Outcome{status == Status::not_finite ? x : output.point(x), status, done, {}};
  };
  for (Index t = 0; t < steps; ++t) {
    observer.iterate(t, x);
    try {
      estimate(t, x, previous, v);
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t);
    }
    observer.estimate(t, x, v);
    output.visit(t, x, v);
    previous = x;
    if (!std::isfinite(v.norm())) return outcome(Status::not_finite, t + 1);
    step(v, x);
    if (!x.allFinite()) return outcome(Status::not_finite, t + 1);
  }
  return outcome(Status::steps_done, steps);
}

}  // namespace dpsosp::baselines
