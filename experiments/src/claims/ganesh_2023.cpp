// SPDX-License-Identifier: Apache-2.0
#include "predicates.hpp"

namespace dpsosp {

std::vector<PredicateEntry> ganesh_2023_predicates() { return {}; }

}  // namespace dpsosp
