// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/provenance.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/experiments/tuning.hpp"
#include "dpsosp/report/contents.hpp"
#include "stored.hpp"

namespace dpsosp::report {
namespace {

/// More curves than a drawing for print has looks for; guide lines have one of their own.
constexpr std::size_t most_curves = plots::styles - 1;

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
std::vector<plots::Figure> figures_of(const Runs& runs, const Sweep& sweep) {
  std::vector<plots::Figure> figures;
  for (const Part& part : sweep.parts) {
    for (std::size_t first = 0; first < part.arms.size(); first += most_curves) {
      Sweep alone = sweep;
      alone.parts = {part};
      auto& arms = alone.parts.front().arms;
      arms = {part.arms.begin() + static_cast<std::ptrdiff_t>(first),
              part.arms.begin() +
                  static_cast<std::ptrdiff_t>(std::min(first + most_curves, part.arms.size()))};
      plots::Figure f = slopes_figure(runs, alone, "figure-" + part.name, sweep.title);
      if (f.panels.empty()) continue;
      if (first > 0) f.id += fmt::format("-{}", first / most_curves + 1);
      std::set<std::string> settings;
      for (const std::size_t arm : arms) settings.insert(setting_of(sweep.arms[arm]));
      f.caption += fmt::format(
          " {} seeds a cell. Where not varied: {}.", part.seeds, fmt::join(settings, "; "));
      if (is_tuned(sweep, part))
        f.caption += fmt::format(" Settings were chosen on {} other seeds, as the table {} has it.",
                                 sweep.tuning.seeds,
                                 "tuning-" + part.name);
      for (plots::Panel& p : f.panels) p.title = part_title(part.name, p.x.label);
      figures.push_back(std::move(f));
    }
  }
  return figures;
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

std::vector<std::filesystem::path> write_sweep(const Store& store,
                                               const Runs& runs,
                                               const Sweep& sweep,
                                               const SweepSource& source,
                                               const std::filesystem::path& folder,
                                               const WriteOptions& options) {
  const std::vector<Slope> slopes = slopes_of(runs, sweep);
  std::string rest = source.file;
  if (source.scale != Scale::quick) rest += fmt::format(" --scale {}", to_string(source.scale));
  ExhibitPage page{.id = sweep.name,
                   .title = sweep.title,
                   .figures = figures_of(runs, sweep),
                   .rates = rates_of(slopes, sweep),
                   .commands = {{"All of it; finished runs are kept", "./run dpsosp sweep " + rest},
                                {"The slopes as text", "./run dpsosp fit " + rest}},
                   .files = {{"Part, arm and use of every run, CSV", "runs.csv"},
                             {"Seconds of every run, CSV", "timings.csv"}},
                   .print = options.print};
  page.finding = finding_of(page.rates);
  if (!slopes.empty()) page.tables.push_back(exponents_table(page.rates, sweep.title));
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
  return written;
}

}  // namespace dpsosp::report
