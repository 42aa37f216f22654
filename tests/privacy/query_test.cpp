// SPDX-License-Identifier: Apache-2.0
// How far replacing one record can move a release.
#include "dpsosp/privacy/query.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support.hpp"

namespace dpsosp::query_test {
namespace {

using namespace testing;

constexpr Index n = 10;
constexpr double C = 1.5;
const std::array policies{BatchPolicy::all(), BatchPolicy::fresh(4), BatchPolicy::sample(4),
                          BatchPolicy::poisson(0.4)};
constexpr std::array blocks{Block::x, Block::y, Block::joint};
constexpr std::array kinds{Kind::gradient, Kind::difference};

/// 2C/b from the definition of each policy, b = 4 or n.
double sensitivity_of(const BatchPolicy& policy) {
  return 2.0 * C / (policy.kind == BatchPolicy::Kind::all ? 10.0 : 4.0);
}

/// ‖release(data) − release(neighbour)‖ with the same coins and noise.
double moved(const Data& data, const Data& neighbour, Kind kind, const BatchPolicy& policy,
             Block block, std::uint64_t seed) {
  const GradientQuery query{C, Noise::sensitivity_ratio(1.0), block};
  House a(data, {.seed = seed}), b(neighbour, {.seed = seed});
  const Vector from_a = ask(a.curator, kind, a.curator.draw(policy), query);
  const Vector from_b = ask(b.curator, kind, b.curator.draw(policy), query);
  return (from_a - from_b).norm();
}

TEST(Sensitivity, BoundsEffectOfOneRecord) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t index, std::uint8_t which) {
    Stream stream({.seed = seed});
    const Data data = random_data(n, C, stream);
    Data neighbour = data;
    const Data other = random_data(1, C, stream);
    const Index i = index % n;
    neighbour.offset.col(i) = other.offset.col(0);
    neighbour.slope.col(i) = other.slope.col(0);
    const BatchPolicy& policy = policies[which % 4];
    const Block block = blocks[which / 4 % 3];
    const Kind kind = kinds[which / 12 % 2];
    RC_ASSERT(moved(data, neighbour, kind, policy, block, seed) <=
              sensitivity_of(policy) * (1 + 1e-12));
  }));
}

TEST(Sensitivity, IsAttainedByOppositeRecords) {
  const Places places;
  for (const Kind kind : kinds)
    for (const BatchPolicy& policy : policies)
      for (const Block block : blocks) {
        double furthest = 0.0;
        for (Index i = 0; i < n; ++i)  // one of them is in the batch
          for (const double scale : {1.0, 100.0}) {
            Vector v = Vector::Zero(d + d2);
            v[block == Block::y ? d : 0] = scale * C;
            Data data(d + d2, n), neighbour(d + d2, n);
            set_record(data, i, v, places);
            set_record(neighbour, i, -v, places);
            furthest = std::max(furthest, moved(data, neighbour, kind, policy, block, 5));
          }
        EXPECT_GE(furthest, 0.999 * sensitivity_of(policy));
        EXPECT_LE(furthest, sensitivity_of(policy) * (1 + 1e-12));
      }
}

TEST(Sensitivity, RecordOutsideBatchMovesNothing) {
  Stream stream({.seed = 3});
  const Data data = random_data(n, C, stream);
  const GradientQuery query{C, Noise::sensitivity_ratio(1.0), Block::joint};
  for (const BatchPolicy& policy : policies) {
    House a(data);
    const Vector before = ask(a.curator, Kind::gradient, a.curator.draw(policy), query);
    for (Index i = 0; i < n; ++i) {
      Data neighbour = data;
      neighbour.offset.col(i).setConstant(77.0);
      House b(neighbour);
      const Vector after = ask(b.curator, Kind::gradient, b.curator.draw(policy), query);
      EXPECT_EQ(same_bits(before, after), !b.records.read.contains(i));
    }
  }
}

TEST(Sensitivity, DividesPoissonSumByExpectedSize) {
  Data data(d + d2, n);
  data.offset.row(0).setOnes();
  House house(data, {.seed = 1}, zcdp_rule(1e100));
  const GradientQuery query{C, Noise::sensitivity_ratio(1e-9)};
  std::set<long> sizes;
  for (int k = 0; k < 50; ++k) {
    house.records.read.clear();
    const Batch batch = house.curator.draw(BatchPolicy::poisson(0.4));
    const double size = ask(house.curator, Kind::gradient, batch, query)[0] * 0.4 * n;
    EXPECT_NEAR(size, static_cast<double>(house.records.read.size()), 1e-6);
    sizes.insert(std::lround(size));
  }
  EXPECT_GT(sizes.size(), 3U);  // the realised size would give the same mean every time
}

TEST(Sensitivity, CountsNonFiniteContributionsAsZero) {
  Stream stream({.seed = 4});
  const Data clean = random_data(n, C, stream);
  Data zeroed = clean;
  zeroed.offset.col(2).setZero();
  zeroed.slope.col(2).setZero();
  const GradientQuery query{C, Noise::sensitivity_ratio(1.0), Block::joint};
  for (const double wild : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e308}) {
    Data data = clean;
    data.offset.col(2).setConstant(wild);
    data.slope.col(2).setConstant(wild);
    for (const Kind kind : kinds) {
      House a(data), b(zeroed);
      const Vector out = ask(a.curator, kind, a.curator.draw(BatchPolicy::all()), query);
      const Vector expected = ask(b.curator, kind, b.curator.draw(BatchPolicy::all()), query);
      EXPECT_TRUE(out.isApprox(expected, 1e-14)) << wild;
    }
  }
}

TEST(Sensitivity, NonFinitePointReleasesNoiseAlone) {
  Stream stream({.seed = 5});
  const GradientQuery query{C, Noise::sensitivity_ratio(1.0)};
  for (const double wild : {std::nan(""), HUGE_VAL}) {
    const Vector x = Vector::Constant(d, wild);
    const Vector y = Vector::Constant(d2, wild);
    House a(random_data(n, C, stream)), b(Data(d + d2, n));
    Vector out(d), expected(d);
    a.curator.gradient(Point(x, y), a.curator.draw(BatchPolicy::all()), query, out);
    b.curator.gradient(Places().to(), b.curator.draw(BatchPolicy::all()), query, expected);
    EXPECT_TRUE(same_bits(out, expected));
    EXPECT_TRUE(a.records.read.empty());
  }
}

TEST(Sensitivity, ZeroLimitReadsAndChargesNothing) {
  Stream stream({.seed = 6});
  House house(random_data(n, 1e-170, stream));  // their squares underflow, so no clipping acts
  const GradientQuery query{0.0, Noise::standard_deviation(0.0)};
  const Vector out =
      ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::all()), query);
  EXPECT_EQ(out, Vector::Zero(d));
  EXPECT_TRUE(house.records.read.empty());
  EXPECT_TRUE(house.curator.ledger().entries().empty());
}

TEST(Sensitivity, CoincidingPointsReadNothingButAddNoise) {
  Stream stream({.seed = 7});
  House house(random_data(n, C, stream)), empty(Data(d + d2, n));
  const Places places;
  const GradientQuery query{C, Noise::sensitivity_ratio(2.0)};
  Vector out(d), expected(d);
  house.curator.gradient_difference(places.to(), places.to(),
                                    house.curator.draw(BatchPolicy::all()), query, out);
  EXPECT_TRUE(house.records.read.empty());
  EXPECT_TRUE(house.curator.ledger().entries().empty());
  empty.curator.gradient(places.to(), empty.curator.draw(BatchPolicy::all()), query, expected);
  EXPECT_TRUE(same_bits(out, expected));
}

TEST(GaussianPlan, ChargesStatedNoiseForEveryPolicy) {
  constexpr Index records = 1000;
  const auto plan = [](const BatchPolicy& policy, BatchUse use) {
    return plan_gaussian(policy, use, records, 3.0, Noise::standard_deviation(0.5));
  };
  const GaussianPlan all = plan(BatchPolicy::all(), BatchUse::one_query);
  EXPECT_DOUBLE_EQ(all.sensitivity, 6.0 / 1000.0);
  EXPECT_DOUBLE_EQ(std::get<GaussianEvent>(*all.event).noise_multiplier, 0.5 / 0.006);
  const GaussianPlan fresh = plan(BatchPolicy::fresh(50), BatchUse::one_query);
  EXPECT_DOUBLE_EQ(std::get<GaussianEvent>(*fresh.event).noise_multiplier, 0.5 / (6.0 / 50.0));
  const GaussianPlan sample = plan(BatchPolicy::sample(50), BatchUse::one_query);
  const auto fixed = std::get<FixedSizeGaussianEvent>(*sample.event);
  EXPECT_DOUBLE_EQ(fixed.rate, 0.05);
  EXPECT_DOUBLE_EQ(fixed.noise_multiplier, 0.5 / (6.0 / 50.0));
  // Poisson: std of the sum over the norm of ONE contribution, rate · n = 50
  const GaussianPlan poisson = plan(BatchPolicy::poisson(0.05), BatchUse::one_query);
  const auto subsampled = std::get<PoissonGaussianEvent>(*poisson.event);
  EXPECT_DOUBLE_EQ(subsampled.rate, 0.05);
  EXPECT_DOUBLE_EQ(subsampled.noise_multiplier, 0.5 * 50.0 / 3.0);
  for (const BatchPolicy& secret : {BatchPolicy::sample(50), BatchPolicy::poisson(0.05)}) {
    const GaussianPlan shared = plan(secret, BatchUse::several_queries);
    EXPECT_DOUBLE_EQ(std::get<GaussianEvent>(*shared.event).noise_multiplier, 0.5 / (6.0 / 50.0));
  }
}

TEST(GaussianPlan, RejectsInvalidLimitsAndNoise) {
  const auto plan = [](double limit, double noise) {
    plan_gaussian(BatchPolicy::all(), BatchUse::one_query, 10, limit,
                  Noise::sensitivity_ratio(noise));
  };
  EXPECT_NO_THROW(plan(1.0, 1.0));
  // below 1e-154 squares underflow and a norm of 1e-170 passes any limit
  for (const double limit : {std::nan(""), -1.0, HUGE_VAL, 1e-200, 1e200})
    EXPECT_THROW(plan(limit, 1.0), InputError) << limit;
  for (const double noise : {std::nan(""), -1.0, HUGE_VAL})
    EXPECT_THROW(plan(1.0, noise), InputError) << noise;
}

}  // namespace
}  // namespace dpsosp::query_test
