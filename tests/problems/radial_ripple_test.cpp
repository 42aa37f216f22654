// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/radial_ripple.hpp"

namespace dpsosp::radial_ripple_test {
namespace {

RadialRipple quartic() {
  RadialRipple family;
  family.power = 4;
  family.amplitude = 0.4;
  family.frequency = 6;
  family.scale = 0.1;
  return family;
}

/// Settings of many shapes, the two of the source first.
std::vector<RadialRipple> shapes() {
  std::vector<RadialRipple> all{RadialRipple(), quartic()};
  Stream stream({.seed = 7});
  for (int k = 0; k < 30; ++k) {
    RadialRipple family;
    family.power = 2 + 3 * stream.uniform();
    family.frequency = 0.5 + 12 * stream.uniform();
    family.amplitude =
        0.97 * stream.uniform() * family.power / std::hypot(family.power, family.frequency);
    family.scale = 0.1 + stream.uniform();
    family.radius = 0.3 + 3 * stream.uniform();
    all.push_back(family);
  }
  return all;
}

/// What the constants bound, on a fine grid of r ∈ (0, R]: three periods of the ripple.
struct Extremes {
  double slope = 0, curvature = 0, least_quasar = 1e300, kl = 0;
};
Extremes on_grid(const RadialRipple& f, const Objective& F) {
  Extremes e;
  const double k = f.power / (f.power - 1);
  Vector g(2), across(2), along(2);
  const double span = 3 * 2 * std::numbers::pi / f.frequency;
  constexpr int steps = 30000;
  for (int i = 0; i <= steps; ++i) {
    const double r = f.radius * std::exp(-span * i / steps);
    const Vector x{{r, 0}};
    F.gradient(x, g);
    F.hessian_product(x, Vector{{1, 0}}, along);
    F.hessian_product(x, Vector{{0, 1}}, across);
    e.slope = std::max(e.slope, g.norm());
    e.curvature = std::max({e.curvature, along.norm(), across.norm()});
    e.least_quasar = std::min(e.least_quasar, g.dot(x) / F.value(x));
    e.kl = std::max(e.kl, std::pow(F.value(x), 1 / k) / g.norm());
  }
  return e;
}

TEST(RadialRipple, ValueGradientAndHessianMatchReference) {  // lowy-2024 notes, 8
  const Vector w{{0.3, 0.4}}, v{{1, 0}};
  Vector g(2), Hv(2);
  const Problem square = RadialRipple().make({.records = 2, .dimension = 2});
  EXPECT_NEAR(square.population->value(w), 0.0445897011, 1e-10);
  square.population->gradient(w, g);
  EXPECT_LT((g - Vector{{0.0398618132, 0.0531490843}}).norm(), 1e-10);
  square.population->hessian_product(w, v, Hv);
  EXPECT_LT((Hv - Vector{{0.0963576695, -0.0486867215}}).norm(), 1e-10);
  const Problem fourth = quartic().make({.records = 2, .dimension = 2});
  EXPECT_NEAR(fourth.population->value(w), 0.0083767170, 1e-10);
  fourth.population->gradient(w, g);
  EXPECT_LT((g - Vector{{0.0307461299, 0.0409948398}}).norm(), 1e-10);
  fourth.population->hessian_product(w, v, Hv);
  EXPECT_LT((Hv - Vector{{0.0206106658, -0.1091685784}}).norm(), 1e-10);
}

TEST(RadialRipple, ConstantsAreNoWorseThanPublished) {
  const Constants a = RadialRipple().make({.records = 2}).facts.constants;
  EXPECT_NEAR(a[constant::smoothness], 1.50635, 1e-5);
  EXPECT_LE(a[constant::lipschitz], 0.96833);
  EXPECT_GE(a[constant::quasar_convexity], 0.50643);
  EXPECT_LE(a[constant::kl_gamma], 3.87252);
  EXPECT_EQ(a[constant::kl_exponent], 2);
  const Constants b = quartic().make({.records = 2}).facts.constants;
  EXPECT_LE(b[constant::lipschitz], 0.98844);
  EXPECT_LE(b[constant::smoothness], 3.13494);
  EXPECT_GE(b[constant::quasar_convexity], 0.79683);
  EXPECT_LE(b[constant::kl_gamma], 2.05165);
  EXPECT_DOUBLE_EQ(b[constant::kl_exponent], 4.0 / 3);
  EXPECT_FALSE(a.contains(constant::hessian_lipschitz));
}

TEST(RadialRipple, ConstantsMatchExtremesOnGrid) {
  for (const RadialRipple& family : shapes()) {
    SCOPED_TRACE(testing::Message() << family.power << ' ' << family.amplitude << ' '
                                    << family.frequency << ' ' << family.radius);
    const Problem p = family.make({.records = 2, .dimension = 2});
    const Extremes e = on_grid(family, *p.population);
    const Constants& c = p.facts.constants;
    const double G = c[constant::lipschitz] - family.tilt;
    EXPECT_LE(e.slope, G * (1 + 1e-12));
    EXPECT_GE(e.slope, G * (1 - 1e-6));
    EXPECT_LE(e.curvature, c[constant::smoothness] * (1 + 1e-12));
    EXPECT_GE(e.curvature, c[constant::smoothness] * (1 - 1e-6));
    EXPECT_NEAR(std::min(1.0, e.least_quasar), c[constant::quasar_convexity], 1e-5);
    EXPECT_GE(e.least_quasar, c[constant::quasar_convexity] * (1 - 1e-12));
    EXPECT_LE(e.kl, c[constant::kl_gamma] * (1 + 1e-9));
    EXPECT_GE(e.kl, c[constant::kl_gamma] * (1 - 1e-5));
  }
}

TEST(RadialRipple, IsLinearAndQuasarConvexBeyondRadius) {
  for (const RadialRipple& family : shapes()) {
    const Problem p = family.make({.records = 2, .dimension = 3});
    const Vector direction = Vector{{1, -2, 0.5}}.normalized();
    const auto at = [&](double r) { return p.population->value(r * direction); };
    const double R = family.radius;
    Vector g(3), Hv(3), inside(3);
    p.population->gradient(R * (1 - 1e-9) * direction, inside);
    for (const double r : {1.0000001 * R, 1.5 * R, 20 * R}) {
      p.population->gradient(r * direction, g);
      EXPECT_LT((g - inside).norm(), 1e-6);
      EXPECT_NEAR(at(r), at(R) + g.norm() * (r - R), 1e-12 * (1 + at(r)));
      EXPECT_GE(r * g.norm(), p.facts.constants[constant::quasar_convexity] * at(r) * (1 - 1e-12));
      p.population->hessian_product(r * direction, direction, Hv);
      EXPECT_LT(Hv.norm(), 1e-12 * (1 + g.norm()));
    }
  }
}

TEST(RadialRipple, IsConvexExactlyWhenFormulaSaysSo) {
  int convex = 0;
  for (const RadialRipple& f : shapes()) {
    const Problem p = f.make({.records = 2, .dimension = 1});
    double least = 1e300;
    Vector Hv(1);
    for (int i = 1; i < 4000; ++i) {
      const double r = f.radius * std::exp(-2 * std::numbers::pi / f.frequency * i / 4000);
      p.population->hessian_product(Vector{{r}}, Vector{{1}}, Hv);
      least = std::min(least, Hv[0] / std::pow(r, f.power - 2));
    }
    const double pp = f.power * (f.power - 1), bb = f.frequency * f.frequency;
    const double margin = pp - f.amplitude * std::hypot(pp - bb, f.frequency * (2 * f.power - 1));
    EXPECT_NEAR(least, f.scale * margin, 1e-4 * f.scale * (1 + std::abs(pp - margin)));
    convex += margin >= 0 ? 1 : 0;
  }
  EXPECT_GT(convex, 0);
  EXPECT_LT(convex, 32);
}

TEST(RadialRipple, OriginIsMinimumWithFiniteGradient) {
  for (const RadialRipple& family : {RadialRipple(), quartic()}) {
    const Problem p = family.make({.records = 2, .dimension = 4});
    Vector g(4), Hv(4);
    const Vector zero = Vector::Zero(4), v = Vector::Unit(4, 1);
    EXPECT_EQ(p.population->value(zero), 0);
    p.population->gradient(zero, g);
    EXPECT_EQ(g.norm(), 0);
    p.population->hessian_product(zero, v, Hv);
    EXPECT_LT((Hv - (family.power == 2 ? 2 * family.scale : 0.0) * v).norm(), 1e-15);
    p.population->gradient(1e-200 * v, g);  // powers of a tiny radius do no harm
    EXPECT_TRUE(g.allFinite());
  }
}

TEST(RadialRipple, StatesLandscapeConstantsOnlyIfRecordsCancel) {
  for (const auto& [sampling, stated] : {std::pair{RecordSampling::balanced, true},
                                         {RecordSampling::stream, true},
                                         {RecordSampling::independent, false},
                                         {RecordSampling::whole, false}}) {
    RadialRipple family;
    family.sampling = sampling;
    const Constants c = family.make({.records = 20}).facts.constants;
    EXPECT_EQ(c.contains(constant::quasar_convexity), stated) << to_string(sampling);
    EXPECT_EQ(c.contains(constant::kl_gamma), stated) << to_string(sampling);
  }
}

TEST(RadialRipple, RejectsInvalidSettings) {
  RadialRipple steep;
  steep.amplitude = 2 / std::sqrt(20.0) + 1e-9;
  EXPECT_THROW(steep.make({.records = 2}), InputError);
  RadialRipple low;
  low.power = 1.9;
  EXPECT_THROW(low.make({.records = 2}), InputError);
  RadialRipple saddle;
  saddle.start.kind = StartOption::Kind::saddle;
  EXPECT_THROW(saddle.make({.records = 2}), InputError);
}

}  // namespace
}  // namespace dpsosp::radial_ripple_test
