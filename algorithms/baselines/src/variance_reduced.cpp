// SPDX-License-Identifier: Apache-2.0
#include "variance_reduced.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

// Steps of DP-SVRG in baselines notes, 1; its two loops are one loop over the inner steps.
Outcome variance_reduced_descent(Curator& curator, Stream& stream, Observer& observer,
                                 const VarianceReduced& p, const SpiderOracleParameters& oracle,
                                 const EstimateStep& step) {
  OutputKeeper output(p.output, p.steps, stream);
  Vector x = curator.facts().initial_point;
  Vector u = x;                                            // anchor
  Vector gu(x.size()), difference(x.size()), v(x.size());  // estimates at u; ∇F(x) − ∇F(u); at x
  std::int64_t refreshes = 0;
  const auto outcome = [&](const Vector& point, Status status, Index steps) {
    return Outcome{point, status, steps, {{"refreshes", refreshes}}};
  };
  for (Index t = 0; t < p.steps; ++t) {
    observer.iterate(t, x);
    try {
      if (t % p.period == 0) {  // step 2
        oracle.refresh(curator, Point(x), Block::x, gu);
        ++refreshes;
        u = x;
        v = gu;
      } else {  // step 4
        oracle.increment(curator, Point(x), Point(u), Block::x, difference);
        v = gu + difference;
        if (p.anchor == VarianceReduced::Anchor::previous) {
          u = x;
          gu = v;
        }
      }
    } catch (const Refused& refusal) {
      return outcome(output.point(x), status_of(refusal), t);
    }
    observer.estimate(t, x, v);
    output.visit(t, x, v);
    step(v, x);  // step 5
    if (!x.allFinite()) return outcome(x, Status::not_finite, t + 1);
  }
  return outcome(output.point(x), Status::steps_done, p.steps);  // step 6
}

SplitNoise split_noise(double common, double refresh_share, Index refreshes, Index increments) {
  if (refresh_share == 0.0 || increments == 0) return {common, common};
  const double total = static_cast<double>(refreshes + increments);
  // Larger by more than the rounding of the charges, so that the filter grants the last of them.
  const auto ratio = [&](Index count, double share) {
    return common * std::sqrt(static_cast<double>(count) / (share * total)) * (1.0 + 1e-11);
  };
  return {ratio(refreshes, refresh_share), ratio(increments, 1.0 - refresh_share)};
}

void check_share(const std::string& algorithm, std::string_view setting, double share,
                 Sampling sampling) {
  if (share > 0.0 && sampling != Sampling::all)
    reject(algorithm, setting, share, "0 with sampled batches");
}

}  // namespace dpsosp::baselines
