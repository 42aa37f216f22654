// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

// The Gaussian mechanism, exactly: mu = sensitivity / std, sqrt(2·rho) for a composition of
// Gaussians.

/// Smallest δ for which the mechanism is (epsilon, δ)-DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).
/// Relative accuracy about 1e-12 while δ >= 1e-300.
/// \param epsilon  >= 0
/// \param mu       >= 0; 0 gives 0
/// \source Balle & Wang (2018), arXiv:1805.06530, Theorem 8.
double gaussian_delta(double epsilon, double mu);

/// Smallest epsilon >= 0 with gaussian_delta(epsilon, mu) <= delta; delta in (0, 1).
double gaussian_epsilon(double delta, double mu);

/// Largest mu with gaussian_delta(epsilon, mu) <= delta; epsilon >= 0, delta in (0, 1).
double gaussian_mu_for(double epsilon, double delta);

}  // namespace dpsosp
