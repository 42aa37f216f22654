// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/claims/texts.hpp"
#include "dpsosp/experiments/study.hpp"

/// Printed tables of rates, row by row, with the exponents that were measured.
namespace dpsosp {

/// One entry of a printed table, and what runs for it.
struct TableEntry {
  std::string row;                              ///< as printed
  std::string column;                           ///< as printed
  std::string printed;                          ///< the printed rate, logarithms dropped
  std::vector<std::string> algorithms;          ///< registry keys; empty: bound only
  std::map<std::string, std::string> settings;  ///< that make the algorithm the entry's
  std::string remark;                           ///< why there is none, or what to know
  /// Where the rate is measured: built-in sweeps and their arms.
  struct Measured {
    std::string sweep;
    std::string arm;
    std::string metric{};  ///< of the fits to show; empty: that of the claim
  };
  std::vector<Measured> measured;
};

struct PrintedTable {
  std::string paper;  ///< key
  std::string name;   ///< "Table 1"
  std::vector<TableEntry> entries;

  std::string title() const;  ///< "xu-2026, Table 1"
};

/// The tables of a reproduction's tables.toml. \throws InputError with the line
std::vector<PrintedTable> parse_tables(const Texts& texts);
/// The one of that name. \throws InputError
PrintedTable printed_table_of(const Texts& texts, std::string_view name);

/// The runs of every sweep that the entries are measured by.
std::vector<Job> printed_table_jobs(const PrintedTable& table, const Study& study);

/// The names of those sweeps.
std::vector<std::string> sweeps_of_table(const PrintedTable& table);

/// Every printed entry with the measured exponents in n, d and ε (parts "n", "d", "epsilon" of its
/// sweep), and of part "reference" the level, records and evaluations at the common point.
/// Entries without an algorithm say why.
plots::Table printed_table(const Runs& runs, const Study& study, const PrintedTable& table);

/// How many of the judged slopes are confirmed, and of how many the bound is met.
plots::Label exponents_label(const std::vector<Slope>& slopes, const Texts& texts);

/// The part "controls" of a sweep: level at the start, of the output, over the iterates. Without
/// rows where the sweep has no such part.
plots::Table controls_table(const Runs& runs, const Sweep& sweep, std::string id);

/// slopes_figure without the panels of the solved α, which is drawn beside every metric, in figures
/// of at most six panels.
std::vector<plots::Figure> slopes_figures(const Runs& runs, const Sweep& sweep,
                                          const std::string& id);

/// What the exhibit of a printed table shows: the table, its slopes and figures sweep by sweep.
plots::Exhibit printed_table_exhibit(const Runs& runs, const Study& study,
                                     const PrintedTable& table, const Texts& texts);

}  // namespace dpsosp
