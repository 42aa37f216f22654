// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/experiments/fit.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {

using nlohmann::json;

CellRuns cell(
    const Runs& runs, const Method& method, Setting setting, Control control, const Study& study) {
  CellRuns c;
  if (!is_run(setting, control, method)) return c;
  for (std::uint64_t seed = 0; seed < seeds(setting, control, method, study); ++seed) {
    const StoredRun& run = runs.at(describe_run(method, setting, control, seed, study));
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

const std::array<Value, 3> at_the_end{[](const json& r) { return at_end(r).value; },
                                      [](const json& r) { return at_end(r).gradient_norm; },
                                      [](const json& r) { return at_end(r).lambda_min; }};
const std::array<Value, 3> at_the_start{
    [](const json& r) { return from_certificate(r.at("start")).value; },
    [](const json& r) { return from_certificate(r.at("start")).gradient_norm; },
    [](const json& r) { return from_certificate(r.at("start")).lambda_min; }};
const std::array<Value, 3> at_the_origin{
    [](const json& r) { return from_certificate(r.at("origin")).value; },
    [](const json& r) { return from_certificate(r.at("origin")).gradient_norm; },
    [](const json& r) { return from_certificate(r.at("origin")).lambda_min; }};

double median_of(const CellRuns& c, Value value) {
  if (c.finished.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values;
  for (const json& r : c.finished) values.push_back(value(r));
  return median(values);
}

double parameter(const json& result, const std::string& name) {
  const auto& parameters = result.at("algorithm").at("parameters");
  return parameters.contains(name) ? std::stod(parameters.at(name).get<std::string>())
                                   : std::numeric_limits<double>::quiet_NaN();
}

std::int64_t escaped(const CellRuns& c) {
  return std::ranges::count_if(c.finished, [](const json& r) {
    const Metrics end = at_end(r), origin = from_certificate(r.at("origin"));
    return end.value <= 0.5 * origin.value && end.lambda_min >= 0.5 * origin.lambda_min;
  });
}

Coverage coverage(const Runs& runs, Setting setting, const Study& study) {
  Coverage covered;
  for (const Method& m : methods()) {
    if (!m.published) continue;
    const CellRuns c = cell(runs, m, setting, Control::none, study);
    const std::array<double, 3> published{
        m.published->value, m.published->gradient_norm, m.published->lambda_min};
    for (std::size_t k = 0; k < 3; ++k) {
      ++covered.all;
      double low = std::numeric_limits<double>::infinity(), high = 0.0;  // of magnitudes
      for (const json& r : c.finished) {
        low = std::min(low, std::abs(at_the_end[k](r)));
        high = std::max(high, std::abs(at_the_end[k](r)));
      }
      const double outside = std::max(low / std::abs(published[k]), std::abs(published[k]) / high);
      if (outside <= 1.0)
        ++covered.within;
      else
        covered.farthest = std::max(covered.farthest, outside);
    }
  }
  return covered;
}

namespace {

double distance(const json& a, const json& b) {
  double squared = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    squared += std::pow(a[k].get<double>() - b[k].get<double>(), 2);
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
    const json& x = base.finished[k].at("point");
    const json& y =
        other.finished[static_cast<std::size_t>(found - other.seeds.begin())].at("point");
    ++s.pairs;
    if (x == y) ++s.identical;
    s.distances.push_back(distance(x, y));
    s.norms.push_back(distance(x, json(std::vector<double>(x.size(), 0.0))));
  }
  return s;
}

}  // namespace dpsosp::xu_2026_exhibit
