// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// What liu-talwar-2025 states and no private run decides: an entry a source file.
namespace dpsosp {

std::vector<Predicate> liu_talwar_2025_tree_predicates();
std::vector<Predicate> liu_talwar_2025_step_predicates();
std::vector<Predicate> liu_talwar_2025_escape_predicates();
std::vector<Predicate> liu_talwar_2025_rate_predicates();
std::vector<ProbeEntry> liu_talwar_2025_step_probes();
std::vector<ProbeEntry> liu_talwar_2025_escape_probes();

}  // namespace dpsosp
