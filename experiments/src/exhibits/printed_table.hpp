// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/sweep.hpp"

/// Printed tables of rates, row by row, with the exponents that were measured.
namespace dpsosp {

/// The runs of every sweep that the entries of `table` (as in table_entries()) are measured by.
std::vector<nlohmann::json> printed_table_jobs(std::string_view table, Scale scale);

/// The names of those sweeps.
std::vector<std::string> sweeps_of_table(std::string_view table);

/// Every printed entry with the measured exponents in n, d and ε (parts "n", "d", "epsilon" of its
/// sweep), and of part "reference" the level, records and evaluations at the common point.
/// Entries without an algorithm say why.
plots::Table printed_table(const Runs& runs, Scale scale, std::string_view table, std::string id);

/// The part "controls" of a sweep: level at the start, of the output, over the iterates. Without
/// rows where the sweep has no such part.
plots::Table controls_table(const Runs& runs, const Sweep& sweep, std::string id);

/// slopes_figure without the panels of the solved α, which is drawn beside every metric, in figures
/// of at most six panels.
std::vector<plots::Figure> slopes_figures(const Runs& runs,
                                          const Sweep& sweep,
                                          const std::string& id);

/// An exhibit of a printed table: that table, its slopes and figures sweep by sweep.
plots::Exhibit printed_table_exhibit(
    const Runs& runs, Scale scale, std::string_view table, std::string id, std::string paper);

}  // namespace dpsosp
