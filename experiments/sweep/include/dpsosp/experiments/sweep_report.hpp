// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"

namespace dpsosp {

/// One line: where, slope, interval, verdict.
std::string to_text(const Slope& slope);
/// A number, or [low, high].
nlohmann::json to_json(ClaimedExponent claimed);
nlohmann::json to_json(const Slope& slope);

/// "n", "d", "ε", or the name of a setting.
std::string axis_symbol(const FitRequest& request);
std::string axis_symbol(std::string_view coordinate);

/// The word of a verdict, with its tone.
plots::Label verdict_label(const SlopeVerdict& verdict);

/// Median and range over a cell's runs; a dash where there are none.
plots::Cell spread_cell(const CellMetric& metric);

/// One row a slope: claimed, reference, measured with interval, drift, verdict, cells that count.
plots::Table slopes_table(const std::vector<Slope>& slopes, std::string id, std::string title);

/// One row a cell of a part, three columns beside each other: solved α, error of the estimate, each
/// metric that is fitted; and start, steps, records used, evaluations.
plots::Table cells_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id);

/// One row an arm of a part: clip, step size, steps, output rule, share of contributions clipped;
/// its footnotes warn where more than most_clipped are, and where output rules differ.
plots::Table used_table(const Runs& runs, const Sweep& sweep, const Part& part, std::string id);

/// One panel a fitted axis, all arms: medians and range over seeds, solved α dashed, guide lines at
/// the claimed exponents.
plots::Figure slopes_figure(const Runs& runs, const Sweep& sweep, std::string id,
                            std::string title);

/// Where a panel of slopes_figure lacks cells of the part, or there is none: which, and why. Empty:
/// none lacks.
std::string undrawn_text(const Runs& runs, const Sweep& sweep, const Part& part);

/// Cells for programs, CSV: arm, a column a coordinate, then of each metric median, low, high and
/// n, and what else cells_table has. Columns are called as metrics are; a value that is missing is
/// empty.
std::string cells_csv(const Runs& runs, const Sweep& sweep, const Part& part);
/// Slopes for programs, in the same form.
std::string slopes_csv(const std::vector<Slope>& slopes);

/// That slopes which are alike may have opposite words, where two of them may; else empty.
std::string directions_text(const std::vector<Slope>& slopes);
/// The public constants of the problem that are others at the last cell of a slope than at the
/// first, each with its exponent; empty where none is.
std::string moving_constants_text(const Sweep& sweep, const Slope& slope);

/// Seconds of every stored run of the sweep; they alone differ between machines.
std::string timings_csv(const Store& store, const Sweep& sweep);

/// Key, part, arm and use (tuning or result) of every run; of one in several cells, in each.
std::string runs_csv(const Sweep& sweep);

}  // namespace dpsosp
