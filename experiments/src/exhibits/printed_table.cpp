// SPDX-License-Identifier: Apache-2.0
#include "printed_table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/experiments/algorithm_page.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep_report.hpp"

namespace dpsosp {
namespace {

using nlohmann::json;

/// "sampling" of fractions: −2/3 as −0.667.
std::string with_sign(double e) { return fmt::format("{:+.3f}", e); }

/// The measured slope of one axis, or why there is none.
plots::Cell slope_cell(const std::vector<Slope>& slopes,
                       std::string_view arm,
                       std::string_view axis) {
  const auto found = std::ranges::find_if(slopes, [&](const Slope& s) {
    return s.arm == arm && s.request.axis == axis && s.request.metric != "schedule.alpha";
  });
  if (found == slopes.end()) return plots::text_cell("–");
  const Slope& s = *found;
  plots::Cell c = plots::text_cell(s.fit ? fmt::format("{} [{}, {}]",
                                                       with_sign(s.fit->slope),
                                                       with_sign(s.fit->interval.low),
                                                       with_sign(s.fit->interval.high))
                                         : s.verdict.reason);
  if (s.request.claimed) {
    c.labels.push_back(verdict_label(s.verdict));
    c.labels.back().text += fmt::format(" ({})", to_text(*s.request.claimed));
  }
  return c;
}

/// Level, records and evaluations of the part "reference": of the arm itself, or of "ARM,
/// reference" where the sweep runs on another problem than the reference point.
std::vector<plots::Cell> reference_cells(const Runs& runs,
                                         const Sweep& sweep,
                                         std::string_view arm) {
  for (const Part& part : sweep.parts) {
    if (!part.name.starts_with("reference")) continue;
    for (const Cell& cell : cells_of(sweep, part)) {
      const std::string& name = sweep.arms[cell.arm].name;
      if (name != arm && name != fmt::format("{}, reference", arm)) continue;
      std::vector<plots::Cell> cells;
      for (const char* metric : {"output.sosp_level", "records_used", "evaluations"}) {
        const CellMetric m = measure(runs, cell, metric);
        plots::Cell c = plots::text_cell("–");
        if (!m.values.empty() || m.failed > 0)
          c.content = plots::spread_of(m.values, m.failed, m.failure, {.digits = 3});
        cells.push_back(std::move(c));
      }
      return cells;
    }
  }
  return {plots::text_cell("–"), plots::text_cell("–"), plots::text_cell("–")};
}

std::vector<const TableEntry*> entries_of(std::string_view table) {
  std::vector<const TableEntry*> entries;
  for (const TableEntry& e : table_entries())
    if (e.table == table) entries.push_back(&e);
  return entries;
}

/// The figure's panels, at most six to a figure.
std::vector<plots::Figure> in_pages(const plots::Figure& figure) {
  constexpr std::size_t most = 6;
  std::vector<plots::Figure> pages;
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    if (k % most == 0) {
      plots::Figure page = figure;
      page.panels.clear();
      if (k > 0) page.id += fmt::format("-{}", k / most + 1);
      pages.push_back(std::move(page));
    }
    pages.back().panels.push_back(figure.panels[k]);
  }
  return pages;
}

}  // namespace

std::vector<std::string> sweeps_of_table(std::string_view table) {
  std::vector<std::string> names;
  for (const TableEntry* e : entries_of(table))
    for (const auto& m : e->measured)
      if (std::ranges::find(names, m.sweep) == names.end()) names.emplace_back(m.sweep);
  return names;
}

std::vector<json> printed_table_jobs(std::string_view table, Scale scale) {
  std::vector<json> jobs;
  for (const std::string& name : sweeps_of_table(table))
    for (json& job : jobs_of(built_in_sweep(name, scale))) jobs.push_back(std::move(job));
  return jobs;
}

plots::Table printed_table(const Runs& runs, Scale scale, std::string_view table, std::string id) {
  std::map<std::string, std::pair<Sweep, std::vector<Slope>>, std::less<>> sweeps;
  for (const std::string& name : sweeps_of_table(table)) {
    Sweep sweep = built_in_sweep(name, scale);
    std::vector<Slope> slopes = slopes_of(runs, sweep);
    sweeps.emplace(name, std::pair(std::move(sweep), std::move(slopes)));
  }
  plots::Table t;
  t.id = std::move(id);
  t.title = std::string(table);
  t.caption =
      "Printed rates beside measured exponents: slope [95 % interval over seeds] and the verdict "
      "against the claimed exponent in brackets. Level, records and evaluations are medians "
      "[range] "
      "at the common reference point, where the sweep has one. Timings stand in timings.csv.";
  t.row_header = "row";
  t.column_groups.push_back({"printed", {"column", "rate"}});
  t.column_groups.push_back({"measured", {"algorithm", "metric", "n", "d", "ε"}});
  t.column_groups.push_back({"reference point", {"sosp_level", "records", "evaluations"}});
  plots::RowGroup group;
  for (const TableEntry* e : entries_of(table)) {
    plots::Row row{.label = std::string(e->row)};
    row.cells = {plots::text_cell(std::string(e->column)),
                 plots::text_cell(std::string(e->printed))};
    if (e->measured.empty()) {
      row.cells.push_back(plots::text_cell(std::string(
          e->algorithms.empty() ? e->remark
                                : fmt::format("{}: not measured", e->algorithms.front()))));
      while (row.cells.size() < 10) row.cells.push_back(plots::text_cell(""));
      group.rows.push_back(std::move(row));
      continue;
    }
    for (const auto& m : e->measured) {
      const auto& [sweep, slopes] = sweeps.find(m.sweep)->second;
      plots::Row measured = row;
      const auto arm = std::ranges::find(sweep.arms, m.arm, &Arm::name);
      const auto fitted = std::ranges::find(slopes, m.arm, &Slope::arm);
      measured.cells.push_back(
          plots::text_cell(arm == sweep.arms.end() ? std::string(m.arm) : arm->spec.algorithm));
      measured.cells.push_back(
          plots::text_cell(fitted == slopes.end() ? "–" : metric_label(fitted->request.metric)));
      for (const char* axis : {"records", "dimension", "epsilon"})
        measured.cells.push_back(slope_cell(slopes, m.arm, axis));
      for (plots::Cell& c : reference_cells(runs, sweep, m.arm))
        measured.cells.push_back(std::move(c));
      if (!e->remark.empty()) {
        const std::string remark(e->remark);
        auto place = std::ranges::find(t.footnotes, remark);
        if (place == t.footnotes.end()) place = t.footnotes.insert(place, remark);
        measured.footnotes.push_back(static_cast<std::size_t>(place - t.footnotes.begin()));
      }
      group.rows.push_back(std::move(measured));
    }
  }
  t.row_groups.push_back(std::move(group));
  return t;
}

plots::Table controls_table(const Runs& runs, const Sweep& sweep, std::string id) {
  plots::Table t;
  t.id = std::move(id);
  t.title = sweep.title + ": controls";
  t.caption = "Median [smallest, largest] over seeds.";
  t.row_header = "control";
  struct Column {
    std::string name, metric;
    bool at_start = false;
  };
  const auto values = [&](const Cell& cell, const Column& column) {
    if (!column.at_start) return measure(runs, cell, column.metric);
    CellMetric m;
    if (const auto start = measure_start(runs, cell, column.metric)) m.values = {*start};
    return m;
  };
  std::vector<std::pair<std::string, std::vector<Column>>> groups{
      {"sosp_level",
       {{"start", "start.sosp_level"},
        {"output", "output.sosp_level"},
        {"median over iterates", "trace.median_sosp_level"},
        {"lowest of the iterates", "best.sosp_level"}}}};
  if (!sweep.metric.empty() &&
      std::ranges::find(groups.front().second, sweep.metric, &Column::metric) ==
          groups.front().second.end())
    groups.push_back(
        {metric_label(sweep.metric), {{"start", sweep.metric, true}, {"control", sweep.metric}}});
  groups.push_back({"", {{"steps", "steps"}}});
  std::vector<Cell> cells;
  for (const Part& part : sweep.parts) {
    if (part.name != "controls") continue;
    if (!part.note.empty()) t.caption += " " + part.note;
    for (Cell& cell : cells_of(sweep, part)) cells.push_back(std::move(cell));
  }
  // sosp_level is not defined on losses without a Hessian's Lipschitz constant
  std::erase_if(groups, [&](const auto& group) {
    return std::ranges::all_of(group.second, [&](const Column& column) {
      return std::ranges::all_of(cells, [&](const Cell& cell) {
        const CellMetric m = values(cell, column);
        return m.values.empty() && m.failed == 0;
      });
    });
  });
  for (const auto& [name, columns] : groups) {
    t.column_groups.push_back({name, {}});
    for (const Column& column : columns) t.column_groups.back().columns.push_back(column.name);
  }
  plots::RowGroup rows;
  for (const Cell& cell : cells) {
    plots::Row row{.label = sweep.arms[cell.arm].name};
    if (!cell.at.empty()) row.label += fmt::format(", {}", to_text(cell.at));
    for (const auto& [unused, columns] : groups)
      for (const Column& column : columns) {
        const CellMetric m = values(cell, column);
        plots::Cell c = plots::text_cell("–");
        if (!m.values.empty() || m.failed > 0)
          c.content = plots::spread_of(m.values, m.failed, m.failure, {.digits = 3});
        row.cells.push_back(std::move(c));
      }
    rows.rows.push_back(std::move(row));
  }
  t.row_groups.push_back(std::move(rows));
  return t;
}

std::vector<plots::Figure> slopes_figures(const Runs& runs,
                                          const Sweep& sweep,
                                          const std::string& id) {
  plots::Figure all = slopes_figure(runs, sweep, id, sweep.title);
  const std::string solved = metric_label("schedule.alpha");
  std::erase_if(all.panels, [&](const plots::Panel& p) { return p.y.label == solved; });
  return in_pages(all);
}

plots::Exhibit printed_table_exhibit(
    const Runs& runs, Scale scale, std::string_view table, std::string id, std::string paper) {
  plots::Exhibit e;
  e.paper = std::move(paper);
  e.title = std::string(table);
  e.tables.push_back(printed_table(runs, scale, table, "rates"));
  int judged = 0, met = 0;
  for (const std::string& name : sweeps_of_table(table)) {
    const Sweep sweep = built_in_sweep(name, scale);
    const std::vector<Slope> slopes = slopes_of(runs, sweep);
    for (const Slope& s : slopes) {
      if (!is_rate(s.request)) continue;
      ++judged;
      met += s.verdict.verdict == Verdict::as_claimed ||
             s.verdict.verdict == Verdict::better_than_claimed;
    }
    e.tables.push_back(slopes_table(slopes, "slopes-" + name, sweep.title));
    for (const Part& part : sweep.parts)
      if (part.name != "controls")
        e.tables.push_back(cells_table(runs, sweep, part, fmt::format("{}-{}", name, part.name)));
    plots::Table controls = controls_table(runs, sweep, "controls-" + name);
    if (!controls.row_groups.front().rows.empty()) e.tables.push_back(std::move(controls));
    for (plots::Figure& figure : slopes_figures(runs, sweep, "figure-" + name))
      e.figures.push_back(std::move(figure));
  }
  e.id = std::move(id);
  e.verdict = {fmt::format("{} of {} measured exponents as claimed or better", met, judged),
               met == judged ? plots::Tone::good : plots::Tone::caution};
  return e;
}

}  // namespace dpsosp
