// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "xu_2026_settings.hpp"

namespace dpsosp::xu_2026_exhibit {

/// Φ, ‖∇Φ‖ and λ_min(∇²Φ).
struct Metrics {
  double value = 0;
  double gradient_norm = 0;
  double lambda_min = 0;
};

/// All seeds of one method in one setting under one control.
struct CellRuns {
  std::vector<nlohmann::json> finished;  ///< results
  std::vector<std::uint64_t> seeds;      ///< of the finished runs
  Index failed = 0;
  std::string failure;  ///< how they failed

  bool empty() const { return finished.empty() && failed == 0; }
};
CellRuns cell(
    const Runs& runs, const Method& method, Setting setting, Control control, Scale scale);

/// At the last iterate that was looked at, t = 399 of 400 steps; of a run that certified a point
/// and ended earlier, at that point.
Metrics at_end(const nlohmann::json& result);
bool ended_early(const nlohmann::json& result);
/// Column 1, 2 or 3 of the trace at the last time seen up to t.
double seen_at(const nlohmann::json& result, double t, std::size_t column);
Metrics from_certificate(const nlohmann::json& certificate);

/// One value a finished run, as a table cell; "not run" where nothing was.
plots::Cell spread_cell(const CellRuns& runs, double (*value)(const nlohmann::json& result));

double median(std::vector<double> values);

}  // namespace dpsosp::xu_2026_exhibit
