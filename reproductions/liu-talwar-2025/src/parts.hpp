// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> liu_talwar_2025_run_predicates();
/// All together.
std::vector<Predicate> liu_talwar_2025_predicates();
std::vector<ProbeEntry> liu_talwar_2025_probes();
std::vector<ExhibitEntry> liu_talwar_2025_exhibits();

}  // namespace dpsosp
