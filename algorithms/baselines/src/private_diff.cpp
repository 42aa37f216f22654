// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/private_diff.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dpsosp/algorithms/scheduling.hpp"
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
          const GradientQuery query{p.clip_dual, Noise::sensitivity_ratio(noise), Block::y};
          try {
            curator.gradient(Point(x, y), curator.draw(policy), query, u);
          } catch (const InputError&) {
            if (p.ascent != AscentRule::noise_free) throw;
            throw InputError(card().key +
                             ": ascent = noise_free, the printed form, is not private "
                             "(docs/errata.md, Z2), expected local or queried");
          }
          y += p.ascent_step * u;
          facts.dual_domain.project(y);
        }
        // dev: from here on the noised dual is used everywhere (docs/errata.md, Z2)
        if (p.ascent == AscentRule::noise_free) {
          stream.add_normal(p.released_dual_deviation, y);
          facts.dual_domain.project(y);
        }
      }
      const Point at = local ? Point(x) : Point(x, y);
      const Point before = local ? Point(x_prev) : Point(x_prev, y_prev);
      const Batch batch = curator.draw(policy);  // step 1
      if (r % p.period == 0) {                   // step 3
        curator.gradient(at, batch,
                         {p.clip_restart, Noise::sensitivity_ratio(p.restart_noise), Block::x}, v);
        ++restarts;
      } else {  // step 4; dev: one batch at both points, not two batches (docs/errata.md, Z1)
        const double limit = p.clip_slope * (x - x_prev).norm() + p.clip_offset;
        curator.gradient_difference(at, before, batch,
                                    {limit, Noise::sensitivity_ratio(p.noise), Block::x}, d);
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
      .printed = "x-queries at the un-noised dual: not private, so that it is refused",
      .needs_dual = true,
      .numbers_version = 2};
  return card;
}

Fields PrivateDiff::fields() {
  using namespace range;
  PrivateDiffParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "R"),
      field("period", p.period, positive, "T: steps between restarts"),
      field("step_size", p.step_size, positive, "eta_x"),
      field("ascent", p.ascent, "how y is maximised"),
      field("ascent_steps", p.ascent_steps, positive, "T2"),
      field("ascent_step", p.ascent_step, positive, "eta_y"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative, "m"),
      field("clip_dual", p.clip_dual, positive, "C0"),
      field("clip_restart", p.clip_restart, positive, "C1"),
      field("clip_slope", p.clip_slope, not_negative, "C2; 0 = no part that grows with the move"),
      field("clip_offset", p.clip_offset, not_negative, "C3; 0 = no constant part"),
      noise_field("restart_noise", p.restart_noise, "std / sensitivity of restarts"),
      noise_field("noise", p.noise, "std / sensitivity of differences"),
      noise_field("dual_noise", p.dual_noise, "std / sensitivity of y queries"),
      field("released_dual_deviation", p.released_dual_deviation, not_negative,
            "s_y of the printed form; 0 = none"),
      field("random_output", p.random_output, "output a uniformly random iterate")};
}

void PrivateDiff::set_variant(Variant variant) {
  parameters.ascent = variant == Variant::printed ? AscentRule::noise_free : AscentRule::local;
}

void PrivateDiff::set_common_noise(double sensitivity_ratio) {
  parameters.restart_noise = parameters.noise = parameters.dual_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> PrivateDiff::plan(const PublicFacts& facts) const {
  const PrivateDiffParameters& p = parameters;
  const Index ascents = p.ascent == AscentRule::queried ? p.ascent_steps : 0;
  return {{batch_policy(p.sampling, p.batch, facts.records), p.steps * (1 + ascents)}};
}

namespace {

/// The schedule at one α, and the deviation of its estimate.
struct Plan {
  double steps, period, ascents;
  double restart_noise, noise, dual_noise;
  double error;  ///< root mean square, of noise and of the dual's distance from its maximiser
};

struct Public {
  double n, d1, d2, G, L, joint, mu, gap, capacity;
  bool queried;
};

/// R = 8 L F₀/α² steps of η = 1/(2L) have a mean of ‖∇Φ‖² of at most α²/2 + ν², ν the error of the
/// estimate. Restarts, differences and ascents share the budget evenly, each with a noise of its
/// own; T = √R restarts then cost as much error as the differences between them.
Plan plan_at(const Public& f, double alpha) {
  Plan p{};
  p.steps = std::ceil(8.0 * f.L * f.gap / (alpha * alpha));
  p.period = std::max(1.0, std::floor(std::sqrt(p.steps)));
  const double share = f.capacity / (f.queried ? 3.0 : 2.0);
  const double restarts = std::ceil(p.steps / p.period);
  const double contraction = f.queried ? 1.0 - f.mu / f.joint : 0.0;
  const double move = alpha / (2.0 * f.L);
  // Ascents until the dual is within α/(4ℓ) of its maximiser, which moves by (ℓ/μ)‖x_r − x_{r−1}‖.
  p.ascents = 0;
  double distance = 0.0;
  if (f.queried) do {
      ++p.ascents;
      const double kept = std::pow(contraction, p.ascents);
      distance = kept / (1.0 - kept) * f.joint / f.mu * move;
    } while (f.joint * distance > alpha / 4.0);
  p.restart_noise = noise_ratio_for(share, restarts);
  p.noise = noise_ratio_for(share, std::max(1.0, p.steps - restarts));
  p.dual_noise = f.queried ? noise_ratio_for(share, p.steps * p.ascents) : 0.0;
  const double slope = f.queried ? f.joint * (1.0 + f.joint / f.mu) : std::max(f.joint, f.L);
  const double restart = 2.0 * f.G * p.restart_noise / f.n;
  const double difference = 2.0 * slope * move * p.noise / f.n;
  const double ascent = 2.0 * f.G * p.dual_noise / (f.n * f.joint);
  const double dual =
      f.queried
          ? f.joint * (distance + ascent * std::sqrt(f.d2 / (1.0 - contraction * contraction)))
          : 0.0;
  p.error = std::sqrt(f.d1 * (restart * restart + p.period * difference * difference)) + dual;
  return p;
}

}  // namespace

/// The least α of plan_at with ν² at most α²/2. \source xu-2026 notes, 2.5
Scheduled PrivateDiff::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                                Calibrator calibrator) {
  require_dual(card(), facts);
  PrivateDiffParameters& p = parameters;
  const Constants& c = facts.constants;
  const bool shared = facts.dual_kind == DualKind::shared;
  if (shared && p.ascent == AscentRule::local) p.ascent = AscentRule::queried;
  Scheduled s{.rule = filter_rule(budget, calibrator),
              .alpha = 0,
              .utility = Utility::heuristic,
              .note = "constants 1 in the order of steps; the dual's distance is a mean"};
  const Public f{.n = static_cast<double>(facts.records),
                 .d1 = static_cast<double>(facts.dimension),
                 .d2 = static_cast<double>(facts.dual_dimension),
                 .G = c[constant::lipschitz],
                 .L = c[constant::smoothness],
                 .joint = c[constant::joint_smoothness],
                 .mu = shared ? c[constant::strong_concavity] : 1.0,
                 .gap = c[constant::suboptimality],
                 .capacity = s.rule.capacity,
                 .queried = p.ascent == AscentRule::queried};
  s.alpha = smallest_alpha(1e-7 * f.G, 2.0 * f.G, [&](double alpha) {
    return 2.0 * std::pow(plan_at(f, alpha).error, 2) <= alpha * alpha;
  });
  const Plan plan = plan_at(f, s.alpha);
  p.steps = static_cast<Index>(plan.steps);
  p.period = static_cast<Index>(plan.period);
  if (f.queried) p.ascent_steps = static_cast<Index>(plan.ascents);
  p.step_size = 1.0 / (2.0 * f.L);
  p.ascent_step = 1.0 / f.joint;
  p.sampling = Sampling::all;
  p.clip_dual = p.clip_restart = f.G;
  // A record's gradient moves with x and, shared, with the dual, whose maximiser moves with x.
  p.clip_slope = f.queried ? f.joint * (1.0 + f.joint / f.mu) : std::max(f.joint, f.L);
  p.clip_offset = shared ? 0.1 * f.G : 0.0;
  p.restart_noise = plan.restart_noise;
  p.noise = plan.noise;
  p.dual_noise = plan.dual_noise;
  mark_vacuous(s, f.G);
  return s;
}

void PrivateDiff::check_settings(const PublicFacts& facts) const {
  const PrivateDiffParameters& p = parameters;
  require_dual(card(), facts);
  const std::string& key = card().key;
  require_batch(key, "batch", p.sampling, p.batch, facts.records);
  if (p.ascent == AscentRule::local && facts.dual_kind != DualKind::per_record)
    reject(key, "ascent", "local", "queried: the dual of this problem is shared by its records");
}

}  // namespace dpsosp::baselines
