// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/rates_table.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/sweep_report.hpp"

namespace dpsosp {

std::vector<std::string> rate_sweeps(const Study& study) {
  std::vector<std::string> names;
  for (const BuiltInSweep& s : study.catalogue.sweeps) {
    const Sweep sweep = study.sweep(s.name);
    if (std::ranges::any_of(sweep.parts,
                            [](const Part& p) { return std::ranges::any_of(p.fits, is_rate); }))
      names.emplace_back(s.name);
  }
  return names;
}

plots::Table rates_table(const Runs& runs, const Study& study) {
  plots::Table t;
  t.id = "rates";
  t.title = "Rates: claimed and measured exponents";
  t.caption =
      "Slope of the logarithm of the metric on the logarithm of the axis, 95 % interval over "
      "seeds. A slope stands here by the metric of its claim. Zone: the "
      "slopes that are called as claimed, half-way to the next exponent that a paper names on this "
      "axis and at most 0.05 to either side. Of means: the slope through the means of cells. Of "
      "the plan: the slope of the accuracy that the schedules solved for; a measured slope like it "
      "is what the plan makes it. Bound: whether every "
      "level is below the solved accuracy, or the ratio to the claimed power rises with n, d or "
      "1/ε. Drift: "
      "change of the slope over the range, * where its 95 % interval excludes 0. √ρ(ε): the "
      "exponent in the noise that ε allows, since a claimed 1/ε stands for sqrt(ln(1/δ))/ε. Over "
      "ε = ∞: the metric over that of the same run without noise, median [smallest, largest] over "
      "seeds where a control repeats the cell; near 1, the slope is that of sampling or of the "
      "schedule and not of noise. Each algorithm's own pages show the runs.";
  t.row_header = "algorithm";
  t.column_groups.push_back(
      {"",
       {"privacy", "metric", "axis", "claimed", "zone", "measured", "95 % interval", "of means",
        "of the plan", "drift", "over ε = ∞", "bound", "verdict"}});
  for (const std::string& name : rate_sweeps(study)) {
    const Sweep sweep = study.sweep(name);
    plots::RowGroup group{.label = sweep.title};
    for (const Slope& s : slopes_of(runs, sweep)) {
      if (!is_rate(s.request)) continue;
      plots::Row row{.label = s.arm + (s.slice.empty() ? "" : " (" + to_text(s.slice) + ")")};
      if (s.part != "n" && s.part != "d" && s.part != "epsilon") row.label += ", " + s.part;
      row.cells = {
          plots::text_cell(fmt::format("{}", fmt::join(s.privacy, ", "))),
          plots::text_cell(metric_label(s.request.metric)),
          plots::text_cell(axis_symbol(s.request)),
          plots::text_cell(to_text(*s.request.claimed)),
          plots::text_cell(to_text(zone_of(*s.request.claimed, s.request.rivals))),
          plots::text_cell(s.fit ? fmt::format("{:+.3f}", s.fit->slope) : "–"),
          plots::text_cell(s.fit ? to_text(s.fit->interval) : "–"),
          plots::text_cell(s.fit ? fmt::format("{:+.3f}", s.fit->mean_slope) : "–"),
          plots::text_cell(s.of_plan ? fmt::format("{:+.3f}", *s.of_plan) : "–"),
          plots::text_cell(
              s.fit ? fmt::format("{:+.2f}{}", s.fit->drift, s.fit->drifting ? "*" : "") : "–"),
          plots::spread_cell(over_noiseless(runs, sweep, s), 0, "", 2),
          plots::text_cell(std::string(to_string(s.verdict.bound))),
          plots::text_cell(s.verdict.reason)};
      row.cells.back().labels.push_back(verdict_label(s.verdict));
      group.rows.push_back(std::move(row));
    }
    t.row_groups.push_back(std::move(group));
  }
  return t;
}

std::string rate_timings(const Store& store, const Study& study) {
  const auto seconds = store.cpu_seconds();
  std::string csv = "sweep,part,arm,cell,runs,median_seconds,total_seconds\r\n";
  for (const std::string& name : rate_sweeps(study)) {
    const Sweep sweep = study.sweep(name);
    for (const Part& part : sweep.parts)
      for (const Cell& cell : cells_of(sweep, part)) {
        std::vector<double> of_cell;
        for (const Job& run : cell.runs)
          if (const auto found = seconds.find(run.hash()); found != seconds.end())
            of_cell.push_back(found->second);
        if (of_cell.empty()) continue;
        csv += fmt::format("{},{},\"{}\",\"{}\",{},{:.4g},{:.4g}\r\n", name, part.name,
                           sweep.arms[cell.arm].name, to_text(cell.at), of_cell.size(),
                           median(of_cell), std::accumulate(of_cell.begin(), of_cell.end(), 0.0));
      }
  }
  return csv;
}

}  // namespace dpsosp
