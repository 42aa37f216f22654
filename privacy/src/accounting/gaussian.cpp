// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/gaussian.hpp"

#include <cmath>
#include <numbers>

#include <boost/math/quadrature/gauss.hpp>

#include "numeric.hpp"

namespace dpsosp {
namespace {

// R(t) = Φ(−t)/φ(t) = 1/(t + K(t)) with K(t) = 1/(t + 2/(t + 3/(t + ...))); used for t >= 5, where
// 40 levels are exact to rounding.
double fraction(double t) {
  double k = 0;
  for (int level = 40; level >= 1; --level) k = level / (t + k);
  return k;
}

double mills(double t) {
  if (t >= 5) return 1 / (t + fraction(t));
  return std::sqrt(std::numbers::pi / 2) * std::exp(t * t / 2) * std::erfc(t / std::numbers::sqrt2);
}

// −R′(t) = 1 − t·R(t)
double mills_descent(double t) {
  if (t < 5) return 1 - t * mills(t);
  const double k = fraction(t);
  return k / (t + k);
}

double upper_tail(double t) { return 0.5 * std::erfc(t / std::numbers::sqrt2); }

}  // namespace

double gaussian_delta(double epsilon, double mu) {
  expect_nonnegative("gaussian_delta", "epsilon", epsilon);
  expect_nonnegative("gaussian_delta", "mu", mu);
  if (mu == 0) return 0;
  // With x = ε/μ − μ/2: e^ε φ(x+μ) = φ(x), so δ = φ(x)(R(x) − R(x+μ)) and e^ε is never formed.
  const double x = epsilon / mu - mu / 2;
  const double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  if (mu < 1e-2)  // the integral below, whose ends would be rounded by more than they may
    return density * mu *
           boost::math::quadrature::gauss<double, 20>::integrate(
               [&](double u) { return mills_descent(x + mu * u); }, 0.0, 1.0);
  if (mu <= 1) {  // the difference as an integral, for it would cancel
    return density *
           boost::math::quadrature::gauss<double, 20>::integrate(mills_descent, x, x + mu);
  }
  if (x < 0) return upper_tail(x) - density * mills(x + mu);
  return density * (mills(x) - mills(x + mu));
}

double gaussian_epsilon(double delta, double mu) {
  expect_delta("gaussian_epsilon", delta);
  expect_nonnegative("gaussian_epsilon", "mu", mu);
  if (gaussian_delta(0, mu) <= delta) return 0;
  const double rho = mu * mu / 2;
  const double enough = rho + 2 * std::sqrt(rho * -std::log(delta));
  return bisect(0, enough, [&](double epsilon) { return gaussian_delta(epsilon, mu) <= delta; });
}

double gaussian_mu_for(double epsilon, double delta) {
  expect_nonnegative("gaussian_mu_for", "epsilon", epsilon);
  expect_delta("gaussian_mu_for", delta);
  double too_much = 1;
  while (gaussian_delta(epsilon, too_much) <= delta) too_much *= 2;
  return bisect(too_much, 0, [&](double mu) { return gaussian_delta(epsilon, mu) <= delta; });
}

}  // namespace dpsosp
