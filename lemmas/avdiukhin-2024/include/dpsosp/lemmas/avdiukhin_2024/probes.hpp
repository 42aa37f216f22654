// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/experiments/probe.hpp"

/// The probes of avdiukhin-2024: parameters, results, and what each does.
namespace dpsosp::avdiukhin_2024_probe {

/// ηt when the double well's Hessian turns positive, from the saddle, noise by Theorem 3.1 with
/// c₂ = 1 and full batches. The other coordinates do not matter to it.
struct EscapeTime {
  static constexpr ProbeName probe{"avdiukhin-2024/escape-time"};
  double records, dimension;
  std::int64_t runs;
  struct Result {
    double mean_time, noise;
  };
};
DPSOSP_MEMBERS(EscapeTime, records, dimension, runs);
DPSOSP_MEMBERS(EscapeTime::Result, mean_time, noise);
EscapeTime::Result escape_time(const EscapeTime& parameters, std::uint64_t seed);

/// Lemma B.11: f after 𝓘 steps from a saddle whose least curvature is −√(ρα), by η, 𝓘 and 𝓕 of
/// Definition B.1 with the constants of Section 3.2 (d = 20, L = 1, ρ = 1.5, α = Δ = σ/√B = 0.05, δ
/// = 1e-6); a double well of that curvature and ρ, and d − 1 coordinates of curvature L. The shares
/// of runs in which f has fallen by more than 𝓕, and risen by 𝓕/100 or more.
struct SaddleDrop {
  static constexpr ProbeName probe{"avdiukhin-2024/saddle-drop"};
  std::int64_t runs;
  struct Result {
    Index steps;
    double fallen, risen;
  };
};
DPSOSP_MEMBERS(SaddleDrop, runs);
DPSOSP_MEMBERS(SaddleDrop::Result, steps, fallen, risen);
SaddleDrop::Result saddle_drop(const SaddleDrop& parameters, std::uint64_t seed);

/// ε of one test times `candidates` questions as the paper scales its noise, by addition and by the
/// ledger at δ = 1e-6.
struct IndependentTests {
  static constexpr ProbeName probe{"avdiukhin-2024/independent-tests"};
  double epsilon;
  int candidates;
  struct Result {
    double added, spent;
  };
};
DPSOSP_MEMBERS(IndependentTests, epsilon, candidates);
DPSOSP_MEMBERS(IndependentTests::Result, added, spent);
IndependentTests::Result independent_tests(const IndependentTests& parameters, std::uint64_t seed);

/// Algorithm 2 with η and T of Theorem 3.4 and no budget, on the double well with n records whose
/// own gradients are drawn by a law of variance 1: Δ² = `noise_factor` σ²/B, uniform batches,
/// c_η = `c_step`. The shares of x_0, …, x_{T−1} that are α-SOSPs and whose gradient is α or more,
/// and the longest own gradient.
struct NoiseGiven {
  static constexpr ProbeName probe{"avdiukhin-2024/given-noise", 2};
  std::string law;
  Index records, dimension, batch;
  double alpha, c_step, noise_factor;
  struct Result {
    Index steps;
    double step_size, longest, steep, share;
  };
};
DPSOSP_MEMBERS(NoiseGiven, law, records, dimension, batch, alpha, c_step, noise_factor);
DPSOSP_MEMBERS(NoiseGiven::Result, steps, step_size, longest, steep, share);
NoiseGiven::Result given_noise(const NoiseGiven& parameters, std::uint64_t seed);

/// Algorithm 2 at η = 1/L with the noise of Theorem 3.3 on records that are all ‖x‖²/2: C of
/// Lemma 3.2, Δ, and the longest gradient (T = 100, σ = 1/√T, ε = 1, δ = 0.01, all constants 1).
struct GradientsWithNoise {
  static constexpr ProbeName probe{"avdiukhin-2024/gradients-with-noise"};
  double records;
  Index dimension;
  struct Result {
    double bound, noise, longest;
  };
};
DPSOSP_MEMBERS(GradientsWithNoise, records, dimension);
DPSOSP_MEMBERS(GradientsWithNoise::Result, bound, noise, longest);
GradientsWithNoise::Result gradients_with_noise(const GradientsWithNoise& parameters,
                                                std::uint64_t seed);

/// The power method of a private selection at points of the double well between saddle and well,
/// with the products and the noise that its schedule sets: the largest error of λ_min over
/// √(ρα), and the share of errors above a half.
struct PowerErrors {
  static constexpr ProbeName probe{"avdiukhin-2024/power-errors"};
  Index records, dimension;
  double gain;
  Index points;
  struct Result {
    Index products;
    double largest, far;
  };
};
DPSOSP_MEMBERS(PowerErrors, records, dimension, gain, points);
DPSOSP_MEMBERS(PowerErrors::Result, products, largest, far);
PowerErrors::Result power_errors(const PowerErrors& parameters, std::uint64_t seed);

/// Two runs of Definition B.6 on records with a saddle: by how much x_t − x′_t differs from the
/// three parts of Lemma B.7, each computed as its sum, over the difference's length.
/// `off_shifted` takes x_{t−1} − x′_{t−1}, as Definition B.6 prints it.
struct CoupledIdentity {
  static constexpr ProbeName probe{"avdiukhin-2024/coupled-identity"};
  Index dimension;
  double step_size, noise;
  Index steps;
  struct Result {
    double off, off_shifted, least_part;
  };
};
DPSOSP_MEMBERS(CoupledIdentity, dimension, step_size, noise, steps);
DPSOSP_MEMBERS(CoupledIdentity::Result, off, off_shifted, least_part);
CoupledIdentity::Result coupled_identity(const CoupledIdentity& parameters, std::uint64_t seed);

/// Runs on a quadratic whose sampling noise is rare long jumps along the gradient, dΔ² =
/// 1.01 σ²/(δ̃B): the c of Lemma C.1 that 1 − δ̃ of them need, and how many need more than 1.
struct DescentWithoutB {
  static constexpr ProbeName probe{"avdiukhin-2024/descent-without-b"};
  double failure, jumps, start, curvature;
  Index steps, runs;
  struct Result {
    double needed;
    Index above;
  };
};
DPSOSP_MEMBERS(DescentWithoutB, failure, jumps, start, curvature, steps, runs);
DPSOSP_MEMBERS(DescentWithoutB::Result, needed, above);
DescentWithoutB::Result descent_without_b(const DescentWithoutB& parameters, std::uint64_t seed);

}  // namespace dpsosp::avdiukhin_2024_probe
