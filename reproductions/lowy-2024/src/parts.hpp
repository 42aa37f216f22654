// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> lowy_2024_probe_predicates();
std::vector<Predicate> lowy_2024_run_predicates();
std::vector<Predicate> lowy_2024_sweep_predicates();
std::vector<ProbeEntry> lowy_2024_probes();
std::vector<ExhibitEntry> lowy_2024_exhibits();

}  // namespace dpsosp
