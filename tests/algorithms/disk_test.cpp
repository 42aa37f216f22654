// SPDX-License-Identifier: Apache-2.0
// DiSK: its recursion without noise, the size of its noise, schedule.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/baselines/disk.hpp"
#include "dpsosp/core/errors.hpp"
#include "first_order_runs.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::disk_test {
namespace {

using namespace baselines;
using namespace test;

struct Filter {
  double gain, look_ahead;
};

TEST(Disk, FollowsPublishedRecursionWithoutNoise) {
  const Exact exact;
  for (const auto [kappa, gamma] : {Filter{0.7, 0}, {0.2, 0}, {0.2, 1.5}, {0.2, 4}, {1, 0}}) {
    Disk method;
    DiskParameters& p = method.parameters;
    p.steps = 40;
    p.step_size = 0.3;
    p.gain = kappa;
    p.look_ahead = gamma;
    const Ran ran = exact.run(method);
    const double look = gamma > 0 ? gamma : (1 - kappa) / kappa;
    const double a = look > 0 ? (1 - kappa) / (kappa * look) : 1;
    Vector x = exact.problem.facts.initial_point, previous = x, v;
    for (std::size_t t = 0; t < 40; ++t) {
      ASSERT_LT((ran.iterates[t] - x).norm(), 1e-11) << kappa << ' ' << gamma;
      const Vector h = a * gradient_of(exact.f(), x + look * (x - previous)) +
                       (1 - a) * gradient_of(exact.f(), x);
      v = t == 0 ? h : Vector((1 - kappa) * v + kappa * h);
      previous = x;
      x -= 0.3 * v;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-11);
  }
}

TEST(Disk, IsGradientDescentWhereGradientIsLinear) {
  const Vector diagonal = Vector::LinSpaced(5, 0.1, 1.0);
  const ScriptedRecords records(
      10, [&](std::size_t, const Point& p, Block) { return Vector(diagonal.cwiseProduct(p.x)); });
  PublicFacts facts = plain_facts(10, 5);
  facts.initial_point = Vector::Ones(5);
  Disk method;
  method.parameters.steps = 60;
  method.parameters.step_size = 0.7;
  method.parameters.gain = 0.05;
  const Ran ran = run_unsound(method, facts, records, exact);
  Vector x = facts.initial_point;
  for (const Vector& iterate : ran.iterates) {
    ASSERT_LT((iterate - x).norm(), 1e-12);
    x -= 0.7 * diagonal.cwiseProduct(x);
  }
}

TEST(Disk, EveryAnswerHasOneSensitivityHoweverFarItLooks) {
  const Problem problem = small_problem("cosine-saddle", 60);
  for (const double step : {0.01, 5.0})
    for (const auto [kappa, gamma] : {Filter{0.2, 0}, {0.2, 1}, {0.5, 0.25}}) {
      Disk method;
      DiskParameters& p = method.parameters;
      p.steps = 6;
      p.step_size = step;
      p.gain = kappa;
      p.look_ahead = gamma;
      p.clip = 2;
      p.smoothness = 1.5;
      method.set_common_noise(3);
      const Ran ran = run_unsound(method, problem.facts, *problem.records, {});
      const double a = gamma > 0 ? (1 - kappa) / (kappa * gamma) : 1;
      for (const LedgerEntry& entry : ran.ledger.entries()) {
        EXPECT_NEAR(a * entry.sensitivity_low, 2 * 2.0 / 60, 1e-12) << step << ' ' << gamma;
        EXPECT_NEAR(a * entry.sensitivity_high, 2 * 2.0 / 60, 1e-12) << step << ' ' << gamma;
      }
      EXPECT_EQ(ran.ledger.queries(), 6);
    }
}

TEST(Disk, NoiseOfEstimateIsThatOfOneAnswerTimesFilter) {
  constexpr Index d = 4000;
  for (const auto [kappa, gamma] : {Filter{0.1, 0}, {0.1, 3}}) {
    Disk method;
    DiskParameters& p = method.parameters;
    p.steps = 80;
    p.step_size = 0.5;
    p.gain = kappa;
    p.look_ahead = gamma;
    p.clip = 3;
    method.set_common_noise(2);
    const ScriptedRecords none(
        10, [](std::size_t, const Point&, Block) -> Vector { return Vector::Zero(d); });
    const Ran ran = run_unsound(method, plain_facts(10, d), none, no_data);
    const double answer = 2 * 2 * 3.0 / 10;
    const Vector v = (ran.iterates.back() - ran.outcome.point) / 0.5;
    EXPECT_NEAR(v.squaredNorm() / d, kappa / (2 - kappa) * answer * answer,
                0.09 * answer * answer * kappa / 2)
        << gamma;
  }
}

TEST(Disk, RefusesToLookFartherThanOneGradient) {
  const Problem problem = small_problem("cosine-saddle", 60);
  Disk method;
  method.parameters.gain = 0.7;
  method.parameters.look_ahead = 0.5;
  EXPECT_THROW(method.check_settings(problem.facts), InputError);
  method.parameters.look_ahead = 0.4;
  method.check_settings(problem.facts);
}

TEST(Disk, ScheduleMakesNoiseAndCurvatureAsLargeAsItsAim) {
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    Disk method;
    const Scheduled s = method.schedule(kind, reference_facts(), reference_budget, Calibrator::cks);
    const DiskParameters& p = method.parameters;
    const double alpha = s.alpha / std::sqrt(3.0);
    EXPECT_EQ(p.steps, static_cast<Index>(std::ceil(4 / (alpha * alpha))));
    const double deviation = p.deviation(100'000);
    EXPECT_NEAR(50 * deviation * deviation * p.gain, alpha * alpha, 2e-2 * alpha * alpha);
    const double move = 0.5 * alpha;
    const double curvature = (1 - p.gain) * move * move / (2 * p.gain * p.gain);
    EXPECT_LE(curvature, alpha);
    if (kind == Schedule::practical)
      EXPECT_GE(curvature, 0.8 * alpha);
    else
      EXPECT_EQ(p.gain, 0.7);
  }
  PublicFacts quadratic = reference_facts();
  quadratic.constants = {};
  for (const auto name : {constant::lipschitz, constant::smoothness, constant::suboptimality})
    quadratic.constants.set(name, {1.0});
  Disk method;
  method.schedule(Schedule::practical, quadratic, reference_budget, Calibrator::cks);
  EXPECT_EQ(method.parameters.gain, 0.7);
}

}  // namespace
}  // namespace dpsosp::disk_test
