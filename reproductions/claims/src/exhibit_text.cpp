// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/exhibit_text.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/toml_reader.hpp"

namespace dpsosp {
namespace {

std::string text_at(const TomlTable& table, const char* name) {
  return table.has(name) ? table.at(name).text() : "";
}

std::vector<std::string> paragraphs_at(const TomlTable& table, const char* name) {
  std::vector<std::string> paragraphs;
  if (table.has(name))
    for (const TomlNode& node : table.at(name).array()) paragraphs.push_back(node.text());
  return paragraphs;
}

std::vector<ExhibitText::Item> items_at(const TomlTable& table, const char* name) {
  std::vector<ExhibitText::Item> items;
  if (!table.has(name)) return items;
  for (const TomlNode& node : table.at(name).array()) {
    const TomlTable t = node.table();
    t.allow({"id", "title", "caption", "notes"});
    items.push_back({.id = t.at("id").text(),
                     .title = text_at(t, "title"),
                     .caption = text_at(t, "caption"),
                     .notes = paragraphs_at(t, "notes")});
  }
  return items;
}

/// Adds paragraphs and items: those of an exhibit after those of every exhibit.
void add_own(ExhibitText& text, const TomlTable& t) {
  const auto append = [](auto& list, const auto& own) {
    list.insert(list.end(), own.begin(), own.end());
  };
  append(text.paper_says, paragraphs_at(t, "paper_says"));
  append(text.differences, paragraphs_at(t, "differences"));
  append(text.tables, items_at(t, "table"));
  append(text.figures, items_at(t, "figure"));
}

void put_first(std::vector<std::string>& list, const std::vector<std::string>& first) {
  list.insert(list.begin(), first.begin(), first.end());
}

/// Refuses words of a table or figure that the exhibit does not have, unless it has nothing to show
/// yet. Those of [every] may be for other exhibits.
template <class Shown>
void check_ids(const ExhibitText& text, std::string_view kind,
               const std::vector<ExhibitText::Item>& items, const std::vector<Shown>& shown) {
  std::vector<std::string> ids;
  for (const Shown& s : shown) ids.push_back(s.id);
  for (const ExhibitText::Item& item : items)
    if (!item.of_every && std::ranges::find(ids, item.id) == ids.end())
      reject_unknown(fmt::format("{} in exhibits.toml, {}", kind, text.id), item.id, ids);
}

/// Fills the titles and captions that are empty; the exhibit's own words come before those of
/// [every]. `shown` is a table or a figure.
template <class Shown>
void add_words(Shown& shown, const std::vector<ExhibitText::Item>& items) {
  const auto backwards = items | std::views::reverse;
  const auto item = std::ranges::find(backwards, shown.id, &ExhibitText::Item::id);
  if (item == backwards.end()) return;
  if (shown.title.empty()) shown.title = item->title;
  if (shown.caption.empty()) shown.caption = item->caption;
  if constexpr (requires { shown.notes; }) put_first(shown.notes, item->notes);
}

void add_words(plots::Exhibit& exhibit, const ExhibitText& text) {
  exhibit.id = text.id;
  std::ranges::replace(exhibit.id, '/', '-');
  exhibit.paper = text.paper;
  exhibit.title = text.heading;
  if (!exhibit.tables.empty() || !exhibit.figures.empty()) {
    check_ids(text, "table", text.tables, exhibit.tables);
    check_ids(text, "figure", text.figures, exhibit.figures);
  }
  put_first(exhibit.paper_says, text.paper_says);
  put_first(exhibit.differences, text.differences);
  for (plots::Table& table : exhibit.tables) add_words(table, text.tables);
  for (plots::Figure& figure : exhibit.figures) add_words(figure, text.figures);
}

}  // namespace

std::vector<ExhibitText> parse_exhibits(const Texts& texts) {
  const TomlDocument document(texts.exhibits, fmt::format("{}/exhibits.toml", texts.key));
  document.root().allow({"every", "exhibit"});
  ExhibitText every;
  if (document.root().has("every")) {
    const TomlTable t = document.root().at("every").table();
    t.allow({"paper", "paper_says", "differences", "table", "figure"});
    every.paper = text_at(t, "paper");
    add_own(every, t);
    for (auto* items : {&every.tables, &every.figures})
      for (ExhibitText::Item& item : *items) item.of_every = true;
  }
  std::vector<ExhibitText> list;
  for (const TomlNode& node : document.root().at("exhibit").array()) {
    const TomlTable t = node.table();
    t.allow({"id", "title", "heading", "paper", "paper_says", "differences", "table", "figure"});
    ExhibitText e = every;
    e.id = t.at("id").text();
    e.title = t.at("title").text();
    e.heading = t.has("heading") ? t.at("heading").text() : e.title;
    if (every.paper.empty() || t.has("paper")) e.paper = t.at("paper").text();
    add_own(e, t);
    list.push_back(std::move(e));
  }
  return list;
}

ExhibitEntry exhibit_entry(
    const Texts& texts, std::string_view id,
    std::function<std::vector<Job>(const Study& study)> jobs,
    std::function<plots::Exhibit(const Runs& runs, const Study& study)> render) {
  std::vector<std::string> ids;
  for (ExhibitText& text : parse_exhibits(texts)) {
    if (text.id == id)
      return {text.id, text.title, text.paper, std::move(jobs),
              [text, render = std::move(render)](const Runs& runs, const Study& study) {
                plots::Exhibit exhibit = render(runs, study);
                add_words(exhibit, text);
                return exhibit;
              }};
    ids.push_back(text.id);
  }
  reject_unknown("exhibit", std::string(id), ids);
}

}  // namespace dpsosp
