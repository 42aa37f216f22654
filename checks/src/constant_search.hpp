// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dpsosp/checks/check.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {

/// Attacks every proved constant of the instance, each with the search that fits what it bounds.
std::vector<ConstantCheck> attack_constants(const Problem& problem, std::uint64_t seed);

}  // namespace dpsosp
