// SPDX-License-Identifier: Apache-2.0
// Staircase and octopus: chains of strict saddles.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/octopus.hpp"
#include "dpsosp/problems/resisting_chain.hpp"
#include "dpsosp/problems/staircase.hpp"
#include "violation_search.hpp"

namespace dpsosp::chain_test {
namespace {

using testing_search::gradient_norm;
using testing_search::lambda_min;

/// Descent that perturbs where the gradient is small, until a perturbation does not lower F.
struct Perturbed {
  int escapes = 0;
  Index steps = 0;
  Vector end;
  std::vector<Vector> left;  ///< the points at which a perturbation led to a descent
};
Perturbed perturbed_descent(const Objective& F, Vector x, double eta, double radius, double small,
                            Index patience) {
  Stream stream({.seed = 1, .purpose = Purpose::test});
  const Index d = F.dimension();
  Vector g(d);
  Perturbed run;
  while (run.steps < 1000000) {
    F.gradient(x, g);
    if (g.norm() > small) {
      x -= eta * g;
      ++run.steps;
      continue;
    }
    const Vector before = x;
    Vector kick(d);
    stream.fill_ball(radius, kick);
    x += kick;
    bool descended = false;
    for (Index t = 0; t < patience && !descended; ++t, ++run.steps) {
      F.gradient(x, g);
      x -= eta * g;
      descended = F.value(x) < F.value(before) - 1e-3;
    }
    if (!descended) {
      run.end = before;
      return run;
    }
    ++run.escapes;
    run.left.push_back(before);
  }
  return run;
}

Problem untilted(LandscapeFamily& family, std::optional<Index> dimension = {}) {
  family.tilt = 0;
  return family.make({.records = 2, .dimension = dimension});
}

/// Critical points inside the domain that Newton's method finds from everywhere.
std::vector<Vector> critical_points(const Problem& p, int starts) {
  const Objective& F = *p.population;
  const Index d = F.dimension();
  Stream stream({.seed = 9, .purpose = Purpose::test});
  std::vector<Vector> found;
  for (int s = 0; s < starts; ++s) {
    Vector x(d), g(d);
    for (double& u : x) u = 0.8 * p.facts.domain.radius * (2 * stream.uniform() - 1);
    for (int k = 0; k < 60; ++k) {
      F.gradient(x, g);
      const Matrix H = testing_search::hessian(F, x);
      const Vector move = symmetric_solve(H * H + 1e-12 * Matrix::Identity(d, d), H * g);
      // ‖∇F‖² must fall
      double share = 1;
      while (share > 1e-6 && gradient_norm(F, x - share * move) > g.norm()) share /= 2;
      x -= share * move;
    }
    if (gradient_norm(F, x) < 1e-9 && p.facts.domain.contains(x)) found.push_back(x);
  }
  return found;
}

TEST(Staircase, PerturbedDescentPassesConfiguredSaddles) {
  for (const double gamma : {0.5, 1.0, 2.0})
    for (const Index K : {1, 2, 3, 5, 8}) {
      Staircase family;
      family.saddles = K;
      family.gamma = gamma;
      const Problem p = untilted(family, 10);
      const double M = p.facts.constants[constant::smoothness];
      const Perturbed run =
          perturbed_descent(*p.population, p.facts.initial_point, 1 / M, 1e-5, 1e-3, 4000);
      EXPECT_EQ(run.escapes, K) << gamma;
      // each of them near the saddle with k coordinates at ±s
      for (Index k = 0; k < std::ssize(run.left); ++k) {
        const Vector& x = run.left[static_cast<std::size_t>(k)];
        for (Index i = 0; i < 10; ++i)
          EXPECT_NEAR(std::abs(x[i]), i < k ? family.step : 0.0, 0.02) << k << ' ' << i;
        EXPECT_NEAR(lambda_min(*p.population, x), -gamma, 0.1 * gamma);
      }
      EXPECT_NEAR(p.population->value(run.end),
                  p.facts.initial_point.squaredNorm() - p.facts.constants[constant::suboptimality],
                  1e-5);
    }
}

TEST(Staircase, EscapeCostIsEvenAcrossStages) {
  Staircase family;
  const double eta = 1 / untilted(family, 10).facts.constants[constant::smoothness];
  const auto steps = [&](Index K) {
    family.saddles = K;
    const Problem part = untilted(family, 10);
    return perturbed_descent(*part.population, Vector::Zero(10), eta, 1e-5, 1e-3, 4000).steps -
           4000;  // of the last perturbation, which finds no descent
  };
  const auto two = static_cast<double>(steps(2)), ten = static_cast<double>(steps(10));
  EXPECT_LT(ten, 6.5 * two);
  EXPECT_GT(ten, 3.5 * two);
}

TEST(Staircase, MinimumMatchesClosedForm) {
  Staircase family;
  family.gamma = 1.5;
  family.step = 0.7;
  const Problem p = untilted(family);
  const double a2 = 0.49 / std::log(2.5);
  EXPECT_NEAR(p.population->value(p.landmarks.back().point), -5 * 0.5 * a2 * (1.5 - std::log(2.5)),
              1e-14);
  EXPECT_NEAR(p.facts.constants[constant::suboptimality], 5 * 0.5 * a2 * (1.5 - std::log(2.5)),
              1e-14);
  const Vector curvature =
      testing_search::hessian(*p.population, p.landmarks.back().point).diagonal();
  for (Index i = 0; i < 5; ++i) EXPECT_NEAR(curvature[i], 2 * std::log(2.5), 1e-13);
}

TEST(Staircase, CriticalPointsAreStrictSaddlesOrGlobalMinima) {
  Staircase family;
  family.saddles = 4;
  const Problem p = untilted(family, 5);
  const double minimum = p.population->value(p.landmarks.back().point);
  int saddles = 0, minima = 0;
  for (const Vector& x : critical_points(p, 400)) {
    const bool global = p.population->value(x) < minimum + 1e-8;
    ++(global ? minima : saddles);
    EXPECT_TRUE(global || lambda_min(*p.population, x) <= -family.gamma + 1e-6) << x.transpose();
  }
  EXPECT_GE(saddles, 20);
  EXPECT_GE(minima, 5);
}

TEST(Octopus, CriticalPointsAreStrictSaddlesOrGlobalMinima) {
  Octopus family;
  const Problem p = untilted(family, 3);
  const double minimum = p.population->value(p.landmarks.back().point);
  int saddles = 0, minima = 0;
  for (const Vector& x : critical_points(p, 400)) {
    const bool global = p.population->value(x) < minimum + 1e-8;
    ++(global ? minima : saddles);
    EXPECT_TRUE(global || lambda_min(*p.population, x) <= -2 * family.gamma + 1e-6)
        << x.transpose();
  }
  EXPECT_GE(saddles, 20);
  EXPECT_GE(minima, 20);
}

/// The function as printed by Du et al. 2017 on the part of the tube where x_i is on its way.
double published_octopus(const Vector& x, Index i, double L, double gamma, double tau) {
  const auto square = [](double t) { return t * t; };
  const double nu = tau * tau * (37 * L + 13 * gamma) / 6;
  double value = -static_cast<double>(i) * nu;
  for (Index j = 0; j < i; ++j) value += L * square(x[j] - 4 * tau);
  const bool connecting = x[i] > tau;
  for (Index j = i + (connecting ? 2 : 1); j < x.size(); ++j) value += L * square(x[j]);
  if (!connecting) return value - gamma * square(x[i]);
  const double r = x[i] - tau, s = x[i] - 2 * tau;
  value += -gamma * square(x[i]) + (-14 * L + 10 * gamma) / (3 * tau) * r * r * r +
           (5 * L - 3 * gamma) / (2 * tau * tau) * r * r * r * r;
  if (i + 1 < x.size())
    value += square(x[i + 1]) *
             (-gamma - 10 * (L + gamma) * s * s * s / (tau * tau * tau) -
              15 * (L + gamma) * std::pow(s / tau, 4) - 6 * (L + gamma) * std::pow(s / tau, 5));
  return value;
}

TEST(Octopus, MatchesPublishedFunctionOnTube) {
  Octopus family;
  family.contraction = 1.3;
  family.gamma = 0.4;
  family.tube = 1.7;
  const Problem p = untilted(family, 6);
  Stream stream({.seed = 4, .purpose = Purpose::test});
  for (int trial = 0; trial < 300; ++trial) {
    const Index i = stream.below(6);
    Vector x(6);
    for (Index j = 0; j < 6; ++j)
      x[j] = 1.7 * (j < i    ? 2 + 4 * stream.uniform()
                    : j == i ? 2 * stream.uniform()
                             : stream.uniform());
    EXPECT_NEAR(p.population->value(x), published_octopus(x, i, 1.3, 0.4, 1.7), 1e-11);
    for (Index j = 0; j < 6; ++j)
      if (stream.bernoulli(0.5)) x[j] = -x[j];
    EXPECT_NEAR(p.population->value(x), published_octopus(x.cwiseAbs(), i, 1.3, 0.4, 1.7), 1e-11);
  }
}

/// Steps of plain descent from the standard start until |x_k| > τ, for each k.
std::vector<double> passing_times(const Problem& p, double tau, double eta, Index limit) {
  Vector x = p.facts.initial_point, g(x.size());
  std::vector<double> times;
  for (Index t = 1; t < limit && std::ssize(times) < x.size(); ++t) {
    p.population->gradient(x, g);
    x -= eta * g;
    while (std::ssize(times) < x.size() && std::abs(x[std::ssize(times)]) > tau)
      times.push_back(static_cast<double>(t));
  }
  return times;
}

TEST(Octopus, PerturbationRemovesGeometricDescentTime) {
  Octopus family;
  family.gamma = family.contraction;
  const double eta = 0.02;
  const Problem p = untilted(family, 7);
  const std::vector<double> times = passing_times(p, family.tube, eta, 1000000);
  ASSERT_EQ(times.size(), 7U);
  const double growth =
      1 - std::log(1 - 2 * eta * family.contraction) / std::log(1 + 2 * eta * family.gamma);
  EXPECT_GT(growth, 2.0);
  for (std::size_t k = 1; k < 7; ++k) EXPECT_GE(times[k], growth * (times[k - 1] - 1)) << k;
  for (std::size_t k = 3; k < 7; ++k) EXPECT_NEAR(times[k] / times[k - 1], growth, 0.25) << k;

  const auto perturbed = [&](Index d) {
    return perturbed_descent(*untilted(family, d).population, Vector::Zero(d), eta, 1e-3, 1e-2,
                             3000);
  };
  const Perturbed few = perturbed(3), many = perturbed(12);
  EXPECT_EQ(few.escapes, 3);
  EXPECT_EQ(many.escapes, 12);
  EXPECT_LT(many.steps - 3000, 5 * (few.steps - 3000));  // linear in d
}

TEST(Octopus, PlainDescentSlowsWithCurvatureRatio) {
  Octopus family;
  family.gamma = 0.25;
  const Problem p = untilted(family, 4);
  const double eta = 0.01;
  const std::vector<double> times = passing_times(p, family.tube, eta, 1000000);
  ASSERT_EQ(times.size(), 4U);
  const double growth = 1 - std::log(1 - 2 * eta) / std::log(1 + 0.5 * eta);  // ≈ 1 + L/γ = 5
  EXPECT_NEAR(times[3] / times[2], growth, 0.4);
}

/// Every bound holds against a search, and is no looser than `share`.
void expect_bounds(const Problem& p, double size, double share) {
  const Constants& c = p.facts.constants;
  const Objective& F = *p.population;
  const auto check = [&](std::string_view name, double reached) {
    EXPECT_LE(reached, c[name] * (1 + 1e-9)) << name;
    EXPECT_GE(reached, share * c[name]) << name;
  };
  check(constant::lipschitz, testing_search::largest_gradient(F, p.facts.domain, size));
  check(constant::smoothness, testing_search::largest_hessian(F, p.facts.domain, size));
  check(constant::hessian_lipschitz,
        testing_search::largest_hessian_slope(F, p.facts.domain, size));
}

TEST(Staircase, BoundsHoldAndAreNearlyTight) {
  for (const double gamma : {0.3, 1.0, 4.0})
    for (const double step : {0.5, 2.0}) {
      Staircase family;
      family.gamma = gamma;
      family.step = step;
      expect_bounds(untilted(family, 6), 2 * step, 0.75);
    }
}

TEST(Octopus, BoundsHoldAndAreNearlyTight) {
  for (const double gamma : {0.2, 1.0})
    for (const double tube : {0.5, 2.0}) {
      Octopus family;
      family.gamma = gamma;
      family.tube = tube;
      expect_bounds(untilted(family, 5), 4 * tube, 0.7);
    }
}

TEST(Chains, AreDoubleWellsInOneDimension) {
  Staircase stairs;
  stairs.saddles = 1;
  const Problem p = untilted(stairs, 1), q = [] {
    Octopus octopus;
    return untilted(octopus, 1);
  }();
  for (const Problem* problem : {&p, &q}) {
    EXPECT_LT(lambda_min(*problem->population, Vector::Zero(1)), -0.99);
    for (const Landmark& l : problem->landmarks)
      EXPECT_LT(gradient_norm(*problem->population, l.point), 1e-12);
  }
}

TEST(Chains, RejectInvalidSettings) {
  Staircase stairs;
  stairs.saddles = 11;
  EXPECT_THROW(stairs.make({.records = 2}), InputError);
  stairs = {};
  for (const double width : {0.9, 1e5}) {  // at 1e5 the slack once gave 5.9e12 for 11.5
    stairs.half_width = width;
    EXPECT_THROW(stairs.make({.records = 2}), InputError);
  }
  stairs = {};
  stairs.gamma = 1e-16;  // 1 + gamma is 1, the saddles are flat
  EXPECT_THROW(stairs.make({.records = 2}), InputError);
  for (const double gamma : {2.0, 1e-16}) {
    Octopus octopus;
    octopus.gamma = gamma;
    EXPECT_THROW(octopus.make({.records = 2}), InputError);
  }
}

TEST(Chains, RejectOverflowingBounds) {  // once 0 and called proved
  Octopus octopus;
  octopus.tube = 1e-100;
  EXPECT_THROW(octopus.make({.records = 2}), InputError);
  Staircase stairs;
  stairs.step = 1e-300;
  EXPECT_THROW(stairs.make({.records = 2}), InputError);
  ResistingChain chain;  // its gap was not a number
  chain.hessian_lipschitz = 1e-300;
  EXPECT_THROW(chain.make({.records = 2}), InputError);
}

TEST(Staircase, KeepsTightBoundsOnWidestBox) {
  Staircase wide, usual;
  wide.half_width = 100;
  const auto smoothness = [](const Staircase& family) {
    return family.make({.records = 2}).facts.constants[constant::smoothness];
  };
  EXPECT_LT(smoothness(wide), 1.03 * smoothness(usual));
}

}  // namespace
}  // namespace dpsosp::chain_test
