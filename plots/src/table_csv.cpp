// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/core/csv.hpp"
#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/plots/table_layout.hpp"

namespace dpsosp::plots {
namespace {

std::string exact(double value) { return fmt::format("{:.17g}", value); }

std::string label_text(const Cell& cell) {
  std::string out;
  for (const Label& label : cell.labels)
    out += fmt::format("{}{}", out.empty() ? "" : "; ", plain_text(label.text));
  return out;
}

// How the cells of one column are laid out.
struct Layout {
  bool spread = false;
  bool labels = false;  // beside content; labels alone are the cell's text
};

std::vector<Layout> layouts(const Table& table) {
  std::vector<Layout> result(column_count(table));
  for (const RowGroup& group : table.row_groups) {
    for (const Row& row : group.rows) {
      for (std::size_t k = 0; k < result.size(); ++k) {
        const Cell& cell = row.cells[k];
        const bool empty = std::holds_alternative<std::monostate>(cell.content);
        result[k].spread = result[k].spread || std::holds_alternative<Spread>(cell.content);
        result[k].labels = result[k].labels || (!empty && !cell.labels.empty());
      }
    }
  }
  return result;
}

std::string text_of(const Cell& cell, const Layout& layout) {
  if (const auto* text = std::get_if<std::string>(&cell.content)) return plain_text(*text);
  return layout.labels ? "" : label_text(cell);
}

// Six fields: median, low, high, n, failed, note.
std::string spread_fields(const Cell& cell, const Layout& layout) {
  if (const auto* number = std::get_if<Number>(&cell.content))
    return exact(number->value) + ",,,,,";
  const auto* spread = std::get_if<Spread>(&cell.content);
  if (spread == nullptr) return fmt::format(",,,,,{}", csv_field(text_of(cell, layout)));
  const std::string values =
      has_median(*spread)
          ? fmt::format("{},{},{}", exact(spread->median), exact(spread->low), exact(spread->high))
          : ",,";
  return fmt::format("{},{},{},{}", values, spread->count, spread->failed,
                     csv_field(spread->failure));
}

std::string cell_fields(const Cell& cell, const Layout& layout) {
  std::string out;
  if (layout.spread) {
    out = spread_fields(cell, layout);
  } else if (const auto* number = std::get_if<Number>(&cell.content)) {
    out = exact(number->value);
  } else {
    out = csv_field(text_of(cell, layout));
  }
  if (layout.labels) out += fmt::format(",{}", csv_field(label_text(cell)));
  return out;
}

}  // namespace

std::string to_csv(const Table& table) {
  check(table);
  const std::vector<Layout> layout = layouts(table);
  const std::vector<std::string> names = column_names(table);
  const bool grouped = std::ranges::any_of(
      table.row_groups, [](const RowGroup& group) { return !group.label.empty(); });
  std::string out = grouped ? "group," : "";
  out += csv_field(plain_text(table.row_header));
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string name = plain_text(names[k]);
    if (layout[k].spread) {
      for (const char* part : {"median", "low", "high", "n", "failed", "note"})
        out += fmt::format(",{}", csv_field(fmt::format("{} {}", name, part)));
    } else {
      out += fmt::format(",{}", csv_field(name));
    }
    if (layout[k].labels) out += fmt::format(",{}", csv_field(name + " labels"));
  }
  out += "\r\n";
  for (const RowGroup& group : table.row_groups) {
    for (const Row& row : group.rows) {
      if (grouped) out += csv_field(plain_text(group.label)) + ",";
      out += csv_field(plain_text(row.label));
      for (std::size_t k = 0; k < names.size(); ++k)
        out += fmt::format(",{}", cell_fields(row.cells[k], layout[k]));
      out += "\r\n";
    }
  }
  return out;
}

}  // namespace dpsosp::plots
