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

/// Algorithm 2 with η and T of Theorem 3.4 and no budget, on the double well with n records whose
/// own gradients are drawn by a law of variance 1: Δ² = "noise_factor" σ²/B, uniform batches,
/// c_η = "c_step". The share of x_0, …, x_{T−1} that are α-SOSPs, and the longest own gradient.
nlohmann::json avdiukhin_2024_given_noise(const nlohmann::json& parameters, std::uint64_t seed);

/// Algorithm 2 at η = 1/L with the noise of Theorem 3.3 on records that are all ‖x‖²/2: C of
/// Lemma 3.2, Δ, and the longest gradient (T = 100, σ = 1/√T, ε = 1, δ = 0.01, all constants 1).
nlohmann::json avdiukhin_2024_gradients_with_noise(const nlohmann::json& parameters,
                                                   std::uint64_t seed);

}  // namespace dpsosp
