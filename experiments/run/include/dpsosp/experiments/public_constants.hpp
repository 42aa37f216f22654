// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "dpsosp/experiments/run.hpp"

namespace dpsosp {

/// The public constants of a run's problem by name, as its algorithm is told them. Costs what the
/// public facts cost. Empty where they need a file that is not here.
std::map<std::string, double> public_constants(const RunDescription& description);

}  // namespace dpsosp
