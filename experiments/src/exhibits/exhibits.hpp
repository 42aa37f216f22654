// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/exhibit.hpp"

namespace dpsosp {

/// Every claim and every rate; its jobs are those of all sweeps and predicates.
std::vector<ExhibitEntry> summary_exhibits();
std::vector<ExhibitEntry> audit_exhibits();
std::vector<ExhibitEntry> avdiukhin_2024_exhibits();
std::vector<ExhibitEntry> ganesh_2023_exhibits();
std::vector<ExhibitEntry> league_exhibits();
std::vector<ExhibitEntry> liu_talwar_2025_exhibits();
std::vector<ExhibitEntry> lowy_2024_exhibits();
std::vector<ExhibitEntry> xu_2026_exhibits();

}  // namespace dpsosp
