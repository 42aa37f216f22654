// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/study.hpp"
#include "stored.hpp"
#include "written.hpp"

namespace dpsosp::report {
namespace {

/// Registry keys by the names that curves have: keys and titles.
const std::map<std::string, std::string>& methods_by_name() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> all;
    for (const AlgorithmEntry& e : algorithm_registry()) {
      all.emplace(e.key, e.key);
      all.emplace(e.create()->card().title, e.key);
    }
    return all;
  }();
  return names;
}

/// What the arms of a sweep's panels run on, where an axis does not move it.
std::string settings_of(const plots::Figure& f, const Stored& stored) {
  std::vector<std::string> settings;
  for (const plots::Panel& p : f.panels) {
    if (!stored.has_sweep(p.origin.sweep)) continue;
    for (const plots::Series& s : p.series) {
      if (!s.dashed) add_once(settings, stored.setting_of(p.origin.sweep, p.origin.part, s.label));
    }
  }
  if (settings.empty()) return {};
  return fmt::format(" Where not varied: {}.", fmt::join(settings, "; "));
}

plots::Figure shown_figure(plots::Figure f, const Stored& stored) {
  for (plots::Panel& p : f.panels) {
    if (!p.origin.sweep.empty()) p.title = part_title(p.origin.part, p.x.label);
    for (plots::Series& s : p.series)
      if (s.algorithm.empty())
        if (const auto known = methods_by_name().find(s.label); known != methods_by_name().end())
          s.algorithm = known->second;
  }
  f.caption += settings_of(f, stored);
  return f;
}

/// Tables that one sweep alone fills are details, unless an exhibit has no others; so are those
/// after the first two.
void sort_tables(const std::vector<plots::Table>& tables, ExhibitPage& page) {
  constexpr std::size_t most_shown = 2;
  const bool has_own =
      std::ranges::any_of(tables, [](const plots::Table& t) { return t.sweep.empty(); });
  for (const plots::Table& t : tables) {
    const bool matters = (t.sweep.empty() || !has_own) && page.tables.size() < most_shown;
    (matters ? page.tables : page.details).push_back(t);
  }
}

/// The rows about what the exhibit's paper states and its runs answer.
std::vector<ForestGroup> forest_of(const std::vector<ForestGroup>& all, const ExhibitPage& page) {
  constexpr std::size_t least_rows = 2;
  std::vector<ForestGroup> groups;
  std::size_t rows = 0;
  for (const ForestGroup& g : all) {
    ForestGroup own{.paper = g.paper, .quantity = g.quantity, .printed = g.printed};
    for (ForestRow row : g.rows) {
      std::vector<std::string> claims = row.also;
      claims.insert(claims.begin(), row.claim);
      const auto claim = std::ranges::find_if(claims, [&](const std::string& c) {
        return paper_of(c) == page.paper_key &&
               std::ranges::find(page.claims, c) != page.claims.end();
      });
      if (claim == claims.end()) continue;
      std::swap(row.claim, *claim);
      row.also.assign(claims.begin() + 1, claims.end());
      own.rows.push_back(std::move(row));
    }
    rows += own.rows.size();
    if (!own.rows.empty()) groups.push_back(std::move(own));
  }
  return rows < least_rows ? std::vector<ForestGroup>{} : groups;
}

}  // namespace

std::vector<ExhibitPage> exhibit_pages_of(const Stored& stored,
                                          const std::vector<ForestGroup>& forest) {
  std::vector<ExhibitPage> pages;
  const Reproduced& all = stored.reproduced();
  for (std::size_t k = 0; k < all.exhibits.size(); ++k) {
    const plots::Exhibit& e = all.exhibits[k];
    const ExhibitEntry& entry = *all.entries[k];
    ExhibitPage p{.id = entry.id,
                  .folder = e.id,
                  .paper = e.paper,
                  .paper_key = paper_of(entry.id),
                  .title = e.title,
                  .finding = e.verdict.text,
                  .notice = e.notice,
                  .summary = summaries_of(stored, entry.id),
                  .paper_says = e.paper_says,
                  .differences = e.differences};
    std::vector<std::string> sweeps;
    for (const plots::Figure& f : e.figures) {
      p.figures.push_back(shown_figure(f, stored));
      for (const plots::Panel& panel : f.panels) add_once(sweeps, panel.origin.sweep);
    }
    sort_tables(e.tables, p);
    for (const plots::Table& t : e.tables) add_once(sweeps, t.sweep);
    for (const Rate& r : stored.rates())
      if (std::ranges::find(sweeps, r.sweep) != sweeps.end()) {
        p.rates.push_back(r);
        add_once(p.claims, r.claim);
      }
    std::set<std::string> algorithms;
    if (entry.id != "claims")  // its runs are those of all others
      for (const Job& job :
           all.jobs[k].empty() && !entry.first_job ? entry.jobs(stored.study()) : all.jobs[k])
        if (job.run() != nullptr) algorithms.insert(job.run()->algorithm);
    p.algorithms.assign(algorithms.begin(), algorithms.end());
    p.forest = forest_of(forest, p);
    for (const std::string& s : sweeps) {
      const auto sweep = stored.sweeps().find(s);
      p.commands.push_back(
          {sweep == stored.sweeps().end() ? s : sweep->second.title, "./run dpsosp sweep " + s});
    }
    p.commands.push_back({"the whole exhibit", "./run reproduce " + entry.id});
    for (const plots::Attachment& a : e.attachments)
      p.files.emplace_back(a.label, a.file.filename().string());
    pages.push_back(std::move(p));
  }
  return pages;
}

}  // namespace dpsosp::report
