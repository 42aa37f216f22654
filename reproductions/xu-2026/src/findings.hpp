// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/experiments/exhibit.hpp"
#include "dpsosp/experiments/study.hpp"

namespace dpsosp::xu_2026_exhibit {

/// What the runs show of Table 2, in sentences computed from them.
std::vector<std::string> table_findings(const Runs& runs, const Study& study);
/// What they show of Figure 1.
std::vector<std::string> figure_findings(const Runs& runs, const Study& study);
/// One line for both.
plots::Label verdict(const Runs& runs, const Study& study);

}  // namespace dpsosp::xu_2026_exhibit
