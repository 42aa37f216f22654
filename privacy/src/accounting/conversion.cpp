// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/conversion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dpsosp/privacy/accounting/event.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

double cks_at(double order, double rdp, double delta) {
  return rdp + std::log1p(-1 / order) - std::log(delta * order) / (order - 1);
}

// d/da of the CKS expression is rho + ln(δa)/(a−1)²: zero where rho·b² + ln(1+b) = ln(1/δ), b = a
// − 1.
double cks_order(double rho, double delta) {
  const double log_inverse = -std::log(delta);
  const double enough = std::expm1(std::min(log_inverse, 700.0));
  const double b =
      bisect(0, enough, [&](double t) { return rho * t * t + std::log1p(t) >= log_inverse; });
  return std::max(1 + b, 1.01);
}

}  // namespace

Converted epsilon_from_rho(double rho, double delta, Conversion conversion) {
  expect_nonnegative("epsilon_from_rho", "rho", rho);
  expect_delta("epsilon_from_rho", delta);
  switch (conversion) {
    case Conversion::bs:
      return {rho + 2 * std::sqrt(rho * -std::log(delta)), {}};
    case Conversion::bs_sqrtpi: {
      const double excess = std::log(std::sqrt(std::numbers::pi * rho) / delta);
      return {rho + 2 * std::sqrt(rho * std::max(excess, 0.0)), {}};
    }
    case Conversion::cks:
      break;
  }
  if (rho == 0) return {0, {}};
  const double order = cks_order(rho, delta);
  return {std::max(cks_at(order, rho * order, delta), 0.0), order};
}

double delta_from_rho(double rho, double epsilon) {
  expect_positive("delta_from_rho", "rho", rho);
  expect_nonnegative("delta_from_rho", "epsilon", epsilon);
  // ln δ at order a has the derivative rho(2a−1) − ε + ln(1−1/a), which increases in a.
  const auto descent_over = [&](double b) {
    return rho * (2 * b + 1) - epsilon + std::log(b / (1 + b)) >= 0;
  };
  double enough = 1;
  while (!descent_over(enough)) enough *= 2;
  const double b = bisect(0, enough, descent_over);
  const double order = 1 + b;
  return std::min(1.0, std::exp(b * (rho * order - epsilon) + order * std::log(b / order)) / b);
}

double rho_for(double epsilon, double delta, Conversion conversion) {
  expect_positive("rho_for", "epsilon", epsilon);
  expect_delta("rho_for", delta);
  if (conversion == Conversion::bs) {
    const double log_inverse = -std::log(delta);
    const double root = epsilon / (std::sqrt(epsilon + log_inverse) + std::sqrt(log_inverse));
    return root * root;
  }
  const auto fits = [&](double rho) {
    return epsilon_from_rho(rho, delta, conversion).epsilon <= epsilon;
  };
  double too_much = 1;
  while (fits(too_much)) too_much *= 2;
  return bisect(too_much, 0, fits);
}

Converted epsilon_from_rdp(std::span<const double> orders, std::span<const double> rdp,
                           double delta, Conversion conversion) {
  expect_delta("epsilon_from_rdp", delta);
  expect(!orders.empty() && orders.size() == rdp.size(), "epsilon_from_rdp", "orders",
         static_cast<double>(orders.size()), "as many orders as values and at least one");
  if (conversion == Conversion::bs_sqrtpi)
    throw UnsupportedError("epsilon_from_rdp: bs_sqrtpi needs a zCDP bound, expected cks or bs");
  Converted best{std::numeric_limits<double>::infinity(), {}};
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double order = orders[i];
    expect_order("epsilon_from_rdp", order);
    double epsilon = rdp[i] - std::log(delta) / (order - 1);
    if (conversion == Conversion::cks)
      epsilon = -std::expm1(-rdp[i]) < delta * delta ? 0 : cks_at(order, rdp[i], delta);
    epsilon = std::max(epsilon, 0.0);
    if (epsilon < best.epsilon) best = {epsilon, order};
  }
  return best;
}

}  // namespace dpsosp
