// SPDX-License-Identifier: Apache-2.0
#include "xu_2026_cells.hpp"

#include <algorithm>

#include "dpsosp/experiments/json_number.hpp"

namespace dpsosp::xu_2026_exhibit {

CellRuns cell(
    const Runs& runs, const Method& method, Setting setting, Control control, Scale scale) {
  CellRuns c;
  if (!is_run(setting, control, method)) return c;
  for (std::uint64_t seed = 0; seed < seeds(setting, control, method, scale); ++seed) {
    const StoredRun& run = runs.at(describe_run(method, setting, control, seed, scale));
    if (run.status == RunStatus::finished) {
      c.finished.push_back(run.result);
      c.seeds.push_back(seed);
    } else {
      ++c.failed;
      c.failure = run.reason.substr(0, run.reason.find(':'));
    }
  }
  return c;
}

bool ended_early(const nlohmann::json& result) {
  return result.at("algorithm").at("status") != "steps_done";
}

Metrics at_end(const nlohmann::json& result) {
  if (ended_early(result)) return from_certificate(result.at("output"));
  const auto& row = result.at("trace").back();
  return {from_json_number(row.at(1)), from_json_number(row.at(2)), from_json_number(row.at(3))};
}

double seen_at(const nlohmann::json& result, double t, std::size_t column) {
  const auto& trace = result.at("trace");
  std::size_t k = 0;
  while (k + 1 < trace.size() && trace[k + 1].at(0).get<double>() <= t) ++k;
  return from_json_number(trace[k].at(column));
}

Metrics from_certificate(const nlohmann::json& c) {
  return {from_json_number(c.at("value")),
          from_json_number(c.at("gradient_norm")),
          from_json_number(c.at("lambda_min"))};
}

plots::Cell spread_cell(const CellRuns& runs, double (*value)(const nlohmann::json& result)) {
  plots::Cell out;
  if (runs.empty()) {
    out.content = std::string("not run");
    return out;
  }
  std::vector<double> values;
  for (const auto& result : runs.finished) values.push_back(value(result));
  out.content = plots::spread_of(values, runs.failed, runs.failure, {.digits = 3});
  return out;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

}  // namespace dpsosp::xu_2026_exhibit
