// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "dpsosp/privacy/accounting/composition.hpp"

namespace dpsosp {

/// Bounds that composed privacy loss distributions prove for the dominating pairs of a sequence.
struct LossBounds {
  double epsilon;  ///< the sequence is (epsilon, delta)-DP; >= 0
  double lower;    ///< no smaller one can be proved from the pairs; epsilon - lower is the width
  std::int64_t points;  ///< lattice points of the last transform
  bool resolved;        ///< the width asked for was reached; if not, epsilon is loose but holds
};

/// Smallest delta that is served; every sum is tilted towards the losses that decide epsilon, so
/// that rounding is relative to delta.
inline constexpr double kSmallestLossDelta = 1e-100;

/// (epsilon, delta)-DP of the adaptive composition, by convolving the loss distributions of pairs
/// (P, Q) that dominate each event:
///
///   gaussian     N(mu, 1) and N(0, 1); compositions add mu². Balle & Wang (2018)
///   poisson      add/remove and zero-out: (1−q) N(0, z²) + q N(1, z²) against N(0, z²) and the
///                reverse, the dearer of the two. Zhu, Dong & Wang (2022)
///                replace-one: (1−q) N(0, z²) + q N(±1, z²). Proof in privacy_loss.cpp
///   fixed size   replace-one: (1−γ) N(0, z²) + γ N(1, z²) against N(0, z²) for losses above 0, its
///                mirror image below. Proof in privacy_loss.cpp
///   laplace      the two densities of one coordinate, sampled as the Gaussian. Proof in
///                privacy_loss.cpp
///   pure         randomised response. Kairouz, Oh & Viswanath (2015)
///   exponential  the envelope of all losses of range epsilon. Proof in privacy_loss.cpp
///
/// All pairs but the exponential's and the fixed size's are attained by some mechanism of the kind,
/// so `lower` is a bound for those mechanisms too. A loss is rounded to a lattice by splitting its
/// mass between two neighbours so that both P and Q keep theirs; what lies beyond the lattice
/// counts as infinite. The n-fold convolution is a power in Fourier space; wrap-around is bounded
/// by Chernoff's inequality, rounding by the transform's componentwise error.
///
/// \param delta      in [kSmallestLossDelta, 1)
/// \param tolerance  relative width of [lower, epsilon] at which the lattice is fine enough; > 0
/// \throws UnsupportedError for fixed-size samples under another relation than replace-one, zCDP
///   events, a smaller delta, more than 1e12 releases, losses that need more points than it has, or
///   a loss too wide to resolve (noise multipliers below about 1e-3)
/// \source Zhu, Dong & Wang (2022), arXiv:2106.08567; Doroshenko et al. (2022), arXiv:2207.04380;
///   Koskela, Jälkö & Honkela (2020), arXiv:1906.03049; Gopi, Lee & Wutschitz (2021),
///   arXiv:2106.02848; Balle, Barthe & Gaboardi (2018), arXiv:1807.01647.
LossBounds pld_bounds(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                      double tolerance);
/// The same without the composition's coins; \param delta is what they leave.
LossBounds pld_epsilon(const Composition& composition, Adjacency adjacency, double delta,
                       double tolerance);

/// Bounds that the same distributions prove for delta at a stated epsilon.
struct DeltaBounds {
  double delta;         ///< the sequence is (epsilon, delta)-DP; in [0, 1]
  double lower;         ///< no smaller one can be proved from the pairs
  std::int64_t points;  ///< lattice points of the last transform
  bool resolved;  ///< the relative width asked for was reached; if not, delta is loose but holds
};

/// Without the composition's coins.
/// \param epsilon    finite, >= 0
/// \param tolerance  relative width of [lower, delta] at which the lattice is fine enough; > 0
/// \throws UnsupportedError as pld_bounds, and where delta is below kSmallestLossDelta but not 0
DeltaBounds pld_delta(const Composition& composition, Adjacency adjacency, double epsilon,
                      double tolerance);

/// Lower bound on the epsilon of the costliest mechanisms of these kinds: some that the events
/// describe have a pair of neighbours that needs it, so no accountant of the events gets below. It
/// is the `lower` of pairs that are attained: a fixed-size sample as drawn from records that
/// contribute nothing but one, which is a Poisson pair; the exponential mechanism as randomised
/// response at epsilon/2, whose loss has range epsilon; zCDP as the Gaussian of that rho.
/// \param delta  as of pld_bounds, or 0 where every event is pure
/// \throws UnsupportedError as pld_bounds, but not for zCDP events
double attained_epsilon(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                        double tolerance);
double attained_epsilon(const Composition& composition, Adjacency adjacency, double delta,
                        double tolerance);

}  // namespace dpsosp
