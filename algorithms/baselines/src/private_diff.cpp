// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/private_diff.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

// Steps of xu-2026 notes, 2.5.
Outcome PrivateDiff::run(Curator& curator, Stream stream, Observer& observer) const {
  const PrivateDiffParameters& p = parameters;
  const PublicFacts& facts = curator.facts();
  const BatchPolicy policy = batch_policy(p.sampling, p.batch, facts.records);
  const bool local = p.ascent == AscentRule::local;
  Vector x = facts.initial_point, x_prev = x;  // x_r, x_{r−1}
  Vector y = facts.initial_dual, y_prev = y;   // ỹ_{r+1}, ỹ_r
  Vector v = Vector::Zero(x.size());           // ṽ_r
  Vector d(x.size()), u(y.size());
  std::int64_t restarts = 0;
  const Index chosen = p.random_output ? 1 + stream.below(p.steps) : p.steps;
  Vector output = x;
  const auto outcome = [&](const Vector& point, Status status, Index steps) {
    return Outcome{point, status, steps, {{"refreshes", restarts}}};
  };
  for (Index r = 0; r < p.steps; ++r) {
    observer.iterate(r, x);
    try {
      if (!local) {  // step 2: T₂ ascent steps on f(x_r, ·) from ỹ_r
        y_prev = y;
        for (Index k = 0; k < p.ascent_steps; ++k) {
          const double noise = p.ascent == AscentRule::queried ? p.dual_noise : 0.0;
          curator.gradient(Point(x, y),
                           curator.draw(policy),
                           {p.clip_dual, Noise::sensitivity_ratio(noise), Block::y},
                           u);
          y += p.ascent_step * u;
        }
        // dev: from here on the noised dual is used everywhere (docs/errata.md, Z2)
        if (p.ascent == AscentRule::noise_free) stream.add_normal(p.released_dual_deviation, y);
      }
      const Point at = local ? Point(x) : Point(x, y);
      const Point before = local ? Point(x_prev) : Point(x_prev, y_prev);
      const Batch batch = curator.draw(policy);  // step 1
      if (r % p.period == 0) {                   // step 3
        curator.gradient(
            at, batch, {p.clip_restart, Noise::sensitivity_ratio(p.noise), Block::x}, v);
        ++restarts;
      } else {  // step 4; dev: one batch at both points, not two batches (docs/errata.md, Z1)
        const double limit = p.clip_slope * (x - x_prev).norm() + p.clip_offset;
        curator.gradient_difference(
            at, before, batch, {limit, Noise::sensitivity_ratio(p.noise), Block::x}, d);
        v += d;
      }
    } catch (const Refused& refusal) {
      return outcome(x, status_of(refusal), r);
    }
    x_prev = x;
    x -= p.step_size * v;  // step 5
    if (!x.allFinite() || !y.allFinite()) return outcome(x, Status::not_finite, r + 1);
    if (r + 1 == chosen) output = x;
  }
  return outcome(output, Status::steps_done, p.steps);
}

const AlgorithmCard& PrivateDiff::card() const {
  static const AlgorithmCard card{
      .key = "zhang-2025/private-diff",
      .title = "PrivateDiff",
      .paper = "Zhang et al. 2025",
      .place = "Algorithm 3",
      .source = Source::reconstructed,
      .guarantee = "FOSP of the value function, empirical",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate = "d^(1/3)/(n eps)^(2/3)",
      .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
      .population = {},
      .operations = "gradient in y, gradient and gradient difference in x",
      .output_rule = "last iterate, or a uniformly random one",
      .printed = "x-queries at the un-noised dual",
      .needs_dual = true};
  return card;
}

Fields PrivateDiff::fields() {
  PrivateDiffParameters& p = parameters;
  return {
      field("steps", p.steps, "R"),
      field("period", p.period, "T: steps between restarts"),
      field("step_size", p.step_size, "eta_x"),
      field("ascent",
            p.ascent,
            {{AscentRule::local, "local"},
             {AscentRule::queried, "queried"},
             {AscentRule::noise_free, "noise_free"}},
            "how y is maximised"),
      field("ascent_steps", p.ascent_steps, "T2"),
      field("ascent_step", p.ascent_step, "eta_y"),
      sampling_field(p.sampling),
      field("batch", p.batch, "m"),
      field("clip_dual", p.clip_dual, "C0"),
      field("clip_restart", p.clip_restart, "C1"),
      field("clip_slope", p.clip_slope, "C2; 0 = no part that grows with the move"),
      field("clip_offset", p.clip_offset, "C3; 0 = no constant part"),
      field("noise", p.noise, "std / sensitivity of x queries; 0 = no noise, unsound curator only"),
      field("dual_noise",
            p.dual_noise,
            "std / sensitivity of y queries; 0 = no noise, unsound curator only"),
      field("released_dual_deviation",
            p.released_dual_deviation,
            "s_y of the printed form; 0 = none"),
      field("random_output", p.random_output, "output a uniformly random iterate")};
}

void PrivateDiff::set_variant(Variant variant) {
  parameters.ascent = variant == Variant::printed ? AscentRule::noise_free : AscentRule::local;
}

void PrivateDiff::set_common_noise(double sensitivity_ratio) {
  parameters.noise = parameters.dual_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> PrivateDiff::plan(const PublicFacts& facts) const {
  const PrivateDiffParameters& p = parameters;
  const Index ascents = p.ascent == AscentRule::queried ? p.ascent_steps : 0;
  return {{batch_policy(p.sampling, p.batch, facts.records), p.steps * (1 + ascents)}};
}

/// α = (G L F₀ ᾱ²)^{1/3} with ᾱ = sqrt(d/ρ)/n, R = ⌈4 L F₀/α²⌉ steps of 1/(2L), restarts every
/// R^{1/3} steps, clips from the facts; constants 1. \source xu-2026 notes, 2.5
Scheduled PrivateDiff::schedule(Schedule,
                                const PublicFacts& facts,
                                const PrivacyBudget& budget,
                                Calibrator calibrator) {
  require_dual(card(), facts);
  PrivateDiffParameters& p = parameters;
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const bool shared = facts.dual_kind == DualKind::shared;
  if (shared && p.ascent == AscentRule::local) p.ascent = AscentRule::queried;
  Scheduled s{.rule = filter_rule(budget, calibrator),
              .alpha = 0,
              .utility = Utility::heuristic,
              .note = {}};
  const double d = static_cast<double>(facts.dimension + (shared ? facts.dual_dimension : 0));
  const double L = c[constant::smoothness];
  const double G = c[constant::lipschitz];
  const double abar = std::sqrt(d / s.rule.capacity) / n;
  s.alpha = std::cbrt(G * L * c[constant::suboptimality] * abar * abar);
  const double steps = std::ceil(4.0 * L * c[constant::suboptimality] / (s.alpha * s.alpha));
  if (!(steps < 1e15))
    throw InputError("zhang-2025/private-diff: the schedule needs over 1e15 steps");
  p.steps = std::max<Index>(1, static_cast<Index>(steps));
  p.period = std::max<Index>(1, static_cast<Index>(std::cbrt(steps)));
  p.step_size = 1.0 / (2.0 * L);
  p.ascent_step = 1.0 / c[constant::joint_smoothness];
  p.sampling = Sampling::all;
  p.clip_dual = p.clip_restart = G;
  p.clip_slope = c[constant::joint_smoothness];
  p.clip_offset = shared ? 0.1 * G : 0.0;
  double queries = 0;
  for (const PlannedQuery& q : plan(facts)) queries += static_cast<double>(q.count);
  set_common_noise(noise_ratio_for(s.rule.capacity, queries));
  s.note = "orders of the theory with constants 1";
  if (s.alpha >= G) {
    s.utility = Utility::vacuous;
    s.note = "alpha is no smaller than the gradient bound";
  }
  return s;
}

void PrivateDiff::check(const PublicFacts& facts) const {
  const PrivateDiffParameters& p = parameters;
  require_dual(card(), facts);
  const std::string& key = card().key;
  require_positive(key, "steps", p.steps);
  require_positive(key, "period", p.period);
  require_positive(key, "step_size", p.step_size);
  require_positive(key, "ascent_steps", p.ascent_steps);
  require_positive(key, "ascent_step", p.ascent_step);
  require_positive(key, "clip_dual", p.clip_dual);
  require_positive(key, "clip_restart", p.clip_restart);
  require_not_negative(key, "clip_slope", p.clip_slope);
  require_not_negative(key, "clip_offset", p.clip_offset);
  require_not_negative(key, "noise", p.noise);
  require_not_negative(key, "dual_noise", p.dual_noise);
  require_not_negative(key, "released_dual_deviation", p.released_dual_deviation);
  require_batch(key, "batch", p.sampling, p.batch, facts.records);
  if (p.ascent == AscentRule::local && facts.dual_kind != DualKind::per_record)
    reject(key, "ascent", "local", "queried: the dual of this problem is shared by its records");
}

}  // namespace dpsosp::baselines
