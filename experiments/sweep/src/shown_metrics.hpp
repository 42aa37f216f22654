// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dpsosp/experiments/sweep.hpp"

namespace dpsosp {

/// The metrics of a part; where it asks for no slope, as controls do, the level of the output and
/// the sweep's own metric.
std::vector<std::string> shown_metrics(const Sweep& sweep, const Part& part);

}  // namespace dpsosp
