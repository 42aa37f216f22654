// SPDX-License-Identifier: Apache-2.0
#include "predicates.hpp"

namespace dpsosp {

std::vector<PredicateEntry> xu_2026_predicates() { return {}; }

}  // namespace dpsosp
