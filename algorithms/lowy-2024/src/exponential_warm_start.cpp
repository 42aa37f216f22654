// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::lowy_2024 {
namespace {

class NoObserver final : public Observer {
 public:
  void iterate(Index, ConstVectorRef) override {}
};

}  // namespace

double paper_inverse_temperature(double epsilon, double n, double L, double D) {
  return epsilon * n / (4.0 * L * D);
}

double tight_inverse_temperature(double epsilon, double n, double L, double D) {
  return epsilon * n / (2.0 * L * D);
}

double paper_net_radius(double epsilon, double n, double d, double D) {
  return D * d / (epsilon * n);
}

double smooth_net_radius(double epsilon, double n, double d, double L, double D, double beta) {
  return std::sqrt(2.0 * L * D * d / (beta * epsilon * n));
}

double paper_excess_risk(double epsilon, double n, double d, double L, double D) {
  if (epsilon * n < std::max(d, std::numbers::e * std::sqrt(d)))
    return std::numeric_limits<double>::infinity();
  return 20.0 * L * D * (d / (epsilon * n)) * std::log(epsilon * n / std::sqrt(d));
}

const AlgorithmCard& ExponentialWarmStart::card() const {
  static const AlgorithmCard card{
      .key = "lowy-2024/exponential-mechanism",
      .title = "Exponential mechanism over a net",
      .paper = "Lowy, Ullman, Wright 2024",
      .place = "Definition 4.1, Lemma 4.2",
      .guarantee = "excess risk, empirical",
      .metric = Metric::excess_risk,
      .rate = "d/(n eps)",
      .empirical = Exponents{-1.0, 1.0, -1.0},
      .population = {},
      .sampling = {},
      .operations =
          "loss differences to a public centre, clamped; of single coordinates where the "
          "loss is separable",
      .output_rule = "the chosen candidate",
      .printed = "",
      .utility = Utility::proved};
  return card;
}

Fields ExponentialWarmStart::fields() {
  ExponentialWarmStartParameters& p = parameters;
  Fields f;
  p.search.add_fields(f);
  f.push_back(field("smoothness", p.smoothness, range::positive, "beta"));
  f.push_back(field("interior_minimiser", p.interior_minimiser,
                    "the minimiser over the set is a stationary point, so a net errs by "
                    "beta rad^2/2"));
  f.push_back(field("excess_rule", p.excess_rule, "what psi bounds; laplace: a heuristic"));
  f.push_back(field("failure", p.failure, range::open_unit, "zeta, of excess_rule = probability"));
  return f;
}

void ExponentialWarmStart::set_variant(Variant) {}

double ExponentialWarmStart::excess_risk(const PublicFacts& facts) const {
  const ExponentialWarmStartParameters& p = parameters;
  const double lambda = p.search.inverse_temperature, rad = p.search.net_radius;
  if (p.excess_rule == ExcessRule::laplace)
    return static_cast<double>(facts.dimension) / (2.0 * lambda);
  const double by_slope = p.search.lipschitz * rad;
  const double by_curvature = 0.5 * p.smoothness * rad * rad;
  const double of_net = p.interior_minimiser ? std::min(by_slope, by_curvature) : by_slope;
  const double of_failure =
      p.excess_rule == ExcessRule::probability ? -std::log(p.failure) / lambda : 0.0;
  return p.search.log_size(facts) / lambda + of_net + of_failure;
}

Scheduled ExponentialWarmStart::schedule(Schedule kind, const PublicFacts& facts,
                                         const PrivacyBudget& budget, Calibrator calibrator) {
  ExponentialWarmStartParameters& p = parameters;
  refuse_any_dual(card(), facts);
  const double n = static_cast<double>(facts.records), d = static_cast<double>(facts.dimension);
  const double L = facts.constants[constant::lipschitz];
  const double beta = facts.constants[constant::smoothness];
  const double D = p.search.diameter(facts);
  const double epsilon = budget.epsilon;
  p.search.lipschitz = L;
  p.smoothness = beta;
  p.search.choose_candidates(facts);
  Scheduled s{.rule = filter_rule(budget, calibrator, {}, epsilon)};
  bool enlarged = false;
  if (kind == Schedule::paper) {
    p.search.inverse_temperature = paper_inverse_temperature(epsilon, n, L, D);
    enlarged = p.search.set_radius(paper_net_radius(epsilon, n, d, D), facts);
    p.interior_minimiser = false;
    // the printed bound is stated for the ε of a run of which this stage has half
    s.excess_risk = paper_excess_risk(2.0 * epsilon, n, d, L, D);
    s.note = "the ledger shows what the printed temperature costs: half of epsilon";
    s.utility = Utility::repaired;
  } else {
    // a little less, so that rounding does not make λR exceed what the filter grants
    p.search.inverse_temperature = tight_inverse_temperature(epsilon, n, L, D) * (1 - 1e-14);
    enlarged = p.search.set_radius(smooth_net_radius(epsilon, n, d, L, D, beta), facts);
    s.excess_risk = excess_risk(facts);
    s.utility = p.excess_rule == ExcessRule::laplace ? Utility::heuristic : Utility::proved;
    if (p.excess_rule == ExcessRule::laplace) s.note = "psi is the excess of smooth wells";
  }
  if (kind == Schedule::practical && p.interior_minimiser) {
    s.add_note("takes the minimiser over the set to be a stationary point (interior_minimiser)");
    s.utility = std::max(s.utility, Utility::heuristic);  // nothing checks this premise
  }
  if (enlarged) {
    s.excess_risk = std::max(s.excess_risk, excess_risk(facts));
    s.add_note(fmt::format("the net is coarsened to {} points", p.search.largest_net));
  }
  if (facts.domain.kind ==
      Domain::Kind::everywhere) {  // the problem has no domain: the search set is a setting
    s.utility = std::max(s.utility, Utility::heuristic);
    s.add_note("excess over the best point of |x| <= domain_radius, not of R^d");
  }
  s.alpha = s.excess_risk;
  mark_vacuous(s, L * D, "range L D of a loss");
  return s;
}

void ExponentialWarmStart::check_settings(const PublicFacts& facts) const {
  refuse_any_dual(card(), facts);
  parameters.search.check(card().key, facts);
}

Outcome ExponentialWarmStart::run(Curator& curator, Stream, Observer& observer) const {
  return parameters.search.run(curator, observer);
}

WarmPoint exponential_warm_start(Curator& child, double epsilon, Schedule kind) {
  ExponentialWarmStart stage;
  constexpr double any_delta = 0.5;  // nothing of delta is spent
  const Scheduled scheduled =
      stage.schedule(kind, child.facts(), {epsilon, any_delta}, Calibrator::cks);
  NoObserver nobody;
  const Outcome outcome = stage.run(child, Stream({.purpose = Purpose::algorithm}), nobody);
  if (outcome.status != Status::steps_done)
    throw BudgetExhausted("exponential_warm_start: its charge exceeds the child's budget");
  return {outcome.point, scheduled.excess_risk};
}

}  // namespace dpsosp::lowy_2024
