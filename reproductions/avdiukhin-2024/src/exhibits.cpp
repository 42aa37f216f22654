// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "dpsosp/claims/exhibit_text.hpp"
#include "dpsosp/claims/printed_table.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/study.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/lemmas/avdiukhin_2024/well.hpp"
#include "gradients.hpp"
#include "parts.hpp"
#include "texts.hpp"

namespace dpsosp {
namespace {

using namespace avdiukhin_2024_exhibit;
using plots::number_cell;

std::vector<Job> rate_jobs(const Study& study) { return jobs_of(study.sweep(rate_sweep)); }

const Part* part_of(const Sweep& sweep, std::string_view name) {
  const auto found = std::ranges::find(sweep.parts, name, &Part::name);
  return found == sweep.parts.end() ? nullptr : &*found;
}

/// Cells of the parts named, in order.
std::vector<std::pair<const Part*, Cell>> cells_in(const Sweep& sweep,
                                                   std::initializer_list<std::string_view> names) {
  std::vector<std::pair<const Part*, Cell>> list;
  for (const std::string_view name : names)
    if (const Part* part = part_of(sweep, name))
      for (Cell& cell : cells_of(sweep, *part)) list.emplace_back(part, std::move(cell));
  return list;
}

std::string row_label(const Sweep& sweep, const Cell& cell) {
  return fmt::format("{}, {}", sweep.arms[cell.arm].name, to_text(cell.at));
}

plots::Table share_table(const Runs& runs, const Sweep& sweep) {
  plots::Table t;
  t.id = "share-solved";
  t.row_header = "algorithm and cell";
  t.column_groups.push_back({"", {"solved α", "share", "least of the seeds", "T·B"}});
  for (const auto& [part, cell] : cells_in(sweep, {"n", "batches", "paper-schedule"})) {
    const CellMetric alpha = measure(runs, cell, "schedule.alpha");
    const CellMetric share = measure(runs, cell, "trace.fraction_solved");
    const CellMetric calls = measure(runs, cell, "evaluations");
    plots::Row row{.label = row_label(sweep, cell)};
    if (share.values.empty()) {
      row.cells = {plots::text_cell("–"), plots::text_cell("–"), plots::text_cell("–"),
                   plots::text_cell("–")};
    } else {
      const double least = std::ranges::min(share.values);
      const double solved = median(alpha.values);
      row.cells = {number_cell(solved), spread_cell(share), number_cell(least),
                   number_cell(median(calls.values))};
      if (solved >= saddle_level())
        row.cells[2].labels.push_back({"uninformative", plots::Tone::neutral});
      else
        row.cells[2].labels.push_back(least >= 0.5
                                          ? plots::Label{"at least half", plots::Tone::good}
                                          : plots::Label{"less than half", plots::Tone::bad});
    }
    t.add(std::move(row), part->name);
  }
  return t;
}

plots::Figure share_figure(const Runs& runs, const Sweep& sweep) {
  plots::Figure f;
  f.id = "share-and-calls";
  f.columns = 2;
  plots::Panel share, calls;
  share.title = "least share over seeds";
  share.x = {.label = "records n", .scale = plots::Scale::log};
  share.y = {.label = "iterates with sosp_level ≤ α", .range = std::pair(0.0, 1.05)};
  share.lines.push_back({"one half", plots::Direction::horizontal, 0.5});
  calls.title = "oracle calls";
  calls.x = {.label = "sosp_level, median over iterates", .scale = plots::Scale::log};
  calls.y = {.label = "per-record gradients T·B", .scale = plots::Scale::log};
  std::map<std::size_t, std::pair<plots::Series, plots::Series>> of_arm;
  for (const auto& [part, cell] : cells_in(sweep, {"n", "batches"})) {
    const CellMetric fraction = measure(runs, cell, "trace.fraction_solved");
    const CellMetric level = measure(runs, cell, "trace.median_sosp_level");
    const CellMetric spent = measure(runs, cell, "evaluations");
    if (fraction.values.empty()) continue;
    auto& [left, right] = of_arm[cell.arm];
    left.label = right.label = sweep.arms[cell.arm].name;
    left.style = right.style = cell.arm;
    left.algorithm = right.algorithm = sweep.arms[cell.arm].spec.algorithm;
    left.x.push_back(*coordinate(cell.at, "records"));
    left.y.push_back(std::ranges::min(fraction.values));
    right.x.push_back(median(level.values));
    right.y.push_back(median(spent.values));
  }
  for (auto& [unused, series] : of_arm) {
    if (calls.series.empty()) {
      plots::Series guide{.label = "exponent −4", .style = plots::guide_style, .dashed = true};
      for (const double x : series.second.x) {
        guide.x.push_back(x);
        guide.y.push_back(series.second.y.front() * std::pow(x / series.second.x.front(), -4.0));
      }
      calls.series.push_back(std::move(guide));
    }
    share.series.push_back(std::move(series.first));
    calls.series.push_back(std::move(series.second));
  }
  if (!share.series.empty()) f.panels = {std::move(share), std::move(calls)};
  return f;
}

plots::Exhibit rates(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(rate_sweep);
  const std::vector<Slope> slopes = slopes_of(runs, sweep);
  plots::Exhibit e;
  e.verdict = exponents_label(slopes, avdiukhin_2024_texts());
  e.tables.push_back(slopes_table(slopes, "slopes", sweep.title));
  e.tables.push_back(share_table(runs, sweep));
  for (const Part& part : sweep.parts)
    if (!part.fits.empty())
      e.tables.push_back(cells_table(runs, sweep, part, "cells-" + part.name));
  e.tables.push_back(controls_table(runs, sweep, "controls"));
  e.figures = slopes_figures(runs, sweep, "slopes-figure");
  if (plots::Figure f = share_figure(runs, sweep); !f.panels.empty())
    e.figures.push_back(std::move(f));
  return e;
}

plots::Table bound_table(const Runs& runs, const Sweep& sweep) {
  plots::Table t;
  t.id = "bound";
  t.row_header = "algorithm and cell";
  t.column_groups.push_back(
      {"", {"T", "longest gradient", "C of the noise", "printed C", "violations", "label"}});
  for (const auto& [part, cell] :
       cells_in(sweep, {"n", "batches", "paper-schedule", "no-clipping"})) {
    std::vector<double> longest;
    double steps = 0, nominal = 0, printed = 0, violations = 0;
    std::map<std::string, int> labels;
    bool clips = false;
    for (const FinishedRun& run : finished(runs, cell.runs)) {
      const Gradients g = gradients_met(run);
      longest.push_back(g.longest);
      steps = g.steps;
      nominal = g.nominal;
      printed = g.lemma_3_2;
      violations += g.violations;
      clips = g.clips;
      ++labels[std::string(to_string(run.result->privacy.label))];
    }
    plots::Row row{.label = row_label(sweep, cell)};
    if (longest.empty()) continue;
    std::string label;
    for (const auto& [name, count] : labels)
      label += fmt::format("{}{} ({})", label.empty() ? "" : ", ", name, count);
    row.cells = {number_cell(steps),
                 plots::spread_cell(longest, 0, "", 4),
                 number_cell(nominal, 4),
                 number_cell(printed, 4),
                 clips ? plots::text_cell(fmt::format("{:.0f} clipped", violations))
                       : plots::text_cell(fmt::format("{:.0f}", violations)),
                 plots::text_cell(label)};
    t.add(std::move(row), part->name);
  }
  return t;
}

plots::Table delta_table() {
  plots::Table t;
  t.id = "delta";
  t.row_header = "ε, δ";
  t.column_groups.push_back(
      {"", {"the paper's 2δ", "reached", "proved", "over the paper's", "δ_{E} for δ in all"}});
  for (const double delta : {0.01, 1e-5})
    for (const double epsilon : {0.125, 1.0, 4.0, 8.0}) {
      const double reached = extremal_delta(epsilon, delta, delta);
      const double proved =
          avdiukhin_2024::class_relative_delta({.epsilon = epsilon, .delta = delta}, delta);
      plots::Row row{.label = fmt::format("ε = {:g}, δ = {:g}", epsilon, delta)};
      row.cells = {
          number_cell(2 * delta), number_cell(reached, 4), number_cell(std::min(1.0, proved), 4),
          number_cell(reached / (2 * delta)),
          number_cell(avdiukhin_2024::bound_failure({.epsilon = epsilon, .delta = delta}))};
      t.add(std::move(row));
    }
  return t;
}

plots::Figure bound_figure(const Runs& runs, const Sweep& sweep) {
  plots::Figure f;
  f.id = "gradients-met";
  f.columns = 1;
  plots::Panel p;
  p.x = {.label = "steps T", .scale = plots::Scale::log};
  p.y = {.label = "gradient norm", .scale = plots::Scale::log, .range = std::pair(1.0, 30.0)};
  plots::Series met{.label = "longest gradient met", .style = 0};
  plots::Series proved{.label = "proved C", .style = 1};
  plots::Series printed{.label = "C of Lemma 3.2, printed", .style = 2};
  for (const auto& [part, cell] : cells_in(sweep, {"n"})) {
    if (sweep.arms[cell.arm].name != "noisy SGD") continue;
    std::vector<double> longest;
    Gradients g{};
    for (const FinishedRun& run : finished(runs, cell.runs)) {
      g = gradients_met(run);
      longest.push_back(g.longest);
    }
    if (longest.empty()) continue;
    for (plots::Series* s : {&met, &proved, &printed}) s->x.push_back(g.steps);
    met.low.push_back(std::ranges::min(longest));
    met.high.push_back(std::ranges::max(longest));
    met.y.push_back(median(std::move(longest)));
    proved.y.push_back(g.nominal);
    printed.y.push_back(g.lemma_3_2);
  }
  p.series = {std::move(met), std::move(proved), std::move(printed)};
  p.lines.push_back({"2 √(L f_{max}) + σ_{∞}", plots::Direction::horizontal, first_bound()});
  if (!p.series.front().x.empty()) f.panels.push_back(std::move(p));
  return f;
}

plots::Exhibit no_clipping(const Runs& runs, const Study& study) {
  const Sweep sweep = study.sweep(rate_sweep);
  plots::Exhibit e;
  e.tables = {bound_table(runs, sweep), delta_table(), controls_table(runs, sweep, "controls")};
  if (plots::Figure f = bound_figure(runs, sweep); !f.panels.empty())
    e.figures.push_back(std::move(f));
  double violations = 0;
  for (const auto& [part, cell] : cells_in(sweep, {"n", "batches", "paper-schedule"}))
    for (const FinishedRun& run : finished(runs, cell.runs))
      violations += gradients_met(run).violations;
  e.verdict = {fmt::format("{:.0f} gradients above C where C is proved or printed", violations),
               violations == 0 ? plots::Tone::good : plots::Tone::bad};
  return e;
}

}  // namespace

std::vector<ExhibitEntry> avdiukhin_2024_exhibits() {
  const Texts& texts = avdiukhin_2024_texts();
  return {exhibit_entry(texts, "avdiukhin-2024/rates", rate_jobs, rates),
          exhibit_entry(texts, "avdiukhin-2024/no-clipping", rate_jobs, no_clipping)};
}

}  // namespace dpsosp
