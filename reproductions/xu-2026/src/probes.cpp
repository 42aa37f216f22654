// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "parts.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace {

using namespace xu_2026_probe;

class Estimates final : public Observer {
 public:
  void iterate(Index /*t*/, ConstVectorRef /*x*/) override {}
  void estimate(Index /*t*/, ConstVectorRef x, ConstVectorRef gradient) override {
    points.emplace_back(x);
    gradients.emplace_back(gradient);
  }
  std::vector<Vector> points, gradients;
};

/// DP-RGDA's inner updater and the oracle of Stochastic Spider on a problem without a dual, both
/// with plain steps, the same batches, clips and noise ratios, and equal streams: the largest
/// distance of their points and of their estimates, and the length of the longest estimate.
SameEstimator::Result same_estimator(const SameEstimator& parameters, std::uint64_t seed) {
  constexpr double step_size = 0.05;
  const Problem problem =
      find_problem("cosine-saddle")->make({.records = 500, .seed = seed, .data_seed = seed});
  xu_2026::DpRgda rgda;
  xu_2026::DpRgdaParameters& p = rgda.parameters;
  p.steps = parameters.steps;
  p.period = parameters.period;
  p.inner_steps = 1;
  p.alpha = 1e-300;  // descend always
  p.descent_rule = xu_2026::DescentRule::plain;
  p.descent_step = step_size;
  p.refresh_rule = xu_2026::RefreshRule::repaired;
  p.dual_release = xu_2026::DualRelease::local;
  p.oracle = {.sampling = Sampling::poisson,
              .refresh_batch = 250,
              .increment_batch = 50,
              .clip_refresh = 1.0,
              .clip_increment = 0.5,
              .refresh_noise = 2.0,
              .increment_noise = 3.0};
  ganesh_2023::StochasticSpider spider;
  SpiderParameters& s = spider.parameters.spider;
  s.steps = p.steps;
  s.step_size = step_size;
  s.refresh = RefreshTrigger::period;
  s.period = p.period;
  s.refresh_cap = 0;
  s.escape.kind = EscapeKind::none;
  s.oracle = p.oracle;
  spider.parameters.selection.epsilon = 0.0;
  const StreamKey key{.seed = seed, .purpose = Purpose::algorithm};
  UnsoundCurator first(problem.facts, *problem.records, key, {});
  UnsoundCurator second(problem.facts, *problem.records, key, {});
  Estimates ours, theirs;
  rgda.run(first, Stream(key), ours);
  spider.run(second, Stream(key), theirs);
  const std::size_t seen = std::min(ours.points.size(), theirs.points.size());
  double points = 0, estimates = 0, longest = 0;
  for (std::size_t t = 0; t < seen; ++t) {
    points = std::max(points, (ours.points[t] - theirs.points[t]).norm());
    estimates = std::max(estimates, (ours.gradients[t] - theirs.gradients[t]).norm());
    longest = std::max(longest, theirs.gradients[t].norm());
  }
  return {.steps = seen, .points = points, .estimates = estimates, .longest = longest};
}

}  // namespace

std::vector<ProbeEntry> xu_2026_probes() { return {probe_entry<same_estimator>()}; }

}  // namespace dpsosp
