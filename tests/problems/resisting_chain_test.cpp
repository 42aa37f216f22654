// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/resisting_chain.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "violation_search.hpp"

namespace dpsosp::resisting_chain_test {
namespace {

using testing_search::gradient_norm;

Problem untilted(ResistingChain family) {
  family.tilt = 0;
  return family.make({.records = 2, .dimension = family.length + 2});
}

TEST(ResistingChain, ValueMatchesPublishedFormula) {
  ResistingChain family;
  family.length = 5;
  const Problem p = untilted(family);
  const auto [s, a, slope] = family.units();
  const double top = std::sqrt(2 * std::numbers::pi * std::numbers::e);
  const auto Psi = [](double u) {
    return u > 0.5 ? std::exp(1 - 1 / ((2 * u - 1) * (2 * u - 1))) : 0.0;
  };
  const auto Phi = [&](double u) { return 0.5 * top * std::erfc(-u / std::numbers::sqrt2); };
  Stream stream({.seed = 2, .purpose = Purpose::test});
  for (int trial = 0; trial < 100; ++trial) {
    Vector y(7);
    stream.fill_normal(1.5, y);
    double f = -Psi(1) * Phi(y[0]);
    for (Index i = 1; i < 5; ++i) f += Psi(-y[i - 1]) * Phi(-y[i]) - Psi(y[i - 1]) * Phi(y[i]);
    EXPECT_NEAR(p.population->value(s * y), a * f, 1e-13 * a * (1 + std::abs(f)));
  }
}

TEST(ResistingChain, GradientStepRevealsAtMostOneCoordinate) {
  ResistingChain family;
  const Problem p = untilted(family);
  const double s = family.units().scale;
  Stream stream({.seed = 3, .purpose = Purpose::test});
  Vector g(12);
  for (Index known = 0; known <= 10; ++known)
    for (int trial = 0; trial < 20; ++trial) {
      Vector x = Vector::Zero(12);
      for (Index i = 0; i < known; ++i) x[i] = 3 * s * stream.normal();
      p.population->gradient(x, g);
      const Index rest = std::min<Index>(known + 1, 10);
      EXPECT_TRUE((g.tail(12 - rest).array() == 0).all()) << known;
    }
  // and descent from 0 needs a step a link
  Vector x = Vector::Zero(12);
  for (Index t = 1; t <= 10; ++t) {
    p.population->gradient(x, g);
    x -= 0.5 * g;
    EXPECT_TRUE((x.tail(12 - t).array() == 0).all()) << t;
  }
}

TEST(ResistingChain, GradientStaysLargeUntilLastLinkMoves) {
  ResistingChain family;
  for (const Index T : {1, 2, 5, 10}) {
    family.length = T;
    const Problem p = untilted(family);
    const auto [s, a, slope] = family.units();
    // the smallest gradient that a search finds with |x_T| < s
    const double largest_inverse =
        testing_search::largest(T + 2, Domain{}, 2 * s, [&](const Vector& x) {
          if (!(std::abs(x[T - 1]) < s)) return 0.0;
          return 1 / gradient_norm(*p.population, x);
        });
    EXPECT_GT(1 / largest_inverse, a / s) << T;
    Vector far = Vector::Constant(T + 2, 10 * s);
    EXPECT_LT(gradient_norm(*p.population, far), a / s) << T;
  }
}

TEST(ResistingChain, InfimumIsApproachedWithinPublishedBound) {
  ResistingChain family;
  const Problem p = untilted(family);
  const auto [s, a, slope] = family.units();
  const double top = std::sqrt(2 * std::numbers::pi * std::numbers::e);
  const double gap = a * top * (0.5 + 9 * std::numbers::e);
  EXPECT_NEAR(p.facts.constants[constant::suboptimality], gap, 1e-12);
  EXPECT_LE(gap, 12 * a * 10);
  const double start = p.population->value(Vector::Zero(12));
  EXPECT_NEAR(start, -0.5 * a * top, 1e-15);
  const double far = p.population->value(Vector::Constant(12, 1e4 * s));
  EXPECT_GE(far, start - gap);
  EXPECT_NEAR(far, start - gap, 1e-6);
}

TEST(ResistingChain, ConstantsMatchSettingsAndAreNearlyReached) {
  for (const double rho : {1.0, 26.0, 400.0}) {
    ResistingChain family;
    family.smoothness = 2.5;
    family.hessian_lipschitz = rho;
    family.length = 6;
    const Problem p = untilted(family);
    const double s = family.units().scale;
    const auto& F = *p.population;
    const double M = testing_search::largest_hessian(F, Domain{}, 2 * s);
    EXPECT_LE(M, 2.5);
    EXPECT_GE(M, 0.94 * 2.5);
    const double slope = testing_search::largest_hessian_slope(F, Domain{}, 2 * s);
    EXPECT_LE(slope, rho);
    EXPECT_GE(slope, 0.93 * rho);
    const double G = testing_search::largest_gradient(F, Domain{}, 2 * s);
    EXPECT_LE(G, p.facts.constants[constant::lipschitz]);
    EXPECT_GE(G, 0.6 * p.facts.constants[constant::lipschitz]);
  }
}

TEST(ResistingChain, UnscaledBoundsAreBelowPublishedOnes) {
  const auto [s, a, slope] = ResistingChain().units();
  EXPECT_LE(s * s / a, 152);  // ℓ₁, for M = 1
  EXPECT_LE(slope, 23);
}

TEST(ResistingChain, RotationOnlyHidesCoordinates) {
  ResistingChain plain;
  ResistingChain turned;
  turned.rotation = 7;
  const Problem p = untilted(plain), q = untilted(turned);
  EXPECT_EQ(p.facts.constants[constant::smoothness], q.facts.constants[constant::smoothness]);
  Vector g(12), h(12);
  p.population->gradient(Vector::Zero(12), g);
  q.population->gradient(Vector::Zero(12), h);
  EXPECT_NEAR(g.norm(), h.norm(), 1e-15);
  EXPECT_GT(h.cwiseAbs().minCoeff(), 0);
}

TEST(ResistingChain, RejectsInvalidSettings) {
  ResistingChain family;
  family.length = 11;
  EXPECT_THROW(family.make({.records = 2}), InputError);
  family = {};
  family.smoothness = 0;
  EXPECT_THROW(family.make({.records = 2}), InputError);
}

}  // namespace
}  // namespace dpsosp::resisting_chain_test
