// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> ganesh_2023_mechanism_predicates();
std::vector<Predicate> ganesh_2023_run_predicates();
std::vector<ExhibitEntry> ganesh_2023_exhibits();

}  // namespace dpsosp
