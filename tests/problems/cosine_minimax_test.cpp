// SPDX-License-Identifier: Apache-2.0
// What cosine-minimax offers beside its standard form, whose vector is in cosine_test.cpp.
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "counts.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/cosine_minimax.hpp"

namespace dpsosp::cosine_minimax_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(CosineMinimax, GeometricCouplingMatchesReference) {  // xu-2026 notes, 9: c = (2, 1.5)
  CosineMinimax family;
  family.coupled = family.free = 2;
  family.coupling_ratio = 0.75;
  const Problem p = family.make({.records = 5});
  const Vector x{{0.3, -0.2, 1, -2}};
  EXPECT_NEAR(p.population->value(x), 1.2547792681, 1e-10);
  EXPECT_NEAR(p.empirical->value(x), 1.2547792681, 1e-10);  // centred records
  EXPECT_NEAR(p.facts.constants[constant::smoothness], 4.5, 1e-15);
  EXPECT_NEAR(p.facts.constants[constant::suboptimality], 2, 1e-15);
  family.coupled = 3;
  family.free = 0;
  Vector h(3);
  dynamic_cast<const DiagonalObjective&>(*family.make({.records = 1}).population)
      .hessian_diagonal(Vector::Constant(3, std::numbers::pi / 2), h);
  EXPECT_LT((h - Vector{{4, 3, 2.25}}).norm(), 1e-14);  // c² = 4, 4·0.75, 4·0.75²
}

TEST(CosineMinimax, KeepsConstantsOfDefaultSettings) {
  const PublicFacts facts = CosineMinimax().make({.records = 10}).facts;
  const Constants& c = facts.constants;
  EXPECT_EQ(c[constant::lipschitz], 4.0);
  EXPECT_EQ(c[constant::smoothness], 4.5);
  EXPECT_EQ(c[constant::hessian_lipschitz], 0.5);
  EXPECT_EQ(c[constant::joint_smoothness], 3.0);
  EXPECT_EQ(c[constant::strong_concavity], 1.0);
  EXPECT_EQ(c[constant::suboptimality], 10.0);
  EXPECT_EQ(facts.initial_point, Vector::Zero(20));
  EXPECT_EQ(facts.domain.kind, Domain::Kind::everywhere);
}

TEST(CosineMinimax, SuboptimalityIsExactFromEveryStart) {
  for (const auto start : {StartOption::Kind::random, StartOption::Kind::far}) {
    CosineMinimax family;
    family.start.kind = start;
    const Problem p = family.make({.records = 10, .seed = 2});
    Vector minimiser = Vector::Zero(20);
    minimiser.tail(10).setConstant(-std::numbers::pi);
    EXPECT_NEAR(p.facts.constants[constant::suboptimality],
                p.population->value(p.facts.initial_point) - p.population->value(minimiser), 1e-12);
  }
}

TEST(CosineMinimax, GradientBoundInBoxIsNearlyTight) {
  CosineMinimax family;
  family.half_width = 4;
  family.coupling_ratio = 0.6;
  const Problem p = family.make({.records = 10});
  const Constant& G = p.facts.constants.at(constant::lipschitz);
  EXPECT_EQ(G.origin, Origin::proved);
  Stream stream({.seed = 1});
  double largest = 0;
  for (int k = 0; k < 2000; ++k) {
    Vector x(20), y(10), g = Vector::Zero(30);
    for (double& entry : x) entry = 4 * (k % 2 == 0 ? 1 : 2 * stream.uniform() - 1);
    const double reach = p.facts.dual_domain.radius;
    for (double& entry : y) entry = reach * (k % 2 == 0 ? -1 : 2 * stream.uniform() - 1);
    const Index i = stream.below(p.extremes->size());
    const ClipReport r =
        p.extremes->add_gradients(Point(x, y), Block::joint, BatchView(i, i + 1), unlimited, g);
    largest = std::max(largest, r.largest_norm);
  }
  EXPECT_LE(largest, G.value);
  EXPECT_GE(largest, 0.95 * G.value);
}

TEST(CosineMinimax, SignSumsAreBinomialForEverySampling) {
  constexpr Index n = 14;
  for (const RecordSampling sampling :
       {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}) {
    CosineMinimax family;
    family.coupled = 2;
    family.free = 1;
    family.sampling = sampling;
    const auto counts = [&](const Problem& p, Index begin, Index end) {
      const Vector x = Vector::Zero(3), y = Vector::Zero(2);
      Vector g = Vector::Zero(5);
      p.sums().add_gradients(Point(x, y), Block::joint, BatchView(begin, end), unlimited, g);
      g.head(3) *= std::sqrt(3.0);
      g.tail(2) *= std::sqrt(2.0);
      std::vector<Index> positive;
      for (const double sum : g) positive.push_back((std::lround(sum) + end - begin) / 2);
      return positive;
    };
    std::vector<std::vector<Index>> whole(5), first(5), second(5);
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      const Problem p = family.make({.records = n, .data_seed = seed});
      const auto all = counts(p, 0, n);
      for (std::size_t j = 0; j < 5; ++j) whole[j].push_back(all[j]);
      if (sampling == RecordSampling::whole) continue;
      const auto begin = counts(p, 0, 6), end = counts(p, 6, n);
      for (std::size_t j = 0; j < 5; ++j) {
        first[j].push_back(begin[j]);
        second[j].push_back(end[j]);
      }
    }
    for (std::size_t j = 0; j < 5; ++j) {
      testing_support::expect_binomial(whole[j], n, 0.5);
      for (std::size_t k = 0; k < j; ++k) testing_support::expect_uncorrelated(whole[j], whole[k]);
      if (sampling == RecordSampling::whole) continue;
      testing_support::expect_binomial(first[j], 6, 0.5);
      testing_support::expect_uncorrelated(first[j], second[j]);
    }
  }
}

TEST(CosineMinimax, SimulatedBlocksAgree) {
  CosineMinimax family;
  family.sampling = RecordSampling::stream;
  const Problem p = family.make({.records = 1'000'000});
  Vector x(20), y(10);
  Stream stream({.seed = 1});
  stream.fill_normal(1.0, x);
  stream.fill_normal(1.0, y);
  Vector joint = Vector::Zero(30), gx = Vector::Zero(20), gy = Vector::Zero(10);
  const BatchView batch(1000, 5000);
  p.sums().add_gradients(Point(x, y), Block::joint, batch, unlimited, joint);
  p.sums().add_gradients(Point(x, y), Block::x, batch, unlimited, gx);
  p.sums().add_gradients(Point(x, y), Block::y, batch, unlimited, gy);
  EXPECT_EQ(joint.head(20), gx);
  EXPECT_EQ(joint.tail(10), gy);
  EXPECT_THROW(p.sums().add_gradients(Point(x, y), Block::x, batch, 0.1, gx), InputError);
}

TEST(CosineMinimax, RejectsInvalidSettings) {
  const auto refused = [](auto change) {
    CosineMinimax family;
    change(family);
    EXPECT_THROW(family.make({.records = 3}), InputError);
  };
  refused([](CosineMinimax& f) { f.coupling_ratio = 0; });
  refused([](CosineMinimax& f) { f.coupling_ratio = 0.3; });  // 0.36 < γ
  refused([](CosineMinimax& f) { f.half_width = 3; });
  refused([](CosineMinimax& f) {
    f.free = 0;
    f.start.kind = StartOption::Kind::saddle;
  });
}

}  // namespace
}  // namespace dpsosp::cosine_minimax_test
