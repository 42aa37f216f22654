// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/experiments/claims.hpp"

namespace dpsosp {

std::vector<PredicateEntry> avdiukhin_2024_lemma_predicates();
std::vector<PredicateEntry> avdiukhin_2024_theorem_predicates();
std::vector<PredicateEntry> ganesh_2023_formula_predicates();
std::vector<PredicateEntry> ganesh_2023_lemma_predicates();
std::vector<PredicateEntry> ganesh_2023_mechanism_predicates();
std::vector<PredicateEntry> ganesh_2023_run_predicates();
std::vector<PredicateEntry> liu_talwar_2025_lemma_predicates();
std::vector<PredicateEntry> liu_talwar_2025_run_predicates();
std::vector<PredicateEntry> lowy_2024_formula_predicates();
std::vector<PredicateEntry> lowy_2024_lemma_predicates();
std::vector<PredicateEntry> lowy_2024_run_predicates();
std::vector<PredicateEntry> lowy_2024_sweep_predicates();
std::vector<PredicateEntry> xu_2026_predicates();

}  // namespace dpsosp
