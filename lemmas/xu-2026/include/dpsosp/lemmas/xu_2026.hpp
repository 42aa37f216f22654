// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/claims/claims.hpp"

/// What xu-2026 states and no private run decides: an entry a source file.
namespace dpsosp {

std::vector<Predicate> xu_2026_lemma_predicates();
std::vector<Predicate> xu_2026_privacy_predicates();
std::vector<Predicate> xu_2026_weak_risk_predicates();

}  // namespace dpsosp
