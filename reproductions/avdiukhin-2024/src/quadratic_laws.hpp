// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

/// Noisy gradient descent on quadratics, whose laws are known: the constants that two lemmas of
/// avdiukhin-2024 need there.
namespace dpsosp::avdiukhin_2024_exhibit {

/// `count` coordinates of f with curvature λ = ±1, started at `start`, whose gradients carry noise
/// of variance `noise` each.
struct QuadraticPart {
  double count;
  double curvature;
  double start;
  double noise;
};

/// A run of t steps on f(x) = ½ Σ λ_j x_j², L = 1. The total noise σ̃² is stated, since a bound of
/// the sampling noise may be larger than its variance.
struct QuadraticRun {
  std::vector<QuadraticPart> parts;
  double step_size;    ///< η < 1
  int steps;           ///< t
  double total_noise;  ///< σ̃²
  double failure;      ///< δ̃
};

/// A c with which Lemma B.2 holds for this run, by Chernoff's bound on the exact moment generating
/// function: P[f(x_t) − f(x_0) + (η/8) Σ ‖∇f‖² > c η σ̃² (ηLt + ln(1/δ̃))] ≤ δ̃.
double descent_constant(const QuadraticRun& run);
/// The same for Lemma B.4.
double localise_constant(const QuadraticRun& run);

}  // namespace dpsosp::avdiukhin_2024_exhibit
