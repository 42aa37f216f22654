// SPDX-License-Identifier: Apache-2.0
// Multi-well and coins.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/coins.hpp"
#include "dpsosp/problems/multi_well.hpp"
#include "violation_search.hpp"

namespace dpsosp::excess_risk_test {
namespace {

using testing_search::gradient_norm;
constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(MultiWell, MinimumMatchesClosedForm) {
  for (const Index d : {1, 2, 3, 4}) {
    MultiWell family;
    const Problem p = family.make({.records = 2, .dimension = d});
    const double minimum = -0.5 * std::sqrt(static_cast<double>(d));
    EXPECT_NEAR(p.population->value(p.landmarks.front().point), minimum, 1e-15);
    EXPECT_NEAR(p.population->value(p.facts.initial_point) - minimum,
                p.facts.constants[constant::suboptimality], 1e-15);
  }
  MultiWell family;
  const Problem p = family.make({.records = 2, .dimension = 1});
  double lowest = 0;
  for (int k = 0; k <= 400000; ++k)
    lowest = std::min(lowest, p.population->value(Vector::Constant(1, -2 + 1e-5 * k)));
  EXPECT_NEAR(lowest, -0.5, 1e-9);
  EXPECT_GE(lowest, -0.5);
}

TEST(MultiWell, HasZeroGapIfStartIsMinimum) {
  MultiWell family;
  family.wells = 5;  // the third well is at 0, the start
  const Problem p = family.make({.records = 2, .dimension = 3});
  EXPECT_EQ(p.facts.constants[constant::suboptimality], 0.0);  // rounding made it -3.3e-16
}

TEST(MultiWell, OmitsSaddleIfBowlIsLostToRounding) {
  MultiWell family;
  for (const double bowl : {1e-100, 1e-9}) {
    family.bowl = bowl;
    const Problem p = family.make({.records = 2, .dimension = 2});
    EXPECT_EQ(std::ssize(p.landmarks), bowl == 1e-9 ? 4 : 2);  // each also of the empirical one
    for (const Landmark& l : p.landmarks) {
      Vector curvature(2);
      p.population->hessian_product(l.point, Vector::Unit(2, 0), curvature);
      EXPECT_EQ(curvature[0] < 0, l.kind == Landmark::Kind::strict_saddle);
    }
  }
}

TEST(MultiWell, HasConfiguredNumberOfLocalMinima) {
  for (const Index m : {1, 2, 5, 8}) {
    MultiWell family;
    family.wells = m;
    family.deepest = (m + 1) / 2;
    const Problem p = family.make({.records = 2, .dimension = 1});
    Index minima = 0;
    Vector g(1);
    double before = -1;
    for (int k = 0; k <= 40000; ++k) {
      p.population->gradient(Vector::Constant(1, -2 + 1e-4 * k + 3e-6), g);
      if (before < 0 && g[0] > 0 && k > 0) ++minima;
      before = g[0];
    }
    EXPECT_EQ(minima, m);
  }
}

TEST(MultiWell, DeepestWellIsDeeperByTheGap) {
  MultiWell family;
  family.bowl = 0;
  const Problem p = family.make({.records = 2, .dimension = 1});
  EXPECT_DOUBLE_EQ(p.population->value(Vector::Constant(1, 0.5)), -0.5);
  for (const double centre : {-1.5, -0.5, 1.5})
    EXPECT_DOUBLE_EQ(p.population->value(Vector::Constant(1, centre)), -0.4);
  EXPECT_EQ(p.landmarks.size(), 2U);  // no strict saddle without a bowl
}

TEST(MultiWell, ConstantsAreTightAndLipschitzIsDimensionFree) {
  double first = 0;
  for (const Index d : {1, 4}) {
    MultiWell family;
    family.tilt = 0;
    const Problem p = family.make({.records = 2, .dimension = d});
    const auto& c = p.facts.constants;
    const auto check = [&](std::string_view name, double reached, double share) {
      EXPECT_LE(reached, c[name] * (1 + 1e-9)) << name;
      EXPECT_GE(reached, share * c[name]) << name;
    };
    const auto& F = *p.population;
    check(constant::lipschitz, testing_search::largest_gradient(F, p.facts.domain, 2), 0.95);
    check(constant::smoothness, testing_search::largest_hessian(F, p.facts.domain, 2), 0.96);
    check(constant::hessian_lipschitz, testing_search::largest_hessian_slope(F, p.facts.domain, 2),
          0.96);
    if (d == 1) first = c[constant::lipschitz];
    EXPECT_DOUBLE_EQ(c[constant::lipschitz], first);
  }
}

TEST(MultiWell, RejectsInvalidSettings) {
  MultiWell family;
  family.bowl = 2;
  EXPECT_THROW(family.make({.records = 2}), InputError);
  family = {};
  family.gap = 0.5;
  EXPECT_THROW(family.make({.records = 2}), InputError);
  family = {};
  family.deepest = 5;
  EXPECT_THROW(family.make({.records = 2}), InputError);
}

TEST(Coins, CandidateLossIsFrequencyMinusOne) {
  Coins family;
  family.amplitude = 2;
  const Problem p = family.make({.records = 37, .data_seed = 5});
  const Matrix points = family.candidate_points(2);
  ASSERT_EQ(points.cols(), 16);
  for (Index j = 0; j < 16; ++j) {
    // f is steepest at t = 1/√7, where one record's gradient says how its coin fell
    const Vector near = points.col(j) + 0.25 / std::sqrt(7.0) * Vector::Unit(2, 1);
    const double G = p.facts.constants[constant::lipschitz];
    Index heads = 0;
    for (Index i = 0; i < 37; ++i) {
      Vector g = Vector::Zero(2);
      p.sums().add_gradients(Point(near), Block::x, BatchView(i, i + 1), unlimited, g);
      EXPECT_TRUE(g.norm() == 0 || std::abs(g.norm() - G) < 1e-12);
      heads += g.norm() == 0 ? 1 : 0;
    }
    EXPECT_NEAR(p.empirical->value(points.col(j)), 2 * (static_cast<double>(heads) / 37 - 1),
                1e-14);
    EXPECT_LT(gradient_norm(*p.empirical, points.col(j)), 1e-15);
  }
}

TEST(Coins, PlantedCoinHasBiasOfLowerBound) {
  Coins family;
  EXPECT_NEAR(family.planted_probability(16, 10000), 0.5 - std::sqrt(std::log(16.0) / 1e4), 1e-15);
  EXPECT_EQ(family.planted_probability(16, 1), 0.0);
  const Problem p = family.make({.records = 10000, .data_seed = 3});
  const Matrix points = family.candidate_points(2);
  const Index planted = family.planted_coin(16, 3);
  for (Index j = 0; j < 16; ++j)
    EXPECT_NEAR(p.population->value(points.col(j)),
                j == planted ? family.planted_probability(16, 10000) - 1 : -0.5, 1e-15);
}

TEST(Coins, SmallestFrequencyAttainsLowerBoundRate) {
  // with bias c = 0.35 the best selector fails often, and each failure costs c √(ln k/n)
  Coins family;
  family.bias = 0.35;
  family.sampling = RecordSampling::whole;
  const auto risk = [&](Index n) {
    double excess = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const Problem p = family.make({.records = n, .data_seed = seed});
      const Landmark& chosen = p.landmarks.front();
      const Landmark& planted = p.landmarks.back();
      excess += p.population->value(chosen.point) - p.population->value(planted.point);
    }
    return excess / 400;
  };
  const double unit = std::sqrt(std::log(16.0));
  for (const Index n : {Index{10000}, Index{100000000}}) {
    const double scaled = risk(n) * std::sqrt(static_cast<double>(n)) / unit;
    EXPECT_GT(scaled, 0.12) << n;
    EXPECT_LT(scaled, 0.35) << n;
  }
}

TEST(Coins, WeighHessiansByTheirOperatorNorm) {
  for (const Index d : {1, 2, 3}) {
    Coins family;
    family.per_axis = 3;
    const Problem p = family.make({.records = 40, .dimension = d, .data_seed = 1});
    const double radius = family.half_width / static_cast<double>(family.per_axis);
    const Vector centre = family.candidate_points(d).col(0);
    for (const double t : {0.0, 0.1, 0.3, 0.45, 0.6, 0.8, 0.95}) {
      const Vector x = centre + t * radius * Vector::Ones(d).normalized();
      double attained = 0, stated = 0;
      for (Index i = 0; i < 40; ++i) {  // a record's Hessian is that of its tail here, or 0
        Matrix hessian = Matrix::Zero(d, d);
        for (Index k = 0; k < d; ++k) {
          const ClipReport report = p.sums().add_hessian_products(
              Point(x), Vector::Unit(d, k), BatchView(i, i + 1), unlimited, hessian.col(k));
          stated = std::max(stated, report.largest_norm);
        }
        attained = std::max(attained, symmetric_eigenvalues(hessian).cwiseAbs().maxCoeff());
      }
      EXPECT_GT(attained, 0) << d << ' ' << t;
      EXPECT_NEAR(stated, attained, 1e-12 * attained) << d << ' ' << t;
    }
  }
}

/// Number of tails of coin j among the records of a range.
double tails(const Coins& family, const Problem& p, Index j, Index begin, Index end) {
  const Vector at = family.candidate_points(2).col(j) + Vector{{0.1, 0.0}};
  Vector g = Vector::Zero(2), one(2);
  p.sums().add_gradients(Point(at), Block::x, BatchView(begin, end), unlimited, g);
  p.population->gradient(at, one);
  const double share = -p.population->value(family.candidate_points(2).col(j));
  return g.norm() / one.norm() * share;
}

TEST(Coins, SimulatedSumsMatchLawOfRealRecords) {
  // Means, variances and covariances of the tails of two coins in two disjoint batches, to six
  // standard errors: below 3e-9 each for a false alarm.
  constexpr int sets = 4000;
  Coins family;
  const auto draw = [&](RecordSampling sampling) {
    family.sampling = sampling;
    Matrix samples(4, sets);
    for (int s = 0; s < sets; ++s) {
      const Problem p = family.make({.records = 60, .data_seed = static_cast<std::uint64_t>(s)});
      const Index planted = family.planted_coin(16, static_cast<std::uint64_t>(s));
      const Index fair = (planted + 1) % 16;
      samples.col(s) << tails(family, p, planted, 0, 20), tails(family, p, fair, 0, 20),
          tails(family, p, planted, 20, 60), tails(family, p, fair, 20, 60);
    }
    return samples;
  };
  const double p_planted = 1 - family.planted_probability(16, 60);
  const Vector size{{20, 20, 40, 40}}, probability{{p_planted, 0.5, p_planted, 0.5}};
  for (const RecordSampling sampling : {RecordSampling::independent, RecordSampling::stream}) {
    const Matrix samples = draw(sampling);
    const Vector mean = samples.rowwise().mean();
    const Matrix centred = samples.colwise() - mean;
    const Matrix covariance = centred * centred.transpose() / sets;
    for (Index a = 0; a < 4; ++a) {
      const double variance = size[a] * probability[a] * (1 - probability[a]);
      EXPECT_NEAR(mean[a], size[a] * probability[a], 6 * std::sqrt(variance / sets));
      EXPECT_NEAR(covariance(a, a), variance, 6 * variance * std::sqrt(2.0 / sets));
      for (Index b = 0; b < a; ++b)
        EXPECT_LT(std::abs(covariance(a, b)),
                  6 * std::sqrt(covariance(a, a) * covariance(b, b) / sets));
    }
  }
}

TEST(Coins, SimulatedDifferencesMatchGradients) {
  Coins family;
  family.sampling = RecordSampling::whole;
  const Problem p = family.make({.records = 1000000000000, .data_seed = 2});
  const Matrix points = family.candidate_points(2);
  const Vector x = points.col(3) + Vector{{0.1, 0.02}}, y = points.col(9) + Vector{{-0.05, 0.08}};
  Vector a = Vector::Zero(2), b = Vector::Zero(2), c = Vector::Zero(2);
  const BatchView all(0, 1000000000000);
  p.sums().add_gradients(Point(x), Block::x, all, unlimited, a);
  p.sums().add_gradients(Point(y), Block::x, all, unlimited, b);
  p.sums().add_gradient_differences(Point(x), Point(y), Block::x, all, unlimited, c);
  EXPECT_LT((a - b - c).norm(), 1e-3);
  Vector F(2);
  p.empirical->gradient(x, F);
  EXPECT_LT((a / 1e12 - F).norm(), 1e-14);
  EXPECT_THROW(p.sums().add_gradients(Point(x), Block::x, all, 0.1, a), InputError);
}

TEST(Coins, RejectInvalidSizes) {
  Coins family;
  family.per_axis = 1;
  EXPECT_THROW(family.make({.records = 10}), InputError);
  family.per_axis = 1100;
  EXPECT_THROW(family.make({.records = 10}), InputError);
  family.per_axis = 2;
  EXPECT_NO_THROW(family.make({.records = 1, .dimension = 1}));
}

}  // namespace
}  // namespace dpsosp::excess_risk_test
