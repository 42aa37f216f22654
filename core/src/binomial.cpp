// SPDX-License-Identifier: Apache-2.0
// Our own counts: the bits of Boost.Random's and the standard library's depend on the C library's
// logarithm.
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

/// ln(1 + t), t > −1, without cancellation near 0.
double log_one_plus(double t) {
  if (std::abs(t) > 1e-3) return portable_log(1.0 + t);
  return t * (1 - t * (1.0 / 2 - t * (1.0 / 3 - t * (1.0 / 4 - t * (1.0 / 5 - t / 6)))));
}

/// (1 + t) ln(1 + t) − t, without cancellation near 0.
double deviance(double t) {
  if (std::abs(t) > 0.05) return (1 + t) * portable_log(1 + t) - t;
  double sum = 0;
  double power = t * t;
  for (int j = 1; j <= 14; ++j) {
    sum += power / (j * (j + 1));
    power *= -t;
  }
  return sum;
}

/// ln k! − (k + 1/2) ln k + k − ln(2π)/2, k ≥ 1.
double stirling_error(double k) {
  static const auto small = [] {
    std::array<double, 16> table{};
    double log_factorial = 0;
    for (std::size_t j = 1; j < table.size(); ++j) {
      const auto x = static_cast<double>(j);
      log_factorial += portable_log(x);
      table[j] = log_factorial - (x + 0.5) * portable_log(x) + x -
                 0.5 * portable_log(2 * std::numbers::pi);
    }
    return table;
  }();
  if (k < 16) return small[static_cast<std::size_t>(k)];
  const double square = k * k;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * square)) / square) / square) / k;
}

/// Successes by the gaps between them, which are geometric. Mean number of words: 1 + trials·p.
Index by_gaps(Stream& stream, double trials, double p) {
  const double log_failure = log_one_plus(-p);
  Index successes = 0;
  for (double position = 0;; ++successes) {
    position += std::floor(portable_log(stream.uniform()) / log_failure) + 1;
    if (position > trials) return successes;
  }
}

/// Transformed rejection with squeeze (Hörmann 1993, algorithm BTRS) for p ≤ 1/2, trials·p ≥ 16.
/// Successes are counted from ⌊trials·p⌋ and probabilities compared by Loader's (2000) saddle-point
/// form, so nothing of size `trials` is ever rounded.
Index by_rejection(Stream& stream, Index trials, double p) {
  const auto n = static_cast<double>(trials);
  const double q = 1 - p;
  const double mean = n * p;
  const auto base = static_cast<Index>(mean);
  const double fraction = mean - static_cast<double>(base);
  const double deviation = std::sqrt(n * p * q);
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double squeeze = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation;
  // ln of the probability of `successes`, up to a constant
  const auto log_mass = [&](Index successes) {
    const double offset = static_cast<double>(successes - base) - fraction;
    if (successes == 0 || successes == trials) {  // Stirling's form has no 0!
      const double log_end = successes == 0 ? n * log_one_plus(-p) : n * portable_log(p);
      return log_end - stirling_error(n) + 0.5 * portable_log(2 * std::numbers::pi);
    }
    const auto k = static_cast<double>(successes);
    const auto rest = static_cast<double>(trials - successes);
    return -stirling_error(k) - stirling_error(rest) - mean * deviance(offset / mean) -
           n * q * deviance(-offset / (n * q)) - 0.5 * portable_log(k / n) -
           0.5 * portable_log(rest);
  };
  // The mode is ⌊(trials + 1) p⌋. Against a lower value the envelope would be 1 % too low in
  // places.
  const Index mode = fraction + p < 1 ? base : base + 1;
  while (true) {
    const double u = stream.uniform() - 0.5;
    const double v = stream.uniform();
    const double us = 0.5 - std::abs(u);
    const double step = std::floor((2 * a / us + b) * u + fraction + 0.5);
    if (step < -static_cast<double>(base) || step > static_cast<double>(trials - base)) continue;
    const Index successes = base + static_cast<Index>(step);
    if (us >= 0.07 && v <= squeeze) return successes;
    if (portable_log(v * alpha / (a / (us * us) + b)) <= log_mass(successes) - log_mass(mode))
      return successes;
  }
}

}  // namespace

Index Stream::binomial(Index trials, double probability) {
  if (trials <= 0 || probability <= 0) return 0;
  if (probability >= 1) return trials;
  if (probability > 0.5) return trials - binomial(trials, 1 - probability);
  const auto n = static_cast<double>(trials);
  return n * probability < 16 ? by_gaps(*this, n, probability)
                              : by_rejection(*this, trials, probability);
}

}  // namespace dpsosp
