// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_gld.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace dpsosp::baselines {

Outcome DpGld::run(Curator& curator, Stream stream, Observer& observer) const {
  const DpGldParameters& p = parameters;
  const Domain& domain = curator.facts().domain;
  return noisy_descent(curator, stream, observer, p, [&](Index, const Vector& g, Vector& x) {
    x -= p.step_size * (g + p.ridge * x);  // step 3
    if (p.project) domain.project(x);
  });
}

double DpGld::inverse_temperature(Index records) const {
  const double s = parameters.deviation(records);
  return 2.0 / (parameters.step_size * s * s);
}

Scheduled DpGld::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                          Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const double M = q.M + parameters.ridge;
  const double R = planned_zcdp(budget, calibrator);
  double tau = parameters.diffusion_time / M;
  if (kind == Schedule::paper)  // β ~ ln n
    tau = q.n * q.n * R / (q.G * q.G * std::max(1.0, std::log(q.n)));
  full_batch(q, count_of(card().key, "steps", 4.0 * M * tau));
  parameters.step_size = tau / static_cast<double>(parameters.steps);  // at most 1/(4M)
  parameters.output = OutputRule::last;
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .note = {}};
  const double beta = inverse_temperature(facts.records);
  s.note = fmt::format("inverse temperature {:.4g}; no finite diffusion time has a proof", beta);
  if (parameters.ridge > 0) {
    // ⟨w, ∇F + λw⟩ ≥ λ‖w‖² − G‖w‖ ≥ (λ/2)‖w‖² − G²/(2λ)
    const double lambda = parameters.ridge;
    s.note +=
        fmt::format("; mean suboptimality of its Gibbs law at most {:.4g}",
                    gibbs_suboptimality(q.d, beta, M, lambda / 2.0, q.G * q.G / (2.0 * lambda)));
  }
  return s;
}

Fields DpGld::fields() {
  Fields f;
  parameters.add_fields(f);
  f.push_back(field("ridge", parameters.ridge, range::not_negative,
                    "lambda_reg |w|^2/2 added to F; 0 = none"));
  f.push_back(
      field("diffusion_time", parameters.diffusion_time, range::positive, "tau M of the schedule"));
  f.push_back(field("project", parameters.project, "stay in the problem's domain"));
  return f;
}

const AlgorithmCard& DpGld::card() const {
  static const AlgorithmCard card{.key = "wang-chen-xu-2019/dp-gld",
                                  .title = "DP-GLD",
                                  .paper = "Wang, Chen, Xu 2019",
                                  .place = "DP-GLD",
                                  .source = Source::reconstructed,
                                  .guarantee = "excess risk, empirical; population by stability",
                                  .metric = Metric::excess_risk,
                                  .rate = "d/(eps^2 ln n)",
                                  .operations = "gradient",
                                  .output_rule = "last iterate"};
  return card;
}

double gibbs_suboptimality(double d, double beta, double M, double m, double b) {
  return d / (2.0 * beta) * std::log(std::numbers::e * M / m * (b * beta / d + 1.0));
}

}  // namespace dpsosp::baselines
