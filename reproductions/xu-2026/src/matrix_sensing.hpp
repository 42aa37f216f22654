// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp {

/// Table 2 and Figure 1 of xu-2026 share their runs: matrix sensing in three settings.
std::vector<Job> xu_2026_jobs(const Study& study);
plots::Exhibit xu_2026_table_2(const Runs& runs, const Study& study);
plots::Exhibit xu_2026_figure_1(const Runs& runs, const Study& study);

}  // namespace dpsosp
