// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace dpsosp {

/// How a Rényi bound becomes (epsilon, delta).
enum class Conversion {
  bs,         ///< min over a of RDP(a) + ln(1/δ)/(a−1); rho + 2·sqrt(rho·ln(1/δ)) for zCDP
  bs_sqrtpi,  ///< rho + 2·sqrt(rho·ln(sqrt(π·rho)/δ)), zCDP only; beats bs while π·rho < 1
  cks         ///< min over a of RDP(a) + ln(1−1/a) − ln(δa)/(a−1); never above bs
};

struct Converted {
  double epsilon;               ///< >= 0
  std::optional<double> order;  ///< where the minimum is attained; none for a formula without order
};

/// (epsilon, delta)-DP of a rho-zCDP mechanism. cks: minimum over real orders >= 1.01, at the root
/// of rho(a−1)² = ln(1/(δa)), which is unique.
/// \param rho    >= 0
/// \param delta  in (0, 1)
/// \source Bun & Steinke (2016), arXiv:1605.02065, Proposition 1.3 and Lemma 3.6;
///   Canonne, Kamath & Steinke (2020), arXiv:2004.00010, Proposition 12;
///   privacy-accounting notes, 4
Converted epsilon_from_rho(double rho, double delta, Conversion conversion);

/// The smallest delta of cks for a rho-zCDP mechanism: min over a of e^{(a−1)(a·rho−ε)} (1−1/a)^a /
/// (a−1).
double delta_from_rho(double rho, double epsilon);

/// Largest rho with epsilon_from_rho(rho, delta) <= epsilon; epsilon > 0.
double rho_for(double epsilon, double delta, Conversion conversion);

/// The same from RDP values at given orders > 1. With cks the answer is 0 if some order has
/// 1 − e^{−RDP} < δ², because total variation is at most sqrt(1 − e^{−KL}) (Bretagnolle & Huber).
/// \throws UnsupportedError for bs_sqrtpi, which needs zCDP.
Converted epsilon_from_rdp(std::span<const double> orders, std::span<const double> rdp,
                           double delta, Conversion conversion);

}  // namespace dpsosp
