// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// The parts of the reproduction, a source file each.
namespace dpsosp {

std::vector<Predicate> avdiukhin_2024_lemma_predicates();
std::vector<Predicate> avdiukhin_2024_theorem_predicates();
/// Predicates of the lemmas in Appendices B and C.
std::vector<Predicate> avdiukhin_2024_proof_predicates();
std::vector<ProbeEntry> avdiukhin_2024_probes();
std::vector<ExhibitEntry> avdiukhin_2024_exhibits();
/// Predicates of the figures with networks.
std::vector<Predicate> avdiukhin_2024_figure_predicates();
std::vector<ExhibitEntry> avdiukhin_2024_figure_exhibits();

}  // namespace dpsosp
