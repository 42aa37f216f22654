// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dpsosp/plots/markup.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/plots/table_layout.hpp"

namespace dpsosp::plots {
namespace {

// From this number of columns on a table is scaled to the width of the text.
constexpr std::size_t wide_columns = 7;

std::string latex_spread(const Spread& spread) {
  std::string out;
  if (has_median(spread)) {
    out = fmt::format(
        "${}$\\\\{{\\scriptsize $[{}, {}]$}}", latex_number(spread.median, spread.format),
        latex_number(spread.low, spread.format), latex_number(spread.high, spread.format));
  }
  if (spread.failed > 0)
    out += fmt::format("{}{{\\scriptsize {}}}", out.empty() ? "" : "\\\\",
                       latex_text(failure_text(spread)));
  return out.empty() ? out : "\\shortstack[r]{" + out + "}";
}

std::string latex_content(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.content)) return latex_text(*text);
  if (const auto* number = std::get_if<Number>(&cell.content))
    return fmt::format("${}$", latex_number(number->value, number->format));
  if (const auto* spread = std::get_if<Spread>(&cell.content)) return latex_spread(*spread);
  return {};
}

std::string latex_marks(const std::vector<std::size_t>& footnotes) {
  return footnotes.empty() ? "" : fmt::format("\\textsuperscript{{{}}}", footnote_marks(footnotes));
}

std::string latex_cell(const Cell& cell) {
  std::string out = latex_content(cell);
  if (cell.strong && !out.empty()) out = "{\\boldmath\\bfseries " + out + "}";
  for (const Label& label : cell.labels) {
    if (!out.empty()) out += ", ";
    out += latex_text(label.text);
  }
  return (out.empty() ? "--" : out) + latex_marks(cell.footnotes);
}

// Group labels above rules that span their columns; nothing if no group has a label.
std::string group_header(const Table& table) {
  std::string labels;
  std::string rules;
  std::size_t column = 2;
  for (const ColumnGroup& group : table.column_groups) {
    if (group.columns.empty()) continue;
    const std::size_t width = group.columns.size();
    labels += fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", width, latex_text(group.label));
    if (!group.label.empty())
      rules += fmt::format("\\cmidrule(lr){{{}-{}}}", column, column + width - 1);
    column += width;
  }
  return rules.empty() ? "" : labels + " \\\\\n" + rules + "\n";
}

std::string body(const Table& table) {
  std::string out;
  bool first = true;
  for (const RowGroup& group : table.row_groups) {
    if (!first) out += "\\midrule\n";
    first = false;
    if (!group.label.empty()) {
      out += fmt::format("\\multicolumn{{{}}}{{l}}{{\\textit{{{}}}}} \\\\\n",
                         column_count(table) + 1, latex_text(group.label));
    }
    for (const Row& row : group.rows) {
      out += latex_text(row.label) + latex_marks(row.footnotes);
      for (const Cell& cell : row.cells) out += fmt::format(" & {}", latex_cell(cell));
      out += " \\\\\n";
    }
  }
  return out;
}

}  // namespace

std::string to_latex(const Table& table) {
  check(table);
  const std::size_t columns = column_count(table);
  const bool wide = columns >= wide_columns;
  const char* environment = wide ? "table*" : "table";
  std::string out = fmt::format("% Needs \\usepackage{{booktabs}}{}\n",
                                wide ? " and \\usepackage{graphicx}" : "");
  out += fmt::format(
      "\\begin{{{}}}\n\\centering\n\\caption{{\\textbf{{{}}}{}{}}}\n\\label{{tab:{}}}\n",
      environment, latex_text(table.title), table.caption.empty() ? "" : " ",
      latex_text(table.caption), table.id);
  if (wide) out += "\\resizebox{\\textwidth}{!}{%\n";
  out += fmt::format("\\begin{{tabular}}{{l{}}}\n\\toprule\n", std::string(columns, 'r'));
  out += group_header(table) + latex_text(table.row_header);
  for (const ColumnGroup& group : table.column_groups)
    for (const std::string& column : group.columns) out += fmt::format(" & {}", latex_text(column));
  out += fmt::format(" \\\\\n\\midrule\n{}\\bottomrule\n\\end{{tabular}}", body(table));
  out += wide ? "}\n" : "\n";
  for (std::size_t k = 0; k < table.footnotes.size(); ++k) {
    out += fmt::format("\\par\\smallskip{{\\footnotesize \\textsuperscript{{{}}} {}}}\n",
                       footnote_mark(k), latex_text(table.footnotes[k]));
  }
  for (const std::string& note : notes_of(table))
    out += fmt::format("\\par\\smallskip{{\\footnotesize {}}}\n", latex_text(note));
  return out + fmt::format("\\end{{{}}}\n", environment);
}

}  // namespace dpsosp::plots
