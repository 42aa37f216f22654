// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/tree_spider.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/finite.hpp"

namespace dpsosp::baselines {
namespace {

constexpr Index largest_depth = 30;

Index batch_at(Index batch, Index depth) { return std::max<Index>(1, batch >> depth); }

double records_of_round(double batch, Index depth) {
  return batch * (0.5 * static_cast<double>(depth) + 1.0);
}

}  // namespace

// Steps of baselines notes, 8.2; the loops of steps 1 and 3 are one loop over the leaves.
Outcome TreeSpider::run(Curator& curator, Stream stream, Observer& observer) const {
  const TreeSpiderParameters& p = parameters;
  const Index n = curator.facts().records;
  const auto D = static_cast<std::size_t>(p.depth);
  const Index leaves = Index{1} << p.depth;
  const double step =
      p.step_size / (std::exp2(0.5 * static_cast<double>(p.depth)) * p.clip_increment);
  Vector x = curator.facts().initial_point;
  std::vector<Vector> w(D + 1, x), v(D + 1, Vector::Zero(x.size()));  // of the path to the leaf
  Vector difference(x.size());
  OutputKeeper output(OutputRule::uniform, p.steps, stream);
  for (Index t = 0; t < p.steps; ++t) {
    observer.iterate(t, x);
    const Index leaf = t % leaves;
    // depth of the node that is entered: the root, or the right child above this leaf
    const std::size_t entered =
        leaf == 0
            ? 0
            : D - static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(leaf)));
    const auto k = static_cast<Index>(entered);
    try {
      const Batch batch = curator.draw(batch_policy(p.sampling, batch_at(p.batch, k), n));
      if (entered == 0) {  // step 2
        curator.gradient(Point(x), batch, {p.clip_refresh, Noise::sensitivity_ratio(p.noise)},
                         v[0]);
      } else {  // step 4: v[s] = v[ŝ] + ∇F(w[s]) − ∇F(w[ŝ]) + noise
        const double moved = (x - w[entered - 1]).norm();
        const double most = step * std::exp2(static_cast<double>(p.depth - k));
        const double divisor = batch.policy().divisor(n);
        const Noise noise =
            p.node_noise == NodeNoise::distance
                ? Noise::sensitivity_ratio(p.noise)
                : Noise::standard_deviation(p.noise * 2.0 * p.clip_increment * most / divisor);
        curator.gradient_difference(Point(x), Point(w[entered - 1]), batch,
                                    {p.clip_increment * moved, noise}, difference);
        v[entered] = v[entered - 1] + difference;
      }
    } catch (const Refused& refusal) {
      return {output.point(x), status_of(refusal), t, {}};
    }
    w[entered] = x;
    for (std::size_t l = entered + 1; l <= D; ++l) {  // step 5: left children inherit
      w[l] = x;
      v[l] = v[entered];
    }
    observer.estimate(t, x, v[D]);
    output.visit(t, x, v[D]);
    const double length = v[D].norm();
    if (p.alpha > 0 && length <= 2.0 * p.alpha) return {x, Status::certified, t + 1, {}};  // step 6
    // step 7; dev: also after the last leaf, so that its next point starts the next round
    if (length > 0) x -= step / length * v[D];
    if (!all_finite(x)) return {x, Status::not_finite, t + 1, {}};
  }
  return {output.point(x), Status::steps_done, p.steps, {}};  // step 8
}

Index tree_depth(double batch) {
  Index depth = 1;
  while (depth < largest_depth &&
         static_cast<double>(depth + 1) * std::exp2(static_cast<double>(depth + 2)) <= batch)
    ++depth;
  return depth;
}

TreeNumbers tree_paper(const ProblemNumbers& q, double epsilon) {
  TreeNumbers s{};
  s.batch =
      std::max(std::pow(q.n, 2.0 / 3.0), std::sqrt(q.n) * std::pow(q.d, 0.25) / std::sqrt(epsilon));
  s.depth = tree_depth(s.batch);
  s.rounds = std::floor(q.n / records_of_round(s.batch, s.depth));
  s.alpha = std::sqrt(2.0) * q.G *
            std::max(std::cbrt(1.0 / q.n), std::sqrt(std::sqrt(q.d) / (q.n * epsilon)));
  s.step_size = s.alpha * std::min(1.0, std::sqrt(s.batch) * epsilon / std::sqrt(q.d));
  s.fits = s.rounds >= 1;
  return s;
}

TreeNumbers tree_practical(const ProblemNumbers& q, double zcdp) {
  const double sr = 1.0 / std::sqrt(2.0 * zcdp);
  const auto at = [&](double alpha) {
    TreeNumbers s{};
    s.alpha = alpha;
    s.batch =
        std::max({4.0,  // D = 1
                  4.0 * q.G * q.G / (alpha * alpha), 8.0 * std::sqrt(q.d) * q.G * sr / alpha});
    s.depth = tree_depth(s.batch);
    const auto D = static_cast<double>(s.depth);
    s.rounds = std::floor(q.n / records_of_round(s.batch, s.depth));
    s.step_size = alpha * std::min(std::sqrt(D / 8.0), std::sqrt(s.batch / (32.0 * q.d)) / sr);
    s.fits =
        s.rounds >= 1 && s.rounds * std::exp2(0.5 * D) * s.step_size * alpha / (4.0 * q.M) >= q.B;
    return s;
  };
  return at(smallest_alpha(1e-8 * q.G, 2.0 * q.G, [&](double alpha) { return at(alpha).fits; }));
}

double tree_threshold_factor(const ProblemNumbers& q, Index depth, double rounds, double delta,
                             double failure) {
  const auto D = static_cast<double>(depth);
  return 256.0 * std::log(1.25 / delta) * std::log(2.0 * rounds * std::exp2(D + 1.0) / failure) +
         8.0 * q.M * q.B * std::sqrt(2.0 * D) * (0.5 * D + 1.0) / (2.0 * q.G * q.G);
}

Scheduled TreeSpider::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                               Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  TreeSpiderParameters& p = parameters;
  const ProblemNumbers q = numbers_of(facts, false);
  Scheduled s{.rule = filter_rule(budget, calibrator), .note = {}};
  TreeNumbers tree =
      kind == Schedule::paper ? tree_paper(q, budget.epsilon) : tree_practical(q, s.rule.capacity);
  while (records_of_round(tree.batch, tree.depth) > q.n) {
    tree.batch /= 2.0;
    tree.depth = tree_depth(tree.batch);
    tree.rounds = std::floor(q.n / records_of_round(tree.batch, tree.depth));
  }
  if (!(tree.batch >= 4.0))
    throw InputError(
        fmt::format("{}: {} records are too few for one pass", card().key, facts.records));
  p.depth = tree.depth;
  p.batch = (static_cast<Index>(tree.batch) >> tree.depth) << tree.depth;
  p.steps = floor_of(card().key, "rounds", tree.rounds) << tree.depth;
  p.step_size = tree.step_size;
  p.sampling = Sampling::fresh;
  p.clip_refresh = q.G;
  p.clip_increment = q.M;
  p.noise = noise_ratio_for(s.rule.capacity, 1.0);  // every record is used once
  p.alpha = tree.alpha;
  p.node_noise = NodeNoise::distance;
  if (kind == Schedule::paper) {
    constexpr double failure = 0.1;
    p.alpha *= tree_threshold_factor(q, tree.depth, tree.rounds, budget.delta, failure);
    p.node_noise = NodeNoise::bound;
  } else if (!tree.fits) {
    s.utility = Utility::outside_theory;
    s.note = "no accuracy below twice the gradient bound has steps that pay for the descent";
  }
  s.alpha = 3.0 * p.alpha;  // 2α̃, and an error of α̃ in the mean
  mark_vacuous(s, q.G);
  return s;
}

std::vector<PlannedQuery> TreeSpider::plan(const PublicFacts& facts) const {
  const TreeSpiderParameters& p = parameters;
  std::vector<PlannedQuery> queries;
  const auto add = [&](Index depth, Index count) {
    queries.push_back({batch_policy(p.sampling, batch_at(p.batch, depth), facts.records), count});
  };
  const Index leaves = Index{1} << p.depth;
  const Index rounds = p.steps / leaves, rest = p.steps % leaves;
  add(0, rounds + (rest > 0 ? 1 : 0));
  for (Index k = 1; k <= p.depth; ++k) {  // leaves that enter a node of depth k: 2^{D−k} · odd
    const Index below = rest > 0 ? ((rest - 1) >> (p.depth - k)) + 1 : 0;
    add(k, (rounds << (k - 1)) + below / 2);
  }
  return queries;
}

void TreeSpider::set_common_noise(double sensitivity_ratio) {
  parameters.noise = sensitivity_ratio;
  parameters.node_noise = NodeNoise::distance;
}

// Both variants are the same: the paper does not define the step after the last leaf.
void TreeSpider::set_variant(Variant) {}

void TreeSpider::check_settings(const PublicFacts& facts) const {
  const TreeSpiderParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
}

Fields TreeSpider::fields() {
  using namespace range;
  TreeSpiderParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T 2^D: leaves, T rounds of 2^D"),
      field("depth", p.depth, between(1, largest_depth), "D"),
      field("step_size", p.step_size, positive, "beta: steps have length beta/(2^(D/2) M)"),
      field("alpha", p.alpha, not_negative, "a leaf with |v| <= 2 alpha is returned; 0 = never"),
      field("node_noise", p.node_noise,
            "of right children: by the distance moved, or by the most that steps allow"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative,
            "b: records of a root, b/2^k of a right child at depth k"),
      field("clip_refresh", p.clip_refresh, positive, "G: per-record clip of gradients"),
      field("clip_increment", p.clip_increment, positive,
            "M: differences are clipped at M times the move"),
      noise_field("noise", p.noise, "std / sensitivity")};
}

const AlgorithmCard& TreeSpider::card() const {
  static const AlgorithmCard card{
      .key = "arora-2023/tree-spider",
      .title = "Tree-SPIDER",
      .paper = "Arora et al. 2023",
      .place = "Algorithm 1, Theorem 3.2",
      .source = Source::full_text,
      .guarantee = "FOSP, population",
      .metric = Metric::gradient_norm,
      .statistic = "the leaf that is returned",
      .rate = "n^(-1/3) + (sqrt(d)/(n eps))^(1/2)",
      .population = Exponents{-0.5, 0.25, -0.5},
      .sampling = -1.0 / 3,
      .operations = "gradient and gradient difference on fresh batches",
      .output_rule = "the first leaf with a short estimate; else a uniformly random one",
      .single_pass = true};
  return card;
}

}  // namespace dpsosp::baselines
