// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table_layout.hpp"

namespace dpsosp::plots {
namespace {

void check_digits(const std::string& where, NumberFormat format) {
  if (!(format.digits >= 1 && format.digits <= 17))
    reject(where, "digits", format.digits, "an integer in [1, 17]");
}

void check_spread(const std::string& where, const Spread& s) {
  check_digits(where, s.format);
  if (!(s.count >= 1)) reject(where, "count", fmt::format("{}", s.count), "at least one run");
  if (!(s.failed >= 0 && s.failed <= s.count))
    reject(where, "failed", fmt::format("{}", s.failed), fmt::format("in [0, {}]", s.count));
  if (s.failed > 0 && s.failure.empty())
    reject(where, "failure", "''", "the status of the runs that failed");
  if (!has_median(s)) return;
  for (const double value : {s.median, s.low, s.high})
    if (!std::isfinite(value)) reject(where, "value", value, "a finite number");
  if (!(s.low <= s.median && s.median <= s.high))
    reject(where, "median", s.median, fmt::format("in [{}, {}]", s.low, s.high));
}

void check_footnotes(const std::string& where, const std::vector<std::size_t>& marks,
                     std::size_t n) {
  for (const std::size_t mark : marks)
    if (mark >= n) reject(where, "footnote", fmt::format("{}", mark), fmt::format("below {}", n));
}

}  // namespace

void Table::add(Row row, const std::string& group) {
  if (row_groups.empty() || row_groups.back().label != group)
    row_groups.push_back({.label = group});
  row_groups.back().rows.push_back(std::move(row));
}

Cell text_cell(std::string text) {
  Cell c;
  c.content = std::move(text);
  return c;
}

Cell number_cell(double value, int digits) {
  if (std::isnan(value)) return text_cell("–");
  if (std::isinf(value)) return text_cell(value > 0 ? "∞" : "−∞");
  Cell c;
  c.content = Number{value, {.digits = digits}};
  return c;
}

Cell spread_cell(std::span<const double> finished, Index failed, std::string failure, int digits) {
  if (finished.empty() && failed == 0) return text_cell("–");
  Cell c;
  c.content = spread_of(finished, failed, std::move(failure), {.digits = digits});
  return c;
}

Spread spread_of(std::span<const double> finished, Index failed, std::string failure,
                 NumberFormat format) {
  for (const double value : finished)
    if (!std::isfinite(value)) reject("spread", "value", value, "a finite number, or a failed run");
  Spread spread{.count = static_cast<Index>(finished.size()) + failed,
                .failed = failed,
                .failure = std::move(failure),
                .format = format};
  if (finished.empty()) return spread;
  std::vector<double> sorted(finished.begin(), finished.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  spread.median =
      sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
  spread.low = sorted.front();
  spread.high = sorted.back();
  return spread;
}

void check(const Table& table) {
  check_id("table", table.id);
  const std::vector<std::string> columns = column_names(table);
  const std::string owner = fmt::format("table '{}'", table.id);
  if (columns.empty()) reject(owner, "columns", "0", "at least one");
  for (const RowGroup& group : table.row_groups) {
    for (const Row& row : group.rows) {
      const std::string in_row = fmt::format("{}, row '{}'", owner, row.label);
      if (row.cells.size() != columns.size())
        reject(in_row, "cells", fmt::format("{}", row.cells.size()),
               fmt::format("{}", columns.size()));
      check_footnotes(in_row, row.footnotes, table.footnotes.size());
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const Cell& cell = row.cells[k];
        const std::string in_cell = fmt::format("{}, column '{}'", in_row, columns[k]);
        check_footnotes(in_cell, cell.footnotes, table.footnotes.size());
        if (const auto* spread = std::get_if<Spread>(&cell.content)) check_spread(in_cell, *spread);
        if (const auto* number = std::get_if<Number>(&cell.content)) {
          check_digits(in_cell, number->format);
          if (!std::isfinite(number->value))
            reject(in_cell, "value", number->value, "a finite number");
        }
      }
    }
  }
}

std::size_t column_count(const Table& table) {
  std::size_t count = 0;
  for (const ColumnGroup& group : table.column_groups) count += group.columns.size();
  return count;
}

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (const ColumnGroup& group : table.column_groups) {
    for (const std::string& column : group.columns) {
      const bool both = !group.label.empty() && !column.empty();
      names.push_back(group.label + (both ? ": " : "") + column);
    }
  }
  return names;
}

std::string failure_text(const Spread& spread) {
  if (spread.failed == 0) return {};
  return fmt::format("{} of {} failed: {}", spread.failed, spread.count, spread.failure);
}

std::string footnote_mark(std::size_t index) {
  std::string mark;
  for (++index; index > 0; index = (index - 1) / 26)
    mark.insert(mark.begin(), static_cast<char>('a' + (index - 1) % 26));
  return mark;
}

std::string footnote_marks(const std::vector<std::size_t>& footnotes) {
  std::string marks;
  for (const std::size_t index : footnotes) {
    if (!marks.empty()) marks += ",";
    marks += footnote_mark(index);
  }
  return marks;
}

std::vector<std::string> notes_of(const Table& table) {
  std::vector<std::string> notes = table.notes;
  const auto partly_failed = [](const Cell& cell) {
    const auto* spread = std::get_if<Spread>(&cell.content);
    return spread != nullptr && spread->failed > 0 && has_median(*spread);
  };
  for (const RowGroup& group : table.row_groups) {
    for (const Row& row : group.rows) {
      if (!std::ranges::any_of(row.cells, partly_failed)) continue;
      notes.emplace_back(
          "Where runs failed, median and range are over the runs that finished, so they are a "
          "favourable selection.");
      return notes;
    }
  }
  return notes;
}

}  // namespace dpsosp::plots
