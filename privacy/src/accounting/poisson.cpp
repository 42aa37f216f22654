// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dpsosp/privacy/accounting/renyi.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

// Everything below computes M(a) = (a−1)·RDP(a) = ln E[u^a] with u = 1 + q(L−1), L the likelihood
// ratio of N(1,z²) to N(0,z²), under N(0,z²). As E[L] = 1, E[u^a] − 1 = E[u^a − 1 − a(u−1)], an
// average of terms
// >= 0: nothing cancels, and ln(1 + ·) keeps every digit of a small bound.

// E[u^a] − 1 = Σ_{k=2}^{a} C(a,k)(1−q)^{a−k}q^k (e^{k(k−1)/(2z²)} − 1)
double integer_log_moment(int order, double rate, double noise_multiplier) {
  const double log_rate = std::log(rate);
  const double log_rest = std::log1p(-rate);
  const double scale = 1 / (2 * noise_multiplier * noise_multiplier);
  LogSum sum;
  double log_binomial = std::log(order);  // C(a, 1)
  for (int k = 2; k <= order; ++k) {
    log_binomial += std::log(static_cast<double>(order - k + 1) / k);
    const double rest = k < order ? (order - k) * log_rest : 0.0;
    sum.add(log_binomial + rest + k * log_rate + log_expm1(scale * k * (k - 1.0)));
  }
  return log1p_exp(sum.value());
}

// ln(u^a − 1 − a(u−1)) with u − 1 = q(e^ℓ − 1); −∞ at u = 1
double log_excess(double order, double rate, double log_ratio) {
  if (log_ratio > 600) {  // u − 1 = q e^ℓ to full precision, and may overflow
    const double log_u = std::log(rate) + log_ratio;
    return order * log_u + std::log1p(-std::exp(std::log(order) + log_u - order * log_u));
  }
  const double x = rate * std::expm1(log_ratio);
  if (std::abs(order * x) < 0.1) {  // Σ_{k>=2} C(a,k)x^k
    double term = order * (order - 1) / 2 * x * x;
    double sum = term;
    for (int k = 2; std::abs(term) > 1e-17 * std::abs(sum); ++k) {
      term *= (order - k) / (k + 1) * x;
      sum += term;
    }
    return std::log(sum);
  }
  const double power = order * std::log1p(x);
  return power < 30 ? std::log(std::expm1(power) - order * x)
                    : power + std::log1p(-(1 + order * x) * std::exp(-power));
}

// The trapezoidal rule in t = (sample)/z: the integrand is analytic in |Im t| < πz, so with step
// h <= 0.4z the error is below e^{−2π·πz/h} < 1e-21 of it, and beyond 12 standard deviations
// nothing is left.
double fractional_log_moment(double order, double rate, double noise_multiplier) {
  const double step = std::min(0.2, 0.4 * noise_multiplier);
  const double last = std::max(order, 2.0) / noise_multiplier + 12;
  const auto points = static_cast<int>((last + 12) / step);
  LogSum sum;
  for (int i = 0; i <= points; ++i) {
    const double t = -12 + i * step;
    const double log_ratio = (t - 0.5 / noise_multiplier) / noise_multiplier;
    sum.add(log_excess(order, rate, log_ratio) - t * t / 2);
  }
  const double log_density = std::log(step) - 0.91893853320467274178;  // ln sqrt(2π)
  return log1p_exp(sum.value() + log_density);
}

double chord_log_moment(double order, double rate, double noise_multiplier) {
  const double floor = std::floor(order);
  const int lower = static_cast<int>(floor);
  const double at_lower = lower == 1 ? 0.0 : integer_log_moment(lower, rate, noise_multiplier);
  const double at_upper = integer_log_moment(lower + 1, rate, noise_multiplier);
  return at_lower + (order - floor) * (at_upper - at_lower);
}

}  // namespace

double poisson_gaussian_rdp(double order, double rate, double noise_multiplier) {
  expect_order("poisson_gaussian_rdp", order);
  check(PoissonGaussianEvent{rate, noise_multiplier});
  if (rate == 0) return 0;
  if (rate == 1) return order / (2 * noise_multiplier * noise_multiplier);
  double log_moment = 0;
  if (order == std::floor(order)) {
    log_moment = integer_log_moment(static_cast<int>(order), rate, noise_multiplier);
  } else if (noise_multiplier <
             0.1) {  // the strip of analyticity is too thin to be worth its points
    log_moment = chord_log_moment(order, rate, noise_multiplier);
  } else {
    log_moment = fractional_log_moment(order, rate, noise_multiplier);
  }
  return log_moment / (order - 1);
}

double weak_triangle_rdp(double order, double rate, double noise_multiplier) {
  expect_order("weak_triangle_rdp", order);
  return (order - 0.5) / (order - 1) * poisson_gaussian_rdp(2 * order, rate, noise_multiplier) +
         poisson_gaussian_rdp(2 * order - 1, rate, noise_multiplier);
}

}  // namespace dpsosp
