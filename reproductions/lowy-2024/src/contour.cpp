// SPDX-License-Identifier: Apache-2.0
#include "contour.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep_report.hpp"

namespace dpsosp::lowy_2024_exhibit {
namespace {

constexpr std::string_view metric = "trace.mean_gradient_norm";

plots::Figure figure(const std::vector<RatioCurve>& curves) {
  plots::Figure f;
  f.id = "contour";
  f.columns = 2;
  plots::Panel ratio, crossings;
  ratio.title = "ratio at ε = 1";
  ratio.x = {.label = "records n", .scale = plots::Scale::log};
  ratio.y = {.label = "gradient norm, warm start / DP-SPIDER", .scale = plots::Scale::log};
  ratio.lines.push_back({.label = "equal", .value = 1});
  plots::Series measured{.label = "measured crossing", .style = 0};
  plots::Series promised{.label = "promised crossing", .style = 7};
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const RatioCurve& c = curves[k];
    ratio.series.push_back({.label = fmt::format("d = {:g}", c.dimension),
                            .style = k + 1,
                            .x = c.records,
                            .y = c.ratio,
                            .low = c.low,
                            .high = c.high});
    if (const auto n = crossing(c.moved_records, c.moved_ratio)) {
      measured.x.push_back(c.dimension);
      measured.y.push_back(*n);
    }
    if (const auto n = crossing(c.records, c.promised)) {
      promised.x.push_back(c.dimension);
      promised.y.push_back(*n);
    }
  }
  f.panels.push_back(std::move(ratio));
  if (measured.x.empty() && promised.x.empty()) return f;
  crossings.title = "ratio = 1";
  crossings.x = {.label = "dimension d", .scale = plots::Scale::log};
  crossings.y = {.label = "records n", .scale = plots::Scale::log};
  const auto line = [&](std::string label, std::size_t style, double factor) {
    plots::Series s{.label = std::move(label), .style = style, .dashed = true};
    for (const RatioCurve& c : curves) {
      s.x.push_back(c.dimension);
      s.y.push_back(factor * c.dimension);
    }
    crossings.series.push_back(std::move(s));
  };
  line("n = d/ε", 12, 1);
  const plots::Series& guided = promised.x.empty() ? measured : promised;
  line("slope 1", 13, guided.y.front() / guided.x.front());
  for (plots::Series* crossed : {&measured, &promised})
    if (!crossed->x.empty()) crossings.series.push_back(std::move(*crossed));
  f.panels.push_back(std::move(crossings));
  return f;
}

/// Warm over cold for the seeds that have both, in their order.
std::vector<double> ratios_of(const CellMetric& warm, const CellMetric& cold) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < warm.seeds.size(); ++i) {
    const auto j = std::ranges::find(cold.seeds, warm.seeds[i]);
    if (j != cold.seeds.end())
      ratios.push_back(warm.values[i] /
                       cold.values[static_cast<std::size_t>(j - cold.seeds.begin())]);
  }
  return ratios;
}

bool moved(const Runs& runs, const Cell& cell, const CellMetric& m) {
  const auto start = measure_start(runs, cell, metric);
  return start && start_over_result * median(m.values) <= *start;
}

}  // namespace

std::vector<Job> contour_jobs(const Study& study) { return jobs_of(study.sweep(contour_sweep)); }

std::vector<RatioCurve> ratio_curves(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(contour_sweep);
  const std::vector<Cell> cells = cells_of(sweep, sweep.parts.front());
  std::vector<RatioCurve> curves;
  const std::size_t half = cells.size() / 2;  // first all cells of the warm start
  for (std::size_t k = 0; k < half; ++k) {
    const double d = coordinate(cells[k].at, "dimension").value();
    const CellMetric warm = measure(runs, cells[k], metric);
    const CellMetric cold = measure(runs, cells[half + k], metric);
    const std::vector<double> ratios = ratios_of(warm, cold);
    if (ratios.empty()) continue;
    if (curves.empty() || curves.back().dimension != d) curves.push_back({.dimension = d});
    RatioCurve& c = curves.back();
    c.records.push_back(coordinate(cells[k].at, "records").value());
    c.ratio.push_back(median(ratios));
    c.low.push_back(std::ranges::min(ratios));
    c.high.push_back(std::ranges::max(ratios));
    c.promised.push_back(median(measure(runs, cells[k], "schedule.alpha").values) /
                         median(measure(runs, cells[half + k], "schedule.alpha").values));
    if (moved(runs, cells[k], warm) && moved(runs, cells[half + k], cold)) {
      c.moved_records.push_back(c.records.back());
      c.moved_ratio.push_back(c.ratio.back());
    }
  }
  return curves;
}

std::vector<MovedCell> moved_cells(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(contour_sweep);
  const std::vector<Cell> cells = cells_of(sweep, sweep.parts.front());
  std::vector<MovedCell> list;
  const std::size_t half = cells.size() / 2;  // first all cells of the warm start
  for (std::size_t k = 0; k < half; ++k) {
    const CellMetric warm = measure(runs, cells[k], metric);
    const CellMetric cold = measure(runs, cells[half + k], metric);
    const bool all = warm.seeds == cold.seeds && warm.seeds.size() == cells[k].runs.size();
    if (all && moved(runs, cells[k], warm) && moved(runs, cells[half + k], cold))
      list.push_back({.records = coordinate(cells[k].at, "records").value(),
                      .dimension = coordinate(cells[k].at, "dimension").value(),
                      .ratios = ratios_of(warm, cold)});
  }
  return list;
}

std::optional<double> crossing(const std::vector<double>& records,
                               const std::vector<double>& ratio) {
  for (std::size_t k = ratio.size(); k-- > 0;) {
    if (ratio[k] < 1) continue;
    if (k + 1 == ratio.size()) return {};
    const double above = std::log(ratio[k]), below = std::log(ratio[k + 1]);
    const double share = above / (above - below);
    return std::exp((1 - share) * std::log(records[k]) + share * std::log(records[k + 1]));
  }
  return {};
}

plots::Exhibit contour_exhibit(const Runs& runs, const Study& study) {
  const std::vector<RatioCurve> curves = ratio_curves(runs, study);
  plots::Exhibit e;
  plots::Table t;
  t.id = "crossings";
  t.row_header = "d";
  t.column_groups.push_back(
      {"", {"n at ratio 1", "n at ratio 1, promised", "promised n/d", "ratio at the largest n"}});
  int crossed = 0, leading = 0;
  for (const RatioCurve& c : curves) {
    const auto n = crossing(c.moved_records, c.moved_ratio);
    const auto near_start = crossing(c.records, c.ratio);
    const auto promised = crossing(c.records, c.promised);
    crossed += n.has_value();
    leading += c.ratio.back() < 1;
    t.add({.label = fmt::format("{:g}", c.dimension),
           .cells = {
               plots::text_cell(n            ? fmt::format("{:.3g}", *n)
                                : near_start ? fmt::format("{:.3g}, near the start", *near_start)
                                             : "not in the range"),
               plots::text_cell(promised ? fmt::format("{:.3g}", *promised) : "not in the range"),
               plots::text_cell(promised ? fmt::format("{:.3g}", *promised / c.dimension) : "–"),
               plots::text_cell(fmt::format("{:.3g}", c.ratio.back()))}});
  }
  e.tables.push_back(std::move(t));
  const Sweep sweep = study.sweep(contour_sweep);
  e.tables.push_back(cells_table(runs, sweep, sweep.parts.front(), "cells"));
  e.figures.push_back(figure(curves));
  e.verdict = {
      fmt::format(
          "the warm start leads at the largest n for {} of {} dimensions; a crossing where both "
          "methods have left their start is seen at {}",
          leading, curves.size(), crossed),
      plots::Tone::neutral};
  return e;
}

}  // namespace dpsosp::lowy_2024_exhibit
