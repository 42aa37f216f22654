// SPDX-License-Identifier: Apache-2.0
// First-order methods whose estimates are sums of differences: with scripted answers every estimate
// is the sum that its paper says, without noise it is the exact gradient.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "dpsosp/baselines/dp_spider.hpp"
#include "dpsosp/baselines/dp_svrg.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/baselines/momentum_aggregation.hpp"
#include "dpsosp/baselines/reference.hpp"
#include "dpsosp/baselines/tree_spider.hpp"
#include "dpsosp/problems/registry.hpp"
#include "first_order_runs.hpp"

namespace dpsosp::first_order_differences_test {
namespace {

using namespace baselines;
using test::bowl;
using test::exact_run;
using test::gradient_at;
using test::plain_facts;
using test::Ran;
using test::Script;
using test::scripted_run;

TEST(VarianceReduction, SvrgUsesEpochGradientAndSpiderSumsDifferences) {
  constexpr Index d = 3, T = 23, m = 7;
  const Script script(d, T);
  DpSvrg svrg;
  ReferenceSpider spider;
  for (Algorithm* a : {static_cast<Algorithm*>(&svrg), static_cast<Algorithm*>(&spider)}) {
    test::set(*a, {{"steps", "23"}, {"period", "7"}, {"step_size", "0.5"}, {"sampling", "all"}});
    const auto iterates = scripted_run(*a, script, d);
    Vector v(d);
    for (std::size_t t = 0; t + 1 < iterates.size(); ++t) {
      const std::size_t epoch = t - t % m;
      if (t == epoch)
        v = script.answers[t];
      else
        v = (a == &svrg ? script.answers[epoch] : v) + script.answers[t];
      ASSERT_LT(((iterates[t] - iterates[t + 1]) / 0.5 - v).norm(), 1e-12) << t;
    }
  }
}

TEST(VarianceReduction, SvrgTakesDifferencesFromEpochPoint) {
  const Problem problem = bowl();
  DpSvrg a;
  test::set(a, {{"steps", "12"}, {"period", "5"}, {"step_size", "0.3"}});
  const test::SpyRecords spy(*problem.records);
  const Ran ran = test::run_unsound(a, problem.facts, spy, test::exact);
  for (std::size_t t = 0; t < 12; ++t) {
    EXPECT_EQ(spy.asked[t].difference, t % 5 != 0);
    if (t % 5 != 0) {
      EXPECT_EQ(spy.asked[t].x_previous, ran.iterates[t - t % 5]);
    }
  }
}

TEST(VarianceReduction, RefreshShareOfBudgetIsChargedForRefreshes) {
  const Problem problem = bowl();
  constexpr double ratio = 3, share = 0.7;
  DpSvrg svrg;
  DpSpider spider;
  MomentumAggregation averaged;
  for (Algorithm* a : {static_cast<Algorithm*>(&svrg), static_cast<Algorithm*>(&spider),
                       static_cast<Algorithm*>(&averaged)}) {
    SCOPED_TRACE(a->card().key);
    test::set(*a, {{"steps", "23"}, {"step_size", "0.05"}, {"refresh_share", "0.7"}});
    if (a != &averaged) test::set(*a, {{"period", "7"}});
    a->set_common_noise(ratio);
    const Ran ran = test::run_unsound(*a, problem.facts, *problem.records, {});
    std::map<std::string, double> rho;
    for (const LedgerEntry& e : ran.ledger.entries())
      rho[e.query] += static_cast<double>(e.queries()) * zcdp(*e.event).value();
    const double whole = 23 / (2 * ratio * ratio);
    ASSERT_EQ(rho.size(), 2U);
    EXPECT_NEAR(rho.at("gradient") / whole, share, 1e-9);
    // The tree of momentum aggregation has room for more differences than 23 steps ask for.
    const double least = a == &averaged ? 0.9 : 1 - 1e-9;
    EXPECT_GE(rho.at("gradient_difference") / whole, least * (1 - share));
    EXPECT_LE(rho.at("gradient") + rho.at("gradient_difference"), whole);
  }
}

// Murata & Suzuki 2023; baselines notes, 8.1
TEST(VarianceReduction, DpSpiderIsDiff2OfOneWorkerWhereNoDifferenceIsCapped) {
  const Problem p = test::small_problem("double-well");
  DpSpider algorithm;
  algorithm.parameters = {.steps = 30, .period = 7, .clip_refresh = 2.0, .clip_increment = 1.5};
  algorithm.parameters.output = OutputRule::last;
  algorithm.parameters.refresh_noise = 3.0;
  algorithm.parameters.increment_noise = 2.0;
  for (const double eta : {0.1, 2.0}) {
    algorithm.parameters.step_size = eta;
    const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, {});
    UnsoundCurator curator(p.facts, *p.records, {.seed = 1}, {});
    const Batch all = curator.draw(BatchPolicy::all(), BatchUse::several_queries);
    Vector x = p.facts.initial_point, previous = x, v(x.size()), difference(x.size());
    bool same = true, capped = false;
    for (std::size_t r = 0; r < 30; ++r) {
      same = same && ran.iterates[r] == x;
      const double limit = 1.5 * (x - previous).norm();
      if (r % 7 == 0) {
        curator.gradient(Point(x), all, {2.0, Noise::sensitivity_ratio(3.0)}, v);
      } else {
        curator.gradient_difference(Point(x), Point(previous), all,
                                    {limit, Noise::sensitivity_ratio(2.0)}, difference);
        v += difference;
        capped = capped || limit > 4.0;
      }
      previous = x;
      x -= eta * v;
    }
    EXPECT_EQ(same && ran.outcome.point == x, !capped) << eta;
    EXPECT_EQ(capped, eta == 2.0);
  }
}

/// The estimate at time t of a Fenwick chain: the answers at t, t − lowbit(t), …, 0.
Vector chain(const Script& script, std::size_t start, std::size_t t) {
  Vector sum = script.answers[start];
  for (; t > 0; t &= t - 1) sum += script.answers[start + t];
  return sum;
}

TEST(MomentumAggregationRun, SumsAnswersAlongSetBits) {
  constexpr Index d = 3, T = 70;
  const Script script(d, T);
  MomentumAggregation a;
  a.parameters.steps = T;
  a.parameters.step_size = 0.25;
  const auto iterates = scripted_run(a, script, d);
  for (std::size_t t = 0; t + 1 < iterates.size(); ++t)
    ASSERT_LT(((iterates[t] - iterates[t + 1]) / 0.25 - chain(script, 0, t).normalized()).norm(),
              1e-11)
        << t;
  a.parameters.momentum = 0.3;
  const auto averaged = scripted_run(a, script, d);
  Vector m = script.answers[0];
  for (std::size_t t = 0; t + 1 < averaged.size(); ++t) {
    if (t > 0) m = 0.7 * m + 0.3 * chain(script, 0, t);
    ASSERT_LT(((averaged[t] - averaged[t + 1]) / 0.25 - m.normalized()).norm(), 1e-11) << t;
  }
}

TEST(MomentumAggregationRun, EqualsNormalisedDescentWithoutNoise) {
  const Problem problem = bowl();
  MomentumAggregation a;
  a.parameters.steps = 60;
  a.parameters.step_size = 0.05;
  const Ran ran = exact_run(a, problem);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const Vector step = (ran.iterates[t] - ran.iterates[t + 1]) / 0.05;
    ASSERT_LT((step - gradient_at(problem, ran.iterates[t]).normalized()).norm(), 1e-9) << t;
  }
}

TEST(MomentumAggregationRun, UsesLevelNoiseAndClipsAtActualDistance) {
  const Problem problem = bowl();
  MomentumAggregation a;
  auto& p = a.parameters;
  p.steps = 32;
  p.step_size = 0.05;
  p.difference_budget = 1.0;
  p.oracle.clip_refresh = 2.0;
  p.oracle.clip_increment = 1.5;
  p.oracle.refresh_noise = 1.0;
  const Index n = problem.facts.records;
  const Ran ran = test::run_unsound(a, problem.facts, *problem.records, {});
  const LevelNoise levels = level_noise(2, 1.5, 0.05, 32, static_cast<double>(n), 1.0);
  ASSERT_EQ(ran.ledger.queries(), 32);
  // entries of one level at a time: neighbours differ in level, so no two merge but t = 0
  ASSERT_EQ(ran.ledger.entries().size(), 32U);
  for (std::size_t t = 1; t < 32; ++t) {
    const LedgerEntry& e = ran.ledger.entries()[t];
    const auto level = static_cast<std::size_t>(std::countr_zero(t));
    EXPECT_DOUBLE_EQ(e.deviation_low, levels.deviation[level]);
    EXPECT_LE(e.sensitivity_high, levels.sensitivity[level] * (1 + 1e-12));
    const double moved = (ran.iterates[t] - ran.iterates[t & (t - 1)]).norm();
    EXPECT_NEAR(e.sensitivity_high, 2 * std::min(1.5 * moved, 4.0) / static_cast<double>(n), 1e-14);
  }
}

TEST(MomentumAggregationRun, MeetsBoundOnAverage) {
  const Problem problem = test::small_problem("cosine-saddle", 2000);
  MomentumAggregation a;
  const Scheduled s = a.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
  EXPECT_EQ(s.utility, Utility::proved);
  double sum = 0, count = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (const Vector& x :
         test::run_enforced(a, problem.facts, *problem.records, s.rule, seed).iterates) {
      sum += gradient_at(problem, x).norm();
      ++count;
    }
  EXPECT_GT(count, 500);
  EXPECT_LE(sum / count, s.alpha);
}

TEST(TreeSpiderRun, SumsRightChildrenAboveEachLeaf) {
  constexpr Index d = 3, T = 40;
  const Script script(d, T);
  TreeSpider a;
  auto& p = a.parameters;
  p.steps = T;
  p.depth = 3;  // rounds of 8 leaves
  p.step_size = 0.5;
  p.sampling = Sampling::all;
  const double step = 0.5 / std::exp2(1.5);
  const auto iterates = scripted_run(a, script, d);
  for (std::size_t t = 0; t + 1 < iterates.size(); ++t)
    ASSERT_LT(
        ((iterates[t] - iterates[t + 1]) / step - chain(script, t - t % 8, t % 8).normalized())
            .norm(),
        1e-11)
        << t;
}

TEST(TreeSpiderRun, EstimatesExactGradientOnIdenticalRecords) {
  // the octopus and others have random records; here every record is the same quadratic
  const PublicFacts facts = plain_facts(400, 4);
  const Vector centre = Vector::LinSpaced(4, 1.0, 2.0);
  class Quadratic final : public test::WrittenRecords {
   public:
    explicit Quadratic(const Vector& c) : WrittenRecords(400), c_(c) {}

   private:
    Vector of(Index, const Summand& s) const override {
      return s.point.x - (s.previous ? Vector(s.previous->x) : c_);
    }
    Vector c_;
  };
  TreeSpider a;
  auto& p = a.parameters;
  p.depth = 3;
  p.steps = 24;
  p.batch = 32;
  p.step_size = 0.2;
  const Ran ran = test::run_unsound(a, facts, Quadratic(centre), test::exact);
  ASSERT_EQ(ran.outcome.status, Status::steps_done);
  const double step = 0.2 / std::exp2(1.5);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    ASSERT_LT(
        ((ran.iterates[t] - ran.iterates[t + 1]) / step - (ran.iterates[t] - centre).normalized())
            .norm(),
        1e-11);
}

TEST(TreeSpiderRun, HalvesBatchPerLevelAsPlanned) {
  const Problem problem = test::small_problem("cosine-saddle", 500);
  TreeSpider a;
  auto& p = a.parameters;
  p.depth = 3;
  p.batch = 32;
  p.noise = 1.0;
  for (const Index steps : {1, 2, 5, 8, 9, 20, 24}) {
    p.steps = steps;
    const Ran ran = test::run_unsound(a, problem.facts, *problem.records, {});
    std::map<Index, std::int64_t> asked, planned;
    for (const LedgerEntry& e : ran.ledger.entries()) asked[e.policy.size] += e.count;
    for (const PlannedQuery& q : a.plan(problem.facts))
      if (q.count > 0) planned[q.policy.size] += q.count;
    EXPECT_EQ(asked, planned) << steps;
  }
  EXPECT_EQ(a.plan(problem.facts).size(), 4U);  // 24 steps: 3 roots of 32, then 3, 6, 12
  EXPECT_EQ(a.plan(problem.facts)[3].count, 12);
  EXPECT_EQ(a.plan(problem.facts)[3].policy.size, 4);
}

TEST(TreeSpiderRun, ReturnsFirstLeafWithShortEstimate) {
  const Problem problem = test::small_problem("cosine-saddle", 400);
  TreeSpider a;
  auto& p = a.parameters;
  p.depth = 2;
  p.steps = 200;
  p.sampling = Sampling::all;
  p.step_size = 0.1;
  p.clip_increment = problem.facts.constants[constant::smoothness];
  p.alpha = 0.1 * gradient_at(problem, problem.facts.initial_point).norm();
  const Ran ran = exact_run(a, problem);
  ASSERT_EQ(ran.outcome.status, Status::certified);
  EXPECT_EQ(ran.outcome.point, ran.iterates.back());
  EXPECT_LE(gradient_at(problem, ran.outcome.point).norm(), 2 * p.alpha);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    EXPECT_GT(gradient_at(problem, ran.iterates[t]).norm(), 2 * p.alpha);
}

TEST(TreeSpiderRun, BoundNoiseIsAtLeastDistanceNoise) {
  const Problem problem = test::small_problem("cosine-saddle", 500);
  TreeSpider a;
  auto& p = a.parameters;
  p.depth = 3;
  p.steps = 24;
  p.batch = 32;
  p.noise = 2.0;
  p.step_size = 0.3;
  p.node_noise = NodeNoise::bound;
  const Ran ran = test::run_unsound(a, problem.facts, *problem.records, {});
  for (const LedgerEntry& e : ran.ledger.entries()) {
    EXPECT_GE(e.deviation_low, 2.0 * e.sensitivity_high * (1 - 1e-12));
    if (e.query != "gradient") {  // 2β 2^{D/2}/b times z, whatever the depth
      EXPECT_DOUBLE_EQ(e.deviation_high, 2.0 * 2 * 0.3 * std::exp2(1.5) / 32);
    }
  }
}

TEST(KlSpiderRun, ReachesPromisedExcessWithoutNoise) {
  const Problem problem = find_problem("radial-ripple")->make({.records = 10000});
  KlSpider a;
  const Scheduled s = a.schedule(Schedule::practical, problem.facts, {100, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_unsound(a, problem.facts, *problem.records, test::no_noise);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  const double start = problem.empirical->value(problem.facts.initial_point);
  EXPECT_LE(problem.empirical->value(ran.outcome.point), s.excess_risk);  // min F = 0
  EXPECT_GT(start, 10 * s.excess_risk);
}

TEST(KlSpiderRun, TakesFixedLengthStepsUntilGradientIsShort) {
  constexpr Index d = 3;
  const Script script(d, 60);
  KlSpider a;
  auto& p = a.parameters;
  p.kl_exponent = 4.0 / 3;
  p.initial_excess = 1.0;
  p.contraction = 1.5;
  p.target_excess = 0.05;
  p.kl_gamma = 0.7;
  p.oracle.clip_increment = 2.0;
  p.stages = 6;
  const auto iterates = scripted_run(a, script, d);
  double target = 1.0;
  std::size_t t = 0;
  for (int j = 0; j < 6; ++j) {
    target = std::max(target / 1.5, 0.05);
    const double root = std::pow(target, 0.75);
    Vector g = script.answers[t];
    for (Index i = 1; i <= static_cast<Index>(std::ceil(std::sqrt(1.0 / target))); ++i, ++t) {
      if (i > 1) g += script.answers[t];
      ASSERT_LT(t, iterates.size());
      if (g.norm() < 7 * root / (8 * 0.7)) {
        ++t;
        if (t < iterates.size()) {
          EXPECT_EQ(iterates[t], iterates[t - 1]);
        }
        break;
      }
      if (t + 1 < iterates.size()) {
        EXPECT_LT((iterates[t] - iterates[t + 1] - root / (4 * 0.7 * 2) * g.normalized()).norm(),
                  1e-12);
      }
    }
  }
  EXPECT_EQ(t, iterates.size());
}

TEST(PerturbedGdRun, EscapesSaddleAndCertifiesMinimum) {
  Problem problem = bowl();
  problem.facts.initial_point.setZero();
  const auto level = [&](const Vector& x) { return gradient_at(problem, x).norm(); };
  // from a strict saddle: the gradient is small and plain descent would hardly move
  for (const Landmark& l : problem.landmarks)
    if (l.kind == Landmark::Kind::strict_saddle && l.of == Landmark::Of::empirical)
      problem.facts.initial_point = l.point;
  PerturbedGd a;
  a.parameters.relative_alpha = 0.02;
  const Scheduled s = a.schedule(Schedule::practical, problem.facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = exact_run(a, problem);
  EXPECT_EQ(ran.outcome.status, Status::certified);
  EXPECT_LE(level(ran.outcome.point), s.alpha);
  const double start = problem.empirical->value(problem.facts.initial_point);
  EXPECT_LT(problem.empirical->value(ran.outcome.point), start - a.parameters.decrease);
  EXPECT_GE(ran.outcome.counts.at("escapes"), 1);
  // no direction of negative curvature is left
  Vector hv(problem.facts.dimension);
  for (Index j = 0; j < problem.facts.dimension; ++j) {
    const Vector e = Vector::Unit(problem.facts.dimension, j);
    problem.empirical->hessian_product(ran.outcome.point, e, hv);
    EXPECT_GE(e.dot(hv),
              -std::sqrt(problem.facts.constants[constant::hessian_lipschitz] * s.alpha));
  }
}

}  // namespace
}  // namespace dpsosp::first_order_differences_test
