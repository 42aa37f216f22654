// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/csv.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/shell_words.hpp"
#include "dpsosp/experiments/known_data.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "dpsosp/report/contents.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// One rate a slope; an arm with several slices has its slices as arms, as its curves are called.
std::vector<Rate> rates_of(const std::vector<Slope>& slopes, const Sweep& sweep) {
  std::vector<Rate> rates;
  for (const Slope& s : slopes) {
    const auto arm = std::ranges::find(sweep.arms, s.arm, &Arm::name);
    Rate r = rate_of(s, s.request.claimed, sweep.name, &*arm);
    const auto others = std::ranges::count_if(slopes, [&](const Slope& other) {
      return other.part == s.part && other.arm == s.arm && other.request.axis == s.request.axis &&
             other.request.metric == s.request.metric;
    });
    if (others > 1) r.arm += " (" + to_text(s.slice) + ")";
    rates.push_back(std::move(r));
  }
  return rates;
}

/// What stands in a paper: a row a slope, without what explains the verdict.
plots::Table exponents_table(const std::vector<Rate>& rates, const std::string& title) {
  plots::Table t{
      .id = "exponents",
      .title = title,
      .caption = "Exponents: slope of the logarithm of the metric, 95 % interval over seeds.",
      .row_header = "method"};
  const bool any_claim = std::ranges::any_of(rates, is_claimed);
  t.column_groups = {{"", {"axis", "metric"}}};
  auto& columns = t.column_groups.front().columns;
  if (any_claim) columns.emplace_back("claimed");
  columns.insert(columns.end(), {"measured", "95 % interval", "seeds"});
  if (any_claim) columns.emplace_back("verdict");
  plots::RowGroup group;
  for (const Rate& r : rates) {
    plots::Row row{.label = r.arm};
    row.cells = {plots::text_cell(r.in_noise ? "√ρ(ε, δ)" : r.axis), plots::text_cell(r.metric)};
    if (any_claim)
      row.cells.push_back(
          plots::text_cell(!is_claimed(r) ? "–"
                           : r.claimed_low == r.claimed_high
                               ? fmt::format("{:.3f}", r.claimed_high)
                               : fmt::format("{:.3f} to {:.3f}", r.claimed_low, r.claimed_high)));
    row.cells.push_back(plots::text_cell(r.value ? fmt::format("{:.3f}", *r.value) : "–"));
    row.cells.push_back(
        plots::text_cell(r.value ? fmt::format("[{:.3f}, {:.3f}]", r.low, r.high) : "–"));
    row.cells.push_back(r.value ? plots::count_cell(r.seeds) : plots::text_cell("–"));
    if (any_claim) row.cells.push_back(plots::text_cell(r.verdict.empty() ? "–" : r.verdict));
    group.rows.push_back(std::move(row));
  }
  t.row_groups = {std::move(group)};
  return t;
}

/// The figures of the parts that slopes are fitted to, each with as many curves as print allows.
/// \param notice  is told of parts without a figure
std::vector<plots::Figure> figures_of(const Runs& runs, const Sweep& sweep,
                                      const std::function<void(const std::string&)>& notice) {
  std::vector<plots::Figure> figures;
  for (const Part& part : sweep.parts) {
    Sweep alone = sweep;
    alone.parts = {part};
    const std::string undrawn = undrawn_text(runs, sweep, part);
    plots::Figure whole = slopes_figure(runs, alone, "figure-" + part.name, sweep.title);
    if (whole.panels.empty()) {
      if (!undrawn.empty())
        notice(fmt::format("There is no figure of part {}. {}.", part.name, undrawn));
      continue;
    }
    std::set<std::string> settings;
    for (const std::size_t arm : part.arms) settings.insert(setting_of(sweep, part, arm));
    whole.caption += fmt::format(" Where not varied: {}.", fmt::join(settings, "; "));
    if (is_tuned(sweep, part))
      whole.caption +=
          fmt::format(" Settings were chosen on {} other seeds, as the table {} has it.",
                      sweep.tuning.seeds, "tuning-" + part.name);
    if (!undrawn.empty()) whole.caption += fmt::format(" Not drawn: {}.", undrawn);
    for (plots::Panel& p : whole.panels) p.title = part_title(part.name, p.x.label);
    figures.push_back(std::move(whole));
  }
  return figures;
}

/// What is to be known beside slopes that are judged or that constants bend, a paragraph each.
std::vector<std::string> notes_on(const std::vector<Slope>& slopes, const Sweep& sweep) {
  std::vector<std::string> notes;
  if (std::string text = directions_text(slopes); !text.empty()) notes.push_back(std::move(text));
  for (const Slope& s : slopes) {
    const std::string moving = moving_constants_text(sweep, s);
    if (moving.empty()) continue;
    std::string note = fmt::format(
        "{}, {}: {}. The slope is that of the level with what these constants make of it, and more "
        "seeds do not change that.",
        s.part, s.arm, moving);
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
  return notes;
}

/// A table's CSV with names of ASCII letters without spaces, and nothing where a value is missing.
std::string csv_for_programs(const plots::Table& table) {
  static const std::map<std::string, std::string> words{
      {"α", "alpha"}, {"δ", "delta"}, {"ε", "epsilon"}, {"λ", "lambda"},
      {"ρ", "rho"},   {"√", "sqrt"},  {"%", "percent"}, {" ", "_"},
      {":", ""},      {",", ""},      {"'", ""}};
  const std::string text = plots::to_csv(table);
  std::string csv;
  bool is_head = true;
  for (CsvRow& row : read_csv_text(table.id, text)) {
    if (row.text.empty()) continue;
    std::vector<std::string> fields;
    for (std::string& field : row.fields) {
      if (is_head)
        for (const auto& [from, to] : words)
          for (std::size_t at = 0; (at = field.find(from, at)) != std::string::npos;)
            field.replace(at, from.size(), to);
      fields.push_back(field == "–" ? "" : csv_field(field));
    }
    csv += fmt::format("{}\r\n", fmt::join(fields, ","));
    is_head = false;
  }
  return csv;
}

std::string finding_of(const std::vector<Rate>& rates) {
  std::map<std::string, int> words;
  int measured = 0;
  for (const Rate& r : rates) {
    measured += r.value.has_value();
    if (!r.word.empty()) ++words[r.word];
  }
  if (rates.empty()) return "levels of every cell";
  std::string finding = fmt::format("{} of {} exponents measured", measured, rates.size());
  for (const auto& [word, count] : words) finding += fmt::format(", {} {}", count, word);
  return finding;
}

}  // namespace

std::vector<std::filesystem::path> write_sweep(const Store& store, const Runs& runs,
                                               const Sweep& sweep, const SweepSource& source,
                                               const std::filesystem::path& folder,
                                               const WriteOptions& options) {
  const std::vector<Slope> slopes = slopes_of(runs, sweep);
  std::string rest = shell_word(source.file);
  if (source.scale != Scale::quick) rest += fmt::format(" --scale {}", to_string(source.scale));
  ExhibitPage page{.id = sweep.name,
                   .title = sweep.title,
                   .rates = rates_of(slopes, sweep),
                   .commands = {{"All of it; finished runs are kept. Where the store is not in "
                                 "`out/`, `--out FOLDER` names its folder",
                                 "./run dpsosp sweep " + rest},
                                {"The slopes as text", "./run dpsosp fit " + rest}},
                   .files = {{"Part, arm and use of every run, CSV", "runs.csv"},
                             {"Seconds of every run, CSV", "timings.csv"}}};
  page.notice = data_notices();
  page.figures = figures_of(runs, sweep, [&](const std::string& line) {
    page.notice.push_back(line);
    if (options.notice) options.notice(line);
  });
  page.finding = finding_of(page.rates);
  if (!slopes.empty()) {
    page.tables.push_back(exponents_table(page.rates, sweep.title));
    page.tables.back().notes = notes_on(slopes, sweep);
  }
  for (const Part& part : sweep.parts) {
    page.tables.push_back(used_table(runs, sweep, part, "used-" + part.name));
    page.details.push_back(cells_table(runs, sweep, part, "cells-" + part.name));
  }
  if (!slopes.empty())
    page.details.insert(page.details.begin(), slopes_table(slopes, "slopes", sweep.title));
  const std::string commands = tuned_commands(sweep);
  if (!commands.empty())
    page.files.insert(page.files.begin(), {"The settings chosen, as commands", "tuned.sh"});
  for (const Part& part : sweep.parts)
    if (is_tuned(sweep, part))
      page.tables.push_back(tuning_table(runs, sweep, part, "tuning-" + part.name));
  for (plots::Table& t : page.details) t.sweep.clear();  // the page has one command
  Site site{.scale = std::string(to_string(source.scale)),
            .version = provenance().build.program_version};
  for (const AlgorithmEntry& e : algorithm_registry())
    site.methods.push_back({e.key, e.create()->card().title});
  ensure_writable_folder(folder);
  std::vector<std::filesystem::path> written;
  const auto write = [&](const char* name, const std::string& text) {
    write_file(folder / name, text);
    written.push_back(folder / name);
  };
  write("timings.csv", timings_csv(store, sweep));
  write("runs.csv", runs_csv(sweep));
  if (!commands.empty()) write("tuned.sh", commands);
  std::ranges::move(write_exhibit(page, site, folder, options), std::back_inserter(written));
  // What the page shows in words is for programs to be read as numbers.
  for (const plots::Table& t : page.tables)
    write_file(folder / (t.id + ".csv"), csv_for_programs(t));
  for (const Part& part : sweep.parts)
    write_file(folder / ("cells-" + part.name + ".csv"), cells_csv(runs, sweep, part));
  if (!slopes.empty())
    for (const char* id : {"slopes.csv", "exponents.csv"})
      write_file(folder / id, slopes_csv(slopes));
  return written;
}

}  // namespace dpsosp::report
