// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

/// Probes of avdiukhin-2024 that run its algorithms.
namespace dpsosp {

/// Algorithms 1 and 2 at one noise and with equal streams, C = "share" of the bound that the
/// schedule proves: the number of the first step whose gradients one exceeds C in Algorithm 2, and
/// of the first iterate that differs; both −1 if there is none.
nlohmann::json avdiukhin_2024_clipping_apart(const nlohmann::json& parameters, std::uint64_t seed);

/// ε of one test times `candidates` questions as the paper scales its noise, by addition and by the
/// ledger at δ = 1e-6.
nlohmann::json avdiukhin_2024_independent_tests(const nlohmann::json& parameters,
                                                std::uint64_t seed);

}  // namespace dpsosp
