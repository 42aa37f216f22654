// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_srm.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "recursive_momentum.hpp"

namespace dpsosp::baselines {

Outcome DpSrm::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpSrmParameters& p = parameters;
  return recursive_momentum(
      curator, stream, observer,
      {.steps = p.steps,
       .policy = batch_policy(p.sampling, p.batch, curator.facts().records),
       .momentum = p.momentum,
       .clip = p.clip,
       .first_noise = p.refresh_noise,
       .noise = p.noise,
       .output = p.output,
       .difference_limit = [&](const Vector&) { return p.clip_difference; }},
      [&](const Vector& v, Vector& w) {
        // step 3: η = min(ζ/(n₀ M ‖v‖), 1/(2 n₀ M))
        const double length = v.norm();
        const double scale = p.step_divisor * p.smoothness;
        const double eta = length > 2.0 * p.accuracy ? p.accuracy / (scale * length) : 0.5 / scale;
        w -= eta * v;  // step 4
      });
}

DpSrmNumbers dp_srm_numbers(const ProblemNumbers& q, const PrivacyBudget& budget, double constant) {
  DpSrmNumbers s{};
  s.accuracy = constant * std::cbrt(q.G * q.M * q.B * q.d * std::log(1.0 / budget.delta)) /
               std::pow(q.n * budget.epsilon, 2.0 / 3);
  s.step_divisor = q.M * q.B / (q.G * q.G);
  s.steps = std::ceil(4.0 * s.step_divisor * q.M * q.B / (s.accuracy * s.accuracy));
  s.momentum = s.accuracy / (s.step_divisor * q.G);
  s.batch = q.G * q.G * q.G / (s.accuracy * q.M * q.B);
  s.corollary_batch = q.n * std::sqrt(budget.epsilon / s.steps);
  return s;
}

Scheduled DpSrm::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                          Calibrator calibrator) {
  DpSrmParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const DpSrmNumbers s = dp_srm_numbers(q, budget, p.rate_constant);
  Scheduled scheduled{.rule = {}, .alpha = s.accuracy, .utility = Utility::heuristic};
  p.steps = count_of(card().key, "steps", s.steps);
  p.accuracy = s.accuracy;
  p.step_divisor = s.step_divisor;
  p.smoothness = q.M;
  p.momentum = std::min(1.0, s.momentum);
  p.clip = q.G;
  p.clip_difference = s.accuracy / s.step_divisor;
  // Amplified charges need the calibrator rdp; without it a full batch is the cheapest.
  const bool amplified = calibrator == Calibrator::rdp;
  p.sampling = amplified ? Sampling::sample : Sampling::all;
  const double batch = kind == Schedule::paper ? s.batch : s.corollary_batch;
  p.batch =
      std::clamp<Index>(static_cast<Index>(std::ceil(std::min(batch, q.n))), 1, facts.records);
  const CalibratedNoise noise =
      calibrate_common_noise(plan(facts), facts.records, budget, calibrator);
  set_common_noise(noise.sensitivity_ratio);
  scheduled.rule = noise.rule;
  scheduled.note = amplified ? "the claimed accuracy with constant 1; noise by the accountant"
                             : "the claimed accuracy with constant 1; without amplification: full "
                               "batches, noise by the accountant";
  mark_vacuous(scheduled, q.G);
  return scheduled;
}

const AlgorithmCard& DpSrm::card() const {
  static const AlgorithmCard card{
      .key = "wang-2023/dp-srm",
      .title = "DP-SRM",
      .paper = "Wang, Jayaraman, Evans, Gu 2023",
      .place = "DP-SRM, Theorem and Corollary 5.3",
      .source = Source::full_text,
      .guarantee = "FOSP, empirical",
      .metric = Metric::gradient_norm,
      .statistic = "uniformly random iterate",
      .rate = "(sqrt(d)/(n eps))^(2/3); only for n eps >~ d^2",
      .empirical = Exponents{-2.0 / 3, 1.0 / 3, -2.0 / 3},
      .operations = "gradient, and combination of gradient and gradient difference",
      .output_rule = "a uniformly random iterate",
      .utility = Utility::heuristic};
  return card;
}

Fields DpSrm::fields() {
  using namespace range;
  DpSrmParameters& p = parameters;
  return {
      field("steps", p.steps, positive, "T"),
      field("accuracy", p.accuracy, positive, "zeta: no step is longer than zeta/(n0 M)"),
      field("step_divisor", p.step_divisor, positive, "n0"),
      field("smoothness", p.smoothness, positive, "M"),
      field("momentum", p.momentum, unit_without_0, "gamma in (0, 1]: weight of the new gradient"),
      sampling_field(p.sampling),
      field("batch", p.batch, not_negative, "b0 = b: records of a query"),
      field("clip", p.clip, positive, "C1 = G: per-record clip of gradients"),
      field("clip_difference", p.clip_difference, positive, "C2: per-record clip of differences"),
      noise_field("refresh_noise", p.refresh_noise, "std / sensitivity of the first gradient"),
      noise_field("noise", p.noise, "std / sensitivity of the combinations"),
      output_field(p.output),
      field("rate_constant", p.rate_constant, positive, "C of zeta")};
}

// Both variants are the same: the published errors are in the accounting (docs/errata.md, B8, B9).
void DpSrm::set_variant(Variant) {}

void DpSrm::set_common_noise(double sensitivity_ratio) {
  parameters.refresh_noise = parameters.noise = sensitivity_ratio;
}

std::vector<PlannedQuery> DpSrm::plan(const PublicFacts& facts) const {
  return {{batch_policy(parameters.sampling, parameters.batch, facts.records), parameters.steps}};
}

void DpSrm::check_settings(const PublicFacts& facts) const {
  const DpSrmParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
}

}  // namespace dpsosp::baselines
