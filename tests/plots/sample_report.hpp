// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/plots/figure.hpp"
#include "dpsosp/plots/table.hpp"

/// A table and a figure with the shape of real ones and invented numbers: nine rows, three
/// settings, five curves whose bands grow over four decades.
namespace dpsosp::plots {

Table sample_table();

/// Three panels, the middle one on a log axis.
Figure sample_figure(const std::string& id, double growth);

}  // namespace dpsosp::plots
