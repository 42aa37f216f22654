// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/baselines/short_steps.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::baselines {

/// R/T for each step: half of it each for gradient and curvature, a third each with a line search.
/// A power method splits the curvature's share equally over its products.
/// \source baselines notes, 9
ShortSteps::Noises ShortSteps::noises_for(double rho, double steps) const {
  const ShortStepsParameters& p = parameters;
  const double parts = p.step_rule == StepRule::line_search ? 3.0 : 2.0;
  const double k =
      p.curvature == CurvatureRule::products ? static_cast<double>(p.power_iterations) : 1.0;
  return {.gradient = noise_ratio_for(rho / parts, steps),
          .hessian = noise_ratio_for(rho / parts, steps * k),
          .epsilon = std::sqrt(2.0 * rho / (parts * steps)) * (1.0 - 1e-13)};
}

/// k = ⌈(M/e_H) ln d⌉, at least 2.
double ShortSteps::products(double d, double M, double rho, double alpha) const {
  const double eH = std::sqrt(rho * alpha) / (1.0 + parameters.hessian_error);
  return std::max(2.0, std::ceil(M / eH * std::log(std::max(d, 2.0))));
}

double ShortSteps::min_alpha(const ProblemNumbers& q, double rho_zcdp) const {
  ShortSteps trial = *this;
  ShortStepsParameters& p = trial.parameters;
  p.hessian_lipschitz = q.rho;
  p.smoothness = q.M;
  const double rank = p.rank_or(q.d);
  return smallest_alpha(1e-12 * q.G, 1e9 * q.G, [&](double alpha) {
    p.alpha = alpha;
    const double eg = p.gradient_threshold(), eH = p.curvature_threshold();
    const double T = std::ceil(q.B / p.decrease());
    const double k = trial.products(q.d, q.M, q.rho, alpha);
    const double part = rho_zcdp / (p.step_rule == StepRule::line_search ? 3.0 : 2.0);
    const double sg = gradient_deviation(q.G, q.n, part, T);
    if (!(gradient_noise_norm(sg, q.d) <=
          std::min(p.gradient_error * eg, p.step_error / q.rho * eH * eH)))
      return false;
    if (p.curvature == CurvatureRule::products)
      return gradient_noise_norm(gradient_deviation(q.M, q.n, part, T * k), q.d) <= eH / 5.0;
    return hessian_noise_norm(goe_deviation(q.M, q.n, rank, part, T), q.d) <= p.hessian_error * eH;
  });
}

Scheduled ShortSteps::schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                               Calibrator calibrator) {
  ShortStepsParameters& p = parameters;
  require_second_order(card(), facts);
  const ProblemNumbers q = numbers_of(facts);
  Scheduled s{.rule = filter_rule(budget, calibrator),
              .utility = Utility::heuristic,
              .note = "the tolerances hold for the noise's mean norm, not with high probability"};
  if (calibrator == Calibrator::exact_gaussian && p.step_rule == StepRule::line_search)
    throw InputError(fmt::format(
        "{}: the calibrator exact-gaussian grants no line search; use cks or step_rule=fixed",
        card().key));
  const double R = s.rule.capacity;
  double wanted = p.target;
  if (kind == Schedule::paper && wanted == 0)
    wanted = std::sqrt(q.G * std::sqrt(q.d * q.M * q.B * std::log(1.0 / budget.delta)) /
                       (q.n * budget.epsilon));
  p.hessian_lipschitz = q.rho;
  p.smoothness = p.hessian_limit = q.M;
  p.clip = q.G;
  p.sampling = Sampling::all;
  p.alpha = targeted_alpha(wanted, min_alpha(q, R), s);
  p.steps = count_of(card().key, "steps", q.B / p.decrease());
  p.power_iterations = count_of(card().key, "products", products(q.d, q.M, q.rho, p.alpha));
  p.budget = R;
  const Noises z = noises_for(R, static_cast<double>(p.steps));
  p.gradient_noise = z.gradient;
  p.hessian_noise = z.hessian;
  p.search_epsilon = z.epsilon;
  s.alpha = p.alpha;
  if (kind == Schedule::paper) s.add_note("alpha by the claimed rate with constant 1");
  if (p.two_phase) {
    s.add_note("the second phase has less than the whole budget that alpha is computed from");
  }
  if (p.step_rule == StepRule::line_search || p.curvature == CurvatureRule::products) {
    s.add_note("errors of the line search or of the power method are not part of the tolerances");
  }
  mark_vacuous(s, q.G);
  return s;
}

const AlgorithmCard& ShortSteps::card() const {
  static const AlgorithmCard card{
      .key = "gao-wright-2023/short-steps",
      .title = "Short steps with negative curvature",
      .paper = "Gao, Wright 2023",
      .place = "the method with short steps, its line search and its two phases",
      .source = Source::full_text,
      .guarantee = "SOSP, empirical",
      .metric = Metric::sosp_level,
      .rate = "(sqrt(d)/(n eps))^(1/2); the dense Hessian adds (d/(n eps))^(2/3)",
      .empirical = Exponents{-0.5, 0.25, -0.5},
      .operations = "gradient; Hessian or Hessian products; losses for the line search",
      .output_rule = "the point where gradient and curvature are small, else the last",
      .utility = Utility::heuristic};
  return card;
}

Fields ShortSteps::fields() {
  using namespace range;
  ShortStepsParameters& p = parameters;
  Fields fields{field("steps", p.steps, positive, "T; of the second phase if there are two"),
                field("alpha", p.alpha, positive,
                      "alpha: e_g = alpha/(1 + c1), e_H = sqrt(rho_H alpha)/(1 + c)"),
                field("hessian_lipschitz", p.hessian_lipschitz, positive, "rho_H"),
                field("smoothness", p.smoothness, positive, "M: the gradient step is 1/M")};
  p.add_fields(fields, "gradients, slope limit of losses", "Hessians or products");
  const Fields own{
      field("curvature", p.curvature, "a released Hessian, or a power method on released products"),
      field("power_iterations", p.power_iterations, positive, "products in a power method"),
      field("step_rule", p.step_rule, "fixed steps, or a line search by AboveThreshold"),
      field("search_epsilon", p.search_epsilon, positive, "epsilon of each line search"),
      field("search_start", p.search_start, above(1),
            "b: first trial over the step that always suffices"),
      field("search_factor", p.search_factor, open_unit,
            "beta_g: next trial over the last, gradient"),
      field("curvature_search_factor", p.curvature_search_factor, open_unit,
            "beta_H: the same, curvature"),
      field("search_decrease", p.search_decrease, open_unit, "c_g: decrease asked for, gradient"),
      field("curvature_search_decrease", p.curvature_search_decrease, open_unit,
            "c_H: the same, curvature"),
      field("gradient_error", p.gradient_error, open_unit, "c1: error of gradients over e_g"),
      field("step_error", p.step_error, open_unit, "c2: error of gradients over e_H^2/rho_H"),
      field("hessian_error", p.hessian_error, open_unit, "c: error of Hessians over e_H"),
      field("two_phase", p.two_phase, "sqrt(T) steps on 3/4 of the budget, then T on the rest"),
      field("budget", p.budget, positive, "zCDP that two phases share"),
      field("target", p.target, not_negative, "alpha of the schedule; 0 = the smallest in reach")};
  fields.insert(fields.end(), own.begin(), own.end());
  return fields;
}

// Both variants are the same: the errors are in the authors' code (docs/errata.md, B5 to B7).
void ShortSteps::set_variant(Variant) {}

void ShortSteps::set_common_noise(double sensitivity_ratio) {
  parameters.gradient_noise = parameters.hessian_noise = sensitivity_ratio;
}

std::vector<PlannedQuery> ShortSteps::plan(const PublicFacts& facts) const {
  const ShortStepsParameters& p = parameters;
  const auto first =
      p.two_phase ? static_cast<Index>(std::floor(std::sqrt(static_cast<double>(p.steps)))) : 0;
  const Index steps = p.steps + first;
  const Index products = p.curvature == CurvatureRule::products ? p.power_iterations : 1;
  return p.plan(facts.records, steps, steps * products);
}

void ShortSteps::check_settings(const PublicFacts& facts) const {
  const ShortStepsParameters& p = parameters;
  const std::string& key = card().key;
  constexpr Index any = std::numeric_limits<Index>::max();
  require_second_order(
      card(), facts,
      p.curvature == CurvatureRule::dense ? StationarityTest::largest_dimension : any);
  p.check(key, facts);
  if (p.step_rule == StepRule::line_search &&
      (p.sampling == Sampling::sample || p.sampling == Sampling::poisson))
    throw InputError(key +
                     ": step_rule = line_search asks one batch many questions, which secret coins "
                     "do not allow; set sampling = all or fresh");
  if (!(p.gradient_error < 0.5 && p.gradient_error + p.search_decrease < 1))
    reject(key, "gradient_error", p.gradient_error, "below 1/2 and 1 - search_decrease");
  if (!(p.step_error + p.hessian_error < 1.0 / 3))
    reject(key, "step_error", p.step_error, "below 1/3 - hessian_error");
  const double rest = 1.0 - p.hessian_error - p.curvature_search_decrease;
  if (!(rest > 0 && 0.25 * rest * rest >= 2.0 / 3.0 * p.step_error))
    reject(key, "hessian_error", p.hessian_error, "so small that (1 - c - c_H)^2/4 >= 2 c2/3");
}

}  // namespace dpsosp::baselines
