// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/plots/table.hpp"

/// The cells of tables that exhibits share.
namespace dpsosp {

/// A dash where the value is not finite.
plots::Cell number_cell(double value, int digits = 3);
/// Median and range over the runs; a dash where there are none.
plots::Cell spread_cell(const CellMetric& metric);

}  // namespace dpsosp
