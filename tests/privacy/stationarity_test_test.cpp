// SPDX-License-Identifier: Apache-2.0
// AboveThreshold on the scaled maximum of gradient norm and curvature.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "support.hpp"

namespace dpsosp::stationarity_test_test {
namespace {

using namespace testing;

constexpr Index n = 2000;
const double G = std::sqrt(3.0);  // of cosine-saddle at a = 1, d = 3
const StationaritySpec spec{.epsilon = 1,
                            .gradient_scale = 0.2,
                            .curvature_scale = 0.4,
                            .gradient_limit = G,
                            .hessian_limit = 1};

struct StationaryHouse {
  explicit StationaryHouse(std::uint64_t seed = 1, double capacity = 1e9, Index records = n)
      : problem(find_problem("cosine-saddle")->make({.records = records, .dimension = 3})),
        curator(problem.facts, *problem.records, zcdp_rule(capacity), {.seed = seed}) {}
  StationarityTest open(const StationaritySpec& s = spec) {
    return {curator, curator.draw(BatchPolicy::all()), s};
  }
  Problem problem;
  Curator curator;
};

const Vector minimum = Vector::Zero(3);
const Vector saddle_point = std::numbers::pi * Vector::Unit(3, 0);
const Vector slope_point = Vector::Constant(3, std::numbers::pi / 2);

TEST(StationarityTest, AcceptsMinimumButNotSaddleOrSlope) {
  // s = max(2 G/(n α), 2/(n β)) = 0.0087; all Laplace noise together is below 1/2 but for e^-14
  int accepted = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    StationaryHouse house(seed);
    StationarityTest test = house.open();
    wrong += test.accepts(saddle_point) ? 1 : 0;
    if (wrong == 0) wrong += test.accepts(slope_point) ? 1 : 0;
    if (wrong == 0) accepted += test.accepts(minimum) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(accepted, 200);
}

TEST(StationarityTest, UsesLargerOfTwoSensitivities) {
  StationaryHouse house;
  EXPECT_DOUBLE_EQ(house.open().sensitivity(), 2 * G / (n * 0.2));
  StationaritySpec curved = spec;
  curved.curvature_scale = 0.01;
  EXPECT_DOUBLE_EQ(house.open(curved).sensitivity(), 2 / (n * 0.01));
}

TEST(StationarityTest, ChargesOnceForAnyNumberOfQuestions) {
  StationaryHouse house;
  StationarityTest test = house.open();
  for (int k = 0; k < 10; ++k) test.accepts(saddle_point);
  ASSERT_EQ(house.curator.ledger().entries().size(), 1U);
  const LedgerEntry entry = house.curator.ledger().entries().front();
  EXPECT_EQ(std::get<PureEvent>(*entry.event).epsilon, spec.epsilon);
  EXPECT_EQ(entry.count, 1);
  EXPECT_EQ(test.questions(), 10);
}

TEST(StationarityTest, EndsAtFirstAcceptance) {
  StationaryHouse house;
  StationarityTest test = house.open();
  while (!test.accepts(minimum)) {
  }
  EXPECT_THROW(test.accepts(minimum), InputError);
}

TEST(StationarityTest, DoesNotOpenBeyondBudget) {
  StationaryHouse house(1, 0.4);  // ε = 1 costs 1/2
  EXPECT_THROW(house.open(), BudgetExhausted);
  EXPECT_TRUE(house.curator.ledger().entries().empty());
}

// A single record, exchanged at will, and all questions at one point: the probability that the k-th
// is the first yes may differ by the factor e^ε at most, on every k.
TEST(StationarityTest, FirstAcceptanceSatisfiesEpsilonBound) {
  constexpr int runs = 40000, questions = 4;
  std::vector<std::vector<double>> first(2, std::vector<double>(questions + 1, 0.0));
  for (int world = 0; world < 2; ++world)
    for (int run = 0; run < runs; ++run) {
      const auto family = find_problem("cosine-saddle");
      const Problem p = family->make(
          {.records = 1, .dimension = 1, .data_seed = static_cast<std::uint64_t>(world)});
      Curator curator(p.facts, *p.records, zcdp_rule(1e9),
                      {.seed = static_cast<std::uint64_t>(run + world * runs)});
      StationarityTest test(curator, curator.draw(BatchPolicy::all()),
                            {.epsilon = 1,
                             .gradient_scale = 1,
                             .curvature_scale = 1,
                             .gradient_limit = 1,
                             .hessian_limit = 1});
      int k = 0;
      const Vector x = Vector::Constant(1, 1.2);
      while (k < questions && !test.accepts(x)) ++k;
      ++first[static_cast<std::size_t>(world)][static_cast<std::size_t>(k)];
    }
  for (std::size_t k = 0; k <= questions; ++k) {
    const double a = first[0][k], b = first[1][k];
    const double slack = 5 * (std::sqrt(a) + std::sqrt(b) * std::exp(1.0));
    EXPECT_LE(a, std::exp(1.0) * b + slack) << k;
    EXPECT_LE(b, std::exp(1.0) * a + slack) << k;
    EXPECT_GT(a + b, 100) << k;
  }
}

// Two copies would say yes twice with one threshold, for one charge.
TEST(StationarityTest, CannotBeCopied) {
  EXPECT_FALSE(std::is_copy_constructible_v<StationarityTest>);
  EXPECT_FALSE(std::is_move_constructible_v<StationarityTest>);
  EXPECT_FALSE(std::is_copy_assignable_v<StationarityTest>);
  EXPECT_FALSE(std::is_move_assignable_v<StationarityTest>);
}

TEST(StationarityTest, DeniesNonFinitePoints) {
  StationaryHouse house;
  StationarityTest test = house.open();
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(test.accepts(bad * Vector::Ones(3)));
  EXPECT_EQ(test.questions(), 2);
}

TEST(StationarityTest, FollowsDeparturesAndChargesTrueCost) {
  const Problem problem = find_problem("cosine-saddle")->make({.records = n, .dimension = 3});
  const auto ask = [&](const UnsoundCurator::Departures& departures, const Vector& x) {
    UnsoundCurator curator(problem.facts, *problem.records, {.seed = 1}, departures);
    StationarityTest test(curator, curator.draw(BatchPolicy::all()), spec);
    const bool yes = test.accepts(x);
    return std::pair(yes, curator.ledger().entries().at(0));
  };
  EXPECT_TRUE(ask({.no_noise = true}, minimum).first);
  EXPECT_FALSE(ask({.no_noise = true}, saddle_point).second.event);
  EXPECT_FALSE(ask({.no_noise = true}, saddle_point).first);
  EXPECT_TRUE(ask({.no_noise = true, .no_data = true}, saddle_point).first);
  EXPECT_TRUE(ask({.no_noise = true, .no_data = true}, slope_point).first);
  // the mean alone is clipped: exchanging one record moves it by 2 G, not 2 G/n
  const LedgerEntry entry = ask({.clip_batch_mean = true}, saddle_point).second;
  EXPECT_DOUBLE_EQ(std::get<PureEvent>(*entry.event).epsilon, n * spec.epsilon);
  EXPECT_DOUBLE_EQ(entry.deviation_low * spec.epsilon / 2, 2 * G / (n * spec.gradient_scale));
}

// The first answer is yes with the probability of two Laplace draws of the charged scales, 2s/ε for
// the threshold and 4s/ε for the question.
TEST(StationarityTest, DrawsChargedNoiseScales) {
  constexpr Index records = 60;
  constexpr int runs = 20000;
  const Vector x = minimum;
  const StationaryHouse seen(1, 1e9, records);
  Vector gradient(3);
  seen.problem.empirical->gradient(x, gradient);
  const double q = gradient.norm() / spec.gradient_scale;  // the curvature is positive here
  for (const double slack : {q + 0.3, q + 1.5, q - 0.6}) {
    StationaritySpec tried = spec;
    tried.slack = slack;
    int yes = 0;
    double s = 0;
    for (int run = 0; run < runs; ++run) {
      StationaryHouse house(static_cast<std::uint64_t>(run), 1e9, records);
      StationarityTest test = house.open(tried);
      s = test.sensitivity();
      yes += test.accepts(x) ? 1 : 0;
    }
    const double narrow = 2 * s / spec.epsilon, wide = 4 * s / spec.epsilon;
    const double t = std::abs(slack - q);
    const double tail =
        (wide * wide * std::exp(-t / wide) - narrow * narrow * std::exp(-t / narrow)) /
        (2 * (wide * wide - narrow * narrow));
    const double expected = slack > q ? 1 - tail : tail;
    const double error = std::sqrt(expected * (1 - expected) / runs);
    EXPECT_NEAR(static_cast<double>(yes) / runs, expected, 6 * error) << slack - q;
  }
}

TEST(StationarityTest, RejectsBadInput) {
  StationaryHouse house;
  for (double StationaritySpec::*field :
       {&StationaritySpec::epsilon, &StationaritySpec::gradient_scale,
        &StationaritySpec::curvature_scale, &StationaritySpec::gradient_limit,
        &StationaritySpec::hessian_limit}) {
    StationaritySpec bad = spec;
    for (const double value : {0.0, 1e-200, 1e200}) {
      bad.*field = value;
      EXPECT_THROW(house.open(bad), InputError) << value;
    }
  }
  StationaritySpec endless = spec;
  endless.slack = std::numeric_limits<double>::infinity();
  EXPECT_THROW(house.open(endless), InputError);
  EXPECT_THROW(StationarityTest(house.curator, house.curator.draw(BatchPolicy::poisson(0.5)), spec),
               InputError);
  StationarityTest test = house.open();
  EXPECT_THROW(test.accepts(Vector::Zero(2)), InputError);
}

}  // namespace
}  // namespace dpsosp::stationarity_test_test
