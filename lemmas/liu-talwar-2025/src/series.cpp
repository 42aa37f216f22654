// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/liu_talwar_2025/series.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {
namespace liu_talwar_2025_claims {
namespace {

using namespace liu_talwar_2025_probe;

std::vector<double> at_scale(const Study& study, std::vector<double> smoke,
                             std::vector<double> rest) {
  return study.scale == Scale::smoke ? std::move(smoke) : std::move(rest);
}

OracleErrors oracle_errors(const Study& study, double batch, double distance) {
  return {.batch = std::llround(batch),
          .distance = distance,
          .draws = study.scale == Scale::smoke ? 50 : 500};
}

}  // namespace

JobCell solved_alpha(const Study& study, std::string_view variant, double epsilon, double dimension,
                     std::vector<double> records) {
  return probe_cell(study, SolvedSchedule{.variant = std::string(variant),
                                          .epsilon = epsilon,
                                          .dimension = dimension,
                                          .alpha = {},
                                          .records = std::move(records)});
}

std::vector<JobCell> tree_noise(const Study& study, int dimension) {
  std::vector<JobCell> cells;
  for (const double leaves : at_scale(study, {16, 64}, {16, 64, 256, 1024, 4096}))
    cells.push_back(probe_cell(study,
                               TreeNoise{.leaves = std::llround(leaves),
                                         .trees = 20,
                                         .dimension = dimension,
                                         .covariance = false},
                               {{"leaves", leaves}, {"dimension", dimension}}));
  return cells;
}

std::vector<JobCell> oracle_errors_by_batch(const Study& study) {
  return probe_cells(study, "batch", at_scale(study, {1e2, 1e3}, {1e2, 1e3, 1e4, 1e5, 1e6}),
                     [&](double batch) { return oracle_errors(study, batch, 0.01); });
}

std::vector<JobCell> oracle_errors_by_distance(const Study& study) {
  return probe_cells(study, "distance", at_scale(study, {1e-3, 1e-2}, {1e-3, 1e-2, 1e-1}),
                     [&](double distance) { return oracle_errors(study, 10000, distance); });
}

JobCell escape_cell(std::string_view problem, std::string_view method, std::string_view error,
                    double ratio, double alpha, int dimension, const Study& study, Coordinates at) {
  return probe_cell(study,
                    Escapes{.problem = std::string(problem),
                            .method = std::string(method),
                            .error = std::string(error),
                            .ratio = ratio,
                            .alpha = alpha,
                            .dimension = dimension,
                            .error_over_alpha = 0.25,
                            .seeds = escape_seeds(study)},
                    std::move(at));
}

std::vector<JobCell> escapes_by_curvature(std::string_view problem, std::string_view method,
                                          std::string_view error, double alpha, int dimension,
                                          const Study& study, const Coordinates& of) {
  std::vector<JobCell> cells;
  for (const double ratio :
       at_scale(study, {0.5, 1, 2}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2, 4, 10})) {
    Coordinates at = of;
    at.emplace_back("curvature", ratio);
    cells.push_back(
        escape_cell(problem, method, error, ratio, alpha, dimension, study, std::move(at)));
  }
  return cells;
}

std::vector<JobCell> escapes_by_alpha(const Study& study) {
  std::vector<JobCell> cells;
  for (const double alpha :
       at_scale(study, {1e-2, 1e-1}, {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1}))
    cells.push_back(escape_cell("quartic-saddle", "hessian_power", "benign", 1, alpha, 16, study,
                                {{"alpha", alpha}}));
  return cells;
}

std::vector<JobCell> ramp_steps_by_gamma(const Study& study) {
  return probe_cells(study, "gamma", at_scale(study, {1e-2, 1e-1}, {1e-3, 3e-3, 1e-2, 3e-2, 1e-1}),
                     [](double gamma) { return RampSteps{.gamma = gamma, .drop = 1.0}; });
}

std::vector<JobCell> uniform_gap_by_records(const Study& study) {
  return probe_cells(
      study, "records", at_scale(study, {1e2, 1e3}, {1e2, 1e3, 1e4, 1e5}),
      [](double n) { return UniformGap{.records = std::llround(n), .dimension = 10}; }, 3);
}

std::vector<JobCell> uniform_gap_by_dimension(const Study& study) {
  return probe_cells(
      study, "dimension", at_scale(study, {4, 16}, {4, 16, 64, 256}),
      [](double d) { return UniformGap{.records = 10000, .dimension = std::llround(d)}; }, 3);
}

int escape_seeds(const Study& study) { return study.scale == Scale::smoke ? 20 : 200; }

double median_of_all(const JudgedCell& cell, const std::vector<std::optional<double>>& numbers) {
  std::vector<double> values;
  for (const std::optional<double>& number : numbers)
    values.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
  const bool all = cell.all_finished() &&
                   std::ranges::all_of(numbers, [](const auto& n) { return n.has_value(); });
  return all ? median(std::move(values)) : std::numeric_limits<double>::quiet_NaN();
}

Number quantile_of(std::size_t oracle) {
  return number_of<OracleErrors::Result>(
      [oracle](const OracleErrors::Result& r) { return r.quantiles.at(oracle); });
}

Curve curve_of(const std::vector<JudgedCell>& cells, std::string_view axis, const Number& number,
               const Coordinates& of) {
  Curve c;
  for (const JudgedCell& cell : cells) {
    const Coordinates& at = cell.cell().at;
    const auto x = coordinate(at, axis);
    if (!x || !std::ranges::all_of(
                  of, [&](const auto& fixed) { return std::ranges::find(at, fixed) != at.end(); }))
      continue;
    c.x.push_back(*x);
    c.y.push_back(number(cell));
  }
  return c;
}

Curve curve_of(const Runs& runs, const std::vector<JobCell>& cells, std::string_view axis,
               const Number& number) {
  std::vector<JudgedCell> judged;
  for (const JobCell& cell : cells) judged.emplace_back(cell, runs);
  return curve_of(judged, axis, number);
}

Curve solved_curve(const JudgedCell& cell) {
  const auto given = read_parameters<SolvedSchedule>(cell.cell().jobs.front().probe()->parameters);
  const auto found = cell.results<SolvedSchedule::Result>().front();
  return given.alpha ? Curve{*given.alpha, found.records} : Curve{*given.records, found.alpha};
}

}  // namespace liu_talwar_2025_claims
}  // namespace dpsosp
