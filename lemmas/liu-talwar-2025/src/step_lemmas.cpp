// SPDX-License-Identifier: Apache-2.0
// How far a path leads, and how far an oracle is off.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/claims/judging.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"

namespace dpsosp {
namespace {

using namespace liu_talwar_2025_claims;
using namespace liu_talwar_2025_probe;

std::vector<JobCell> oracle_cells(const Study& study) {
  return joined({oracle_errors_by_batch(study), oracle_errors_by_distance(study)});
}

Finding oracle_finding(const Evidence& e) {
  if (!e.all_finished()) return nothing_ran();
  std::vector<double> batch, distance;
  for (std::size_t oracle = 0; oracle < 4; ++oracle) {
    batch.push_back(curve_of(e.cells, "batch", quantile_of(oracle)).slope());
    distance.push_back(curve_of(e.cells, "distance", quantile_of(oracle)).slope());
  }
  const bool holds =
      std::ranges::all_of(batch, [](double s) { return std::abs(s + 0.5) <= 0.05; }) &&
      std::abs(distance[1] - 1) <= 0.05 && std::abs(distance[3] - 1) <= 0.05;
  return finding(
      holds, fmt::format("exponents in the batch {:+.3f} (O1 to O4), in the distance {:+.3f} (O2) "
                         "and {:+.3f} (O4)",
                         fmt::join(batch, ", "), distance[1], distance[3]));
}

std::vector<JobCell> hessian_cells(const Study& study) {
  std::vector<JobCell> cells;
  for (const double alpha : {0.1, 0.05, 0.02})
    cells.push_back(probe_cell(
        study,
        HessianErrors{
            .alpha = alpha, .epsilon = 100, .epochs = study.scale == Scale::smoke ? 2 : 20}));
  return cells;
}

Finding hessian_finding(const Evidence& e) {
  double least = 1, low = std::numeric_limits<double>::infinity(), high = 0;
  for (const JudgedCell& cell : e.cells) {
    least = std::min(least, number(cell, &HessianErrors::Result::within) /
                                number(cell, &HessianErrors::Result::epochs));
    low = std::min(low, number(cell, &HessianErrors::Result::median));
    high = std::max(high, number(cell, &HessianErrors::Result::median));
  }
  return finding(least >= 0.95 && high <= 2 * low,
                 fmt::format("error at most √(ρα)/2 in at least {:.0f} % of the epochs of a cell; "
                             "medians of cells between {:.2f} and {:.2f} of it",
                             100 * least, low, high));
}

std::vector<JobCell> quadratic_cells(const Study& study) {
  return {probe_cell(study, QuadraticPaths{.paths = study.scale == Scale::smoke ? 1000 : 20000})};
}

Finding distance_claim_finding(const Evidence& e) {
  const double above = number(e.cells.front(), &QuadraticPaths::Result::above);
  const double by_steps = number(e.cells.front(), &QuadraticPaths::Result::above_by_steps);
  // F = (x² − y²/10)/2 from the saddle 0, η = 1: a step with an error of 0.3 along x goes to 0.3.
  const double left = 0.3 * 0.3, right = 8 * 13 * (-0.3 * 0.3 / 2) + 50 * 0.3 * 0.3;
  return finding(
      above == 0 && left <= right,
      fmt::format("{:g} paths above the bound, {:g} with t for Γ; example {:.2f} against "
                  "{:.2f}",
                  above, by_steps, left, right),
      by_steps == 0 ? "Γ stands for t" : "with t for Γ, too");
}

}  // namespace

std::vector<Predicate> liu_talwar_2025_step_predicates() {
  return {
      {"liu-talwar-2025/3", oracle_cells, oracle_finding},
      {"liu-talwar-2025/4-hessian", hessian_cells, hessian_finding},
      {"liu-talwar-2025/claim-3-7", quadratic_cells, distance_claim_finding},
  };
}

}  // namespace dpsosp
