// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/repetition.hpp"

#include <cmath>

#include "dpsosp/privacy/accounting/conversion.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

/// l = ln(1/γ), the root of (e^l − 1)/l = m.
double log_inverse_gamma(double mean) {
  if (mean == 1) return 0;
  const double enough = 2 * std::log(mean) + 2;
  return bisect(0, enough, [&](double l) { return std::expm1(l) / l >= mean; });
}

/// The least over λ̂ >= 1 of ρ(λ̂ − 1) + l/λ̂, at λ̂ = sqrt(l/ρ) unless that is below 1.
double price_of_repetition(double rho, double l) {
  return l <= rho ? l : 2 * std::sqrt(rho * l) - rho;
}

}  // namespace

double repetition_epsilon(double rho, double delta, double mean) {
  expect_delta("repetition_epsilon", delta);
  expect(mean >= 1 && std::isfinite(mean), "repetition_epsilon", "mean", mean, "a number >= 1");
  return epsilon_from_rho(rho, delta / mean, Conversion::cks).epsilon +
         price_of_repetition(rho, log_inverse_gamma(mean));
}

double rho_for_repetition(double epsilon, double delta, double mean) {
  const double most = rho_for(epsilon, delta, Conversion::cks);
  const auto fits = [&](double rho) { return repetition_epsilon(rho, delta, mean) <= epsilon; };
  return fits(most) ? most : bisect(most, 0, fits);
}

}  // namespace dpsosp
