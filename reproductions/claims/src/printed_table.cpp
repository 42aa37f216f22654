// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/printed_table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/toml_reader.hpp"

namespace dpsosp {
namespace {

/// Whether an entry shows the slope: of the metric that it names, or else the claim's.
bool shows(const TableEntry::Measured& where, const Slope& s) {
  return s.arm == where.arm &&
         (where.metric.empty() ? is_rate(s.request) : s.request.metric == where.metric);
}

/// The measured slope of one axis, or why there is none.
plots::Cell slope_cell(const std::vector<Slope>& slopes, const TableEntry::Measured& where,
                       std::string_view axis) {
  const auto found = std::ranges::find_if(
      slopes, [&](const Slope& s) { return s.request.axis == axis && shows(where, s); });
  if (found == slopes.end()) return plots::text_cell("–");
  const Slope& s = *found;
  plots::Cell c = plots::text_cell(s.fit ? to_text(*s.fit) : s.verdict.reason);
  if (s.request.claimed) {
    c.labels.push_back(headline_label(headline_of(s.verdict)));
    c.labels.back().text += fmt::format(" ({})", to_text(*s.request.claimed));
  }
  return c;
}

using FittedSweeps = std::map<std::string, std::pair<Sweep, std::vector<Slope>>, std::less<>>;

/// What the column of ε is about: ε, or √ρ of zCDP, the noise that (ε, δ) allows.
std::string epsilon_label(const FittedSweeps& sweeps) {
  bool noise = false, budget = false;
  for (const auto& [unused, sweep] : sweeps)
    for (const Slope& s : sweep.second)
      if (s.request.axis == "epsilon" && is_rate(s.request))
        (s.request.in_noise ? noise : budget) = true;
  return noise && budget ? "√ρ(ε); ε where it is pure" : noise ? "√ρ(ε)" : "ε";
}

/// Level, records and evaluations of the part "reference": of the arm itself, or of "ARM,
/// reference" where the sweep runs on another problem than the reference point.
std::vector<plots::Cell> reference_cells(const Runs& runs, const Sweep& sweep,
                                         std::string_view arm) {
  for (const Part& part : sweep.parts) {
    if (!part.name.starts_with("reference")) continue;
    for (const Cell& cell : cells_of(sweep, part)) {
      const std::string& name = sweep.arms[cell.arm].name;
      if (name != arm && name != fmt::format("{}, reference", arm)) continue;
      std::vector<plots::Cell> cells;
      for (const char* metric : {"output.sosp_level", "records_used", "evaluations"})
        cells.push_back(spread_cell(measure(runs, cell, metric)));
      return cells;
    }
  }
  return {plots::text_cell("–"), plots::text_cell("–"), plots::text_cell("–")};
}

TableEntry entry_of(const TomlNode& node) {
  const TomlTable t = node.table();
  t.allow({"row", "column", "printed", "algorithms", "settings", "remark", "measured"});
  TableEntry e;
  e.row = t.at("row").text();
  e.column = t.at("column").text();
  e.printed = t.at("printed").text();
  if (t.has("algorithms"))
    for (const TomlNode& key : t.at("algorithms").array()) e.algorithms.push_back(key.text());
  if (t.has("settings"))
    for (const auto& [name, value] : t.at("settings").table().entries())
      e.settings.emplace(name, value.text());
  if (t.has("remark")) e.remark = t.at("remark").text();
  if (t.has("measured"))
    for (const TomlNode& where : t.at("measured").array()) {
      const TomlTable m = where.table();
      m.allow({"sweep", "arm", "metric"});
      e.measured.push_back(
          {m.at("sweep").text(), m.at("arm").text(), m.has("metric") ? m.at("metric").text() : ""});
    }
  if (e.algorithms.empty() && e.remark.empty())
    node.fail("an entry without algorithms needs a remark that says why");
  return e;
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

std::string PrintedTable::title() const { return fmt::format("{}, {}", paper, name); }

std::vector<PrintedTable> parse_tables(const Texts& texts) {
  const TomlDocument document(texts.tables, fmt::format("{}/tables.toml", texts.key));
  document.root().allow({"table"});
  std::vector<PrintedTable> tables;
  for (const TomlNode& node : document.root().at("table").array()) {
    const TomlTable t = node.table();
    t.allow({"name", "entry"});
    PrintedTable table{.paper = std::string(texts.key), .name = t.at("name").text(), .entries = {}};
    for (const TomlNode& entry : t.at("entry").array()) table.entries.push_back(entry_of(entry));
    tables.push_back(std::move(table));
  }
  return tables;
}

PrintedTable printed_table_of(const Texts& texts, std::string_view name) {
  std::vector<std::string> names;
  for (PrintedTable& table : parse_tables(texts)) {
    if (table.name == name) return std::move(table);
    names.push_back(table.name);
  }
  reject_unknown("table", std::string(name), names);
}

std::vector<std::string> sweeps_of_table(const PrintedTable& table) {
  std::vector<std::string> names;
  for (const TableEntry& e : table.entries)
    for (const auto& m : e.measured)
      if (std::ranges::find(names, m.sweep) == names.end()) names.emplace_back(m.sweep);
  return names;
}

std::vector<Job> printed_table_jobs(const PrintedTable& table, const Study& study) {
  std::vector<Job> jobs;
  for (const std::string& name : sweeps_of_table(table))
    for (Job& job : jobs_of(study.sweep(name))) jobs.push_back(std::move(job));
  return jobs;
}

plots::Table printed_table(const Runs& runs, const Study& study, const PrintedTable& table) {
  FittedSweeps sweeps;
  for (const std::string& name : sweeps_of_table(table)) {
    Sweep sweep = study.sweep(name);
    std::vector<Slope> slopes = slopes_of(runs, sweep);
    sweeps.emplace(name, std::pair(std::move(sweep), std::move(slopes)));
  }
  plots::Table t;
  t.id = "rates";
  t.title = table.title();
  t.caption =
      "Printed rates beside measured exponents: slope [95 % interval over seeds] and the verdict "
      "against the claimed exponent in brackets. Level, records and evaluations are medians "
      "[range] "
      "at the common reference point, where the sweep has one. Timings are in timings.csv.";
  t.row_header = "row";
  t.column_groups.push_back({"printed", {"column", "rate"}});
  t.column_groups.push_back({"measured", {"algorithm", "metric", "n", "d", epsilon_label(sweeps)}});
  t.column_groups.push_back({"reference point", {"sosp_level", "records", "evaluations"}});
  for (const TableEntry& e : table.entries) {
    plots::Row row{.label = e.row};
    row.cells = {plots::text_cell(e.column), plots::text_cell(e.printed)};
    if (e.measured.empty()) {
      row.cells.push_back(plots::text_cell(
          e.algorithms.empty() ? e.remark
                               : fmt::format("{}: {}", e.algorithms.front(),
                                             e.remark.empty() ? "not measured" : e.remark)));
      while (row.cells.size() < 10) row.cells.push_back(plots::text_cell(""));
      t.add(std::move(row));
      continue;
    }
    for (const auto& m : e.measured) {
      const auto& [sweep, slopes] = sweeps.find(m.sweep)->second;
      plots::Row measured = row;
      const auto arm = std::ranges::find(sweep.arms, m.arm, &Arm::name);
      const auto fitted = std::ranges::find_if(slopes, [&](const Slope& s) { return shows(m, s); });
      measured.cells.push_back(
          plots::text_cell(arm == sweep.arms.end() ? m.arm : arm->spec.algorithm));
      measured.cells.push_back(
          plots::text_cell(fitted == slopes.end() ? "–" : metric_label(fitted->request.metric)));
      for (const char* axis : {"records", "dimension", "epsilon"})
        measured.cells.push_back(slope_cell(slopes, m, axis));
      for (plots::Cell& c : reference_cells(runs, sweep, m.arm))
        measured.cells.push_back(std::move(c));
      if (!e.remark.empty()) {
        auto place = std::ranges::find(t.footnotes, e.remark);
        if (place == t.footnotes.end()) place = t.footnotes.insert(place, e.remark);
        measured.footnotes.push_back(static_cast<std::size_t>(place - t.footnotes.begin()));
      }
      t.add(std::move(measured));
    }
  }
  return t;
}

plots::Label exponents_label(const std::vector<Slope>& slopes, const Texts& texts) {
  const std::vector<Claim> claims =
      parse_claims(texts.claims, fmt::format("{}/claims.toml", texts.key));
  int judged = 0, confirmed = 0, met = 0;
  const auto count = [&](ClaimOf of) {
    for (const Slope& s : slopes) {
      const auto claim = std::ranges::find(claims, s.request.claim, &Claim::id);
      if (!is_rate(s.request) || claim == claims.end() || claim->of != of) continue;
      ++judged;
      confirmed += headline_of(s.verdict) == Headline::confirmed;
      met += headline_of(s.verdict) == Headline::bound_met;
    }
  };
  count(ClaimOf::paper);
  const bool cited = judged == 0;  // a table of prior work
  if (cited) count(ClaimOf::cited);
  return {fmt::format("{} of {} {} exponents confirmed{}", confirmed, judged,
                      cited ? "cited" : "printed",
                      met == 0 ? "" : fmt::format(", of {} more the bound alone", met)),
          confirmed + met == judged ? plots::Tone::good : plots::Tone::caution};
}

plots::Table controls_table(const Runs& runs, const Sweep& sweep, std::string id) {
  plots::Table t;
  t.id = std::move(id);
  t.title = sweep.title + ": controls";
  t.sweep = sweep.name;
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
  if (!sweep.metric.empty() && std::ranges::find(groups.front().second, sweep.metric,
                                                 &Column::metric) == groups.front().second.end())
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
  for (const Cell& cell : cells) {
    plots::Row row{.label = sweep.arms[cell.arm].name};
    if (!cell.at.empty()) row.label += fmt::format(", {}", to_text(cell.at));
    for (const auto& [unused, columns] : groups)
      for (const Column& column : columns) row.cells.push_back(spread_cell(values(cell, column)));
    t.add(std::move(row));
  }
  return t;
}

std::vector<plots::Figure> slopes_figures(const Runs& runs, const Sweep& sweep,
                                          const std::string& id) {
  plots::Figure all = slopes_figure(runs, sweep, id, sweep.title);
  const std::string solved = metric_label("schedule.alpha");
  std::erase_if(all.panels, [&](const plots::Panel& p) { return p.y.label == solved; });
  return in_pages(all);
}

plots::Exhibit printed_table_exhibit(const Runs& runs, const Study& study,
                                     const PrintedTable& table, const Texts& texts) {
  plots::Exhibit e;
  e.tables.push_back(printed_table(runs, study, table));
  std::vector<Slope> all;
  for (const std::string& name : sweeps_of_table(table)) {
    const Sweep sweep = study.sweep(name);
    const std::vector<Slope> slopes = slopes_of(runs, sweep);
    all.insert(all.end(), slopes.begin(), slopes.end());
    e.tables.push_back(slopes_table(slopes, "slopes-" + name, sweep.title));
    e.tables.back().sweep = name;
    for (const Part& part : sweep.parts)
      if (part.name != "controls")
        e.tables.push_back(cells_table(runs, sweep, part, fmt::format("{}-{}", name, part.name)));
    plots::Table controls = controls_table(runs, sweep, "controls-" + name);
    if (!controls.row_groups.empty()) e.tables.push_back(std::move(controls));
    for (plots::Figure& figure : slopes_figures(runs, sweep, "figure-" + name))
      e.figures.push_back(std::move(figure));
  }
  e.verdict = exponents_label(all, texts);
  return e;
}

}  // namespace dpsosp
