// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/quartic_saddle.hpp"
#include "dpsosp/problems/ramp.hpp"
#include "violation_search.hpp"

namespace dpsosp::quartic_ramp_test {
namespace {

using testing_search::gradient_norm;

Problem untilted(LandscapeFamily& family, Index dimension) {
  family.tilt = 0;
  return family.make({.records = 2, .dimension = dimension});
}

TEST(QuarticSaddle, SaddleHasChosenSpectrum) {
  for (const Index rotation : {0, 5}) {
    QuarticSaddle family;
    family.negative = 3;
    family.gamma = 0.7;
    family.least_positive = 0.01;
    family.largest_positive = 1.0;
    family.rotation = rotation;
    const Problem p = untilted(family, 6);
    const Matrix H = testing_search::hessian(*p.population, p.facts.initial_point);
    const Vector spectrum = symmetric_eigen(H).values;
    EXPECT_LT((spectrum - Vector{{-0.7, -0.7, -0.7, 0.01, 0.1, 1.0}}).norm(), 1e-13);
    EXPECT_EQ(H.isDiagonal(1e-9), rotation == 0);
  }
}

TEST(QuarticSaddle, EverySignedWellIsGlobalMinimum) {
  QuarticSaddle family;
  family.negative = 3;
  family.gamma = 0.6;
  family.quartic = 2;
  const Problem p = untilted(family, 5);
  for (int signs = 0; signs < 8; ++signs) {
    Vector x = Vector::Zero(5);
    for (int j = 0; j < 3; ++j) x[j] = ((signs >> j) % 2 == 0 ? 1 : -1) * std::sqrt(0.3);
    EXPECT_LT(gradient_norm(*p.population, x), 1e-15);
    EXPECT_NEAR(p.population->value(x), -3 * 0.36 / 8, 1e-15);
    EXPECT_NEAR(testing_search::lambda_min(*p.population, x), 0.1, 1e-14);
  }
  EXPECT_NEAR(p.facts.constants[constant::suboptimality], 3 * 0.36 / 8, 1e-15);
}

TEST(QuarticSaddle, RotationMovesLandmarksAndKeepsConstants) {
  QuarticSaddle plain, turned, other;
  turned.rotation = 3;
  other.rotation = 4;
  const Problem p = untilted(plain, 8), q = untilted(turned, 8), r = untilted(other, 8);
  ASSERT_EQ(p.landmarks.size(), q.landmarks.size());
  for (std::size_t k = 0; k < p.landmarks.size(); ++k) {
    EXPECT_NEAR(p.landmarks[k].point.norm(), q.landmarks[k].point.norm(), 1e-14);
    EXPECT_NEAR(p.population->value(p.landmarks[k].point),
                q.population->value(q.landmarks[k].point), 1e-14);
    EXPECT_LT(gradient_norm(*q.population, q.landmarks[k].point), 1e-14);
  }
  EXPECT_GT((q.landmarks[1].point - r.landmarks[1].point).norm(), 0.1);
  for (const auto name : {constant::lipschitz, constant::smoothness, constant::hessian_lipschitz})
    EXPECT_EQ(p.facts.constants[name], q.facts.constants[name]) << name;
}

TEST(QuarticSaddle, ConstantsAreTightAtSeveralSettings) {
  for (const Index rotation : {0, 2})
    for (const double radius : {1.6, 3.0}) {
      QuarticSaddle family;
      family.radius = radius;
      family.rotation = rotation;
      const Problem p = untilted(family, 4);
      const auto& c = p.facts.constants;
      const auto check = [&](std::string_view name, double reached) {
        EXPECT_LE(reached, c[name] * (1 + 1e-9)) << name;
        EXPECT_GE(reached, 0.96 * c[name]) << name;
      };
      const Domain& domain = p.facts.domain;
      check(constant::lipschitz, testing_search::largest_gradient(*p.population, domain, radius));
      check(constant::smoothness, testing_search::largest_hessian(*p.population, domain, radius));
      check(constant::hessian_lipschitz,
            testing_search::largest_hessian_slope(*p.population, domain, radius));
    }
}

TEST(QuarticSaddle, AllowsOneDimensionAndAllNegativeDirections) {
  QuarticSaddle family;
  family.negative = 1;
  EXPECT_NO_THROW(untilted(family, 1));
  family.negative = 3;
  EXPECT_NO_THROW(untilted(family, 3));
  family.negative = 4;
  EXPECT_THROW(untilted(family, 3), InputError);
  family = {};
  family.radius = 1.4;  // the minima are at √2
  EXPECT_THROW(untilted(family, 10), InputError);
}

TEST(Ramp, SlopeFollowsFromStepCount) {
  Ramp family;
  family.smoothness = 2;
  family.drop = 3;
  family.steps = 600;  // α = √(6/600) = 0.1
  const Problem p = untilted(family, 3);
  EXPECT_NEAR(p.facts.constants[constant::lipschitz], 0.1, 1e-15);
  EXPECT_NEAR(p.facts.initial_point[0], 30, 1e-12);
  EXPECT_NEAR(p.population->value(p.facts.initial_point), 2.9950041666638, 1e-12);
  EXPECT_LE(p.facts.constants[constant::suboptimality], 3);
  Vector g(3);
  p.population->gradient(p.facts.initial_point, g);
  EXPECT_NEAR(g[0], 0.1 * 30 / std::sqrt(900.0025), 1e-15);
  EXPECT_NEAR(p.facts.constants[constant::hessian_lipschitz], 0.8586501 * 4 / 0.1, 1e-5);
}

TEST(Ramp, ConfiguredStepsCoverHalfTheRamp) {
  for (const Index T : {100, 1000, 10000}) {
    Ramp family;
    family.steps = T;
    const Problem p = untilted(family, 2);
    const double alpha = p.facts.constants[constant::lipschitz];
    Vector x = p.facts.initial_point, g(2);
    for (Index t = 0; t < T; ++t) {
      p.population->gradient(x, g);
      EXPECT_GT(g.norm(), 0.97 * alpha);
      x -= 0.5 * g;
    }
    EXPECT_NEAR(x[0] / p.facts.initial_point[0], 0.5, 0.01) << T;
  }
}

TEST(Ramp, ConstantsAreTight) {
  Ramp family;
  family.smoothness = 3;
  const Problem p = untilted(family, 3);
  const auto& c = p.facts.constants;
  const double size = 0.1;
  EXPECT_NEAR(testing_search::largest_gradient(*p.population, p.facts.domain, 10),
              c[constant::lipschitz], 1e-3 * c[constant::lipschitz]);
  EXPECT_NEAR(testing_search::largest_hessian(*p.population, p.facts.domain, size), 3, 1e-3);
  EXPECT_NEAR(testing_search::largest_hessian_slope(*p.population, p.facts.domain, size),
              c[constant::hessian_lipschitz], 0.01 * c[constant::hessian_lipschitz]);
}

TEST(Ramp, RejectsUnderflowingConstants) {
  Ramp family;
  family.smoothness = 1e-300;  // β²/α underflows
  EXPECT_THROW(family.make({.records = 2}), InputError);
}

TEST(Ramp, ValueIsAccurateNearMinimum) {
  Ramp family;
  const Problem p = untilted(family, 1);
  const Vector x = Vector::Constant(1, 1e-9);
  EXPECT_NEAR(p.population->value(x), 0.5e-18, 1e-30);
}

}  // namespace
}  // namespace dpsosp::quartic_ramp_test
