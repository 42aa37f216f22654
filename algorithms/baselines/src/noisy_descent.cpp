// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/noisy_descent.hpp"
#include "dpsosp/core/finite.hpp"

#include <algorithm>
#include <cmath>

namespace dpsosp::baselines {

void DescentParameters::add_fields(Fields& fields) {
  using namespace range;
  fields.push_back(field("steps", steps, positive, "T"));
  fields.push_back(field("step_size", step_size, positive, "eta"));
  fields.push_back(sampling_field(sampling));
  fields.push_back(field("batch", batch, not_negative, "b: (expected) records in a batch"));
  fields.push_back(field("clip", clip, positive, "G: per-record clip of gradients"));
  fields.push_back(noise_field("noise", noise, "std / sensitivity"));
  fields.push_back(output_field(output));
}

Outcome noisy_descent(Curator& curator, Stream& stream, Observer& observer,
                      const DescentParameters& p, const DescentStep& step,
                      const StationarityMeasure& measure) {
  const BatchPolicy policy = p.policy(curator.facts().records);
  const GradientQuery query{.limit = p.clip, .noise = Noise::sensitivity_ratio(p.noise)};
  OutputKeeper output(p.output, p.steps, stream);
  Vector x = curator.facts().initial_point;
  Vector g(x.size()), measured(x.size());
  for (Index t = 0; t < p.steps; ++t) {  // step 1
    observer.iterate(t, x);
    try {  // step 2
      curator.gradient(Point(x), curator.draw(policy), query, g);
    } catch (const Refused& refusal) {
      return {output.point(x), status_of(refusal), t, {}};
    }
    if (measure) measure(x, g, measured);
    output.visit(t, x, measure ? measured : g);
    step(t, g, x);  // step 3
    if (!all_finite(x)) return {x, Status::not_finite, t + 1, {}};
  }
  return {output.point(x), Status::steps_done, p.steps, {}};  // step 4
}

const DescentParameters& DescentMethod::descent() const {
  return const_cast<DescentMethod*>(this)->descent();
}

std::vector<PlannedQuery> DescentMethod::plan(const PublicFacts& facts) const {
  return {{descent().policy(facts.records), descent().steps}};
}

void DescentMethod::set_common_noise(double sensitivity_ratio) {
  descent().noise = sensitivity_ratio;
}

void DescentMethod::set_variant(Variant) {}

void DescentMethod::check_settings(const PublicFacts& facts) const {
  refuse_shared_dual(card(), facts);
  const DescentParameters& p = descent();
  require_batch(card().key, "batch", p.sampling, p.batch, facts.records);
}

double DescentMethod::planned_zcdp(const PrivacyBudget& budget, Calibrator calibrator) {
  return zcdp_budget(budget, calibrator == Calibrator::rdp ? Calibrator::cks : calibrator);
}

FilterRule DescentMethod::calibrate(const PublicFacts& facts, const PrivacyBudget& budget,
                                    Calibrator calibrator) {
  const CalibratedNoise noise =
      calibrate_common_noise(plan(facts), facts.records, budget, calibrator);
  set_common_noise(noise.sensitivity_ratio);
  return noise.rule;
}

void DescentMethod::full_batch(const ProblemNumbers& p, Index steps) {
  DescentParameters& q = descent();
  q.steps = steps;
  q.step_size = 1.0 / p.M;
  q.sampling = Sampling::all;
  q.clip = p.G;
}

double balanced_steps(const ProblemNumbers& p, double zcdp) {
  return p.n / p.G * std::sqrt(p.M * p.B * zcdp / p.d);
}

double descent_bound(double B, double M, double step_size, double steps, double variance) {
  return std::sqrt(2.0 * B / (step_size * steps) + step_size * M * variance);
}

double best_step(double B, double M, double steps, double variance) {
  return std::min(1.0 / M, std::sqrt(2.0 * B / (steps * M * variance)));
}

}  // namespace dpsosp::baselines
