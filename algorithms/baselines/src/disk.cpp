// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/disk.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "estimated_descent.hpp"

namespace dpsosp::baselines {
namespace {

/// γ beyond which the gradient at the iterate itself has no weight.
double longest_look(double gain) { return (1.0 - gain) / gain; }

}  // namespace

// Steps of baselines notes, 7.2.
Outcome Disk::run(Curator& curator, Stream stream, Observer& observer) const {
  const DiskParameters& p = parameters;
  const BatchPolicy policy = p.policy(curator.facts().records);
  const Noise noise = Noise::sensitivity_ratio(p.noise);
  const double look = p.look_ahead > 0.0 ? p.look_ahead : longest_look(p.gain);
  const double weight = p.look_ahead > 0.0 ? longest_look(p.gain) / look : 1.0;  // a
  Vector h(curator.facts().initial_point.size());
  const auto estimate = [&](Index t, const Vector& x, const Vector& previous, Vector& v) {
    const Vector ahead = x + look * (x - previous);
    if (weight == 1.0) {
      curator.gradient(Point(ahead), curator.draw(policy), {p.clip, noise}, h);
    } else {
      // dev: its two parts are clipped each, at limits that sum up to C, not their sum at C.
      const double difference =
          std::min(p.smoothness * (ahead - x).norm(), 0.5 * p.clip / (weight - 1.0));
      const CombinationQuery query{p.clip - (weight - 1.0) * difference, difference, noise};
      curator.gradient_combination(1.0 / weight, Point(ahead), Point(x), curator.draw(policy),
                                   query, h);
      h *= weight;
    }
    v += (t == 0 ? 1.0 : p.gain) * (h - v);
  };
  return estimated_descent(curator, stream, observer, p.steps, p.output, estimate,
                           [&](const Vector& v, Vector& x) { x -= p.step_size * v; });
}

DiskNumbers disk_published(const ProblemNumbers& q, double zcdp) {
  const double gain = DiskParameters{}.gain;
  return {gain, std::pow(8.0 * gain * q.d * q.M * q.B * q.G * q.G / (zcdp * q.n * q.n), 0.25)};
}

DiskNumbers disk_practical(const ProblemNumbers& q, double zcdp) {
  const double alpha =
      std::pow(8.0 * std::sqrt(q.rho / 8.0) * q.d * q.B * q.G * q.G / (zcdp * q.n * q.n), 2.0 / 7);
  const double gain = std::sqrt(q.rho * alpha / 8.0) / q.M;
  return gain < DiskParameters{}.gain ? DiskNumbers{gain, alpha} : disk_published(q, zcdp);
}

/// Full batches, η = 1/(2M), T = 4MB/α².
Scheduled Disk::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                         Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  DiskParameters& p = parameters;
  const auto [gain, alpha] = (kind == Schedule::paper ? disk_published : disk_practical)(
      q, planned_zcdp(budget, calibrator));
  full_batch(q, count_of(card().key, "steps", std::ceil(4.0 * q.M * q.B / (alpha * alpha))));
  p.step_size = 0.5 / q.M;
  p.gain = gain;
  p.smoothness = q.M;
  Scheduled s{.rule = calibrate(facts, budget, calibrator),
              .alpha = std::sqrt(3.0) * alpha,
              .utility = Utility::heuristic,
              .note = "no theorem: moves are taken to be as short as at the accuracy"};
  mark_vacuous(s, q.G);
  return s;
}

const AlgorithmCard& Disk::card() const {
  static const AlgorithmCard card{
      .key = "zhang-bu-2025/disk",
      .title = "DiSK",
      .paper = "Zhang, Bu, Balle, Hong, Razaviyayn, Mirrokni 2025",
      .place = "its algorithm with SGD, as the authors' code has it",
      .source = Source::reconstructed,
      .guarantee = "FOSP, empirical, as a heuristic",
      .metric = Metric::gradient_norm,
      .statistic = "last iterate; the aim is a uniform iterate's",
      .rate = "none as a power of n; derived (sqrt(d)/(n eps))^(4/7)",
      .operations = "gradient; with look_ahead combination of gradient and gradient difference",
      .output_rule = "last iterate",
      .utility = Utility::heuristic};
  return card;
}

Fields Disk::fields() {
  using namespace range;
  DiskParameters& p = parameters;
  Fields f;
  p.add_fields(f);
  f.push_back(field("gain", p.gain, unit_without_0, "kappa in (0, 1]: weight of a new answer"));
  f.push_back(
      field("look_ahead", p.look_ahead, not_negative,
            "gamma, in moves; 0 = (1 - kappa)/kappa, the most, which asks for one gradient"));
  f.push_back(field("smoothness", p.smoothness, positive,
                    "L: a difference is clipped at L times the look ahead; not used without one"));
  return f;
}

void Disk::check_settings(const PublicFacts& facts) const {
  DescentMethod::check_settings(facts);
  const DiskParameters& p = parameters;
  if (p.look_ahead > longest_look(p.gain))
    reject(card().key, "look_ahead", p.look_ahead, "at most (1 - gain)/gain");
}

}  // namespace dpsosp::baselines
