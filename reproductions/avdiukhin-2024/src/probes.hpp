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
/// c_η = "c_step". The shares of x_0, …, x_{T−1} that are α-SOSPs and whose gradient is α or more,
/// and the longest own gradient.
nlohmann::json avdiukhin_2024_given_noise(const nlohmann::json& parameters, std::uint64_t seed);

/// Algorithm 2 at η = 1/L with the noise of Theorem 3.3 on records that are all ‖x‖²/2: C of
/// Lemma 3.2, Δ, and the longest gradient (T = 100, σ = 1/√T, ε = 1, δ = 0.01, all constants 1).
nlohmann::json avdiukhin_2024_gradients_with_noise(const nlohmann::json& parameters,
                                                   std::uint64_t seed);

/// The power method of a private selection at points of the double well between saddle and well,
/// with the products and the noise that its schedule sets: the largest error of λ_min over
/// √(ρα), and the share of errors above a half.
nlohmann::json avdiukhin_2024_power_errors(const nlohmann::json& parameters, std::uint64_t seed);

/// Constants of Lemmas B.2 and B.4 that serve for a grid of noisy descents on quadratics, saddles
/// among them, with "most_steps" steps or fewer.
nlohmann::json avdiukhin_2024_quadratic_constants(const nlohmann::json& parameters,
                                                  std::uint64_t seed);

/// Two runs of Definition B.6 on records with a saddle: by how much x_t − x′_t differs from the
/// three parts of Lemma B.7, each computed as its sum, over the difference's length.
/// "off_shifted" takes x_{t−1} − x′_{t−1}, as Definition B.6 prints it.
nlohmann::json avdiukhin_2024_coupled_identity(const nlohmann::json& parameters,
                                               std::uint64_t seed);

/// Runs on a quadratic whose sampling noise is rare long jumps along the gradient, dΔ² =
/// 1.01 σ²/(δ̃B): the c of Lemma C.1 that 1 − δ̃ of them need, and how many need more than 1.
nlohmann::json avdiukhin_2024_descent_without_b(const nlohmann::json& parameters,
                                                std::uint64_t seed);

}  // namespace dpsosp
