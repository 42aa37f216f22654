// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

/// Every algorithm of the suite, one line each.
const std::vector<AlgorithmEntry>& algorithm_registry();

/// The algorithm with this key. \throws InputError with the nearest key.
std::unique_ptr<Algorithm> find_algorithm(std::string_view key);

}  // namespace dpsosp
