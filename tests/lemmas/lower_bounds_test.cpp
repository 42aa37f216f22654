// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/lemmas/lower_bounds/bounds.hpp"
#include "minimax.hpp"

namespace dpsosp::lower_bounds {
namespace {

TEST(ExactMinimax, IsRandomizedResponseForOneRecord) {
  for (const double epsilon : {0.1, 1.0, 3.0})
    for (const double delta : {0.0, 1e-3, 0.2})
      EXPECT_NEAR(exact_minimax(1, epsilon, delta), (1 - delta) / (1 + std::exp(epsilon)), 1e-9);
}

// Gupte and Sundararajan 2010: without δ the geometric mechanism is minimax for a count.
TEST(ExactMinimax, ApproachesGeometricMechanism) {
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    const double ratio = std::exp(-epsilon);
    const double geometric = 2 * ratio / (1 - ratio * ratio);
    const double exact = 40 * exact_minimax(40, epsilon, 0);
    EXPECT_LE(exact, geometric);
    EXPECT_GE(exact, 0.97 * geometric);
  }
}

TEST(ExactMinimax, FallsInEpsilonAndDelta) {
  for (const int n : {3, 8}) {
    EXPECT_LT(exact_minimax(n, 1, 0), exact_minimax(n, 0.5, 0));
    EXPECT_LT(exact_minimax(n, 0.5, 0.05), exact_minimax(n, 0.5, 0));
  }
}

TEST(LowerBounds, LieBelowExactMinimax) {
  double nearest = 0;
  for (int n = 1; n <= 14; ++n)
    for (const double epsilon : {0.05, 0.3, 1.0, 2.5})
      for (const double delta : {0.0, 1e-6, 1e-2}) {
        const double exact = exact_minimax(n, epsilon, delta);
        EXPECT_LE(empirical_bound(n, 1, epsilon, delta), exact * (1 + 1e-9)) << n;
        nearest = std::max(nearest, two_point_bound(n, epsilon, delta) / exact);
      }
  EXPECT_GT(nearest, 0.99) << "at n = 1 two points are all there is";
}

TEST(LowerBounds, LieBelowNoisyMeanAndBelowDoingNothing) {
  for (const double n : {1e2, 1e4, 1e8})
    for (const double d : {1.0, 30.0, 1e4, 1e8})
      for (const double epsilon : {0.01, 0.3, 1.0, 8.0, 100.0})
        for (const double delta : {1e-2, 1e-6, 1e-12}) {
          const double bound = empirical_bound(n, d, epsilon, delta);
          EXPECT_LE(bound, noisy_mean(n, d, epsilon, delta)) << n << ' ' << d << ' ' << epsilon;
          EXPECT_LE(bound, 0.5);
        }
}

TEST(LowerBounds, TracingHasStatedConstant) {
  EXPECT_NEAR(tracing_bound(1e6, 1e4, 0.1, 0) / (std::sqrt(1e4) / (1e6 * std::sinh(0.1))),
              std::sqrt(6.0) / 72, 1e-4);
  EXPECT_EQ(tracing_bound(1e6, 1, 1, 0), 0) << "d is below 6 sinh(eps)^2";
}

// Step (1): every mechanism on n signs, traced by quadrature over their mean.
TEST(Tracing, IdentityHoldsForEveryMechanism) {
  Stream stream({.seed = 5});
  for (int n = 1; n <= 6; ++n)
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> u(static_cast<std::size_t>(n) + 1);
      for (double& value : u) value = 2 * stream.uniform() - 1;
      double traced = 0, correlated = 0;
      constexpr int points = 2000;  // the midpoint rule
      for (int i = 0; i < points; ++i) {
        const double p = -1 + (2 * i + 1.0) / points, plus = (1 + p) / 2;
        for (int k = 0; k <= n; ++k) {
          const double choose =
              std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
          const double law = choose * std::pow(plus, k) * std::pow(1 - plus, n - k) / points;
          traced += law * u[static_cast<std::size_t>(k)] * (2 * k - n - n * p);
          correlated += law * u[static_cast<std::size_t>(k)] * p;
        }
      }
      EXPECT_NEAR(traced, 2 * correlated, 1e-5) << n;
    }
}

// Step (2): a search for close laws whose means are further apart.
TEST(Tracing, NoCloseLawsHaveMeansFurtherApart) {
  Stream stream({.seed = 6});
  double most = 0;
  constexpr std::array values{-1.0, -0.4, 0.0, 0.4, 1.0};
  for (int trial = 0; trial < 100000; ++trial) {
    const double epsilon = 2 * stream.uniform();
    std::array<double, values.size()> q{};
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k) sum += q[k] = std::pow(stream.uniform(), 6);
    double mean = 0;
    for (std::size_t k = 0; k < values.size(); ++k) mean += (q[k] /= sum) * values[k];
    if (mean == 0) continue;
    // Mass is added at one end until the mean is 0.
    const double add = std::abs(mean) / (1 + std::abs(mean));
    for (double& share : q) share *= 1 - add;
    q[mean > 0 ? 0 : values.size() - 1] += add;
    // The likelihood ratio is e^ε above a cut and e^{-ε} below, with its own mass to make up.
    std::array<double, values.size()> p{};
    double total = 0;
    for (std::size_t k = values.size(); k-- > 0;) {
      double rest = 0;
      for (std::size_t j = 0; j < k; ++j) rest += q[j];
      const double most_here = std::exp(epsilon) * q[k];
      p[k] = std::min(most_here, 1 - total - std::exp(-epsilon) * rest);
      total += p[k];
    }
    double first = 0, absolute = 0, delta = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      first += p[k] * values[k];
      absolute += q[k] * std::abs(values[k]);
      delta += std::max({0.0, p[k] - std::exp(epsilon) * q[k], q[k] - std::exp(epsilon) * p[k]});
    }
    const double bound = std::sinh(epsilon) * absolute + 2 * delta;
    EXPECT_LE(first, bound * (1 + 1e-9) + 1e-12);
    if (bound > 1e-6) most = std::max(most, first / bound);
  }
  EXPECT_GT(most, 0.9) << "the search comes near the bound";
}

TEST(StatisticalBound, IsAnEighthOverRootOfRecords) {
  EXPECT_NEAR(statistical_bound(1e8) * 1e4, 0.125, 1e-3);
  EXPECT_GT(statistical_bound(4), 0);
}

}  // namespace
}  // namespace dpsosp::lower_bounds
