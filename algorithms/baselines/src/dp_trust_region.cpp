// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_trust_region.hpp"

#include <cmath>

#include "trust_region_descent.hpp"

namespace dpsosp::baselines {
namespace {

constexpr double gradient_tolerance = 1.0 / 12;  // ‖g − ∇F‖ over α
constexpr double hessian_tolerance = 1.0 / 6;    // ‖H − ∇²F‖ over sqrt(ρα)
constexpr double promise = 4.7;                  // sosp_level of the output over α

}  // namespace

double DpTrustRegionParameters::radius() const {
  return radius_rule == RadiusRule::printed ? alpha / hessian_lipschitz
                                            : std::sqrt(alpha / hessian_lipschitz);
}
double DpTrustRegionParameters::exit_multiplier() const {
  return std::sqrt(hessian_lipschitz * alpha);
}

Outcome DpTrustRegion::run(Curator& curator, Stream, Observer& observer) const {
  const DpTrustRegionParameters& p = parameters;
  SecondOrderQueries queries = p;
  if (p.repeated_root)
    queries.hessian_noise *= std::sqrt(static_cast<double>(curator.facts().dimension));
  return trust_region_descent(curator, observer,
                              {.queries = queries,
                               .steps = p.steps,
                               .radius = p.radius(),
                               .exit_multiplier = p.exit_multiplier()});
}

double trust_region_horizon(double rho, double B, double alpha) {
  return 6.0 * std::sqrt(rho) * B / std::pow(alpha, 1.5);
}

double DpTrustRegion::min_alpha(const ProblemNumbers& q, double rho_zcdp) const {
  const double rank = parameters.rank_or(q.d);
  const double root = parameters.repeated_root ? std::sqrt(q.d) : 1.0;
  return smallest_alpha(1e-12 * q.G, 1e9 * q.G, [&](double alpha) {
    const double T = std::ceil(trust_region_horizon(q.rho, q.B, alpha));
    const double sg = gradient_deviation(q.G, q.n, rho_zcdp / 2.0, T);
    const double sH = root * goe_deviation(q.M, q.n, rank, rho_zcdp / 2.0, T);
    return gradient_noise_norm(sg, q.d) <= gradient_tolerance * alpha &&
           hessian_noise_norm(sH, q.d) <= hessian_tolerance * std::sqrt(q.rho * alpha);
  });
}

Scheduled DpTrustRegion::schedule(Schedule kind, const PublicFacts& facts,
                                  const PrivacyBudget& budget, Calibrator calibrator) {
  DpTrustRegionParameters& p = parameters;
  require_second_order(card(), facts);
  const ProblemNumbers q = numbers_of(facts);
  Scheduled s{.rule = filter_rule(budget, calibrator), .utility = Utility::repaired};
  const double R = s.rule.capacity;
  double wanted = p.target;
  if (kind == Schedule::paper && wanted == 0)  // where s_g d ~ α: the table's (d/(nε))^{4/7}
    wanted = std::pow(q.G * q.d * std::pow(q.rho, 0.25) *
                          std::sqrt(q.B * std::log(1.0 / budget.delta)) / (q.n * budget.epsilon),
                      4.0 / 7);
  p.alpha = targeted_alpha(wanted, min_alpha(q, R), s);
  p.hessian_lipschitz = q.rho;
  p.steps = count_of(card().key, "steps", trust_region_horizon(q.rho, q.B, p.alpha));
  p.sampling = Sampling::all;
  p.clip = q.G;
  p.hessian_limit = q.M;
  p.gradient_noise = noise_ratio_for(R / 2.0, static_cast<double>(p.steps));
  p.hessian_noise = p.gradient_noise;
  s.alpha = promise * p.alpha;
  if (p.radius_rule == RadiusRule::printed && q.rho != p.alpha) {
    s.utility = Utility::disputed;
    s.add_note("the printed radius alpha/rho does not have this horizon");
  }
  if (kind == Schedule::paper)
    s.add_note("alpha by the claimed rate with constant 1; noise by the accountant");
  mark_vacuous(s, q.G);
  return s;
}

const AlgorithmCard& DpTrustRegion::card() const {
  static const AlgorithmCard card{
      .key = "wang-xu-2020/dp-trust-region",
      .title = "DP-TR",
      .paper = "Wang, Xu 2020",
      .place = "DP-TR, as its reference code has it",
      .source = Source::reconstructed,
      .guarantee = "SOSP, empirical",
      .metric = Metric::sosp_level,
      .rate = "(d/(n eps))^(4/7); derived (sqrt(d)/(n eps))^(4/7) + (d/(n eps))^(4/5)",
      .empirical = Exponents{-4.0 / 7, 4.0 / 7, -4.0 / 7},
      .operations = "gradient and Hessian",
      .output_rule = "the point after the first step with a small multiplier, else the last",
      .printed = "radius alpha/rho; the Hessian's noise multiplied by a second sqrt(d)",
      .utility = Utility::repaired};
  return card;
}

Fields DpTrustRegion::fields() {
  using namespace range;
  DpTrustRegionParameters& p = parameters;
  Fields fields{field("steps", p.steps, positive, "T"),
                field("alpha", p.alpha, positive,
                      "alpha: radius sqrt(alpha/rho_H), exit at sqrt(rho_H alpha)"),
                field("hessian_lipschitz", p.hessian_lipschitz, positive, "rho_H"),
                field("radius_rule", p.radius_rule, "sqrt(alpha/rho_H), or alpha/rho_H")};
  p.add_fields(fields, "gradients", "Hessians");
  fields.push_back(
      field("repeated_root", p.repeated_root, "Hessian noise times sqrt(d) once more"));
  fields.push_back(
      field("target", p.target, not_negative, "alpha of the schedule; 0 = the smallest in reach"));
  return fields;
}

void DpTrustRegion::set_variant(Variant variant) {
  const bool printed = variant == Variant::printed;
  parameters.radius_rule = printed ? RadiusRule::printed : RadiusRule::root;
  parameters.repeated_root = printed;
}

void DpTrustRegion::set_common_noise(double sensitivity_ratio) {
  parameters.gradient_noise = parameters.hessian_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> DpTrustRegion::plan(const PublicFacts& facts) const {
  return parameters.plan(facts.records, parameters.steps, parameters.steps);
}

void DpTrustRegion::check_settings(const PublicFacts& facts) const {
  require_second_order(card(), facts);
  parameters.check(card().key, facts);
}

}  // namespace dpsosp::baselines
