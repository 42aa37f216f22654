// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/study.hpp"

/// What the claims of liu-talwar-2025 measure and its exhibits show.
namespace dpsosp::liu_talwar_2025_claims {

inline constexpr std::string_view main_sweep = "liu-talwar-2025-adaptive-spider";
inline constexpr std::string_view ablation_sweep = "liu-talwar-2025-ablation";

/// The ε of the private part, and one at which privacy costs nothing.
inline constexpr double small_epsilon = 1e-4, no_privacy = 1e6;

/// The grid of a probe: what moves, and the jobs in its order.
struct ProbeSeries {
  std::vector<double> x;
  std::vector<nlohmann::json> jobs;
};

/// n over which schedules are solved; fewer at smoke scale.
ProbeSeries solved_alpha(const Study& study,
                         std::string_view variant,
                         double epsilon,
                         double dimension = 16);
/// Leaves of a tree against the largest norm of its noise.
ProbeSeries tree_noise(const Study& study);
ProbeSeries oracle_errors_by_batch(const Study& study);
ProbeSeries oracle_errors_by_distance(const Study& study);
/// One cell of escapes.
nlohmann::json escape_job(std::string_view problem,
                          std::string_view method,
                          std::string_view error,
                          double ratio,
                          double alpha,
                          int dimension,
                          const Study& study);
/// Curvature over √(ρα) against the share of escapes that leave.
ProbeSeries escapes_by_curvature(std::string_view problem,
                                 std::string_view method,
                                 std::string_view error,
                                 double alpha,
                                 int dimension,
                                 const Study& study);
/// α against escapes at curvature √(ρα).
ProbeSeries escapes_by_alpha(const Study& study);
ProbeSeries ramp_steps_by_gamma(const Study& study);
ProbeSeries uniform_gap_by_records(const Study& study);
ProbeSeries uniform_gap_by_dimension(const Study& study);

/// Seeds of every cell of escapes.
int escape_seeds(const Study& study);

std::vector<nlohmann::json> joined(const std::vector<ProbeSeries>& all);
/// One number of a probe's result; NaN where the probe failed or has none.
double number(const Runs& runs, const nlohmann::json& job, const char* name);
std::vector<double> numbers(const Runs& runs, const ProbeSeries& s, const char* name);
/// The medians over the equally many jobs that every x has.
std::vector<double> medians(const Runs& runs, const ProbeSeries& s, const char* name);

}  // namespace dpsosp::liu_talwar_2025_claims
