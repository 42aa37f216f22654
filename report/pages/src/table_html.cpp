// SPDX-License-Identifier: Apache-2.0
#include "table_html.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table_layout.hpp"

namespace dpsosp::report {
namespace {

using plots::Cell;
using plots::Row;
using plots::RowGroup;
using plots::Table;

/// Texts longer than this stand below their row.
constexpr std::size_t long_text = 44;
/// What fits beside each other on a page, in characters of a table's size and their spaces.
constexpr std::size_t page_characters = 158;

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

const std::string* text_of(const Cell& cell) { return std::get_if<std::string>(&cell.content); }

/// Width of the cell's longest line.
std::size_t width_of(const Cell& cell) {
  std::size_t width = 1;
  if (const std::string* t = text_of(cell)) width = characters(plots::plain_text(*t));
  if (const auto* n = std::get_if<plots::Number>(&cell.content))
    width = characters(plots::plain_number(n->value, n->format));
  if (const auto* s = std::get_if<plots::Spread>(&cell.content))
    width = std::max<std::size_t>(characters(plots::plain_number(s->low, s->format)) +
                                      characters(plots::plain_number(s->high, s->format)) + 4,
                                  s->failed > 0 ? 22 : 0);
  std::size_t label = 0;
  for (const plots::Label& l : cell.labels) label = std::max(label, characters(l.text) + 3);
  return std::max(width, label);
}

std::size_t longest_word(std::string_view t) {
  std::size_t longest = 0, word = 0;
  for (const char c : plots::plain_text(t)) {
    word = c == ' ' ? 0 : word + ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U);
    longest = std::max(longest, word);
  }
  return longest;
}

struct TableColumn {
  std::size_t index = 0;  ///< among the table's columns
  std::string group;
  std::string label;
  bool numeric = false;
  bool below = false;  ///< its texts stand below the row
  bool word = false;   ///< holds headline words
  std::size_t width = 0;
};

std::vector<TableColumn> table_columns(const Table& table) {
  std::vector<TableColumn> columns;
  for (const plots::ColumnGroup& group : table.column_groups)
    for (const std::string& label : group.columns)
      columns.push_back({columns.size(), group.label, label});
  for (TableColumn& c : columns) {
    c.width = std::max<std::size_t>(longest_word(c.label), 3);
    for (const RowGroup& group : table.row_groups)
      for (const Row& row : group.rows) {
        const Cell& cell = row.cells[c.index];
        const std::string* t = text_of(cell);
        c.numeric = c.numeric || (t == nullptr && cell.content.index() > 0);
        c.below = c.below || (t != nullptr && characters(*t) > long_text);
        for (const plots::Label& l : cell.labels)
          c.word = c.word || !word_class(l.text.substr(0, l.text.find(" ("))).empty();
      }
    if (c.below) continue;
    for (const RowGroup& group : table.row_groups)
      for (const Row& row : group.rows) c.width = std::max(c.width, width_of(row.cells[c.index]));
    c.width += 2;
  }
  return columns;
}

/// A label that is a headline word, with what stands in brackets after it; else a tag.
Html label_html(const plots::Label& label, const Place& place) {
  const std::size_t bracket = label.text.find(" (");
  const std::string word = label.text.substr(0, bracket);
  if (!word_class(word).empty()) {
    Html out = word_label(word);
    if (bracket != std::string::npos)
      out += text(" ") + element("span",
                                 {{"class", "iv"}},
                                 plain(std::string_view(label.text).substr(bracket + 1)));
    return out;
  }
  return element("span",
                 {{"class", label.tone == plots::Tone::bad ? "tag bad" : "tag"}},
                 prose(label.text, place));
}

Html marks(const std::vector<std::size_t>& footnotes) {
  if (footnotes.empty()) return {};
  return element("sup", {{"class", "mark"}}, text(plots::footnote_marks(footnotes)));
}

Html spread_html(const plots::Spread& s) {
  Html out;
  if (plots::has_median(s))
    out += trusted(plots::html_number(s.median, s.format)) +
           element("span",
                   {{"class", "iv"}},
                   text("[") + trusted(plots::html_number(s.low, s.format)) + text(", ") +
                       trusted(plots::html_number(s.high, s.format)) + text("]"));
  if (s.failed > 0) out += element("span", {{"class", "iv failed"}}, plain(plots::failure_text(s)));
  return out;
}

Html content_html(const Cell& cell, const Place& place) {
  Html out;
  if (const std::string* t = text_of(cell))
    out = prose(*t, place);
  else if (const auto* n = std::get_if<plots::Number>(&cell.content))
    out = trusted(plots::html_number(n->value, n->format));
  else if (const auto* s = std::get_if<plots::Spread>(&cell.content))
    out = spread_html(*s);
  else if (cell.labels.empty())
    out = text(plots::empty_cell);
  out += marks(cell.footnotes);
  return cell.strong && !out.empty() ? element("strong", out) : out;
}

Html labels_html(const Cell& cell, const Place& place) {
  Html out;
  for (const plots::Label& l : cell.labels) out += text(" ") + label_html(l, place);
  return out;
}

Attributes cell_attributes(const Cell& cell, const TableColumn& column) {
  Attributes a;
  if (column.numeric) a.emplace_back("class", "r");
  // By which a table is sorted, where the text is no plain number.
  const auto* n = std::get_if<plots::Number>(&cell.content);
  const auto* s = std::get_if<plots::Spread>(&cell.content);
  if (n != nullptr && plots::plain_number(n->value, n->format).find("10") != std::string::npos)
    a.emplace_back("data-v", fmt::format("{:.6g}", n->value));
  if (s != nullptr && plots::has_median(*s) &&
      plots::plain_number(s->median, s->format).find("10") != std::string::npos)
    a.emplace_back("data-v", fmt::format("{:.6g}", s->median));
  return a;
}

Html head(const Table& table, const std::vector<const TableColumn*>& shown) {
  const bool grouped =
      std::ranges::any_of(shown, [](const TableColumn* c) { return !c->group.empty(); });
  Html groups = element(
      "th",
      grouped ? Attributes{{"scope", "col"}, {"rowspan", "2"}} : Attributes{{"scope", "col"}},
      plain(table.row_header));
  Html second;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const TableColumn& c = *shown[k];
    Attributes a{{"scope", "col"}};
    if (c.numeric) a.emplace_back("class", "r");
    if (!grouped || c.group.empty()) {
      if (grouped) a.emplace_back("rowspan", "2");
      groups += element("th", a, plain(c.label));
      continue;
    }
    std::size_t span = 1;
    while (k + span < shown.size() && shown[k + span]->group == c.group) ++span;
    groups += element("th",
                      {{"scope", "colgroup"}, {"colspan", std::to_string(span)}, {"class", "g"}},
                      plain(c.group));
    for (std::size_t j = k; j < k + span; ++j) {
      Attributes b{{"scope", "col"}};
      if (shown[j]->numeric) b.emplace_back("class", "r");
      second += element("th", b, plain(shown[j]->label));
    }
    k += span - 1;
  }
  return element("thead", element("tr", groups) + (grouped ? element("tr", second) : Html{}));
}

/// Whether the row has more to say than fits beside its number: long texts, under their headings.
Html below_row(const Row& row,
               const std::vector<TableColumn>& columns,
               std::size_t width,
               const Place& place) {
  Html out;
  const auto several =
      std::ranges::count_if(columns, [](const TableColumn& c) { return c.below; }) > 1;
  for (const TableColumn& c : columns) {
    if (!c.below) continue;
    const Cell& cell = row.cells[c.index];
    const std::string* t = text_of(cell);
    if (t == nullptr || t->empty() || *t == plots::empty_cell) continue;
    Html line;
    if (several || c.word) line += element("b", plain(c.label)) + text(": ");
    line += content_html(cell, place);
    if (!c.word) line += labels_html(cell, place);
    out += element("p", line);
  }
  if (out.empty()) return {};
  return element(
      "tr", {{"class", "below"}}, element("td", {{"colspan", std::to_string(width)}}, out));
}

Html body(const Table& table,
          const std::vector<TableColumn>& columns,
          const std::vector<const TableColumn*>& shown,
          bool first,
          const Place& place) {
  Html out;
  for (const RowGroup& group : table.row_groups) {
    Html rows;
    if (!group.label.empty())
      rows +=
          element("tr",
                  {{"class", "group"}},
                  element("th",
                          {{"scope", "rowgroup"}, {"colspan", std::to_string(shown.size() + 1)}},
                          prose(group.label, place)));
    for (const Row& row : group.rows) {
      const std::string address = place.address_of(row.label);
      Html label = address.empty() || address == place.here ? prose(row.label, place)
                                                            : named(row.label, place);
      Html cells = element("th", {{"scope", "row"}}, label + marks(row.footnotes));
      for (const TableColumn* c : shown) {
        const Cell& cell = row.cells[c->index];
        Html content;
        if (!c->below) content = content_html(cell, place);
        if (!c->below || c->word) content += labels_html(cell, place);
        cells += element("td", cell_attributes(cell, *c), content);
      }
      rows += element("tr", cells);
      if (first) rows += below_row(row, columns, shown.size() + 1, place);
    }
    if (!rows.empty()) out += element("tbody", rows);
  }
  return out;
}

/// Columns side by side: words first, as many as fit.
std::vector<std::vector<const TableColumn*>> chunks_of(const Table& table,
                                                       const std::vector<TableColumn>& columns) {
  std::size_t label = longest_word(table.row_header);
  for (const RowGroup& group : table.row_groups)
    for (const Row& row : group.rows)
      label = std::max(label, std::min<std::size_t>(characters(plots::plain_text(row.label)), 34));
  std::vector<const TableColumn*> order;
  for (const TableColumn& c : columns)
    if (c.word) order.push_back(&c);
  for (const TableColumn& c : columns)
    if (!c.word && !c.below) order.push_back(&c);
  std::vector<std::vector<const TableColumn*>> chunks(1);
  std::size_t width = label + 2;
  for (const TableColumn* c : order) {
    const std::size_t own = c->word && c->below ? 14 : c->width;
    if (!chunks.back().empty() && width + own > page_characters) {
      chunks.emplace_back();
      width = label + 2;
    }
    chunks.back().push_back(c);
    width += own;
  }
  return chunks;
}

}  // namespace

Html table_html(const plots::Table& table, const Place& place) {
  const std::vector<TableColumn> columns = table_columns(table);
  const auto chunks = chunks_of(table, columns);
  Html out;
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    Html caption;
    if (k == 0) {
      if (!table.title.empty()) caption += element("b", prose(table.title, place));
      if (!table.caption.empty()) caption += text(". ") + prose(table.caption, place);
    } else {
      caption = text("continued");
    }
    Attributes a{{"class", "t"}, {"data-sort", ""}};
    if (k == 0) a.emplace_back("data-name", table.id);
    out += element("div",
                   {{"class", "tw"}, {"tabindex", "0"}},
                   element("table",
                           a,
                           element("caption", caption) + head(table, chunks[k]) +
                               body(table, columns, chunks[k], k == 0, place)));
  }
  Html notes;
  for (std::size_t k = 0; k < table.footnotes.size(); ++k)
    notes += element("p",
                     element("sup", {{"class", "mark"}}, text(plots::footnote_mark(k))) +
                         text(" ") + prose(table.footnotes[k], place));
  for (const std::string& note : plots::notes_of(table)) notes += paragraph(note, place);
  if (!notes.empty()) out += element("div", {{"class", "notes"}}, notes);
  return element("section", {{"class", "table"}, {"id", table.id}}, out);
}

Html facts_html(const std::vector<Fact>& facts, const Place& place) {
  Html list;
  for (const Fact& f : facts) {
    if (f.text.empty()) continue;
    list += element("dt", prose(f.name, place)) + element("dd", prose(f.text, place));
  }
  return list.empty() ? list : element("dl", {{"class", "card"}}, list);
}

}  // namespace dpsosp::report
