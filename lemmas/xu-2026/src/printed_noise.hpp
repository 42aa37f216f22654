// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/privacy/accounting/epsilon_interval.hpp"

/// What the noise of xu-2026's Algorithm 3 costs under replace-one, records clipped one by one.
namespace dpsosp {

/// How batches of a given mean size are drawn.
enum class Draw { poisson, fixed_size };

/// Answers of Algorithm 3 at the sizes of Section 5: n = 400, T = 400, q = 10, batches of 200 and
/// 50, (ε, δ) = (2, 1e-6).
struct NoiseCount {
  double c = 1;              ///< the constant, a factor of both deviations
  double inner_steps = 5;    ///< K: increments a step
  bool both_streams = true;  ///< v and u on one batch, or v alone
};
/// ε at δ = 1e-6. The lower bound is of the pair of data sets in which all other records contribute
/// 0, which has the same loss for both draws.
EpsilonInterval section_5_epsilon(const NoiseCount& count, Draw draw);

/// The least c for which the accountant proves (ε, 1e-6) for Theorem 1's sizes with L = M = F₀ = 1,
/// d = 120, K = 1, both streams on one batch of fixed size; at least 0.01.
double constant_needed(double records, double epsilon);

/// The δ at ε/2 that one answer v of Lemma 8 has at least, by a pair of data sets and an event: d =
/// 120, K = κ = 5, δ₁ = 0.1, target ε = 2, δ = 1e-6, S₂ = ln²(4/δ₁) κ ē^{−1/3} as the lemma states
/// it. F = −μ|y|²/2 for all other records and ±a⟨x, Py⟩ − μ|y|²/2 for one, a² = L² − Lμ, so that
/// its increments of v are ±a times the move of y; the event is that the answer exceeds half of its
/// share.
/// \param constant  C₂
double lemma_8_query_delta(double constant, double records);
/// A lower bound of ε at δ = 1e-6 for all answers v, by the same pair and the event that some
/// answer exceeds half of the record's share.
double lemma_8_lower_epsilon(double constant, double records);

}  // namespace dpsosp
