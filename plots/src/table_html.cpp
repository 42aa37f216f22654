// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table.hpp"
#include "label_html.hpp"
#include "table_layout.hpp"

namespace dpsosp::plots {
namespace {

std::string html_marks(const std::vector<std::size_t>& footnotes) {
  if (footnotes.empty()) return {};
  return fmt::format("<sup class=\"mark\">{}</sup>", footnote_marks(footnotes));
}

// Range and failures have lines of their own; the marks are on the last of them.
std::string spread_html(const Spread& spread, const std::string& mark) {
  std::string out;
  if (has_median(spread)) {
    out = fmt::format("<span class=\"median\">{}</span> <span class=\"range\">[{}, {}]{}</span>",
                      html_number(spread.median, spread.format),
                      html_number(spread.low, spread.format),
                      html_number(spread.high, spread.format),
                      spread.failed == 0 ? mark : "");
  }
  if (spread.failed > 0) {
    out += fmt::format("{}<span class=\"failed\">{}{}</span>",
                       out.empty() ? "" : " ",
                       html_text(failure_text(spread)),
                       mark);
  }
  return out;
}

std::string content_html(const Cell& cell, const std::string& mark) {
  if (const auto* text = std::get_if<std::string>(&cell.content)) return html_text(*text) + mark;
  if (const auto* number = std::get_if<Number>(&cell.content))
    return fmt::format(
        "<span class=\"number\">{}{}</span>", html_number(number->value, number->format), mark);
  if (const auto* spread = std::get_if<Spread>(&cell.content)) return spread_html(*spread, mark);
  return cell.labels.empty() ? empty_cell + mark : mark;
}

std::string cell_html(const Cell& cell, bool numeric) {
  std::string out = content_html(cell, html_marks(cell.footnotes));
  if (cell.strong) out = fmt::format("<strong>{}</strong>", out);
  for (const Label& label : cell.labels)
    out += fmt::format("{}{}", out.empty() ? "" : " ", label_html(label));
  return fmt::format("<td{}>{}</td>", numeric ? " class=\"numeric\"" : "", out);
}

// Columns that hold at least one number; they are set flush right.
std::vector<bool> numeric_columns(const Table& table) {
  std::vector<bool> numeric(column_count(table), false);
  for (const RowGroup& group : table.row_groups) {
    for (const Row& row : group.rows) {
      for (std::size_t k = 0; k < numeric.size(); ++k) {
        const auto& content = row.cells[k].content;
        if (std::holds_alternative<Number>(content) || std::holds_alternative<Spread>(content))
          numeric[k] = true;
      }
    }
  }
  return numeric;
}

std::string head_row(const Table& table, const std::vector<bool>& numeric) {
  const bool grouped = std::ranges::any_of(
      table.column_groups, [](const ColumnGroup& group) { return !group.label.empty(); });
  std::string spans = "<colgroup></colgroup>\n";
  std::string groups;
  std::string columns;
  std::size_t k = 0;
  for (const ColumnGroup& group : table.column_groups) {
    if (group.columns.empty()) continue;
    const std::size_t width = group.columns.size();
    spans += fmt::format("<colgroup span=\"{}\"></colgroup>\n", width);
    const bool alone = group.label.empty();
    if (!alone)
      groups += fmt::format(
          "<th scope=\"colgroup\" colspan=\"{}\">{}</th>", width, html_text(group.label));
    for (const std::string& column : group.columns) {
      const std::string cell = fmt::format("<th scope=\"col\"{}{}>{}</th>",
                                           grouped && alone ? " rowspan=\"2\"" : "",
                                           numeric[k++] ? " class=\"numeric\"" : "",
                                           html_text(column));
      (grouped && alone ? groups : columns) += cell;
    }
  }
  const std::string corner = fmt::format(
      "<th scope=\"col\"{}>{}</th>", grouped ? " rowspan=\"2\"" : "", html_text(table.row_header));
  const std::string rows = grouped ? groups + "</tr>\n<tr>" + columns : columns;
  return spans + "<thead>\n<tr>" + corner + rows + "</tr>\n</thead>\n";
}

}  // namespace

std::string label_html(const Label& label) {
  static constexpr const char* classes[] = {"neutral", "good", "caution", "bad"};
  return fmt::format("<span class=\"label {}\">{}</span>",
                     classes[static_cast<std::size_t>(label.tone)],
                     html_text(label.text));
}

std::string to_html(const Table& table) {
  check(table);
  std::string out = fmt::format(
      "<figure class=\"table\" id=\"{}\">\n"
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n"
      "<caption><span><strong>{}</strong>{}{}</span></caption>\n",
      table.id,
      html_attribute(table.title),
      html_text(table.title),
      table.caption.empty() ? "" : " ",
      html_text(table.caption));
  const std::vector<bool> numeric = numeric_columns(table);
  out += head_row(table, numeric);
  for (const RowGroup& group : table.row_groups) {
    out += "<tbody>\n";
    if (!group.label.empty()) {
      out += fmt::format("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>\n",
                         column_count(table) + 1,
                         html_text(group.label));
    }
    for (const Row& row : group.rows) {
      const std::string label = row.link.empty() ? html_text(row.label)
                                                 : fmt::format("<a href=\"{}\">{}</a>",
                                                               html_attribute(row.link),
                                                               html_text(row.label));
      out += fmt::format("<tr><th scope=\"row\">{}{}</th>", label, html_marks(row.footnotes));
      for (std::size_t k = 0; k < numeric.size(); ++k) out += cell_html(row.cells[k], numeric[k]);
      out += "</tr>\n";
    }
    out += "</tbody>\n";
  }
  out += "</table>\n</div>\n";
  const std::vector<std::string> notes = notes_of(table);
  if (!table.footnotes.empty() || !notes.empty()) {
    out += "<figcaption class=\"notes\">\n";
    for (std::size_t k = 0; k < table.footnotes.size(); ++k) {
      out += fmt::format("<p><sup class=\"mark\">{}</sup> {}</p>\n",
                         footnote_mark(k),
                         html_text(table.footnotes[k]));
    }
    for (const std::string& note : notes) out += fmt::format("<p>{}</p>\n", html_text(note));
    out += "</figcaption>\n";
  }
  return out + "</figure>\n";
}

}  // namespace dpsosp::plots
