// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// What ganesh-2023 states and no private run decides: an entry a source file.
namespace dpsosp {

std::vector<Predicate> ganesh_2023_bound_predicates();
std::vector<Predicate> ganesh_2023_formula_predicates();
std::vector<Predicate> ganesh_2023_gibbs_predicates();
std::vector<Predicate> ganesh_2023_lemma_predicates();
std::vector<Predicate> ganesh_2023_statement_predicates();
std::vector<ProbeEntry> ganesh_2023_probes();

}  // namespace dpsosp
