// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

/// Every algorithm of the suite, one line each, and after them those that were registered.
const std::vector<AlgorithmEntry>& algorithm_registry();

/// Adds one. To be called at the start of a program, before any thread looks at the registry.
/// \throws InputError where the key is taken
void register_algorithm(AlgorithmEntry entry);

/// The algorithm with this key. \throws InputError with the nearest key.
std::unique_ptr<Algorithm> find_algorithm(std::string_view key);

}  // namespace dpsosp
