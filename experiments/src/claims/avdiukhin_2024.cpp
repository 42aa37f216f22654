// SPDX-License-Identifier: Apache-2.0
#include "predicates.hpp"

namespace dpsosp {

std::vector<PredicateEntry> avdiukhin_2024_predicates() { return {}; }

}  // namespace dpsosp
