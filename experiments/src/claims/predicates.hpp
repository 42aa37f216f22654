// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/claims.hpp"

namespace dpsosp {

std::vector<PredicateEntry> avdiukhin_2024_predicates();
std::vector<PredicateEntry> ganesh_2023_predicates();
std::vector<PredicateEntry> liu_talwar_2025_predicates();
std::vector<PredicateEntry> lowy_2024_predicates();
std::vector<PredicateEntry> xu_2026_predicates();

}  // namespace dpsosp
