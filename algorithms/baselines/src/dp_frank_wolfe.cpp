// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_frank_wolfe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "dpsosp/algorithms/exponential_search.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"

namespace dpsosp::baselines {
namespace {

/// The set 𝒞: a ball, a box or an ℓ₁-ball around a centre.
struct ConvexSet {
  ConvexSet(const DpFrankWolfeParameters& p, const PublicFacts& facts)
      : l1(p.set == FrankWolfeSet::l1_ball),
        shape(l1 || facts.domain.kind == Domain::Kind::everywhere ? Domain::ball(p.radius)
                                                                  : facts.domain),
        centre(l1 || facts.domain.kind == Domain::Kind::everywhere
                   ? facts.initial_point
                   : Vector::Zero(facts.dimension)) {}

  /// v = the point of 𝒞 of least ⟨g, v⟩.
  void minimise(ConstVectorRef g, VectorRef v) const {
    v = centre;
    if (l1) {
      Index largest = 0;
      g.cwiseAbs().maxCoeff(&largest);
      v[largest] -= std::copysign(shape.radius, g[largest]);
    } else if (shape.kind == Domain::Kind::box) {
      for (Index j = 0; j < v.size(); ++j) v[j] -= std::copysign(shape.radius, g[j]);
    } else if (const double norm = g.stableNorm(); norm > 0) {
      v -= shape.radius / norm * g;
    }
  }
  /// Vertex number k of the ℓ₁-ball, as ExponentialMechanism numbers them.
  void vertex(Index k, VectorRef v) const {
    v = centre;
    v[k / 2] += k % 2 == 0 ? shape.radius : -shape.radius;
  }

  bool l1;
  Domain shape;
  Vector centre;
};

}  // namespace

// Steps of baselines notes, 2 (c).
Outcome DpFrankWolfe::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpFrankWolfeParameters& p = parameters;
  const ConvexSet set(p, curator.facts());
  ExponentialMechanism choice(curator, curator.draw(BatchPolicy::all()));
  const BatchPolicy policy = batch_policy(p.sampling, p.batch, curator.facts().records);
  const GradientQuery query{p.clip, Noise::sensitivity_ratio(p.noise), Block::x};
  Vector w = curator.facts().initial_point, best = w;
  Vector g(w.size()), v(w.size());
  const bool uniform = p.output == OutputRule::uniform;
  const Index chosen = uniform ? stream.below(p.steps) : 0;
  double least_gap = std::numeric_limits<double>::infinity();
  const auto outcome = [&](Status status, Index steps, bool kept) {
    return Outcome{kept ? best : w, status, steps, {}};
  };
  bool kept = false;
  for (Index t = 0; t < p.steps; ++t) {  // step 1
    observer.iterate(t, w);
    try {  // step 2
      if (p.linear_oracle == LinearOracle::exponential) {
        set.vertex(choice.choose_l1_vertex(set.shape.radius, w, p.clip, p.vertex_epsilon), v);
      } else {
        curator.gradient(Point(w), curator.draw(policy), query, g);
        set.minimise(g, v);
      }
    } catch (const Refused& refusal) {
      return outcome(status_of(refusal), t, kept);
    }
    const double gap = g.dot(w - v);  // a function of the released g
    if ((uniform && t == chosen) || (p.output == OutputRule::min_estimate && gap < least_gap)) {
      best = w;
      least_gap = gap;
      kept = true;
    }
    w += p.step_size * (v - w);  // step 3
    if (!w.allFinite()) return outcome(Status::not_finite, t + 1, false);
  }
  return outcome(Status::steps_done, p.steps, kept);  // step 4
}

FrankWolfeGeometry frank_wolfe_geometry(const DpFrankWolfeParameters& p, const PublicFacts& facts) {
  const ConvexSet set(p, facts);
  const double d = static_cast<double>(facts.dimension), r = set.shape.radius;
  if (set.l1) {  // E max |g_j| <= sqrt(2 ln 2d)
    const double log_vertices = std::log(2.0 * d);
    return {2.0 * r, r * std::sqrt(2.0 * log_vertices), log_vertices};
  }
  if (set.shape.kind == Domain::Kind::box)  // sum of E|g_j|
    return {2.0 * r * std::sqrt(d), r * d * std::sqrt(2.0 / std::numbers::pi), 0.0};
  return {2.0 * r, r * std::sqrt(d), 0.0};
}

FrankWolfeNumbers frank_wolfe_numbers(double gap, double M, double D, double oracle_error) {
  const double slope = std::sqrt(2.0 * gap * M * D * D);
  FrankWolfeNumbers s{};
  s.steps = std::max(1.0, slope / oracle_error);
  s.step_size = std::min(1.0, std::sqrt(2.0 * gap / (M * D * D * s.steps)));
  s.bound = gap / (s.step_size * s.steps) + 0.5 * s.step_size * M * D * D +
            oracle_error * std::sqrt(s.steps);
  return s;
}

const AlgorithmCard& DpFrankWolfe::card() const {
  static const AlgorithmCard card{
      .key = "wang-xu-2019/dp-frank-wolfe",
      .title = "DP-Frank-Wolfe",
      .paper = "Wang, Xu 2019",
      .place = "Frank-Wolfe variants",
      .source = Source::derived,
      .guarantee =
          "Frank-Wolfe gap on the constraint set, empirical; it bounds the gradient norm "
          "only in the interior",
      .metric = Metric::gradient_norm,
      .rate = "(width/(n eps))^(1/2), in the Frank-Wolfe gap",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .population = {},
      .sampling = {},
      .operations = "gradient, or choice of a vertex by the exponential mechanism",
      .output_rule = "uniform iterate, or the least released gap",
      .printed = ""};
  return card;
}

Fields DpFrankWolfe::fields() {
  using namespace range;
  DpFrankWolfeParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, unit_without_0, "gamma, in (0, 1]"),
      field("set", p.set, "constraint set; l1_ball: around the start"),
      field("radius", p.radius, positive, "of the l1-ball, or of a ball around the start in R^d"),
      field("linear_oracle", p.linear_oracle,
            "vertex from a noisy gradient, or by the exponential mechanism (l1_ball)"),
      field("clip", p.clip, positive, "G: per-record clip"),
      noise_field("noise", p.noise, "std / sensitivity of a gradient"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative, "b, of gradients"),
      field("vertex_epsilon", p.vertex_epsilon, positive, "eps0 of one choice of a vertex"),
      output_field(p.output)};
}

void DpFrankWolfe::set_variant(Variant) {}

void DpFrankWolfe::set_common_noise(double sensitivity_ratio) {
  if (parameters.linear_oracle == LinearOracle::exponential)
    return Algorithm::set_common_noise(sensitivity_ratio);
  parameters.noise = sensitivity_ratio;
}

std::vector<PlannedQuery> DpFrankWolfe::plan(const PublicFacts& facts) const {
  const DpFrankWolfeParameters& p = parameters;
  if (p.linear_oracle == LinearOracle::exponential) return {};
  return {{batch_policy(p.sampling, p.batch, facts.records), p.steps}};
}

Scheduled DpFrankWolfe::schedule(Schedule, const PublicFacts& facts, const PrivacyBudget& budget,
                                 Calibrator calibrator) {
  DpFrankWolfeParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const ProblemNumbers c = numbers_of(facts, false);
  const FrankWolfeGeometry set = frank_wolfe_geometry(p, facts);
  Scheduled s{.rule = filter_rule(budget, calibrator)};
  const double R = s.rule.capacity;
  p.clip = c.G;
  p.sampling = Sampling::all;
  const bool by_choice = p.linear_oracle == LinearOracle::exponential;
  if (by_choice && calibrator == Calibrator::exact_gaussian)
    throw InputError(
        "wang-xu-2019/dp-frank-wolfe: choices of vertices have no exact Gaussian calibration; use "
        "cks or bun-steinke");
  // error of the oracle with T parts of the budget, over √T: 2 s GW with s = (G/n) sqrt(2T/R), or
  // (4G r₁/n) ln(2d)/ε₀ with ε₀ = sqrt(8R/T)
  const double error = by_choice
                           ? 2.0 * c.G * set.diameter / c.n * set.log_vertices / std::sqrt(8.0 * R)
                           : 2.0 * std::sqrt(2.0) * c.G * set.gaussian_width / (c.n * std::sqrt(R));
  const FrankWolfeNumbers numbers = frank_wolfe_numbers(c.B, c.M, set.diameter, error);
  p.steps = count_of(card().key, "steps", numbers.steps);
  const double T = static_cast<double>(p.steps);
  p.step_size = std::min(1.0, std::sqrt(2.0 * c.B / (c.M * set.diameter * set.diameter * T)));
  p.noise = noise_ratio_for(R, T);
  p.vertex_epsilon = std::sqrt(8.0 * R / T) * (1.0 - 4.0 * std::numeric_limits<double>::epsilon());
  s.note = fmt::format(
      "the mean Frank-Wolfe gap on the constraint set is at most {:.4g}{}; the gradient norm is "
      "not "
      "bounded by it",
      numbers.bound, numbers.bound < c.G * set.diameter ? "" : ", which is vacuous");
  return s;
}

void DpFrankWolfe::check_settings(const PublicFacts& facts) const {
  const DpFrankWolfeParameters& p = parameters;
  const std::string& key = card().key;
  refuse_shared_dual(card(), facts);
  require_batch(key, "batch", p.sampling, p.batch, facts.records);
  const bool by_choice = p.linear_oracle == LinearOracle::exponential;
  if (by_choice && p.set != FrankWolfeSet::l1_ball)
    reject(key, "linear_oracle", "exponential", "set = l1_ball, which has few vertices");
  if (by_choice && p.output == OutputRule::min_estimate)
    reject(key, "output", "min_estimate", "uniform or last: no gap is released");
  if (!facts.domain.contains(facts.initial_point))
    throw InputError("wang-xu-2019/dp-frank-wolfe: the start is not in the constraint set");
}

}  // namespace dpsosp::baselines
