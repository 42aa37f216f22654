// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> xu_2026_theorem_predicates();
std::vector<Predicate> xu_2026_experiment_predicates();
std::vector<ExhibitEntry> xu_2026_exhibits();

}  // namespace dpsosp
