// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

// Choosing the best of several runs on the same records. K is drawn from the logarithmic
// distribution, P(K = k) ∝ (1 − γ)^k / k; K times a setting is drawn and run, and the run of the
// best score alone is released. A run with its score is ρ-zCDP, whichever the setting, and the law
// of K and the settings are fixed in advance.
// | symbol | name  | range                                                             |
// | ρ      | rho   | >= 0, of one run                                                  |
// | δ      | delta | in (0, 1)                                                         |
// | m      | mean  | >= 1, of K; it decides γ by (1/γ − 1)/ln(1/γ) = m. With 1, K is 1 |
// Every function throws InputError on an argument outside its range.

/// ε at δ of the whole. Theorem 2 with η = 0 says that RDP(λ) = ρλ grows by ln(m)/(λ − 1) and the
/// least over λ̂ >= 1 of ρ(λ̂ − 1) + ln(1/γ)/λ̂; the first is the conversion of ρ at δ/m.
/// \source Papernot & Steinke (2022), arXiv:2110.03620, Theorem 2;
///   privacy-accounting notes, 12
double repetition_epsilon(double rho, double delta, double mean);

/// Largest ρ of one run with which the whole is (epsilon, delta)-DP; epsilon > 0.
double rho_for_repetition(double epsilon, double delta, double mean);

}  // namespace dpsosp
