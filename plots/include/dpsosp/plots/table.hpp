// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/plots/number.hpp"

/// A table of results and its three back ends. Texts use the markup of markup.hpp.
namespace dpsosp::plots {

/// The colour of a label where the back end has colours. The text is complete without it.
enum class Tone { neutral, good, caution, bad };

/// A short word about a result: `enforced`, `conditional`, `as claimed`.
struct Label {
  std::string text{};
  Tone tone = Tone::neutral;
};

/// A finite value.
struct Number {
  double value = 0;
  NumberFormat format{};
};

/// What the runs of one cell measured. Runs that failed are counted, never averaged: median, low
/// and high are over the `count - failed` runs that finished, and undefined if there is none.
struct Spread {
  double median = 0;
  double low = 0;         ///< smallest value
  double high = 0;        ///< largest value
  Index count = 0;        ///< runs started
  Index failed = 0;       ///< of these, runs without a result; in [0, count]
  std::string failure{};  ///< how they failed: `not_finite`
  NumberFormat format{};
};

/// Median and range of the finished runs' values beside the number of runs that failed.
/// \throws InputError if a value is not finite: such a run has failed and is to be counted so.
Spread spread_of(std::span<const double> finished, Index failed = 0, std::string failure = "",
                 NumberFormat format = {});

struct Cell {
  std::variant<std::monostate, std::string, Number, Spread> content{};
  bool strong = false;
  std::vector<Label> labels{};           ///< shown after the content
  std::vector<std::size_t> footnotes{};  ///< indices into Table::footnotes
};

Cell text_cell(std::string text);
/// A dash for NaN, ∞ or −∞ in words for an infinite value.
Cell number_cell(double value, int digits = 3);
template <std::integral Count>
Cell count_cell(Count count) {
  return text_cell(std::to_string(count));
}
/// A cell with the result of spread_of; a dash where nothing ran.
Cell spread_cell(std::span<const double> finished, Index failed = 0, std::string failure = "",
                 int digits = 3);

struct ColumnGroup {
  std::string label{};                 ///< empty: no heading above the columns
  std::vector<std::string> columns{};  ///< one label per column
};

struct Row {
  std::string label{};
  std::vector<Cell> cells{};  ///< one per column, over all groups
  std::vector<std::size_t> footnotes{};
};

struct RowGroup {
  std::string label{};  ///< empty: no heading above the rows
  std::vector<Row> rows{};
};

struct Table {
  std::string
      id{};  ///< file stem and anchor: letters, digits, '-', '_', '.', a letter or digit first
  std::string title{};
  std::string caption{};
  std::string row_header{};  ///< what the rows are: "Method"
  std::vector<ColumnGroup> column_groups{};
  std::vector<RowGroup> row_groups{};
  std::vector<std::string> footnotes{};  ///< marked a, b, c, ... where a cell or row points to them
  std::vector<std::string> notes{};      ///< paragraphs below the table
  std::string sweep{};                   ///< name of the sweep whose runs alone it shows, if any

  /// Adds a row to the last group if that has this label, else to a new one.
  void add(Row row, const std::string& group = "");
};

/// \throws InputError if a row has not one cell a column, a number is not finite, a spread is out
///   of order, a footnote does not exist or the id is not usable as a file name.
void check(const Table& table);

// The back ends check the table first.

/// GitHub-flavoured Markdown; one header row, so a grouped column is called "GROUP: COLUMN".
std::string to_markdown(const Table& table);

/// A table environment for booktabs, and graphicx where it is scaled to the width of the text.
std::string to_latex(const Table& table);

/// RFC 4180, numbers with 17 significant digits. A column that holds a spread becomes six: median,
/// low, high, n (runs started), failed, note (how they failed, or the cell's text).
std::string to_csv(const Table& table);

}  // namespace dpsosp::plots
