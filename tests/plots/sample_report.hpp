// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/plots/report.hpp"

/// A report with the shape of a real one and invented numbers: nine rows, three settings, five
/// curves whose bands grow over four decades.
namespace dpsosp::plots {

Table sample_table();

/// Three panels, the middle one on a log axis.
Figure sample_figure(const std::string& id, double growth);

Report sample_report();

}  // namespace dpsosp::plots
