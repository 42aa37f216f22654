// SPDX-License-Identifier: Apache-2.0
#include "predicates.hpp"

namespace dpsosp {

std::vector<PredicateEntry> liu_talwar_2025_predicates() { return {}; }

}  // namespace dpsosp
