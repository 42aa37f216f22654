// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/baselines/dp_spider.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "digits.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::dp_spider_test {
namespace {

using baselines::DpSpider;
using test::Ran;

constexpr double budget_delta = 1e-6;

double spent(const Ledger& ledger, const FilterRule& rule) {
  double total = 0;
  for (const LedgerEntry& e : ledger.entries())
    total += static_cast<double>(e.count) * rule.charge(*e.event);
  return total;
}

// Setting S of lowy-2024 notes, 8: n = 10⁴, d = 10, ε = 1, L = β = Δ = 1.
TEST(DpSpider, PracticalScheduleMatchesReferenceValues) {
  const double rho = zcdp_budget({1, budget_delta}, Calibrator::bun_steinke);
  test::expect_digits(rho, 0.0174689048, 1e-8);
  const auto s = baselines::dp_spider_practical(1e4, 10, 1, 1, 1, rho);
  test::expect_digits(s.unit, 3.38362449e-3, 1e-8);
  test::expect_digits(s.balance, 1968.59837, 1e-8);
  EXPECT_EQ(s.steps, 1969);
  EXPECT_EQ(s.period, 44);
  EXPECT_EQ(s.anchors, 45);
  test::expect_digits(s.refresh_deviation, 1.015087346e-2, 1e-8);
  test::expect_digits(s.increment_deviation, 6.637425979e-2, 1e-8);
  test::expect_digits(s.anchor_error, 3.209988037e-2, 1e-8);
  test::expect_digits(s.bound, 5.533435086e-2, 1e-8);

  const double half = zcdp_budget({0.5, budget_delta}, Calibrator::bun_steinke);
  const auto b = baselines::dp_spider_practical(1e4, 10, 1, 1, 0.04817169, half);
  test::expect_digits(b.unit, 6.70865700e-3, 1e-8);
  test::expect_digits(b.balance, 287.57414, 1e-6);
  EXPECT_EQ(b.steps, 288);
  EXPECT_EQ(b.period, 77);
  EXPECT_EQ(b.anchors, 4);
  test::expect_digits(b.refresh_deviation, 6.000405234e-3, 1e-8);
  test::expect_digits(b.increment_deviation, 5.056031320e-2, 1e-8);
  test::expect_digits(b.bound, 3.207958608e-2, 1e-7);
}

TEST(DpSpider, PaperScheduleMatchesReferenceValues) {
  const auto s = baselines::dp_spider_paper(1e4, 10, 1, 1, 1, {1, budget_delta});
  test::expect_digits(s.steps, 8061.6148, 1e-7);
  test::expect_digits(s.period, 89.786, 1e-4);
  test::expect_digits(s.batch, 111.375, 1e-5);
  test::expect_digits(s.rate, 1.23129e-2, 1e-5);
  test::expect_digits(
      baselines::dp_spider_paper(1e4, 10, 1, 1, 0.32236191, {0.5, budget_delta}).steps, 2193.630,
      1e-6);
  test::expect_digits(
      baselines::dp_spider_paper(1e4, 10, 1, 1, 0.32236191, {0.5, 0.5 * budget_delta}).steps,
      2123.194, 1e-6);
}

// The printed period has a factor L² and depends on the unit of the loss. f → c f does not change
// the iterates of the method and must not change its counts.
TEST(DpSpider, CountsDoNotDependOnLossUnit) {
  const auto one = baselines::dp_spider_paper(1e5, 10, 1, 1, 1, {1, budget_delta});
  const auto ten = baselines::dp_spider_paper(1e5, 10, 10, 10, 10, {1, budget_delta});
  test::expect_digits(ten.steps, one.steps, 1e-12);
  test::expect_digits(ten.period, one.period, 1e-12);
  test::expect_digits(ten.batch, one.batch, 1e-12);
  EXPECT_GT(ten.printed_period, 99 * one.printed_period);
}

// With a valid c (about 4) the printed q exceeds the 1/(ν²T) of lowy-2024 notes, 3.1.
TEST(DpSpider, PracticalPeriodMeetsConditionUnlikePrinted) {
  const double rho = zcdp_budget({1, budget_delta}, Calibrator::bun_steinke);
  for (const double n : {1e4, 1e5, 1e6}) {
    const auto practical = baselines::dp_spider_practical(n, 10, 1, 1, 1, rho);
    const auto paper = baselines::dp_spider_paper(n, 10, 1, 1, 1, {1, budget_delta});
    const double unit2 = practical.unit * practical.unit;
    EXPECT_LE(static_cast<double>(practical.period * practical.steps) * unit2, 1.0);
    EXPECT_NEAR(paper.period * std::floor(paper.steps) * unit2, 8.3, 0.1);
  }
}

TEST(DpSpider, ScheduleIsMonotoneInRecords) {
  double steps = 0, bound = 1e9;
  for (double n = 1e3; n < 1e9; n *= 3) {
    const auto s = baselines::dp_spider_practical(n, 16, 1.6, 4.9, 1, 0.0174);
    EXPECT_GE(static_cast<double>(s.steps), steps);
    EXPECT_LT(s.bound, bound);
    steps = static_cast<double>(s.steps);
    bound = s.bound;
  }
}

TEST(DpSpider, EqualsGradientDescentWithoutNoise) {
  const Problem p = test::small_problem("double-well");
  DpSpider algorithm;
  algorithm.parameters = {.steps = 50, .period = 7, .step_size = 0.1};
  algorithm.parameters.output = OutputRule::last;
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, test::exact);
  Vector x = p.facts.initial_point, g(x.size());
  for (const Vector& seen : ran.iterates) {
    EXPECT_LE((seen - x).norm(), 1e-10);
    p.empirical->gradient(x, g);
    x -= 0.1 * g;
  }
  EXPECT_LE((ran.outcome.point - x).norm(), 1e-10);
}

TEST(DpSpider, SpendsWholeBudgetAndReturnsVisitedPoint) {
  const Problem p = find_problem("ripple-location")->make({.records = 400, .dimension = 3});
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian})
    for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
      DpSpider algorithm;
      const Scheduled s = algorithm.schedule(kind, p.facts, {2, 1e-5}, calibrator);
      const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
      EXPECT_EQ(ran.outcome.status, Status::steps_done);
      EXPECT_NEAR(spent(ran.ledger, s.rule) / s.rule.capacity, 1, 1e-9);
      EXPECT_LE(ran.ledger.spent(1e-5).epsilon, 2 * (1 + 1e-9));
      EXPECT_NE(std::ranges::find(ran.iterates, ran.outcome.point), ran.iterates.end());
    }
}

// The bound of lowy-2024 notes, 3.1, in the mean over the uniform output and the noise.
TEST(DpSpider, MeetsScheduledBound) {
  const Problem p = find_problem("ripple-location")->make({.records = 20000, .dimension = 4});
  DpSpider algorithm;
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {1, budget_delta}, Calibrator::cks);
  double sum = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule, seed);
    Vector g(4);
    for (const Vector& x : ran.iterates) {
      p.empirical->gradient(x, g);
      sum += g.squaredNorm();
      ++count;
    }
  }
  EXPECT_LE(std::sqrt(sum / count), s.alpha);
  EXPECT_GE(std::sqrt(sum / count), 0.2 * s.alpha);
}

}  // namespace
}  // namespace dpsosp::dp_spider_test
