// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/claims/predicate.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/probes.hpp"

/// What the claims of liu-talwar-2025 measure and its exhibits show.
namespace dpsosp::liu_talwar_2025_claims {

inline constexpr const char* main_sweep = "liu-talwar-2025-adaptive-spider";
inline constexpr const char* ablation_sweep = "liu-talwar-2025-ablation";

/// The ε of the private part, and one at which privacy costs nothing.
inline constexpr double small_epsilon = 1e-4, no_privacy = 1e6;

/// n over which the schedules of a variant are solved.
JobCell solved_alpha(const Study& study, std::string_view variant, double epsilon,
                     double dimension = 16,
                     std::vector<double> records = {1e10, 1e11, 1e12, 1e13, 1e14});
/// Leaves of a tree against the largest norm of its noise.
std::vector<JobCell> tree_noise(const Study& study, int dimension = 4);
std::vector<JobCell> oracle_errors_by_batch(const Study& study);
std::vector<JobCell> oracle_errors_by_distance(const Study& study);
JobCell escape_cell(std::string_view problem, std::string_view method, std::string_view error,
                    double ratio, double alpha, int dimension, const Study& study,
                    Coordinates at = {});
/// Curvature over √(ρα) against the share of escapes that leave; `of` sets the series apart.
std::vector<JobCell> escapes_by_curvature(std::string_view problem, std::string_view method,
                                          std::string_view error, double alpha, int dimension,
                                          const Study& study, const Coordinates& of = {});
/// α against escapes at curvature √(ρα).
std::vector<JobCell> escapes_by_alpha(const Study& study);
std::vector<JobCell> ramp_steps_by_gamma(const Study& study);
std::vector<JobCell> uniform_gap_by_records(const Study& study);
std::vector<JobCell> uniform_gap_by_dimension(const Study& study);

/// Seeds of every cell of escapes.
int escape_seeds(const Study& study);

/// The median of as many numbers as the cell has probes; NaN where a probe failed or has none.
double median_of_all(const JudgedCell& cell, const std::vector<std::optional<double>>& numbers);

/// One number of a cell's probes, the median over seeds; NaN where a probe failed or has none.
using Number = std::function<double(const JudgedCell&)>;
/// \param part  of a result: a member, or a function of it
template <Listed Result>
Number number_of(std::function<std::optional<double>(const Result&)> part) {
  return [part = std::move(part)](const JudgedCell& cell) {
    std::vector<std::optional<double>> numbers;
    for (const Result& result : cell.results<Result>()) numbers.push_back(part(result));
    return median_of_all(cell, numbers);
  };
}
template <Listed Result, class Value>
Number number_of(Value Result::*member) {
  return number_of<Result>(std::function<std::optional<double>(const Result&)>(member));
}
template <Listed Result, class Value>
double number(const JudgedCell& cell, Value Result::*member) {
  return number_of(member)(cell);
}
/// The sampling error of O1 (0) to O4 (3).
Number quantile_of(std::size_t oracle);

struct Curve {
  std::vector<double> x, y;

  double slope() const { return log_slope(x, y); }
};
/// A number of the cells that have the coordinate `axis`, and those of `of`.
Curve curve_of(const std::vector<JudgedCell>& cells, std::string_view axis, const Number& number,
               const Coordinates& of = {});
Curve curve_of(const Runs& runs, const std::vector<JobCell>& cells, std::string_view axis,
               const Number& number);
template <Listed Result, class Value>
Curve curve_of(const std::vector<JudgedCell>& cells, std::string_view axis, Value Result::*member,
               const Coordinates& of = {}) {
  return curve_of(cells, axis, number_of(member), of);
}
/// What a solved-schedule probe was given, α or n, against the other that it found.
Curve solved_curve(const JudgedCell& cell);

}  // namespace dpsosp::liu_talwar_2025_claims
