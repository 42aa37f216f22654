// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// What avdiukhin-2024 states and no private run decides: an entry a source file.
namespace dpsosp {

std::vector<Predicate> avdiukhin_2024_lemma_predicates();
std::vector<Predicate> avdiukhin_2024_theorem_predicates();
/// Those of Appendices B and C.
std::vector<Predicate> avdiukhin_2024_proof_predicates();
std::vector<ProbeEntry> avdiukhin_2024_lemma_probes();

}  // namespace dpsosp
