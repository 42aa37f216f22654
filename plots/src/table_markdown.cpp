// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/plots/table_layout.hpp"

namespace dpsosp::plots {
namespace {

std::string markdown_content(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.content)) return markdown_text(*text);
  if (const auto* number = std::get_if<Number>(&cell.content))
    return plain_number(number->value, number->format);
  const auto* spread = std::get_if<Spread>(&cell.content);
  if (spread == nullptr) return {};
  std::string out;
  if (has_median(*spread)) {
    out = fmt::format("{} [{}, {}]", plain_number(spread->median, spread->format),
                      plain_number(spread->low, spread->format),
                      plain_number(spread->high, spread->format));
  }
  if (spread->failed > 0) {
    if (!out.empty()) out += "; ";
    out += markdown_text(failure_text(*spread));
  }
  return out;
}

std::string markdown_marks(const std::vector<std::size_t>& footnotes) {
  return footnotes.empty() ? "" : fmt::format("<sup>{}</sup>", footnote_marks(footnotes));
}

std::string markdown_cell(const Cell& cell) {
  std::string out = markdown_content(cell);
  if (cell.strong && !out.empty()) out = "**" + out + "**";
  for (const Label& label : cell.labels) {
    if (!out.empty()) out += ", ";
    out += markdown_text(label.text);
  }
  return (out.empty() ? empty_cell : out) + markdown_marks(cell.footnotes);
}

}  // namespace

std::string to_markdown(const Table& table) {
  check(table);
  std::string out = fmt::format("**{}**", markdown_text(table.title));
  if (!table.caption.empty()) out += fmt::format(" {}", markdown_text(table.caption));
  out += fmt::format("\n\n| {} |", markdown_text(table.row_header));
  const std::vector<std::string> names = column_names(table);
  for (const std::string& name : names) out += fmt::format(" {} |", markdown_text(name));
  out += "\n|:---|";
  for (std::size_t k = 0; k < names.size(); ++k) out += "---:|";
  out += '\n';
  for (const RowGroup& group : table.row_groups) {
    if (!group.label.empty()) {
      out += fmt::format("| *{}* |", markdown_text(group.label));
      for (std::size_t k = 0; k < names.size(); ++k) out += " |";
      out += '\n';
    }
    for (const Row& row : group.rows) {
      out += fmt::format("| {}", markdown_text(row.label)) + markdown_marks(row.footnotes) + " |";
      for (const Cell& cell : row.cells) out += fmt::format(" {} |", markdown_cell(cell));
      out += '\n';
    }
  }
  for (std::size_t k = 0; k < table.footnotes.size(); ++k)
    out += fmt::format("\n<sup>{}</sup> {}\n", footnote_mark(k), markdown_text(table.footnotes[k]));
  for (const std::string& note : notes_of(table)) out += fmt::format("\n{}\n", markdown_text(note));
  return out;
}

}  // namespace dpsosp::plots
