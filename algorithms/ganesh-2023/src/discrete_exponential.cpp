// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/ganesh_2023/discrete_exponential.hpp"

#include <fmt/format.h>

#include "dpsosp/algorithms/scheduling.hpp"

namespace dpsosp::ganesh_2023 {

double discrete_excess(double inverse_temperature, double log_size) {
  return (log_size + 1.0) / inverse_temperature;
}

const AlgorithmCard& DiscreteExponential::card() const {
  static const AlgorithmCard card{
      .key = "ganesh-2023/discrete-exponential",
      .title = "Discrete exponential mechanism",
      .paper = "Ganesh, Liu, Oh, Thakurta 2023",
      .place = "Theorem 5.8",
      .guarantee = "excess risk, empirical or population; Lipschitz losses only",
      .metric = Metric::excess_risk,
      .rate = "d/(n eps) empirical; d/(n eps) + sqrt(d/n) population",
      .empirical = Exponents{-1.0, 1.0, -1.0},
      .population = Exponents{-1.0, 1.0, -1.0},
      .sampling = -0.5,
      .operations =
          "loss differences to a public centre, clamped; of single coordinates where the "
          "loss is separable",
      .output_rule = "the chosen candidate",
      .printed = "",
      .utility = Utility::proved};
  return card;
}

Fields DiscreteExponential::fields() {
  Fields f;
  search.add_fields(f);
  return f;
}

void DiscreteExponential::set_variant(Variant) {}

Scheduled DiscreteExponential::schedule(Schedule kind, const PublicFacts& facts,
                                        const PrivacyBudget& budget, Calibrator calibrator) {
  refuse_any_dual(card(), facts);
  const double n = static_cast<double>(facts.records), d = static_cast<double>(facts.dimension);
  const double G = facts.constants[constant::lipschitz], D = search.diameter(facts);
  search.lipschitz = G;
  // reduced by more than the rounding error, so that the filter grants beta R
  search.inverse_temperature = budget.epsilon * n / (2.0 * G * D) * (1 - 1e-14);
  search.choose_candidates(facts);
  const double printed = D * d / (budget.epsilon * n);
  // (ln #P + 1)/beta + G r with #P = (D/(2r))^d is least at r = d/(beta G), twice the printed
  // radius
  const bool enlarged = search.set_radius(kind == Schedule::paper ? printed : 2.0 * printed, facts);
  Scheduled s{.rule = filter_rule(budget, calibrator, {}, budget.epsilon),
              .utility = Utility::proved};
  s.excess_risk =
      discrete_excess(search.inverse_temperature, search.log_size(facts)) + G * search.net_radius;
  if (facts.domain.kind ==
      Domain::Kind::everywhere) {  // the set is the search's, not the problem's
    s.utility = std::max(s.utility, Utility::heuristic);
    s.add_note("excess over the best point of |x| <= domain_radius, not of R^d");
  }
  s.alpha = s.excess_risk;
  if (enlarged) {
    s.add_note(fmt::format("the net is coarsened to {} points", search.largest_net));
  }
  mark_vacuous(s, G * D, "range G D of a loss");
  return s;
}

void DiscreteExponential::check_settings(const PublicFacts& facts) const {
  refuse_any_dual(card(), facts);
  search.check(card().key, facts);
}

Outcome DiscreteExponential::run(Curator& curator, Stream, Observer& observer) const {
  return search.run(curator, observer);
}

}  // namespace dpsosp::ganesh_2023
