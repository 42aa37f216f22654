// SPDX-License-Identifier: Apache-2.0
// Tests of counts against their exact law; false alarms below 1e-8 each.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::testing_support {

inline double binomial_pmf(Index n, Index k, double p) {
  const auto N = static_cast<double>(n), K = static_cast<double>(k);
  return std::exp(std::lgamma(N + 1) - std::lgamma(K + 1) - std::lgamma(N - K + 1) +
                  K * std::log(p) + (N - K) * std::log1p(-p));
}

/// The frequency of every value against Bin(n, p): Bernstein's inequality at 1e-10 each.
inline void expect_binomial(const std::vector<Index>& counts, Index n, double p) {
  const auto draws = static_cast<double>(counts.size());
  const double log_level = std::log(2e10);
  for (Index k = 0; k <= n; ++k) {
    const double q = binomial_pmf(n, k, p);
    const auto seen = static_cast<double>(std::ranges::count(counts, k));
    const double slack = std::sqrt(2 * draws * q * (1 - q) * log_level) + log_level / 3;
    EXPECT_NEAR(seen, draws * q, slack) << "value " << k << " of Bin(" << n << ", " << p << ")";
  }
}

/// Correlation zero to within 6.5 standard errors.
inline void expect_uncorrelated(const std::vector<Index>& a, const std::vector<Index>& b) {
  const auto n = static_cast<Index>(a.size());
  Vector x(n), y(n);
  for (Index i = 0; i < n; ++i) {
    x[i] = static_cast<double>(a[static_cast<std::size_t>(i)]);
    y[i] = static_cast<double>(b[static_cast<std::size_t>(i)]);
  }
  x.array() -= x.mean();
  y.array() -= y.mean();
  EXPECT_LT(std::abs(x.dot(y) / (x.norm() * y.norm())), 6.5 / std::sqrt(static_cast<double>(n)));
}

}  // namespace dpsosp::testing_support
