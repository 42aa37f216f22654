// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/scale.hpp"

/// What the claims of liu-talwar-2025 measure and its exhibits show.
namespace dpsosp::liu_talwar_2025_claims {

/// The grid of a probe: what moves, and the jobs in its order.
struct ProbeSeries {
  std::vector<double> x;
  std::vector<nlohmann::json> jobs;
};

/// n over which schedules are solved; fewer at smoke scale.
ProbeSeries solved_alpha(std::string_view variant, double epsilon, double dimension = 16);
/// Leaves of a tree against the largest norm of its noise.
ProbeSeries tree_noise(Scale scale);
ProbeSeries oracle_errors_by_batch(Scale scale);
ProbeSeries oracle_errors_by_distance(Scale scale);
/// One cell of escapes.
nlohmann::json escape_job(std::string_view problem,
                          std::string_view method,
                          std::string_view error,
                          double ratio,
                          double alpha,
                          int dimension,
                          Scale scale);
/// Curvature over √(ρα) against the share of escapes that leave.
ProbeSeries escapes_by_curvature(std::string_view problem,
                                 std::string_view method,
                                 std::string_view error,
                                 double alpha,
                                 int dimension,
                                 Scale scale);
/// α against escapes at curvature √(ρα).
ProbeSeries escapes_by_alpha(Scale scale);
ProbeSeries ramp_steps_by_gamma(Scale scale);
ProbeSeries uniform_gap_by_records(Scale scale);
ProbeSeries uniform_gap_by_dimension(Scale scale);

/// Seeds of every cell of escapes.
int escape_seeds(Scale scale);

std::vector<nlohmann::json> joined(const std::vector<ProbeSeries>& all);
/// One number of a probe's result; NaN where the probe failed or has none.
double number(const Runs& runs, const nlohmann::json& job, const char* name);
std::vector<double> numbers(const Runs& runs, const ProbeSeries& s, const char* name);
/// The medians over the equally many jobs that every x has.
std::vector<double> medians(const Runs& runs, const ProbeSeries& s, const char* name);

}  // namespace dpsosp::liu_talwar_2025_claims
