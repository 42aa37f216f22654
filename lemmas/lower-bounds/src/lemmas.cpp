// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/lower_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/lower_bounds/bounds.hpp"
#include "dpsosp/lemmas/lower_bounds/probe.hpp"
#include "minimax.hpp"

namespace dpsosp {

double lower_bounds::rate(double n, double d, double epsilon) {
  return std::sqrt(d) / (n * epsilon);
}

namespace {

using namespace lower_bounds;

Minimax::Result compute_minimax(const Minimax& p, std::uint64_t) {
  return {.gradient_norm = exact_minimax(p.records, p.epsilon, p.delta)};
}

/// The least constant over n from 1e3 to 1e9, d from 1 to 1e4, ε from 0.01 to 1, δ = 1/n².
double least(double (*constant)(double n, double d, double epsilon, double delta)) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const double n : log_grid(1e3, 1e9, 13))
    for (const double d : log_grid(1, 1e4, 17))
      for (const double epsilon : log_grid(0.01, 1, 9)) {
        if (rate(n, d, epsilon) > 0.1) continue;  // the bound is at most 1/2
        smallest = std::min(smallest, constant(n, d, epsilon, 1 / (n * n)));
      }
  return smallest;
}

double empirical_constant(double n, double d, double epsilon, double delta) {
  return empirical_bound(n, d, epsilon, delta) / rate(n, d, epsilon);
}

/// The constant of the larger of the two bounds; the one for sampling needs no privacy.
double population_constant(double n, double d, double epsilon, double delta) {
  return std::max(tracing_bound(n, d, epsilon, delta), statistical_bound(n)) /
         (1 / std::sqrt(n) + rate(n, d, epsilon));
}

struct ExactLaw {
  bool bounds_are_below = true;  ///< the derived bounds, at every n and ε
  double slope = 0;              ///< in n, of the two largest at ε = 1
};

ExactLaw exact_law(const Evidence& e) {
  ExactLaw law;
  std::vector<double> n, norm;
  for (const JudgedCell& cell : e.cells) {
    const double records = cell.number_at("records"), epsilon = cell.number_at("epsilon");
    const double exact = cell.numbers(&Minimax::Result::gradient_norm).front();
    law.bounds_are_below =
        law.bounds_are_below &&
        exact >= empirical_bound(records, 1, epsilon, small_delta) * (1 - rounding);
    if (epsilon == epsilons.back()) {
      n.push_back(records);
      norm.push_back(exact);
    }
  }
  law.slope = log_slope({n.end()[-2], n.back()}, {norm.end()[-2], norm.back()});
  return law;
}

Finding empirical(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  const ExactLaw law = exact_law(e);
  const double constant = least(empirical_constant);
  return finding(
      law.bounds_are_below && constant >= 0.02,
      fmt::format("at least {:.3f} sqrt(d)/(n eps) for n = 1e3 to 1e9, d = 1 to 1e4, eps = 0.01 to "
                  "1; exact at d = 1: n^{:.3f} from n = {} to {}",
                  constant, law.slope, record_counts.end()[-2], record_counts.back()),
      law.bounds_are_below ? "the constant is below 0.02"
                           : "a derived bound lies above the exact value");
}

Finding population(const Evidence&) {
  const double constant = least(population_constant);
  return finding(
      constant >= 0.02,
      fmt::format("at least {:.3f} (n^(-1/2) + sqrt(d)/(n eps)) for n = 1e3 to 1e9, d = 1 to 1e4, "
                  "eps = 0.01 to 1",
                  constant),
      "the constant is below 0.02");
}

Finding both(const Evidence& e) {
  Finding first = empirical(e);
  const Finding second = population(e);
  if (first.verdict != Verdict::holds) return first;
  if (second.verdict != Verdict::holds) return second;
  first.measured += "; population: " + second.measured;
  return first;
}

std::vector<JobCell> minimax_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double epsilon : epsilons)
    for (const int n : record_counts)
      cells.push_back(probe_cell(study,
                                 Minimax{.records = n, .epsilon = epsilon, .delta = small_delta},
                                 {{"records", static_cast<double>(n)}, {"epsilon", epsilon}}));
  return cells;
}

}  // namespace

std::vector<Predicate> lower_bounds_predicates() {
  return {{"ganesh-2023/table-1-lower-bound-empirical", minimax_cells, empirical},
          {"ganesh-2023/table-1-lower-bound-population",
           [](const Study&) { return std::vector<JobCell>{}; }, population},
          {"lowy-2024/lower-bound", minimax_cells, both}};
}

std::vector<ProbeEntry> lower_bounds_probes() { return {probe_entry<compute_minimax>()}; }

}  // namespace dpsosp
