// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// What lowy-2024 states and no private run decides: an entry a source file.
namespace dpsosp {

std::vector<Predicate> lowy_2024_formula_predicates();
std::vector<Predicate> lowy_2024_lemma_predicates();
std::vector<ProbeEntry> lowy_2024_lemma_probes();

}  // namespace dpsosp
