// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/diagonal_objective.hpp"
#include "dpsosp/problems/ripple_location.hpp"

namespace dpsosp::ripple_location_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;

double phi(double t, double A = 0.1, double omega = 2 * pi) {
  return std::sqrt(1 + t * t) - 1 + A * (1 - std::cos(omega * t));
}
double phi_slope(double t, double A = 0.1, double omega = 2 * pi) {
  return t / std::sqrt(1 + t * t) + A * omega * std::sin(omega * t);
}

/// Records of an instance, recovered from their gradients at 0: −φ′(z_j)/√d is monotone in z_j.
Vector record(const Problem& p, Index i) {
  const Index d = p.facts.dimension;
  const Vector zero = Vector::Zero(d);
  Vector g = zero;
  p.records->add_gradients(Point(zero), Block::x, BatchView(i, i + 1), unlimited, g);
  return (-g.array() * std::sqrt(static_cast<double>(d)) * std::numbers::sqrt2).round();
}

/// The first instance of one record whose record is z.
Problem with_record(const RippleLocation& family, const Vector& z) {
  for (std::uint64_t data_seed = 0; data_seed < 5000; ++data_seed) {
    Problem p = family.make({.records = 1, .dimension = z.size(), .data_seed = data_seed});
    if (record(p, 0) == z) return p;
  }
  throw std::runtime_error("no such record");
}

const Landmark* find(const Problem& p, Landmark::Kind kind, Landmark::Of of) {
  const auto found = std::ranges::find_if(
      p.landmarks, [&](const Landmark& l) { return l.kind == kind && l.of == of; });
  return found == p.landmarks.end() ? nullptr : &*found;
}

TEST(RippleLocation, ValueGradientAndCurvatureMatchReference) {  // lowy-2024 notes, 8
  const Problem p = with_record(RippleLocation(), Vector{{1, -1}});
  const Vector w{{0.5, -0.25}};
  EXPECT_NEAR(p.empirical->value(w), 0.2599797512, 1e-10);
  Vector g(2), h(2), sum = Vector::Zero(2);
  p.empirical->gradient(w, g);
  EXPECT_LT((g - Vector{{-0.6270074651, 0.0303631921}}).norm(), 1e-10);
  p.records->add_gradients(Point(w), Block::x, BatchView(0, 1), unlimited, sum);
  EXPECT_LT((g - sum).norm(), 1e-14);
  dynamic_cast<const DiagonalObjective&>(*p.empirical).hessian_diagonal(w, h);
  EXPECT_LT((h - Vector{{-0.1672741595, -1.798916805}}).norm(), 1e-9);
}

TEST(RippleLocation, ConstantsMatchOrImproveOnReference) {
  const Constants c = RippleLocation().make({.records = 1, .dimension = 9}).facts.constants;
  EXPECT_NEAR(c[constant::lipschitz], 1.62831853, 1e-8);
  EXPECT_NEAR(c[constant::smoothness], 4.94784176, 1e-8);
  EXPECT_LT(c[constant::hessian_lipschitz] / 3, 25.6637);
  EXPECT_NEAR(c[constant::hessian_lipschitz] / 3, 25.4512, 1e-4);
}

TEST(RippleLocation, HessianLipschitzConstantIsTight) {
  for (const auto& [A, omega] :
       {std::array{0.1, 2 * pi}, {0.0, 7.0}, {0.004, 3 * pi}, {0.3, 3.0}}) {
    RippleLocation family;
    family.amplitude = A;
    family.frequency = omega;
    family.half_width = 4;
    const double rho =
        family.make({.records = 1, .dimension = 1}).facts.constants[constant::hessian_lipschitz];
    double largest = 0;
    for (double t = 0; t < 10; t += 1e-4)
      largest = std::max(largest, std::abs(3 * t * std::pow(1 + t * t, -2.5) +
                                           A * omega * omega * omega * std::sin(omega * t)));
    EXPECT_LE(largest, rho * (1 + 1e-12)) << A << ' ' << omega;
    EXPECT_GE(largest, rho * (1 - 1e-6)) << A << ' ' << omega;
  }
}

TEST(RippleLocation, ConstantsHaveExpectedDimensionDependence) {
  const PublicFacts one = RippleLocation().make({.records = 1, .dimension = 1}).facts;
  const PublicFacts many = RippleLocation().make({.records = 1, .dimension = 64}).facts;
  for (const auto name : {constant::lipschitz, constant::smoothness, constant::suboptimality})
    EXPECT_NEAR(one.constants[name], many.constants[name], 1e-12) << name;
  EXPECT_NEAR(8 * one.constants[constant::hessian_lipschitz],
              many.constants[constant::hessian_lipschitz], 1e-9);
  EXPECT_NEAR(one.domain.diameter(1), many.domain.diameter(64), 1e-12);
  EXPECT_NEAR(one.domain.diameter(1), 4, 1e-12);
}

TEST(RippleLocation, LipschitzConstantIsApproachedFarOut) {
  const Problem p = RippleLocation().make({.records = 1, .dimension = 1});
  const double G = p.facts.constants[constant::lipschitz];
  const auto norm_at = [&](double u) {
    const Vector x{{u}};
    Vector g = Vector::Zero(1);
    return p.extremes->add_gradients(Point(x), Block::x, BatchView(0, 1), unlimited, g)
        .largest_norm;
  };  // the record −1: t = u + 1
  EXPECT_GT(norm_at(1000.25 - 1), 0.999999 * G);
  EXPECT_LT(norm_at(1000.25 - 1), G);
  double inside = 0;
  for (double u = -2; u <= 2; u += 1e-4) inside = std::max(inside, norm_at(u));
  EXPECT_NEAR(inside, 1.5422, 1e-4);
}

TEST(RippleLocation, GridFindsNoValueBelowMinimum) {
  for (const auto& [A, omega, width] :
       {std::array{0.1, 2 * pi, 2.0}, {0.5, 5.0, 2.5}, {0.05, 20.0, 1.5}})
    for (std::uint64_t data_seed = 0; data_seed < 20; ++data_seed) {
      RippleLocation family;
      family.amplitude = A;
      family.frequency = omega;
      family.half_width = width;
      const Index n = 1 + static_cast<Index>(data_seed) * 3;
      const Problem p = family.make({.records = n, .dimension = 1, .data_seed = data_seed});
      const Landmark* best = find(p, Landmark::Kind::minimiser, Landmark::Of::empirical);
      ASSERT_NE(best, nullptr);
      const double least = p.empirical->value(best->point);
      Vector g(1);
      p.empirical->gradient(best->point, g);
      EXPECT_LT(g.norm(), 1e-13);
      // 4 beyond the box too: the minimum is that of the whole line
      for (double u = -6; u < 6; u += 1e-3)
        EXPECT_GE(p.empirical->value(Vector{{u}}), least - 1e-14) << u;
    }
}

TEST(RippleLocation, SaddleIsMaximumInOneCoordinate) {
  const Problem p = RippleLocation().make({.records = 500, .dimension = 3, .data_seed = 4});
  const Landmark* saddle = find(p, Landmark::Kind::strict_saddle, Landmark::Of::empirical);
  ASSERT_NE(saddle, nullptr);
  Vector g(3), h(3);
  p.empirical->gradient(saddle->point, g);
  EXPECT_LT(g.norm(), 1e-13);
  dynamic_cast<const DiagonalObjective&>(*p.empirical).hessian_diagonal(saddle->point, h);
  EXPECT_LT(h[0], -0.5);
  EXPECT_GT(h.tail(2).minCoeff(), 0.5);
}

TEST(RippleLocation, HasNoSaddleWithoutRipple) {
  RippleLocation family;
  family.amplitude = 0;
  const Problem p = family.make({.records = 10});
  EXPECT_EQ(find(p, Landmark::Kind::strict_saddle, Landmark::Of::empirical), nullptr);
  family.start.kind = StartOption::Kind::saddle;
  EXPECT_THROW(family.make({.records = 10}), InputError);
}

TEST(RippleLocation, SingleRecordIsItsOwnMinimum) {
  const Problem p = RippleLocation().make({.records = 1, .dimension = 5, .data_seed = 9});
  const Landmark* best = find(p, Landmark::Kind::minimiser, Landmark::Of::empirical);
  EXPECT_NEAR(p.empirical->value(best->point), 0, 1e-15);
  EXPECT_LT((best->point * std::sqrt(5.0) - record(p, 0)).norm(), 1e-9);
}

TEST(RippleLocation, GapIsAttainedByRecordsFarFromStart) {
  const Problem p = with_record(RippleLocation(), Vector{{-1, -1}});  // start: u = 1.9
  const Landmark* best = find(p, Landmark::Kind::minimiser, Landmark::Of::empirical);
  const double gap = p.empirical->value(p.facts.initial_point) - p.empirical->value(best->point);
  EXPECT_NEAR(gap, p.facts.constants[constant::suboptimality], 1e-12);
  EXPECT_NEAR(gap, phi(2.9), 1e-12);
}

TEST(RippleLocation, RecordNormsMatchFormula) {
  const Problem p = RippleLocation().make({.records = 40, .dimension = 4});
  Vector x(4);
  Stream({.seed = 3}).fill_normal(0.5, x);
  for (Index i = 0; i < 40; ++i) {
    const Vector z = record(p, i);
    double squared = 0;
    for (Index j = 0; j < 4; ++j) squared += std::pow(phi_slope(2 * x[j] - z[j]), 2) / 4;
    Vector g = Vector::Zero(4);
    const auto report =
        p.records->add_gradients(Point(x), Block::x, BatchView(i, i + 1), unlimited, g);
    EXPECT_NEAR(report.largest_norm, std::sqrt(squared), 1e-14);
  }
}

TEST(RippleLocation, LawDependsOnItsSeedAlone) {
  RippleLocation family;
  const auto saddle_of = [&](std::uint64_t data_seed) {
    const Problem p = family.make({.records = 30, .data_seed = data_seed});
    return find(p, Landmark::Kind::strict_saddle, Landmark::Of::population)->point;
  };
  const Vector first = saddle_of(1);
  EXPECT_EQ(first, saddle_of(2));
  family.law_seed = 1;
  EXPECT_NE(first, saddle_of(1));
}

TEST(RippleLocation, RejectsSettingsWithoutProvedMinimum) {
  RippleLocation narrow, flat, odd;
  narrow.half_width = 1.9;  // the minimiser could be outside
  flat.frequency = 0;
  odd.amplitude = -1;
  RippleLocation slow;  // its period took branch and bound minutes
  slow.frequency = 1e-4;
  slow.half_width = 1e6;
  for (const RippleLocation& family : {narrow, flat, odd, slow})
    EXPECT_THROW(family.make({.records = 10}), InputError);
}

}  // namespace
}  // namespace dpsosp::ripple_location_test
