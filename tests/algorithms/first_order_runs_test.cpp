// SPDX-License-Identifier: Apache-2.0
// The noisy gradient descents: without noise they are the textbook methods, with noise its
// deviation is the one that their schedules plan with.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "dpsosp/baselines/abadi_2016.hpp"
#include "dpsosp/baselines/dp_gd.hpp"
#include "dpsosp/baselines/dp_gld.hpp"
#include "dpsosp/baselines/dp_prox_gd.hpp"
#include "dpsosp/baselines/dp_svrg.hpp"
#include "dpsosp/baselines/reference.hpp"
#include "dpsosp/baselines/zhou_2020.hpp"
#include "dpsosp/problems/registry.hpp"
#include "first_order_runs.hpp"

namespace dpsosp::first_order_runs_test {
namespace {

using namespace baselines;
using test::bowl;
using test::exact_run;
using test::gradient_at;
using test::plain_facts;
using test::Ran;
using test::Script;
using test::scripted_run;

TEST(NoisyDescent, EqualsGradientDescentOnFullBatchesWithoutNoise) {
  const Problem problem = bowl();
  DpGd gd;
  RrPsgd rrpsgd;
  DpProxGd prox;
  DpProxGd ridge;  // a weight of 0 whatever the kind
  ZhouSgd zhou;
  AbadiSgd abadi;
  DpGld gld;
  ReferenceSgd sgd;
  ReferenceSpider spider;
  DpSvrg svrg;
  ridge.parameters.regulariser.kind = Regulariser::Kind::l2;
  for (Algorithm* a : std::vector<Algorithm*>{&gd, &rrpsgd, &prox, &ridge, &zhou, &abadi, &gld,
                                              &sgd, &spider, &svrg}) {
    SCOPED_TRACE(a->card().key);
    test::set(*a, {{"steps", "50"}, {"step_size", "0.3"}, {"sampling", "all"}});
    const Ran ran = exact_run(*a, problem);
    ASSERT_EQ(ran.iterates.size(), 50U);
    for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
      const Vector step = (ran.iterates[t] - ran.iterates[t + 1]) / 0.3;
      ASSERT_LT((step - gradient_at(problem, ran.iterates[t])).norm(), 1e-12) << "t = " << t;
    }
  }
}

TEST(NoisyDescent, FollowsOutputRule) {
  const Problem problem = bowl();
  DpGd a;
  a.parameters.steps = 4;
  a.parameters.step_size = 0.3;
  std::set<std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Ran ran = exact_run(a, problem, seed);
    const auto found = std::ranges::find(ran.iterates, ran.outcome.point);
    ASSERT_NE(found, ran.iterates.end());
    seen.insert(static_cast<std::size_t>(found - ran.iterates.begin()));
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2, 3}));
  a.parameters.output = OutputRule::last;
  const Ran last = exact_run(a, problem);
  const Vector next = last.iterates.back() - 0.3 * gradient_at(problem, last.iterates.back());
  EXPECT_LT((last.outcome.point - next).norm(), 1e-14);
  a.parameters.output = OutputRule::min_estimate;
  const Ran least = exact_run(a, problem);
  for (const Vector& x : least.iterates)
    EXPECT_LE(gradient_at(problem, least.outcome.point).norm(), gradient_at(problem, x).norm());
}

TEST(AdaptiveSteps, ZhouStepsMatchElementwiseFormulas) {
  constexpr Index d = 3, T = 40;
  const Script script(d, T);
  ZhouRmsProp rmsprop;
  ZhouAdam adam;
  for (Zhou2020* a : {static_cast<Zhou2020*>(&rmsprop), static_cast<Zhou2020*>(&adam)}) {
    a->parameters.steps = T;
    a->parameters.step_size = 0.02;
    a->parameters.damping = 0.05;
    a->parameters.first_decay = 0.8;
    a->parameters.second_decay = 0.95;
    const auto iterates = scripted_run(*a, script, d);
    for (Index j = 0; j < d; ++j) {
      double x = 0, m = 0, v = 0;
      for (std::size_t t = 0; t < iterates.size(); ++t) {
        ASSERT_NEAR(iterates[t][j], x, 1e-13);
        const double g = script.answers[t][j];
        m = 0.8 * m + 0.2 * g;
        v = 0.95 * v + 0.05 * g * g;
        x -= 0.02 * (a == &adam ? m : g) / (std::sqrt(v) + 0.05);
      }
    }
  }
}

TEST(AdaptiveSteps, AdamStepsMatchStartAndNoiseCorrections) {
  constexpr Index d = 3, T = 40;
  const Script script(d, T);
  AbadiAdam a;
  auto& p = a.parameters;
  p.steps = T;
  p.step_size = 0.02;
  p.noise = 3.0;  // s = 3 · 2C/n; the run itself is answered without noise
  p.clip = 0.5;
  p.moment_floor = 0.9;
  const double s = 3.0 * 2 * 0.5 / 10;
  bool floored = false;
  for (const MomentCorrection correction : {MomentCorrection::start, MomentCorrection::noise}) {
    p.correction = correction;
    const auto iterates = scripted_run(a, script, d);
    for (Index j = 0; j < d; ++j) {
      double x = 0, m = 0, v = 0;
      for (std::size_t t = 0; t < iterates.size(); ++t) {
        ASSERT_NEAR(iterates[t][j], x, 1e-12);
        const double g = script.answers[t][j], k = static_cast<double>(t + 1);
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        const double m_hat = m / (1 - std::pow(0.9, k)), v_hat = v / (1 - std::pow(0.999, k));
        floored = floored || v_hat - s * s < 0.9;
        x -= 0.02 * m_hat /
             (correction == MomentCorrection::start ? std::sqrt(v_hat) + 1e-8
                                                    : std::sqrt(std::max(v_hat - s * s, 0.9)));
      }
    }
  }
  EXPECT_TRUE(floored);
}

TEST(AdaptiveSteps, LeastSecondMomentIsOfTheNoiseInForce) {
  const Script script(3, 40);
  AbadiAdam a;
  auto& p = a.parameters;
  p.steps = 40;
  p.correction = MomentCorrection::noise;
  p.clip = 0.5;
  for (const double ratio : {3.0, 30.0}) {
    a.set_common_noise(ratio);
    const double s = ratio * 2 * 0.5 / 10;
    p.moment_floor = 0;
    const auto derived = scripted_run(a, script, 3);
    p.moment_floor = s * s / 100;
    EXPECT_EQ(derived, scripted_run(a, script, 3));
    p.moment_floor *= 4;
    EXPECT_NE(derived, scripted_run(a, script, 3)) << "some moments are at the floor";
  }
}

TEST(DpSgd, MomentumStepsAlongMeanCorrectedForItsStart) {
  constexpr Index d = 3, T = 30;
  const Script script(d, T);
  AbadiSgd a;
  a.parameters.steps = T;
  a.parameters.step_size = 0.02;
  a.parameters.first_decay = 0.8;
  const auto iterates = scripted_run(a, script, d);
  Vector x = Vector::Zero(d), m = Vector::Zero(d);
  for (std::size_t t = 0; t < iterates.size(); ++t) {
    ASSERT_LT((iterates[t] - x).norm(), 1e-13) << "t = " << t;
    m = 0.8 * m + 0.2 * script.answers[t];
    x -= 0.02 * m / (1 - std::pow(0.8, static_cast<double>(t + 1)));
  }
}

TEST(DpSgd, DividesByExpectedBatchAndKeepsEmptyBatches) {
  // q n = 1: a step is −η c times the number of records that joined, none one time in three.
  const PublicFacts facts = plain_facts(10, 1);
  const test::ScriptedRecords records(
      10, [](std::size_t, const Point&, Block) -> Vector { return Vector::Constant(1, 2.0); });
  AbadiSgd a;
  test::set(a, {{"steps", "400"}, {"step_size", "0.5"}, {"sampling", "poisson"}, {"batch", "1"}});
  const Ran ran = test::run_unsound(a, facts, records, test::exact);
  int empty = 0;
  double joined = 0;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const double count = ran.iterates[t][0] - ran.iterates[t + 1][0];
    EXPECT_NEAR(count, std::round(count), 1e-9);
    empty += std::round(count) == 0 ? 1 : 0;
    joined += count;
  }
  EXPECT_NEAR(empty / 399.0, std::pow(0.9, 10), 0.1);
  EXPECT_NEAR(joined / 399.0, 1.0, 0.2);
  EXPECT_EQ(ran.ledger.queries(), 400);
}

TEST(DpSgd, TailAverageIsMeanOfLastIterates) {
  constexpr Index d = 2, T = 10;
  const Script script(d, T);
  AbadiSgd a;
  a.parameters.steps = T;
  a.parameters.step_size = 0.5;
  a.parameters.tail_average = 0.3;
  const auto records = script.records();
  const Ran ran = test::run_unsound(a, plain_facts(10, d), records, test::exact);
  const Vector last = ran.iterates[9] - 0.5 * script.answers[9];
  EXPECT_LT((ran.outcome.point - (ran.iterates[8] + ran.iterates[9] + last) / 3).norm(), 1e-14);
}

TEST(Regulariser, ProxMinimisesItsObjective) {
  for (const auto kind : {Regulariser::Kind::l1, Regulariser::Kind::l2}) {
    const Regulariser r{kind, 0.7};
    const double step = 0.4;
    for (const double start : {-2.0, -0.28, -0.1, 0.0, 0.2, 0.3, 5.0}) {
      Vector x = Vector::Constant(1, start);
      r.prox(step, x);
      const auto objective = [&](double y) {
        return r.value(Vector::Constant(1, y)) + (y - start) * (y - start) / (2 * step);
      };
      for (double y = -6; y <= 6; y += 0.01)
        EXPECT_LE(objective(x[0]), objective(y) + 1e-12) << start << ' ' << y;
    }
  }
}

TEST(DpProxGdRun, DescendsRegularisedObjectiveWithoutNoise) {
  const Problem problem = bowl();
  DpProxGd a;
  auto& p = a.parameters;
  p.steps = 200;
  p.step_size = 1 / problem.facts.constants[constant::smoothness];
  p.regulariser.weight = 0.05;
  p.output = OutputRule::min_estimate;
  const Ran ran = exact_run(a, problem);
  const auto regularised = [&](const Vector& x) {
    return problem.empirical->value(x) + p.regulariser.value(x);
  };
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    EXPECT_LE(regularised(ran.iterates[t + 1]), regularised(ran.iterates[t]) + 1e-14);
  // the shortest prox-gradient is returned, not the shortest gradient
  Vector measured(problem.facts.dimension);
  const auto stationarity = [&](const Vector& x) {
    prox_gradient(p.regulariser, p.step_size, x, gradient_at(problem, x), measured);
    return measured.norm();
  };
  const double returned = stationarity(ran.outcome.point);
  for (const Vector& x : ran.iterates) EXPECT_LE(returned, stationarity(x) + 1e-13);
  EXPECT_LT(returned, 0.1 * stationarity(ran.iterates.front()));
}

TEST(DpGldRun, StaysInDomainAndAddsRidge) {
  const Problem problem = test::small_problem("double-well");
  ASSERT_NE(problem.facts.domain.kind, Domain::Kind::everywhere);
  DpGld a;
  auto& p = a.parameters;
  p.steps = 30;
  p.step_size = 0.2;
  p.clip = 1.0;
  p.noise = 5000.0;
  const Ran noisy = test::run_unsound(a, problem.facts, *problem.records, {});
  for (const Vector& x : noisy.iterates) EXPECT_TRUE(problem.facts.domain.contains(x));
  p.project = false;
  const Ran out = test::run_unsound(a, problem.facts, *problem.records, {});
  EXPECT_FALSE(std::ranges::all_of(
      out.iterates, [&](const Vector& x) { return problem.facts.domain.contains(x); }));
  p.ridge = 0.5;
  const Ran ran = exact_run(a, problem);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const Vector step = (ran.iterates[t] - ran.iterates[t + 1]) / 0.2;
    ASSERT_LT((step - gradient_at(problem, ran.iterates[t]) - 0.5 * ran.iterates[t]).norm(), 1e-12);
  }
}

// Without data a step is the noise alone, of the deviation that schedules plan with.
TEST(NoisyDescent, DrawsPlannedNoise) {
  const Problem problem = test::small_problem("cosine-saddle", 60);
  for (const std::string sampling : {"all", "sample", "poisson"}) {
    DpGd a;
    test::set(a, {{"steps", "1001"},
                  {"step_size", "0.3"},
                  {"sampling", sampling},
                  {"batch", "12"},
                  {"clip", "0.7"},
                  {"noise", "1.9"}});
    const Ran ran = test::run_unsound(a, problem.facts, *problem.records, test::no_data);
    double sum = 0, count = 0;
    for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
      sum += ((ran.iterates[t] - ran.iterates[t + 1]) / 0.3).squaredNorm();
      count += 6;
    }
    // five standard deviations of a mean of squares; the numbers are fixed by the seed
    const double variance = std::pow(a.parameters.deviation(60), 2);
    EXPECT_NEAR(sum / count / variance, 1.0, 5 * std::sqrt(2 / count)) << sampling;
  }
}

// The promised bound on the mean of ‖∇F‖² at a uniform iterate, measured over whole runs.
TEST(DescentBound, HoldsOnAverageForFullAndSampledBatches) {
  const Problem problem = test::small_problem("cosine-saddle", 400);
  const auto mean_square = [&](const Algorithm& a, const FilterRule& rule) {
    double sum = 0, count = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      for (const Vector& x :
           test::run_enforced(a, problem.facts, *problem.records, rule, seed).iterates) {
        sum += gradient_at(problem, x).squaredNorm();
        ++count;
      }
    return sum / count;
  };
  DpGd full;
  const Scheduled f = full.schedule(Schedule::practical, problem.facts, {2, 1e-6}, Calibrator::cks);
  EXPECT_LE(mean_square(full, f.rule), f.alpha * f.alpha);
  AbadiSgd sampled;
  const Scheduled s =
      sampled.schedule(Schedule::practical, problem.facts, {2, 1e-6}, Calibrator::rdp);
  ASSERT_GT(s.alpha, 0);
  EXPECT_LE(mean_square(sampled, s.rule), s.alpha * s.alpha);
}

TEST(ProxBound, HoldsOnAverage) {
  const Problem problem = test::small_problem("cosine-saddle", 400);
  DpProxGd a;
  a.parameters.regulariser.weight = 0.02;
  const Scheduled s = a.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
  double sum = 0, count = 0;
  Vector measured(problem.facts.dimension);
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (const Vector& x :
         test::run_enforced(a, problem.facts, *problem.records, s.rule, seed).iterates) {
      prox_gradient(a.parameters.regulariser, a.parameters.step_size, x, gradient_at(problem, x),
                    measured);
      sum += measured.squaredNorm();
      ++count;
    }
  EXPECT_LE(sum / count, s.alpha * s.alpha);
}

// E[F(w_T) − F*] of the schedule for PL losses; the minimum is 0 where records are centred.
TEST(PlBound, HoldsForLastIterate) {
  const Problem problem = find_problem("separable-pl")->make({.records = 20000, .dimension = 4});
  DpGd a;
  a.parameters.pl = true;
  const Scheduled s = a.schedule(Schedule::practical, problem.facts, {1, 1e-6}, Calibrator::cks);
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    sum += problem.empirical->value(
        test::run_enforced(a, problem.facts, *problem.records, s.rule, seed).outcome.point);
  EXPECT_GT(s.excess_risk, 0);
  EXPECT_LE(sum / 10, s.excess_risk);
  EXPECT_LT(s.excess_risk, 0.1 * problem.empirical->value(problem.facts.initial_point));
}

}  // namespace
}  // namespace dpsosp::first_order_runs_test
