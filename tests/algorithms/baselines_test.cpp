// SPDX-License-Identifier: Apache-2.0
// The SPIDER-type methods and the descent-ascent baselines, against exact gradients and scripts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "dpsosp/baselines/ada_dp_spider.hpp"
#include "dpsosp/baselines/dp_sgda.hpp"
#include "dpsosp/baselines/gradient_descent_ascent.hpp"
#include "dpsosp/baselines/private_diff.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "runs.hpp"

namespace dpsosp::baselines_test {
namespace {

using baselines::AdaDpSpider;
using baselines::AscentRule;
using baselines::DpSgda;
using baselines::GradientDescentAscent;
using baselines::PrivateDiff;
using ganesh_2023::StochasticSpider;
using test::Ran;

/// x_{t+1} = x_t − η ∇F(x_t) along the whole run: every estimate is the exact gradient.
void expect_gradient_descent(const Ran& ran, const Problem& problem, double step_size) {
  ASSERT_GE(ran.iterates.size(), 2);
  Vector gradient(problem.facts.dimension);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    problem.empirical->gradient(ran.iterates[t], gradient);
    const Vector step = (ran.iterates[t] - ran.iterates[t + 1]) / step_size;
    ASSERT_LT((step - gradient).norm(), 1e-11) << "t = " << t;
  }
}

/// Minimisation, and minimax with a dual that stays with the record.
const std::vector<std::string> with_record_gradients{"matrix-sensing", "cosine-saddle"};

TEST(SpiderMethods, EstimateExactGradientWithoutNoise) {
  for (const std::string& name : with_record_gradients) {
    SCOPED_TRACE(name);
    const Problem problem = test::small_problem(name);
    const double drift = name == "cosine-saddle" ? 0.2 : 0.01;  // some refreshes, not at each step
    const auto run = [&](const Algorithm& algorithm) {
      return test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
    };
    StochasticSpider spider;
    spider.parameters.spider.steps = 60;
    spider.parameters.spider.step_size = 0.1;
    spider.parameters.spider.period = 7;
    for (const RefreshTrigger trigger :
         {RefreshTrigger::always, RefreshTrigger::period, RefreshTrigger::drift}) {
      spider.parameters.spider.refresh = trigger;
      spider.parameters.spider.drift_threshold = drift;
      const Ran ran = run(spider);
      expect_gradient_descent(ran, problem, 0.1);
      const auto refreshes = ran.outcome.counts.at("refreshes");
      EXPECT_EQ(refreshes == 60, trigger == RefreshTrigger::always);
      EXPECT_EQ(refreshes == 9, trigger == RefreshTrigger::period);
      EXPECT_GT(refreshes, 1);
    }
    AdaDpSpider ada;
    ada.parameters.steps = 60;
    ada.parameters.step_size = 0.1;
    ada.parameters.drift_threshold = drift;
    const Ran ran = run(ada);
    expect_gradient_descent(ran, problem, 0.1);
    EXPECT_GT(ran.outcome.counts.at("refreshes"), 1);
    EXPECT_LT(ran.outcome.counts.at("refreshes"), 60);
  }
}

TEST(SpiderMethods, ClipNothingWithLimitProportionalToSmoothness) {
  // The same through clipped oracles at G and M ‖x − x′‖, where both are proved.
  const Problem problem = test::small_problem("cosine-saddle");
  StochasticSpider spider;
  spider.parameters.spider.steps = 60;
  spider.parameters.spider.step_size = 0.5;
  spider.parameters.spider.drift_threshold = 0.5;
  auto& oracle = spider.parameters.spider.oracle;
  oracle.clip_refresh = problem.facts.constants[constant::lipschitz];
  oracle.clip_increment = problem.facts.constants[constant::smoothness];
  expect_gradient_descent(
      test::run_unsound(spider, problem.facts, *problem.records, test::no_noise), problem, 0.5);
  // negative control: at half of M the increments are clipped and the estimates drift off
  oracle.clip_increment /= 2;
  const Ran clipped = test::run_unsound(spider, problem.facts, *problem.records, test::no_noise);
  Vector gradient(problem.facts.dimension);
  double error = 0;
  for (std::size_t t = 0; t + 1 < clipped.iterates.size(); ++t) {
    problem.empirical->gradient(clipped.iterates[t], gradient);
    error =
        std::max(error, ((clipped.iterates[t] - clipped.iterates[t + 1]) / 0.5 - gradient).norm());
  }
  EXPECT_GT(error, 1e-3);
}

TEST(PrivateDiffRun, EstimatesExactGradientWithoutNoise) {
  const Problem problem = test::small_problem("matrix-sensing");
  PrivateDiff algorithm;
  algorithm.parameters.steps = 50;
  algorithm.parameters.step_size = 0.1;
  for (const Index period : {1, 2, 7}) {
    algorithm.parameters.period = period;
    expect_gradient_descent(
        test::run_unsound(algorithm, problem.facts, *problem.records, test::exact), problem, 0.1);
  }
}

TEST(PrivateDiffRun, IgnoresRestartPeriodWhenEstimatesAreExact) {
  // y moves T₂ exact ascent steps before each step of x, queried or not.
  const Problem problem = test::small_problem("cosine-minimax");
  PrivateDiff algorithm;
  auto& p = algorithm.parameters;
  p.steps = 30;
  p.step_size = 0.05;
  p.ascent_step = 0.3;
  p.ascent = AscentRule::queried;
  p.period = 1;
  const Ran restarted = test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
  p.period = 30;
  const Ran incremental =
      test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
  EXPECT_GT((restarted.iterates.back() - restarted.iterates.front()).norm(), 0.1);
  for (std::size_t t = 0; t < restarted.iterates.size(); ++t)
    EXPECT_LT((restarted.iterates[t] - incremental.iterates[t]).norm(), 1e-12);
  p.ascent = AscentRule::noise_free;
  EXPECT_EQ(test::run_unsound(algorithm, problem.facts, *problem.records, test::exact).iterates,
            incremental.iterates);
}

TEST(PrivateDiffRun, DrawsRandomOutputFromAllIterates) {
  const Problem problem = test::small_problem("matrix-sensing");
  PrivateDiff algorithm;
  auto& p = algorithm.parameters;
  p.steps = 5;
  const Ran last = test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
  p.random_output = true;
  std::set<std::ptrdiff_t> chosen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {  // misses one of five with p < 1e-5
    const Ran ran =
        test::run_unsound(algorithm, problem.facts, *problem.records, test::exact, seed);
    std::vector<Vector> points(ran.iterates.begin() + 1, ran.iterates.end());
    points.push_back(last.outcome.point);
    const auto at = std::ranges::find(points, ran.outcome.point);
    ASSERT_NE(at, points.end());
    chosen.insert(at - points.begin());
  }
  EXPECT_EQ(chosen.size(), 5);
}

TEST(DescentAscent, DpSgdaWithoutNoiseEqualsReferenceBitForBit) {
  for (const std::string name : {"matrix-sensing", "cosine-minimax"}) {
    const Problem problem = test::small_problem(name);
    for (const bool local : {true, false}) {
      if (local && problem.facts.dual_kind == DualKind::shared) continue;
      DpSgda dp;
      GradientDescentAscent reference;
      dp.parameters.local_dual = reference.parameters.local_dual = local;
      const Ran a = test::run_unsound(dp, problem.facts, *problem.records, test::exact);
      const Ran b = test::run_unsound(reference, problem.facts, *problem.records, test::exact);
      EXPECT_EQ(a.iterates, b.iterates);
      EXPECT_EQ(a.outcome.point, b.outcome.point);
      dp.parameters.clip = 1e-3;  // negative control: clipping is what sets them apart
      EXPECT_NE(test::run_unsound(dp, problem.facts, *problem.records, test::no_noise).iterates,
                b.iterates);
    }
  }
}

TEST(DescentAscent, ReferenceDescendsInXAndAscendsInY) {
  const Problem problem = test::small_problem("cosine-minimax");
  const PublicFacts& facts = problem.facts;
  GradientDescentAscent algorithm;
  algorithm.parameters.local_dual = false;
  algorithm.parameters.step_size = 0.05;
  algorithm.parameters.ascent_step = 0.3;
  algorithm.parameters.steps = 50;
  const Ran ran = test::run_unsound(algorithm, facts, *problem.records, test::exact);
  Vector x = facts.initial_point, y = facts.initial_dual;
  for (const Vector& iterate : ran.iterates) {
    EXPECT_LT((iterate - x).norm(), 1e-13);
    Vector g = Vector::Zero(x.size() + y.size());
    problem.records->add_gradients(Point(x, y), Block::joint, BatchView(0, facts.records),
                                   std::numeric_limits<double>::infinity(), g);
    g /= static_cast<double>(facts.records);
    x -= 0.05 * g.head(x.size());
    y += 0.3 * g.tail(y.size());
  }
  EXPECT_GT((ran.iterates.back() - ran.iterates.front()).norm(), 0.1);
}

TEST(DescentAscent, DpSgdaReturnsMeanOfItsIteratesOnRequest) {
  const Problem problem = test::small_problem("cosine-minimax");
  DpSgda algorithm;
  algorithm.parameters.local_dual = false;
  algorithm.parameters.step_size = 0.05;
  algorithm.parameters.ascent_step = 0.3;
  algorithm.parameters.steps = 20;
  PublicFacts facts = problem.facts;
  facts.initial_point.setConstant(0.4);
  const Ran last = test::run_unsound(algorithm, facts, *problem.records, test::exact);
  algorithm.parameters.average = true;
  const Ran ran = test::run_unsound(algorithm, facts, *problem.records, test::exact);
  EXPECT_EQ(ran.iterates, last.iterates);
  Vector mean = last.outcome.point;  // x_T; x_0 is not among them
  for (std::size_t t = 1; t < last.iterates.size(); ++t) mean += last.iterates[t];
  EXPECT_LT((ran.outcome.point - mean / 20).norm(), 1e-14);
  EXPECT_GT((ran.outcome.point - last.outcome.point).norm(), 1e-3);
}

/// Estimates by script, one gradient query a step; d = 1.
Ran scripted(const Algorithm& algorithm, std::function<double(double x)> gradient, double x0) {
  PublicFacts facts;
  facts.name = "script";
  facts.dimension = facts.records = 1;
  facts.initial_point = Vector::Constant(1, x0);
  const test::ScriptedRecords records(1, [&](std::size_t, const Point& at, Block) -> Vector {
    return Vector::Constant(1, gradient(at.x[0]));
  });
  return test::run_unsound(algorithm, facts, records, test::exact);
}

TEST(StochasticSpiderRun, SpacesKicksByEscapeLength) {
  StochasticSpider spider;
  auto& p = spider.parameters.spider;
  p.steps = 31;
  p.refresh = RefreshTrigger::always;
  p.escape.threshold = 0.5;
  p.escape.kick_deviation = 1;
  p.escape.steps = 9;
  const Ran ran = scripted(
      spider, [](double) { return 0.0; }, 0);
  EXPECT_EQ(ran.outcome.counts.at("escapes"), 3);  // t = 1, 11, 21: Γ steps, then the next test
  std::vector<std::size_t> moved;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    if (ran.iterates[t] != ran.iterates[t + 1]) moved.push_back(t);
  EXPECT_EQ(moved, (std::vector<std::size_t>{1, 11, 21}));
}

TEST(StochasticSpiderRun, KeepsCarriedKickInEstimate) {
  StochasticSpider spider;
  auto& p = spider.parameters.spider;
  p.steps = 5;
  p.drift_threshold = 1e9;
  p.escape.threshold = 0.5;
  p.escape.kick_deviation = 0.1;
  p.escape.steps = 100;
  const auto zero = [](double) { return 0.0; };
  const Ran plain = scripted(spider, zero, 0);
  EXPECT_EQ(plain.iterates[2], plain.iterates[4]);
  p.escape.carry_kick = true;
  const Ran carried = scripted(spider, zero, 0);
  EXPECT_EQ(carried.iterates[2], plain.iterates[2]);
  EXPECT_NEAR(carried.iterates[4][0], 3 * carried.iterates[2][0], 1e-15);
}

TEST(StochasticSpiderRun, PrintedEscapeExhaustsRefreshCapUnlikeRepaired) {
  const Problem problem = test::small_problem("cosine-saddle");
  StochasticSpider spider;
  auto& p = spider.parameters.spider;
  p.steps = 40;
  p.escape.threshold = 1e6;  // at every chance
  p.escape.steps = 4;
  p.refresh_cap = 3;
  p.drift_threshold = 1e6;
  p.escape.kind = EscapeKind::isotropic_fresh;
  const Ran printed = test::run_unsound(spider, problem.facts, *problem.records, test::no_noise);
  EXPECT_EQ(printed.outcome.status, Status::cap);
  EXPECT_EQ(printed.outcome.counts.at("refreshes"), 3);
  EXPECT_EQ(printed.outcome.point, printed.iterates.back());
  p.escape.kind = EscapeKind::isotropic_reuse;
  const Ran repaired = test::run_unsound(spider, problem.facts, *problem.records, test::no_noise);
  EXPECT_EQ(repaired.outcome.status, Status::steps_done);
  EXPECT_EQ(repaired.outcome.counts.at("refreshes"), 1);
}

// 0 means never, also where the estimate is exactly 0.
TEST(SpiderMethods, NeverEscapeAtZeroThreshold) {
  StochasticSpider spider;
  spider.parameters.spider.steps = 20;
  spider.parameters.spider.escape.kick_deviation = 1;
  const auto zero = [](double) { return 0.0; };
  const Ran ran = scripted(spider, zero, 0);
  EXPECT_EQ(ran.outcome.counts.at("escapes"), 0);
  EXPECT_EQ(ran.outcome.point[0], 0.0);
  AdaDpSpider ada;
  ada.parameters.steps = 20;
  const Ran still = scripted(ada, zero, 0);
  EXPECT_EQ(still.outcome.status, Status::steps_done);
  EXPECT_EQ(still.outcome.counts.at("escapes"), 0);
}

TEST(AdaDpSpiderRun, CertifiesPointThatNoRoundLeaves) {
  AdaDpSpider ada;
  auto& p = ada.parameters;
  p.steps = 1000;
  p.step_size = 0.5;
  p.chi = 0.1;
  p.escape_rounds = 3;
  p.escape_steps = 4;
  p.escape_radius = 10;
  p.drift_threshold = 1e-300;  // gradients alone
  // F = x²/2: descends to |x| ≤ 0.3 and stays
  const Ran ran = scripted(
      ada, [](double x) { return x; }, 1);
  EXPECT_EQ(ran.outcome.status, Status::certified);
  EXPECT_EQ(ran.outcome.point[0], 0.25);
  EXPECT_EQ(ran.outcome.steps, 2 + 1 + 3 * 4);
}

TEST(AdaDpSpiderRun, EndsEscapeOnLeavingBall) {
  AdaDpSpider ada;
  auto& p = ada.parameters;
  p.steps = 50;
  p.step_size = 0.5;
  p.chi = 0.1;
  p.escape_rounds = 3;
  p.escape_steps = 40;
  p.escape_radius = 0.5;
  p.drift_threshold = 1e-300;
  // F = −x²/2 up to |x| = 2, then x²/2: a maximum at 0 with a near-stationary neighbourhood
  const auto gradient = [](double x) { return std::abs(x) < 2 ? -x : x; };
  const Ran ran = scripted(ada, gradient, 0.01);
  EXPECT_EQ(ran.outcome.counts.at("escapes"), 1);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.steps, 50);
}

TEST(AdaDpSpiderRun, TreatsReturnToAnchorAsOrdinaryMove) {
  // Estimates stay exact through restarts on increments alone.
  const Problem problem = test::small_problem("cosine-saddle");
  AdaDpSpider ada;
  auto& p = ada.parameters;
  p.steps = 100;
  p.step_size = 0.2;
  p.chi = 1e3;
  p.escape_rounds = 5;
  p.escape_steps = 6;
  p.escape_radius = 1e3;
  p.drift_threshold = 1e9;
  const Ran ran = test::run_unsound(ada, problem.facts, *problem.records, test::exact);
  EXPECT_EQ(ran.outcome.counts.at("refreshes"), 1);
  EXPECT_EQ(ran.outcome.status, Status::certified);
  // Rounds are asked at the same points up to rounding, whatever lay between.
  ASSERT_EQ(ran.iterates.size(), 1 + 5 * 6);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t round = 1; round < 5; ++round)
      EXPECT_LT((ran.iterates[1 + k] - ran.iterates[1 + 6 * round + k]).norm(), 1e-13);
}

}  // namespace
}  // namespace dpsosp::baselines_test
