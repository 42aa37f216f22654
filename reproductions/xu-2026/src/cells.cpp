// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {

CellRuns cell(const Runs& runs, const Method& method, Setting setting, Control control,
              const Study& study) {
  CellRuns c;
  for (const RunDescription& description : runs_of(method, setting, control, study)) {
    const StoredRun& run = runs.at(description);
    if (const RunResult* result = runs.result(run)) {
      c.finished.push_back(result);
      c.seeds.push_back(description.seed);
    } else {
      ++c.failed;
      c.failure = run.reason.substr(0, run.reason.find(':'));
    }
  }
  return c;
}

bool ended_early(const RunResult& result) { return result.algorithm.status != Status::steps_done; }

Metrics at_end(const RunResult& result) {
  if (ended_early(result)) return metrics_of(result.output);
  const TraceRow& row = result.trace.value().back();
  return {row.value, row.gradient_norm, row.lambda_min};
}

double seen_at(const RunResult& result, double t, double TraceRow::*column) {
  const std::vector<TraceRow>& trace = result.trace.value();
  std::size_t k = 0;
  while (k + 1 < trace.size() && static_cast<double>(trace[k + 1].t) <= t) ++k;
  return trace[k].*column;
}

Metrics metrics_of(const Certificate& c) { return {c.value, c.gradient_norm, c.lambda_min}; }

plots::Cell spread_cell(const CellRuns& runs, double (*value)(const RunResult& result)) {
  if (runs.empty()) return plots::text_cell("not run");
  std::vector<double> values;
  for (const RunResult* result : runs.finished) values.push_back(value(*result));
  return plots::spread_cell(values, runs.failed, runs.failure);
}

const std::array<Value, 3> at_the_end{[](const RunResult& r) { return at_end(r).value; },
                                      [](const RunResult& r) { return at_end(r).gradient_norm; },
                                      [](const RunResult& r) { return at_end(r).lambda_min; }};
const std::array<Value, 3> at_the_start{
    [](const RunResult& r) { return metrics_of(r.start).value; },
    [](const RunResult& r) { return metrics_of(r.start).gradient_norm; },
    [](const RunResult& r) { return metrics_of(r.start).lambda_min; }};
const std::array<Value, 3> at_the_origin{
    [](const RunResult& r) { return metrics_of(r.origin).value; },
    [](const RunResult& r) { return metrics_of(r.origin).gradient_norm; },
    [](const RunResult& r) { return metrics_of(r.origin).lambda_min; }};

double median_of(const CellRuns& c, Value value) {
  if (c.finished.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
  for (const RunResult* r : c.finished) values.push_back(value(*r));
  return median(values);
}

double parameter(const RunResult& result, const std::string& name) {
  return metric_of(result, "parameters." + name).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::int64_t escaped(const CellRuns& c) {
  return std::ranges::count_if(c.finished, [](const RunResult* r) {
    const Metrics end = at_end(*r), origin = metrics_of(r->origin);
    return end.value <= 0.5 * origin.value && end.lambda_min >= 0.5 * origin.lambda_min;
  });
}

void add_coverage(Coverage& covered, const CellRuns& runs, const Published& published) {
  const std::array<double, 3> numbers{published.value, published.gradient_norm,
                                      published.lambda_min};
  for (std::size_t k = 0; k < 3; ++k) {
    ++covered.all;
    double low = std::numeric_limits<double>::infinity(), high = 0.0;  // of magnitudes
    for (const RunResult* r : runs.finished) {
      low = std::min(low, std::abs(at_the_end[k](*r)));
      high = std::max(high, std::abs(at_the_end[k](*r)));
    }
    const double outside = std::max(low / std::abs(numbers[k]), std::abs(numbers[k]) / high);
    if (outside <= 1.0)
      ++covered.within;
    else
      covered.farthest = std::max(covered.farthest, outside);
  }
}

Coverage coverage(const Runs& runs, Setting setting, const Study& study) {
  Coverage covered;
  for (const Method& m : methods())
    if (m.published)
      add_coverage(covered, cell(runs, m, setting, Control::none, study), *m.published);
  return covered;
}

namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squared = 0;
  for (std::size_t k = 0; k < a.size(); ++k) squared += std::pow(a[k] - b[k], 2);
  return std::sqrt(squared);
}

}  // namespace

Swap swap_of(const Runs& runs, const Method& m, Setting setting, const Study& study) {
  Swap s;
  const CellRuns base = cell(runs, m, setting, Control::none, study);
  const CellRuns other = cell(runs, m, setting, Control::swapped, study);
  for (std::size_t k = 0; k < base.finished.size(); ++k) {
    const auto found = std::ranges::find(other.seeds, base.seeds[k]);
    if (found == other.seeds.end()) continue;
    const std::vector<double>& x = base.finished[k]->point.value();
    const std::vector<double>& y =
        other.finished[static_cast<std::size_t>(found - other.seeds.begin())]->point.value();
    ++s.pairs;
    if (x == y) ++s.identical;
    s.distances.push_back(distance(x, y));
    s.norms.push_back(distance(x, std::vector<double>(x.size(), 0.0)));
  }
  return s;
}

}  // namespace dpsosp::xu_2026_exhibit
