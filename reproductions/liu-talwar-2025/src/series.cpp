// SPDX-License-Identifier: Apache-2.0
#include "series.hpp"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/study.hpp"
#include "probes.hpp"

namespace dpsosp {
namespace liu_talwar_2025_claims {
namespace {

using nlohmann::json;

std::vector<double> at_scale(const Study& study,
                             std::vector<double> smoke,
                             std::vector<double> rest) {
  return study.scale == Scale::smoke ? std::move(smoke) : std::move(rest);
}

ProbeSeries oracle_errors(std::vector<double> x, bool by_batch, const Study& study) {
  ProbeSeries s{.x = std::move(x), .jobs = {}};
  for (const double v : s.x)
    s.jobs.push_back(study.probe("liu-talwar-2025/oracle-errors",
                                 {{"batch", by_batch ? std::llround(v) : 10000},
                                  {"distance", by_batch ? 0.01 : v},
                                  {"draws", study.scale == Scale::smoke ? 50 : 500}}));
  return s;
}

}  // namespace

json escape_job(std::string_view problem,
                std::string_view method,
                std::string_view error,
                double ratio,
                double alpha,
                int dimension,
                const Study& study) {
  return study.probe("liu-talwar-2025/escapes",
                     {{"problem", problem},
                      {"method", method},
                      {"error", error},
                      {"ratio", ratio},
                      {"alpha", alpha},
                      {"dimension", dimension},
                      {"error_over_alpha", 0.25},
                      {"seeds", escape_seeds(study)}});
}

ProbeSeries solved_alpha(const Study& study,
                         std::string_view variant,
                         double epsilon,
                         double dimension) {
  ProbeSeries s{.x = {1e10, 1e11, 1e12, 1e13, 1e14}, .jobs = {}};
  s.jobs = {study.probe(
      "liu-talwar-2025/solved-schedule",
      {{"variant", variant}, {"epsilon", epsilon}, {"dimension", dimension}, {"records", s.x}})};
  return s;
}

ProbeSeries tree_noise(const Study& study) {
  ProbeSeries s{.x = at_scale(study, {16, 64}, {16, 64, 256, 1024, 4096}), .jobs = {}};
  for (const double leaves : s.x)
    s.jobs.push_back(study.probe("liu-talwar-2025/tree-noise",
                                 {{"leaves", std::llround(leaves)},
                                  {"trees", 20},
                                  {"dimension", 4},
                                  {"covariance", false}}));
  return s;
}

ProbeSeries oracle_errors_by_batch(const Study& study) {
  return oracle_errors(at_scale(study, {1e2, 1e3}, {1e2, 1e3, 1e4, 1e5, 1e6}), true, study);
}

ProbeSeries oracle_errors_by_distance(const Study& study) {
  return oracle_errors(at_scale(study, {1e-3, 1e-2}, {1e-3, 1e-2, 1e-1}), false, study);
}

ProbeSeries escapes_by_curvature(std::string_view problem,
                                 std::string_view method,
                                 std::string_view error,
                                 double alpha,
                                 int dimension,
                                 const Study& study) {
  ProbeSeries s{.x = at_scale(study, {0.5, 1, 2}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2, 4, 10}),
                .jobs = {}};
  for (const double ratio : s.x)
    s.jobs.push_back(escape_job(problem, method, error, ratio, alpha, dimension, study));
  return s;
}

ProbeSeries escapes_by_alpha(const Study& study) {
  ProbeSeries s{.x = at_scale(study, {1e-2, 1e-1}, {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1}),
                .jobs = {}};
  for (const double alpha : s.x)
    s.jobs.push_back(escape_job("quartic-saddle", "hessian_power", "benign", 1, alpha, 16, study));
  return s;
}

ProbeSeries ramp_steps_by_gamma(const Study& study) {
  ProbeSeries s{.x = at_scale(study, {1e-2, 1e-1}, {1e-3, 3e-3, 1e-2, 3e-2, 1e-1}), .jobs = {}};
  for (const double gamma : s.x)
    s.jobs.push_back(study.probe("liu-talwar-2025/ramp-steps", {{"gamma", gamma}, {"drop", 1.0}}));
  return s;
}

ProbeSeries uniform_gap_by_records(const Study& study) {
  ProbeSeries s{.x = at_scale(study, {100, 1000}, {100, 1000, 10000, 100000}), .jobs = {}};
  for (const double n : s.x)
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      s.jobs.push_back(study.probe(
          "liu-talwar-2025/uniform-gap", {{"records", std::llround(n)}, {"dimension", 10}}, seed));
  return s;
}

ProbeSeries uniform_gap_by_dimension(const Study& study) {
  ProbeSeries s{.x = at_scale(study, {4, 16}, {4, 16, 64, 256}), .jobs = {}};
  for (const double d : s.x)
    for (std::uint64_t seed = 0; seed < 3; ++seed)
      s.jobs.push_back(study.probe("liu-talwar-2025/uniform-gap",
                                   {{"records", 10000}, {"dimension", std::llround(d)}},
                                   seed));
  return s;
}

int escape_seeds(const Study& study) { return study.scale == Scale::smoke ? 20 : 200; }

std::vector<json> joined(const std::vector<ProbeSeries>& all) {
  std::vector<json> jobs;
  for (const ProbeSeries& s : all) jobs.insert(jobs.end(), s.jobs.begin(), s.jobs.end());
  return jobs;
}

/// One number of a probe's result; NaN where the probe failed or has none.
double number(const Runs& runs, const json& job, const char* name) {
  const StoredRun& run = runs.at(job);
  if (run.status == RunStatus::failed || run.result.at(name).is_null())
    return std::numeric_limits<double>::quiet_NaN();
  return from_json_number(run.result.at(name));
}

std::vector<double> numbers(const Runs& runs, const ProbeSeries& s, const char* name) {
  std::vector<double> all;
  for (const json& job : s.jobs) all.push_back(number(runs, job, name));
  return all;
}

/// The medians over the equally many jobs that every x has.
std::vector<double> medians(const Runs& runs, const ProbeSeries& s, const char* name) {
  const std::vector<double> all = numbers(runs, s, name);
  const std::size_t each = all.size() / s.x.size();
  std::vector<double> middle;
  for (std::size_t k = 0; k < s.x.size(); ++k)
    middle.push_back(median({all.begin() + static_cast<std::ptrdiff_t>(k * each),
                             all.begin() + static_cast<std::ptrdiff_t>((k + 1) * each)}));
  return middle;
}

}  // namespace liu_talwar_2025_claims
}  // namespace dpsosp
