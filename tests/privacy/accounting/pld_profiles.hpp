// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/accounting/pld.hpp"
#include "near.hpp"

// Bounds of `pld`, and exact profiles to hold them against.
namespace dpsosp::pld {

using Ledger = std::vector<CountedEvent>;
constexpr double kTolerance = 1e-3;

inline LossBounds bounds(const Ledger& ledger, Adjacency adjacency, double delta) {
  return pld_bounds(ledger, adjacency, delta, kTolerance);
}
inline LossBounds bounds(const Ledger& ledger, double delta) {
  return bounds(ledger, Adjacency::replace_one, delta);
}

// for the many cases of a property
constexpr double kCoarse = 1e-2;
inline LossBounds coarse_bounds(const Ledger& ledger, Adjacency adjacency, double delta) {
  return pld_bounds(ledger, adjacency, delta, kCoarse);
}

// lower <= exact <= epsilon, no further apart than asked; the exact value to 1e-9 of itself
inline testing::AssertionResult brackets(const LossBounds& b, double exact) {
  if (b.lower <= exact * (1 + 1e-9) && exact * (1 - 1e-9) <= b.epsilon && b.resolved)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << exact << " is not in [" << b.lower << ", " << b.epsilon << "], or that is too wide";
}

inline double tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2)); }

using Profile = std::function<double(double)>;  // ε ↦ δ, real ε

// Root of a falling profile.
inline double epsilon_at(const Profile& delta_at, double delta) {
  double low = 0;
  double high = 1;
  while (delta_at(high) > delta) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (delta_at(middle) > delta ? low : high) = middle;
  }
  return high;
}

// The profile of (1−q)N(0) + qN(a) and (1−q)N(0) + qN(b), each over z, a > b: the largest
// P(A) − e^ε Q(A) is at the half-line where the densities have the ratio e^ε.
inline Profile mixtures(double rate, double noise, double a, double b) {
  return [=](double epsilon) {
    const auto log_density = [&](double x, double shift) {  // over that of N(0)
      return std::log1p(rate * std::expm1((x * shift - shift * shift / 2) / (noise * noise)));
    };
    double low = -60 * noise - 60;
    double high = 60 * noise + 60;
    for (int i = 0; i < 70; ++i) {
      const double x = (low + high) / 2;
      (log_density(x, a) - log_density(x, b) < epsilon ? low : high) = x;
    }
    const auto mass = [&](double shift) {
      return (1 - rate) * tail(low / noise) + rate * tail((low - shift) / noise);
    };
    return mass(a) - std::exp(epsilon) * mass(b);
  };
}

inline Profile laplace(double e) {
  return [=](double epsilon) {
    if (epsilon >= e) return 0.0;
    return epsilon <= -e ? -std::expm1(epsilon) : -std::expm1((epsilon - e) / 2);
  };
}

}  // namespace dpsosp::pld
