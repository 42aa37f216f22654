// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> avdiukhin_2024_run_predicates();
std::vector<ExhibitEntry> avdiukhin_2024_exhibits();
/// Predicates of the figures with networks.
std::vector<Predicate> avdiukhin_2024_figure_predicates();
std::vector<ExhibitEntry> avdiukhin_2024_figure_exhibits();

}  // namespace dpsosp
