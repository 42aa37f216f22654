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

/// The last iterate that was looked at: t = 399 of 400 steps.
Metrics last_seen(const nlohmann::json& result);
Metrics from_certificate(const nlohmann::json& certificate);

/// One value a finished run, as a table cell; "not run" where nothing was.
plots::Cell spread_cell(const CellRuns& runs, double (*value)(const nlohmann::json& result));

double median(std::vector<double> values);

}  // namespace dpsosp::xu_2026_exhibit
