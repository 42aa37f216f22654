// SPDX-License-Identifier: Apache-2.0
#include "lowy_2024_cells.hpp"

#include <utility>

#include "dpsosp/experiments/metric.hpp"

namespace dpsosp {

using nlohmann::json;

bool says_something(const json& result, std::string_view metric, double promise) {
  const auto start = start_metric(result, metric);
  return start && start_over_result * promise < *start;
}

std::vector<json> sweep_jobs(const std::vector<std::string_view>& names, Scale scale) {
  std::vector<json> jobs;
  for (const std::string_view name : names)
    for (json& job : jobs_of(built_in_sweep(name, scale))) jobs.push_back(std::move(job));
  return jobs;
}

}  // namespace dpsosp
