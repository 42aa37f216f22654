// SPDX-License-Identifier: Apache-2.0
// DP-STORM: method without noise, sensitivity of a step, schedule.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/baselines/dp_storm.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::dp_storm_test {
namespace {

using namespace baselines;
using namespace test;

TEST(DpStorm, EqualsGradientDescentWithoutNoise) {
  const Exact exact;
  for (const double gamma : {0.1, 0.7, 1.0}) {
    DpStorm method;
    method.parameters.steps = 50;
    method.parameters.step_size = 0.3;
    method.parameters.momentum = gamma;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (std::size_t t = 0; t < 50; ++t) {
      EXPECT_LT((ran.iterates[t] - x).norm(), 1e-11) << gamma;
      x -= 0.3 * gradient_of(exact.f(), x);
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-11);
  }
}

TEST(DpStorm, ChargesDifferenceByLastMoveAndByNoMoreThanTwoClips) {
  const Problem p = small_problem("cosine-saddle", 60);
  for (const double step : {0.01, 5.0}) {
    DpStorm method;
    DpStormParameters& q = method.parameters;
    q.steps = 6;
    q.step_size = step;
    q.momentum = 0.1;
    q.clip = 2;
    q.smoothness = 1.5;
    method.set_common_noise(3);
    const Ran ran = run_unsound(method, p.facts, *p.records, {});
    ASSERT_EQ(ran.ledger.entries().size(), 2U);  // the first gradient, and all combinations
    EXPECT_NEAR(ran.ledger.entries()[0].sensitivity_high, 2 * 2.0 / 60, 1e-15);
    double low = 1, high = 0;
    for (std::size_t t = 1; t < 6; ++t) {
      const double move = (ran.iterates[t] - ran.iterates[t - 1]).norm();
      const double sensitivity = 2 * (0.1 * 2 + 0.9 * std::min(1.5 * move, 4.0)) / 60;
      low = std::min(low, sensitivity);
      high = std::max(high, sensitivity);
    }
    EXPECT_NEAR(ran.ledger.entries()[1].sensitivity_low, low, 1e-12) << step;
    EXPECT_NEAR(ran.ledger.entries()[1].sensitivity_high, high, 1e-12) << step;
  }
}

TEST(DpStorm, ScheduleMakesErrorAsLargeAsItsAim) {
  DpStorm method;
  const Scheduled s =
      method.schedule(Schedule::practical, reference_facts(), reference_budget, Calibrator::cks);
  const DpStormParameters& p = method.parameters;
  const double alpha = s.alpha / std::sqrt(2.0);
  EXPECT_EQ(p.steps, static_cast<Index>(std::ceil(4 / (alpha * alpha))));
  EXPECT_NEAR(p.momentum, alpha / 2, 1e-15);
  // At moves of length ηα the combination's sensitivity is at most 2α/n, and the error of v is a
  // sum of noises with weights (1 − γ)^k.
  const double deviation = p.noise * 2 * alpha / 1e5;
  const double variance = 50 * deviation * deviation / (2 * p.momentum);
  EXPECT_LE(variance, alpha * alpha * (1 + 1e-4));
  EXPECT_GE(variance, 0.8 * alpha * alpha);
  EXPECT_NEAR(dp_storm_accuracy(numbers_of(reference_facts()), 0.02),
              std::cbrt(8 * 50 / (0.02 * 1e10)), 1e-15);
}

}  // namespace
}  // namespace dpsosp::dp_storm_test
