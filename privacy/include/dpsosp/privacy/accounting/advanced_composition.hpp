// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dpsosp {

// Noise multiplier (std / sensitivity) of each of k Gaussian queries by advanced composition. For
// reruns of published numbers only: loose, and the classical Gaussian bound it rests on is proved
// for ε₀ < 1.

/// ε₀ from ε = sqrt(2k·ln(2/δ))·ε₀ + k·ε₀(e^{ε₀} − 1), δ₀ = δ/(2k); z = sqrt(2·ln(1.25/δ₀))/ε₀.
/// \source xu-2026 notes, 4; Dwork & Roth (2014), Theorem 3.20.
double advanced_noise_multiplier(double epsilon, double delta, std::int64_t queries);

/// The same when each query sees a sample of the given rate g in (0, 1]: the base mechanism may
/// then spend ln(1 + (e^{ε₀} − 1)/g) and δ₀/g.
double advanced_amplified_noise_multiplier(double epsilon, double delta, std::int64_t queries,
                                           double rate);

}  // namespace dpsosp
