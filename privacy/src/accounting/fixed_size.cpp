// SPDX-License-Identifier: Apache-2.0
#include "fixed_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/privacy/accounting/renyi.hpp"

#include "numeric.hpp"

namespace dpsosp {
namespace {

const double kLog2 = std::log(2.0);

// ln( 1 + γ²C(a,2)·min{4(e^{1/z²}−1), 2e^{1/z²}} + Σ_{j>=3} γ^j C(a,j) e^{log_factor(j)} )
template <class LogFactor>
double log_moment(int order, double rate, double noise_multiplier, const LogFactor& log_factor) {
  if (order < 2 || rate == 0) return 0;
  const double log_rate = std::log(rate);
  const double exponent = 1 / (noise_multiplier * noise_multiplier);
  LogSum sum;
  double log_binomial = std::log(order);
  for (int j = 2; j <= order; ++j) {
    log_binomial += std::log(static_cast<double>(order - j + 1) / j);
    const double factor =
        j == 2 ? std::min(2 * kLog2 + log_expm1(exponent), kLog2 + exponent) : log_factor(j);
    sum.add(j * log_rate + log_binomial + factor);
  }
  return log1p_exp(sum.value());
}

double closed_form_factor(int j, double noise_multiplier) {
  return kLog2 + j * (j - 1.0) / (2 * noise_multiplier * noise_multiplier);
}

}  // namespace

ForwardDifferences::ForwardDifferences(double noise_multiplier, int order) {
  const int highest = (std::min(order, kHighestOrder) + 1) / 2 * 2;
  if (noise_multiplier < 0.3) {  // 4·B exceeds the closed form's 2e^{j(j−1)/(2z²)} at every j >= 3
    log_values_.assign(static_cast<std::size_t>(highest) / 2 + 1,
                       std::numeric_limits<double>::infinity());
    return;
  }
  // Trapezoidal rule in t = (sample)/z. The integrand is entire; aliasing is at most e^{−2π²/h²}
  // E[(L+1)^l], with h = 0.1 below 1e-16 of E[(L−1)^l] at every l <= 256 for z <= 1e5.
  const double step = 0.1;
  const double reach = 1.3 * std::sqrt(highest) + 12;  // the mode solves t(1 − 1/L) = l/z
  const double last = std::max(1.6 * highest / noise_multiplier + 12, reach);
  const auto points = static_cast<std::size_t>((reach + last) / step) + 1;
  std::vector<double> log_distance(points);  // ln|L − 1|
  std::vector<double> log_density(points);
  for (std::size_t i = 0; i < points; ++i) {
    const double t = -reach + static_cast<double>(i) * step;
    const double log_ratio = (t - 0.5 / noise_multiplier) / noise_multiplier;
    log_distance[i] = log_ratio > 0 ? log_expm1(log_ratio) : std::log(-std::expm1(log_ratio));
    log_density[i] = -t * t / 2 + std::log(step) - 0.91893853320467274178;  // ln sqrt(2π)
  }
  log_values_.push_back(0);
  for (int l = 2; l <= highest; l += 2) {
    LogSum sum;
    for (std::size_t i = 0; i < points; ++i) sum.add(l * log_distance[i] + log_density[i]);
    log_values_.push_back(sum.value());
  }
}

double fixed_size_log_moment(int order, double rate, double noise_multiplier,
                             const ForwardDifferences& differences) {
  return log_moment(order, rate, noise_multiplier, [&](int j) {
    const double closed_form = closed_form_factor(j, noise_multiplier);
    if (order > ForwardDifferences::kHighestOrder) return closed_form;
    const double forward =
        2 * kLog2 +
        (differences.log_of_even(j / 2 * 2) + differences.log_of_even((j + 1) / 2 * 2)) / 2;
    return std::min(forward, closed_form);
  });
}

double fixed_size_gaussian_rdp(double order, double rate, double noise_multiplier) {
  expect_order("fixed_size_gaussian_rdp", order);
  check(FixedSizeGaussianEvent{rate, noise_multiplier});
  const ForwardDifferences differences(noise_multiplier, static_cast<int>(std::ceil(order)));
  return chord(
             order,
             [&](int a) { return fixed_size_log_moment(a, rate, noise_multiplier, differences); }) /
         (order - 1);
}

double fixed_size_gaussian_rdp_closed_form(double order, double rate, double noise_multiplier) {
  expect_order("fixed_size_gaussian_rdp_closed_form", order);
  check(FixedSizeGaussianEvent{rate, noise_multiplier});
  return chord(order,
               [&](int a) {
                 return log_moment(a, rate, noise_multiplier,
                                   [&](int j) { return closed_form_factor(j, noise_multiplier); });
               }) /
         (order - 1);
}

}  // namespace dpsosp
