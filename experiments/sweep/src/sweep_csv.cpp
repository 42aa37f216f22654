// SPDX-License-Identifier: Apache-2.0
// The tables of a sweep for programs.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "shown_metrics.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{:.17g}", *value) : "";
}

std::string csv_value(const json& value) {
  if (value.is_number()) return csv_number(value.get<double>());
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string csv_row(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string cells_csv(const Runs& runs, const Sweep& sweep, const Part& part) {
  const std::vector<std::string> metrics = shown_metrics(sweep, part);
  constexpr std::array others{"schedule.alpha", "estimate.median", "steps",
                              "records_used",   "evaluations",     "privacy.spent"};
  std::vector<std::string> names{"arm"};
  for (const Axis& axis : part.axes)
    for (const auto& [name, unused] : axis.front()) names.push_back(csv_field(name));
  for (const std::string& m : metrics)
    for (const char* what : {"median", "low", "high", "n"})
      names.push_back(csv_field(fmt::format("{}.{}", m, what)));
  names.emplace_back("start");
  names.insert(names.end(), others.begin(), others.end());
  names.insert(names.end(), {"runs", "failed", "failure"});
  std::string csv = csv_row(names);
  for (const dpsosp::Cell& c : cells_of(sweep, part)) {
    std::vector<std::string> row{csv_field(sweep.arms[c.arm].name)};
    for (const auto& [unused, value] : c.at) row.push_back(csv_value(value));
    CellMetric last;
    for (const std::string& m : metrics) {
      last = measure(runs, c, m);
      const bool any = !last.values.empty();
      row.push_back(csv_number(median(last.values)));
      row.push_back(any ? csv_number(std::ranges::min(last.values)) : "");
      row.push_back(any ? csv_number(std::ranges::max(last.values)) : "");
      row.push_back(std::to_string(last.values.size()));
    }
    row.push_back(csv_number(measure_start(runs, c, metrics.front())));
    for (const char* name : others)
      row.push_back(csv_number(median(measure(runs, c, name).values)));
    row.push_back(std::to_string(c.runs.size()));
    row.push_back(std::to_string(last.failed));
    row.push_back(csv_field(last.failure));
    csv += csv_row(row);
  }
  return csv;
}

std::string slopes_csv(const std::vector<Slope>& slopes) {
  std::vector<std::string> fixed;  // coordinates that a slope is at one value of
  for (const Slope& s : slopes)
    for (const auto& [name, unused] : s.slice)
      if (std::ranges::find(fixed, name) == fixed.end()) fixed.push_back(name);
  std::vector<std::string> names{"part", "arm", "axis", "unit", "metric"};
  for (const std::string& name : fixed) names.push_back(csv_field(name));
  names.insert(names.end(), {"claimed_low", "claimed_high", "reference", "slope", "low", "high",
                             "drift", "drifting", "cells", "cells_left_out", "seeds", "verdict",
                             "bound", "reason", "privacy"});
  std::string csv = csv_row(names);
  for (const Slope& s : slopes) {
    std::vector<std::string> row{csv_field(s.part), csv_field(s.arm), csv_field(s.request.axis),
                                 s.request.in_noise ? "noise" : "", csv_field(s.request.metric)};
    for (const std::string& name : fixed) {
      const auto at = std::ranges::find(s.slice, name, &Coordinates::value_type::first);
      row.push_back(at == s.slice.end() ? "" : csv_value(at->second));
    }
    const auto& claimed = s.request.claimed;
    const auto of_claim = [&](double ClaimedExponent::*end) {
      return claimed ? csv_number((*claimed).*end) : "";
    };
    const auto of_fit = [&](const auto& value) { return s.fit ? csv_number(value(*s.fit)) : ""; };
    row.push_back(of_claim(&ClaimedExponent::low));
    row.push_back(of_claim(&ClaimedExponent::high));
    row.push_back(csv_number(s.request.reference));
    row.push_back(of_fit([](const SlopeFit& f) { return f.slope; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.interval.low; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.interval.high; }));
    row.push_back(of_fit([](const SlopeFit& f) { return f.drift; }));
    row.push_back(!s.fit ? "" : s.fit->drifting ? "true" : "false");
    row.push_back(std::to_string(s.cells.size()));
    row.push_back(std::to_string(s.left_out.size()));
    row.push_back(of_fit([](const SlopeFit& f) { return static_cast<double>(f.seeds); }));
    row.push_back(claimed ? csv_field(to_string(s.verdict.verdict)) : "");
    row.push_back(claimed ? csv_field(to_string(s.verdict.bound)) : "");
    row.push_back(csv_field(s.verdict.reason));
    row.push_back(csv_field(fmt::format("{}", fmt::join(s.privacy, ", "))));
    csv += csv_row(row);
  }
  return csv;
}

std::string timings_csv(const Store& store, const Sweep& sweep) {
  std::set<std::string> wanted;
  for (const Sweep& phase : {search_of(sweep), sweep})
    for (const Job& job : jobs_of(phase)) wanted.insert(job.hash());
  std::string timings = "run,cpu_seconds\r\n";
  for (const StoredCost& c : store.costs())
    if (wanted.contains(c.hash)) timings += fmt::format("{},{}\r\n", c.hash, c.cpu_seconds);
  return timings;
}

std::string runs_csv(const Sweep& sweep) {
  std::string rows = "run,part,arm,use\r\n";
  const auto add = [&](const Sweep& phase, const char* use) {
    for (const Part& part : phase.parts)
      for (const dpsosp::Cell& cell : cells_of(phase, part))
        for (const Job& job : cell.runs)
          rows += fmt::format("{},{},{},{}\r\n", job.hash(), part.name,
                              csv_field(phase.arms[cell.arm].name), use);
  };
  add(search_of(sweep), "tuning");
  add(sweep, "result");
  return rows;
}

}  // namespace dpsosp
