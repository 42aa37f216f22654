// SPDX-License-Identifier: Apache-2.0
// The experiment of the published version: lowy-2024 notes, 5.2 (claim C17).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/lowy_2024/published_experiment.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::lowy_2024::lowy_2024_experiment_test {
namespace {

/// n = d = 100, records uniform in the unit ball, start uniform in the ball of radius 2.
Problem published(Index n = 100, Index d = 100) {
  const auto family = find_problem("trig-radial");
  Fields fields = family->fields();
  set_field(fields, "trig-radial", "law", "ball");
  return family->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

const UnsoundCurator::Departures script_door{.realised_divisor = true, .resample_empty = true};

PublishedExperiment prepared(PublishedStage stage, Variant variant, const PublicFacts& facts,
                             const PrivacyBudget& budget, Scheduled* scheduled = nullptr,
                             Calibrator calibrator = Calibrator::cks,
                             Schedule kind = Schedule::paper) {
  PublishedExperiment algorithm;
  algorithm.set_variant(variant);
  algorithm.parameters.stage = stage;
  const Scheduled s = algorithm.schedule(kind, facts, budget, calibrator);
  algorithm.check(facts);
  if (scheduled != nullptr) *scheduled = s;
  return algorithm;
}

// The formulas of lowy-2024 notes, 5.2, at n = 100, ε = 1, δ = n^{−3/2}.
TEST(PublishedExperiment, MatchesScriptFormulas) {
  const double log = 1.5 * std::log(100.0);
  const ScriptSgd sgd = script_sgd(100, 1, 1e-3, 100, 5);
  EXPECT_NEAR(sgd.deviation * sgd.deviation, 8 * 100 * 25 * log / 1e4, 1e-9);
  EXPECT_DOUBLE_EQ(sgd.batch, 5);
  const ScriptSpider spider = script_spider(100, 1, 1e-3, 100, 25, 5, 6);
  EXPECT_NEAR(spider.anchor_deviation * spider.anchor_deviation, 8 * 4 * 25 * log / 1e4, 1e-9);
  EXPECT_NEAR(spider.difference_deviation * spider.difference_deviation, 8 * 96 * 36 * log / 1e4,
              1e-9);
  EXPECT_NEAR(spider.difference_cap * spider.difference_cap, 32 * 4 * 25 * log / 1e4, 1e-9);
  EXPECT_DOUBLE_EQ(spider.batch, 25);
  EXPECT_DOUBLE_EQ(script_sgd(100, 0.01, 1e-3, 100, 5).batch, 1);
  EXPECT_DOUBLE_EQ(script_sgd(100, 1e4, 1e-3, 100, 5).batch, 100);
}

TEST(PublishedExperiment, WarmStartGivesQuarterOfEpsilonToDpSgd) {
  const Problem p = published();
  const PublishedExperiment a =
      prepared(PublishedStage::warm_start, Variant::printed, p.facts, {2, 1e-3});
  EXPECT_DOUBLE_EQ(a.parameters.sgd_deviation, script_sgd(100, 0.5, 1e-3, 25, 5).deviation);
  EXPECT_DOUBLE_EQ(a.parameters.anchor_deviation,
                   script_spider(100, 1.5, 1e-3, 100, 25, 5, 6).anchor_deviation);
  EXPECT_EQ(a.plan(p.facts).size(), 3U);
  EXPECT_EQ(a.plan(p.facts)[0].count, 25);
  EXPECT_EQ(a.plan(p.facts)[1].count, 4);
  EXPECT_EQ(a.plan(p.facts)[2].count, 96);
}

TEST(PublishedExperiment, KeepsIteratesInBall) {
  const Problem p = published();
  for (const PublishedStage stage :
       {PublishedStage::dp_sgd, PublishedStage::dp_spider, PublishedStage::warm_start}) {
    const PublishedExperiment a = prepared(stage, Variant::printed, p.facts, {0.1, 1e-3});
    const test::Ran ran = test::run_unsound(a, p.facts, *p.records, script_door);
    const std::size_t steps = stage == PublishedStage::warm_start ? 125 : 100;
    EXPECT_EQ(ran.iterates.size(), steps);
    EXPECT_EQ(ran.outcome.steps, static_cast<Index>(steps));
    for (const Vector& x : ran.iterates) {
      EXPECT_LE(x.norm(), 2 * (1 + 1e-12));
    }
    EXPECT_LE(ran.outcome.point.norm(), 2 * (1 + 1e-12));
  }
}

TEST(PublishedExperiment, EqualsProjectedGradientDescentWithoutNoise) {
  const Problem p = published(40, 6);
  for (const PublishedStage stage :
       {PublishedStage::dp_sgd, PublishedStage::dp_spider, PublishedStage::warm_start}) {
    PublishedExperiment a;
    a.parameters.stage = stage;
    a.parameters.step_size = 0.3;
    a.parameters.warm_step_size = 0.1;
    a.parameters.sgd_batch = a.parameters.difference_batch = 40;
    a.parameters.clip_difference = 1e6;
    a.parameters.clip = 1e6;
    const test::Ran ran = test::run_unsound(a, p.facts, *p.records, test::no_noise);
    Vector x = p.facts.initial_point, g(6);
    for (std::size_t t = 0; t < ran.iterates.size(); ++t) {
      ASSERT_LE((ran.iterates[t] - x).norm(), 1e-10) << t;
      p.empirical->gradient(x, g);
      x -= (stage == PublishedStage::warm_start && t < 25 ? 0.1 : 0.3) * g;
      if (x.norm() > 2) x *= 2 / x.norm();
    }
    EXPECT_LE((ran.outcome.point - x).norm(), 1e-10);
  }
}

double spent(const Ledger& ledger, const FilterRule& rule) {
  double total = 0;
  for (const LedgerEntry& e : ledger.entries())
    total += static_cast<double>(e.count) * rule.charge(*e.event);
  return total;
}

TEST(PublishedExperiment, RepairedRunsSpendBudgetWithoutRefusal) {
  const Problem p = published();
  for (const PublishedStage stage :
       {PublishedStage::dp_sgd, PublishedStage::dp_spider, PublishedStage::warm_start})
    for (const Calibrator calibrator : {Calibrator::cks, Calibrator::rdp})
      for (const Schedule kind : {Schedule::paper, Schedule::practical})
        for (const double epsilon : {0.1, 8.0}) {
          Scheduled s;
          const PublishedExperiment a =
              prepared(stage, Variant::repaired, p.facts, {epsilon, 1e-3}, &s, calibrator, kind);
          const test::Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
          EXPECT_EQ(ran.outcome.status, Status::steps_done);
          EXPECT_NEAR(spent(ran.ledger, s.rule) / s.rule.capacity, 1, 1e-9)
              << to_string(calibrator) << ' ' << epsilon;
          EXPECT_LE(ran.ledger.spent(1e-3).epsilon, epsilon * (1 + 1e-9));
        }
}

// The script divides by the realised size of a Poisson batch and draws an empty batch again. A
// batch may be one record, and exchanging it moves the mean by 2L. The ledger charges every batch
// as that and credits no sampling: an upper bound, far above ε, and not what is spent.
TEST(PublishedExperiment, ScriptLedgerCreditsNoSampling) {
  const Problem p = published();
  for (const PublishedStage stage :
       {PublishedStage::dp_sgd, PublishedStage::dp_spider, PublishedStage::warm_start}) {
    const PublishedExperiment a = prepared(stage, Variant::printed, p.facts, {1, 1e-3});
    const test::Ran printed = test::run_unsound(a, p.facts, *p.records, script_door);
    EXPECT_GT(printed.ledger.spent(1e-3).epsilon, 10.0);
    Curator enforced(p.facts, *p.records, filter_rule({1, 1e-3}, Calibrator::cks), {.seed = 1});
    UnsoundCurator door(p.facts, *p.records, {.seed = 1}, script_door);
    EXPECT_EQ(door.label(), PrivacyLabel::violated);
    EXPECT_EQ(enforced.label(), PrivacyLabel::enforced);
  }
}

// Counts the batches whose mean is exactly 0: the empty ones.
TEST(ScriptCurator, RedrawsEmptyBatches) {
  const Problem p = published(12, 3);
  Vector g(3), all(3);
  const GradientQuery query{100.0, Noise::sensitivity_ratio(1.0), Block::x};
  const Point at(p.facts.initial_point);
  const auto empties = [&](const UnsoundCurator::Departures& departures) {
    int count = 0;
    UnsoundCurator curator(p.facts, *p.records, {.seed = 5}, departures);
    for (int k = 0; k < 200; ++k) {
      curator.gradient(at, curator.draw(BatchPolicy::poisson(0.1)), query, g);
      count += g.norm() == 0;
    }
    return count;
  };
  EXPECT_GT(empties({.no_noise = true}), 20);
  EXPECT_GT(empties({.no_noise = true, .realised_divisor = true}), 20);
  EXPECT_EQ(empties({.no_noise = true, .realised_divisor = true, .resample_empty = true}), 0);

  // at rate 1 the mean is that of all records from any curator
  UnsoundCurator whole(p.facts, *p.records, {.seed = 5}, {.no_noise = true});
  whole.gradient(at, whole.draw(BatchPolicy::poisson(1.0)), query, g);
  p.empirical->gradient(p.facts.initial_point, all);
  EXPECT_LE((g - all).norm(), 1e-12);
}

// Batches that are never empty are not Poisson samples: they are charged without amplification,
// whatever the divisor.
TEST(ScriptCurator, ChargesWithoutAmplification) {
  const Problem p = published(12, 3);
  Vector g(3);
  const Point at(p.facts.initial_point);
  const auto event = [&](const UnsoundCurator::Departures& departures) {
    UnsoundCurator curator(p.facts, *p.records, {.seed = 5}, departures);
    curator.gradient(at, curator.draw(BatchPolicy::poisson(0.5)),
                     {1.0, Noise::standard_deviation(3.0), Block::x}, g);
    return *curator.ledger().entries().front().event;
  };
  EXPECT_TRUE(std::holds_alternative<PoissonGaussianEvent>(event({})));
  // sensitivities: 2C/(qn) = 1/3, and 2C = 2 of a batch of one
  EXPECT_DOUBLE_EQ(std::get<GaussianEvent>(event({.resample_empty = true})).noise_multiplier, 9.0);
  EXPECT_DOUBLE_EQ(
      std::get<GaussianEvent>(event({.realised_divisor = true, .resample_empty = true}))
          .noise_multiplier,
      1.5);
}

// The script's β = 6 is below the smoothness of the loss on the ball, 6.4008: near ‖x‖ = 2
// differences are longer than 6‖x − x′‖ and are clipped.
TEST(PublishedExperiment, ScriptSmoothnessClipsDifferences) {
  const Problem p = published(20, 3);
  const Vector x = Vector::Unit(3, 0) * 2.0, y = Vector::Unit(3, 0) * 1.999;
  Vector sum = Vector::Zero(3);
  const ClipReport six =
      p.records->add_gradient_differences(Point(x), Point(y), Block::x, {0, 20}, 6 * 0.001, sum);
  EXPECT_EQ(six.clipped, 20);
  const ClipReport exact = p.records->add_gradient_differences(
      Point(x), Point(y), Block::x, {0, 20}, p.facts.constants[constant::smoothness] * 0.001, sum);
  EXPECT_EQ(exact.clipped, 0);
  const PublishedExperiment practical =
      prepared(PublishedStage::dp_spider, Variant::repaired, p.facts, {1, 1e-3}, nullptr,
               Calibrator::cks, Schedule::practical);
  EXPECT_NEAR(practical.parameters.clip_difference, 6.4008, 1e-3);
  EXPECT_NEAR(practical.parameters.clip, 2.5418, 1e-3);
}

}  // namespace
}  // namespace dpsosp::lowy_2024::lowy_2024_experiment_test
