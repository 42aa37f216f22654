// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/exhibit.hpp"

namespace dpsosp {

/// Every private algorithm on the same problems with the same guarantee, a board an exhibit.
std::vector<ExhibitEntry> league_exhibits();

}  // namespace dpsosp
