// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/quasar_dp_sgd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/algorithms/boosting.hpp"
#include "dpsosp/algorithms/stages.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::lowy_2024 {

Index QuasarDpSgd::repetitions() const {
  return parameters.boosted ? boosting_repetitions(parameters.failure) : 1;
}

// Steps of lowy-2024 notes, 2.4.
Outcome QuasarDpSgd::run(Curator& curator, Stream stream, Observer& observer) const {
  if (!parameters.boosted) return descend(curator, stream, observer);
  const Index K = repetitions();  // step 1
  Matrix points(curator.facts().dimension, K);
  Index steps = 0;
  for (Index k = 0; k < K; ++k) {  // step 2
    LaterStage later(observer, steps);
    Outcome outcome = descend(curator, stream, later);
    outcome.steps = steps += outcome.steps;
    if (outcome.status != Status::steps_done) return outcome;
    points.col(k) = outcome.point;
  }
  try {  // steps 3 and 4
    const Index best = choose_best(curator, points, parameters.clip, parameters.selection_epsilon);
    return {points.col(best), Status::steps_done, steps, {{"runs", K}}};
  } catch (const Refused& refusal) {
    return {points.col(0), status_of(refusal), steps, {{"runs", K}}};
  }
}

// Lines of lowy-2024, Algorithm 3.
Outcome QuasarDpSgd::descend(Curator& curator, Stream& stream, Observer& observer) const {
  const QuasarDpSgdParameters& p = parameters;
  const PublicFacts& facts = curator.facts();
  const BatchPolicy policy = batch_policy(p.sampling, p.batch, facts.records);
  OutputKeeper output(p.output, p.steps, stream);
  Vector w = facts.initial_point;  // line 2
  Vector g(w.size());
  for (Index t = 0; t < p.steps; ++t) {  // line 3
    observer.iterate(t, w);
    try {  // lines 4 to 6; dev: each gradient is clipped
      curator.gradient(Point(w), curator.draw(policy), {p.clip, Noise::sensitivity_ratio(p.noise)},
                       g);
    } catch (const Refused& refusal) {
      return {output.point(w), status_of(refusal), t, {}};
    }
    output.visit(t, w, g);
    w -= p.step_size * g;                                               // line 7
    if (p.confinement == Confinement::domain) facts.domain.project(w);  // the problem's own
    if (p.confinement == Confinement::start_ball) {
      const double away = (w - facts.initial_point).norm();
      if (away > p.radius) w = facts.initial_point + (p.radius / away) * (w - facts.initial_point);
    }
    if (!w.allFinite()) return {w, Status::not_finite, t + 1, {}};
  }
  return {output.point(w), Status::steps_done, p.steps, {}};  // line 9
}

double farthest(const PublicFacts& facts) {
  switch (facts.domain.kind) {
    case Domain::Kind::ball:
      return facts.domain.radius + facts.initial_point.norm();
    case Domain::Kind::box:
      return (facts.initial_point.array().abs() + facts.domain.radius).matrix().norm();
    case Domain::Kind::everywhere:
    case Domain::Kind::simplex:  // of duals alone
      break;
  }
  return std::numeric_limits<double>::infinity();
}

double quasar_excess(double D, double L, double d, double sigma, double q, double T) {
  return D * std::sqrt(L * L + d * sigma * sigma) / (q * std::sqrt(T));
}

PropositionD1 proposition_d1(double n, double d, double L, double D, double q,
                             const PrivacyBudget& budget) {
  PropositionD1 s{};
  const double log = std::log(1.0 / budget.delta);
  const double scale = budget.epsilon * n;
  s.steps = std::max(1.0, std::floor(scale * scale / (d * log)));
  s.variance = 1000.0 * L * L * s.steps * log / (scale * scale);
  s.batch = std::sqrt(d * log / budget.epsilon);  // dev: n sqrt(ε/(4T)) (docs/errata.md, W10)
  s.printed_batch = std::sqrt(d * budget.epsilon);
  s.step_size = D / std::sqrt(s.steps * (L * L + d * s.variance));
  s.excess = quasar_excess(D, L, d, std::sqrt(s.variance), q, s.steps);
  return s;
}

Scheduled QuasarDpSgd::schedule(Schedule kind, const PublicFacts& facts,
                                const PrivacyBudget& budget, Calibrator calibrator) {
  QuasarDpSgdParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const double n = static_cast<double>(facts.records);
  const double d = static_cast<double>(facts.dimension);
  const double L = facts.constants[constant::lipschitz];
  const double q = p.quasar > 0 ? p.quasar : facts.constants[constant::quasar_convexity];
  const double D = p.distance_bound > 0 ? p.distance_bound : farthest(facts);
  if (!(D > 0 && std::isfinite(D)))
    reject(card().key, "distance_bound", p.distance_bound,
           fmt::format("> 0: the domain of {} is unbounded", facts.name));
  p.clip = L;
  p.sampling = Sampling::all;
  p.confinement = facts.domain.kind != Domain::Kind::everywhere ? Confinement::domain
                  : p.boosted                                   ? Confinement::start_ball
                                                                : Confinement::none;
  p.radius = D;
  p.output = OutputRule::uniform;

  Scheduled s;
  const auto K = static_cast<double>(repetitions());
  p.selection_epsilon = 0.5 * budget.epsilon;
  const double pure = p.boosted ? p.selection_epsilon : 0.0;
  if (kind == Schedule::practical) {
    s.rule = filter_rule(budget, calibrator, {}, pure);
    const double rho = s.rule.capacity / K;
    const double unit = std::sqrt(2.0 * d / rho) / n;  // ν
    p.steps = std::min(p.most_steps, count_of(card().key, "steps",
                                              std::min(1e15, p.steps_factor / (unit * unit))));
    p.noise = noise_ratio_for(rho, static_cast<double>(p.steps));
    s.utility = Utility::proved;
  } else {
    const PropositionD1 printed = proposition_d1(n, d, L, D, q, budget);
    if (!p.boosted) p.confinement = Confinement::none;
    p.steps = floor_of(card().key, "steps", printed.steps);
    p.batch = static_cast<Index>(
        std::clamp(std::ceil(p.printed_batch ? printed.printed_batch : printed.batch), 1.0, n));
    // The printed batch needs amplification by sampling, which the calibrator `rdp` alone charges;
    // without amplification full batches are the cheapest at the same noise.
    if (calibrator == Calibrator::rdp) p.sampling = Sampling::sample;
    const auto planned = plan(facts);
    const CalibratedNoise noise = calibrate_common_noise(
        planned, facts.records, {budget.epsilon - pure, budget.delta}, calibrator);
    p.noise = noise.sensitivity_ratio;
    s.rule = noise.rule;
    s.rule.pure_capacity = pure;
    s.utility = Utility::repaired;
    s.note = calibrator == Calibrator::rdp
                 ? "noise by this suite's accountant, below the printed one"
                 : "full batches: this calibrator cannot charge the printed batch's amplification";
  }
  const double T = static_cast<double>(p.steps);
  const double divisor = batch_policy(p.sampling, p.batch, facts.records).divisor(facts.records);
  const double sigma = p.noise * 2.0 * L / divisor;
  p.step_size = D / std::sqrt(T * (L * L + d * sigma * sigma));
  s.alpha = s.excess_risk = quasar_excess(D, L, d, sigma, q, T);
  if (p.boosted)  // one of K runs is within twice the mean; ‖w^i − c‖ ≤ 2D in the ball around w_1
    s.alpha = s.excess_risk =
        2.0 * s.excess_risk +
        boosting_error(4.0 * L * 2.0 * D / n, p.selection_epsilon, repetitions(), p.failure);
  mark_vacuous(s, L * D, "trivial excess");
  return s;
}

const AlgorithmCard& QuasarDpSgd::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/quasar-dp-sgd",
      .title = "DP-SGD for quasar-convex losses",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Algorithm 3, Proposition D.1",
      .guarantee = "excess risk, empirical, of quasar-convex objectives",
      .metric = Metric::excess_risk,
      .rate = "sqrt(d)/(n eps q)",
      .empirical = Exponents{-1.0, 0.5, -1.0},
      .population = {},
      .operations = "gradient",
      .output_rule = "uniform iterate",
      .printed = "the batch sqrt(d eps) of Proposition D.1 under the paper schedule",
      .utility = Utility::proved};
  return card;
}

Fields QuasarDpSgd::fields() {
  using namespace range;
  QuasarDpSgdParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T"),
      field("step_size", p.step_size, positive, "eta"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative, "b: records in a batch"),
      field("clip", p.clip, positive, "L: per-record clip of gradients"),
      noise_field("noise", p.noise, "std / sensitivity"),
      field("confinement", p.confinement, "where iterates are projected to"),
      field("radius", p.radius, positive, "R, of confinement = start_ball"),
      output_field(p.output),
      field("boosted", p.boosted, "repeat on half the budget, choose the best with the other"),
      field("failure", p.failure, open_unit, "zeta of boosted"),
      field("selection_epsilon", p.selection_epsilon, positive, "of the choice of boosted, pure"),
      field("printed_batch", p.printed_batch, "batch sqrt(d eps) in the paper schedule"),
      field("distance_bound", p.distance_bound, not_negative,
            "D, bound of the start's distance to the minimiser; 0 = from the domain"),
      field("quasar", p.quasar, probability, "q of quasar-convexity; 0 = the problem's constant"),
      field("most_steps", p.most_steps, positive, "T_max of the practical schedule"),
      field("steps_factor", p.steps_factor, positive, "c_T of the practical schedule")};
}

void QuasarDpSgd::set_variant(Variant variant) {
  parameters.printed_batch = variant == Variant::printed;
}

void QuasarDpSgd::set_common_noise(double sensitivity_ratio) {
  parameters.noise = sensitivity_ratio;
}

std::vector<PlannedQuery> QuasarDpSgd::plan(const PublicFacts& facts) const {
  return {{batch_policy(parameters.sampling, parameters.batch, facts.records),
           parameters.steps * repetitions()}};
}

void QuasarDpSgd::check_settings(const PublicFacts& facts) const {
  const QuasarDpSgdParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
}

}  // namespace dpsosp::lowy_2024
