// SPDX-License-Identifier: Apache-2.0
#include "moved_page.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "dpsosp/experiments/store.hpp"

namespace dpsosp::report {
namespace {

using Columns = std::vector<const Compared*>;

plots::Table table_of(std::string id, std::string title, std::string header) {
  return {.id = std::move(id), .title = std::move(title), .row_header = std::move(header)};
}

plots::Cell word_cell(const std::string& word) {
  plots::Cell cell;
  cell.labels = {{word, plots::Tone::neutral}};
  return cell;
}

/// "A" for the first store.
char letter_of(const std::string& name, const Columns& all) {
  const auto place = std::ranges::find(all, name, &Compared::name) - all.begin();
  return static_cast<char>('A' + std::min<std::ptrdiff_t>(place, 25));
}

/// Stores, and how the runs of each compare with those of the last.
plots::Table stores_table(const Columns& all) {
  plots::Table t = table_of("stores", "Stores", "store");
  t.caption = "Runs are compared with those of the last store.";
  t.column_groups = {{"", {"runs", "equal", "of another result", "only here", "computed by"}}};
  const StoredResults& last = all.back()->results;
  for (const Compared* c : all) {
    std::size_t equal = 0, other = 0;
    for (const auto& [run, result] : c->results.by_run)
      if (const auto found = last.by_run.find(run); found != last.by_run.end())
        ++(found->second == result ? equal : other);
    std::string builds;
    for (const std::string& b : c->results.builds) builds += (builds.empty() ? "" : "; ") + b;
    t.add({.label = fmt::format("{}: {}", letter_of(c->name, all), c->name),
           .cells = {plots::count_cell(c->results.by_run.size()), plots::count_cell(equal),
                     plots::count_cell(other),
                     plots::count_cell(c->results.by_run.size() - equal - other),
                     plots::text_cell(builds)}});
  }
  return t;
}

/// One row a key for which not all stores have the same text.
template <class Text>
plots::RowGroup moved_rows(const Columns& all, const std::vector<std::string>& keys,
                           const Text& text_of, bool words) {
  plots::RowGroup rows;
  for (const std::string& key : keys) {
    std::vector<std::string> texts;
    for (const Compared* c : all) texts.push_back(text_of(c->site, key));
    if (std::ranges::all_of(texts, [&](const std::string& t) { return t == texts.front(); }))
      continue;
    plots::Row row{.label = key};
    for (const std::string& t : texts)
      row.cells.push_back(words && !t.empty() ? word_cell(t)
                                              : plots::text_cell(t.empty() ? "–" : t));
    rows.rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> names_of(const Columns& all) {
  std::vector<std::string> names;
  for (const Compared* c : all) names.emplace_back(1, letter_of(c->name, all));
  return names;
}

template <class Entry>
std::vector<std::string> ids_of(const Columns& all, std::vector<Entry> Site::*list) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const Compared* c : all)
    for (const Entry& e : c->site.*list)
      if (seen.insert(e.id).second) ids.push_back(e.id);
  return ids;
}

std::string rate_key(const Rate& r) {
  return fmt::format("{} in {}: {}, {}, {}", r.claim, r.axis, r.arm, r.part, r.metric);
}

/// The exponents that are not equal in all stores; those whose intervals lie apart first.
struct MovedRate {
  std::string key;
  std::vector<Rate> rates;  ///< one a store that has it, under the store's name
  double apart = 0;         ///< difference over the widths of the intervals
};

std::vector<MovedRate> moved_rates(const Columns& all) {
  std::vector<MovedRate> list;
  std::map<std::string, std::size_t> places;
  for (const Compared* c : all)
    for (const ClaimPage& page : c->site.claims)
      for (Rate r : page.rates) {
        const std::string key = rate_key(r);
        const auto [place, fresh] = places.emplace(key, list.size());
        if (fresh) list.push_back({key, {}, 0});
        r.arm = c->name;
        list[place->second].rates.push_back(std::move(r));
      }
  std::erase_if(list, [&](const MovedRate& m) {
    return m.rates.size() == all.size() && std::ranges::all_of(m.rates, [&](const Rate& r) {
             return r.value == m.rates.front().value && r.word == m.rates.front().word;
           });
  });
  for (MovedRate& m : list) {
    const Rate &first = m.rates.front(), &last = m.rates.back();
    if (first.value && last.value)
      m.apart = std::abs(*last.value - *first.value) /
                std::max(1e-12, first.high - first.low + last.high - last.low);
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &MovedRate::apart);
  return list;
}

plots::Table rates_table_of(const std::vector<MovedRate>& moved, const Columns& all) {
  plots::Table t = table_of("exponents", "Exponents that differ", "exponent");
  t.caption =
      "Measured slope with its 95 % interval; the largest difference over the widths of its "
      "intervals first.";
  t.column_groups = {{"", names_of(all)}};
  for (const MovedRate& m : moved) {
    plots::Row row{.label = m.key};
    for (const Compared* c : all) {
      const auto r = std::ranges::find(m.rates, c->name, &Rate::arm);
      if (r == m.rates.end()) {
        row.cells.push_back(plots::text_cell("–"));
        continue;
      }
      plots::Cell cell = word_cell(r->word);
      cell.content = r->value
                         ? fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", *r->value, r->low, r->high)
                         : std::string("no slope");
      row.cells.push_back(std::move(cell));
    }
    t.add(std::move(row));
  }
  return t;
}

TextPage::Section section(std::string id, std::string heading, plots::Table table,
                          std::string_view nothing) {
  TextPage::Section s{.id = std::move(id), .heading = std::move(heading)};
  if (table.row_groups.empty() || table.row_groups.front().rows.empty())
    s.paragraphs.emplace_back(nothing);
  else
    s.tables.push_back(std::move(table));
  return s;
}

}  // namespace

StoredResults results_of(const Store& store) {
  StoredResults all;
  store.each([&](const StoredRun& run, const Provenance&) {
    all.by_run[run.key.hash()] =
        run.status == RunStatus::finished ? run.result.dump() : "failed: " + run.reason;
  });
  for (const Build& build : store.builds()) all.builds.push_back(to_string(build));
  return all;
}

TextPage moved_page(const std::vector<const Compared*>& all) {
  constexpr std::size_t most_drawn = 12;
  TextPage page{
      .id = "moved",
      .title = "What moved",
      .lead = fmt::format(
          "{} stores beside each other: words, exponents and verdicts that differ between them. "
          "The other pages of this report are of the last one.",
          all.size())};
  page.sections.push_back(section("stores", "Stores", stores_table(all), ""));
  plots::Table words = table_of("words", "Claims whose word differs", "claim");
  words.column_groups = {{"", names_of(all)}};
  words.row_groups = {moved_rows(
      all, ids_of(all, &Site::claims),
      [](const Site& site, const std::string& id) {
        const auto c = std::ranges::find(site.claims, id, &ClaimPage::id);
        return c == site.claims.end() ? std::string{} : c->word;
      },
      true)};
  page.sections.push_back(
      section("words", "Words", std::move(words), "No claim has another word."));
  const std::vector<MovedRate> moved = moved_rates(all);
  page.sections.push_back(
      section("exponents", "Exponents", rates_table_of(moved, all), "No exponent differs."));
  for (std::size_t k = 0; k < std::min(most_drawn, moved.size()); ++k)
    if (moved[k].apart > 0)
      for (Rate r : moved[k].rates) {
        r.arm = fmt::format("{} {}", letter_of(r.arm, all), r.claim);
        page.sections.back().intervals.push_back(std::move(r));
      }
  plots::Table verdicts = table_of("verdicts", "Exhibits whose verdict differs", "exhibit");
  verdicts.column_groups = {{"", names_of(all)}};
  verdicts.row_groups = {moved_rows(
      all, ids_of(all, &Site::exhibits),
      [](const Site& site, const std::string& id) {
        const auto e = std::ranges::find(site.exhibits, id, &ExhibitPage::id);
        return e == site.exhibits.end() ? std::string{} : e->finding;
      },
      false)};
  page.sections.push_back(
      section("verdicts", "Verdicts of exhibits", std::move(verdicts), "No verdict differs."));
  return page;
}

}  // namespace dpsosp::report
