// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"
#include "settings.hpp"

namespace dpsosp::xu_2026_exhibit {

/// Φ, ‖∇Φ‖ and λ_min(∇²Φ).
struct Metrics {
  double value = 0;
  double gradient_norm = 0;
  double lambda_min = 0;
};

/// All seeds of one method in one setting under one control.
struct CellRuns {
  std::vector<const RunResult*> finished;
  std::vector<std::uint64_t> seeds;  ///< of the finished runs
  Index failed = 0;
  std::string failure;  ///< how they failed

  bool empty() const { return finished.empty() && failed == 0; }
};
CellRuns cell(const Runs& runs, const Method& method, Setting setting, Control control,
              const Study& study);

/// At the last recorded iterate, t = 399 of 400 steps; of a run that certified a point
/// and ended earlier, at that point.
Metrics at_end(const RunResult& result);
bool ended_early(const RunResult& result);
/// A column of the trace at the last time seen up to t.
double seen_at(const RunResult& result, double t, double TraceRow::*column);
Metrics metrics_of(const Certificate& certificate);

/// One value a finished run, as a table cell; "not run" where nothing was.
plots::Cell spread_cell(const CellRuns& runs, double (*value)(const RunResult& result));

/// One number of a finished run's result.
using Value = double (*)(const RunResult& result);
/// Φ, ‖∇Φ‖, λ_min at the end, at x₀ and at x = 0.
extern const std::array<Value, 3> at_the_end;
extern const std::array<Value, 3> at_the_start;
extern const std::array<Value, 3> at_the_origin;

/// Median over the finished runs; NaN if there is none.
double median_of(const CellRuns& runs, Value value);
/// A numeric parameter of the run's algorithm; NaN if it has none of that name.
double parameter(const RunResult& result, const std::string& name);
/// Runs that halved both Φ and the negative curvature of the origin.
std::int64_t escaped(const CellRuns& runs);
/// How the published numbers lie to our ranges over seeds.
struct Coverage {
  int within = 0;
  int all = 0;
  double farthest = 1.0;  ///< largest factor by which one lies outside its range
};
/// Adds the three numbers of one row.
void add_coverage(Coverage& covered, const CellRuns& runs, const Published& published);
Coverage coverage(const Runs& runs, Setting setting, const Study& study);

/// Distance of the outputs of two runs that differ in the data set alone.
struct Swap {
  std::int64_t pairs = 0;
  std::int64_t identical = 0;
  std::vector<double> distances;
  std::vector<double> norms;  // ‖x_T‖ of the first run
};

Swap swap_of(const Runs& runs, const Method& method, Setting setting, const Study& study);

}  // namespace dpsosp::xu_2026_exhibit
