// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

namespace dpsosp {

/// What no private algorithm can do, with constants.
std::vector<Predicate> lower_bounds_predicates();
std::vector<ProbeEntry> lower_bounds_probes();

}  // namespace dpsosp
