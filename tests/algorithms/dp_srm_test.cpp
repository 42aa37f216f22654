// SPDX-License-Identifier: Apache-2.0
// DP-SRM: schedule, method without noise, errata.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/baselines/dp_srm.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::dp_srm_test {
namespace {

using namespace baselines;
using namespace test;

TEST(DpSrm, MatchesValuesAtReferencePoint) {
  const DpSrmNumbers s = dp_srm_numbers(numbers_of(reference_facts()), reference_budget, 1.0);
  EXPECT_NEAR(s.accuracy, 0.00410310201, 5e-12);
  EXPECT_EQ(s.steps, 237594);
  EXPECT_NEAR(s.momentum, 0.00410310201, 5e-12);
  EXPECT_EQ(std::ceil(s.batch), 244);
  EXPECT_EQ(std::ceil(s.corollary_batch), 206);
}

TEST(DpSrm, EqualsNormalisedGradientDescentWithoutNoise) {
  const Exact exact;
  for (const double gamma : {0.1, 0.7, 1.0}) {
    DpSrm method;
    DpSrmParameters& p = method.parameters;
    p.steps = 50;
    p.accuracy = 0.2;
    p.step_divisor = 1.5;
    p.momentum = gamma;
    p.output = OutputRule::last;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (std::size_t t = 0; t < 50; ++t) {
      EXPECT_LT((ran.iterates[t] - x).norm(), 1e-11) << gamma;
      const Vector g = gradient_of(exact.f(), x);
      x -= std::min(0.2 / (1.5 * g.norm()), 0.5 / 1.5) * g;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-11);
  }
}

TEST(DpSrm, KeepsStepsWithinDifferenceClip) {
  const Problem p = small_problem("cosine-saddle", 200);
  DpSrm method;
  const Scheduled s = method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = run_enforced(method, p.facts, *p.records, s.rule);
  const DpSrmParameters& q = method.parameters;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    EXPECT_LE(q.smoothness * (ran.iterates[t + 1] - ran.iterates[t]).norm(),
              q.clip_difference * (1 + 1e-9));
}

TEST(DpSrm, SamplesScheduledBatchWithRdpCalibrator) {
  const Problem p = small_problem("cosine-saddle", 400);
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    DpSrm method;
    const Scheduled s = method.schedule(kind, p.facts, {1, 1e-6}, Calibrator::rdp);
    const DpSrmNumbers e = dp_srm_numbers(numbers_of(p.facts), {1, 1e-6}, 1.0);
    EXPECT_EQ(method.parameters.sampling, Sampling::sample);
    EXPECT_EQ(static_cast<double>(method.parameters.batch),
              std::max(1.0, std::ceil(std::min(
                                400.0, kind == Schedule::paper ? e.batch : e.corollary_batch))));
    const Ran ran = run_enforced(method, p.facts, *p.records, s.rule);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    EXPECT_NEAR(ran.ledger.spent(1e-6, {.accountant = Accountant::rdp}).epsilon, 1, 1e-6);
  }
}

// B8: the closed form 3.5 γ²a(Δ/s)² of the source needs (s/Δ)² ≥ 0.7; with its own parameters the
// condition is ζ ≤ 80 G³/(C³ M Δ₀ d), which holds for n ε ≳ d² alone (baselines notes, 7).
TEST(DpSrm, ClosedFormAmplificationFailsAtItsOwnParameters) {
  const auto per_batch_ratio_squared = [](double n, double d) {
    const double epsilon = 1, log_delta = std::log(1e6), beta = 0.5;
    PublicFacts facts = reference_facts();
    ProblemNumbers q = numbers_of(facts);
    q.n = n;
    q.d = d;
    const DpSrmNumbers s = dp_srm_numbers(q, reference_budget, 1.0);
    const double a = 1 + log_delta / ((1 - beta) * epsilon);
    const double variance = 14 * s.steps * a / (beta * n * n * epsilon);  // s₀² at G = 1
    return variance * s.batch * s.batch / 4;                              // (s₀/(2G/b₀))²
  };
  EXPECT_LT(per_batch_ratio_squared(1e4, 1e4), 0.7);
  EXPECT_GE(per_batch_ratio_squared(1e9, 10), 0.7);
}

// B9: with C₁ and C₂ exchanged the sensitivity would be 2(γζ/n₀ + (1 − γ)G)/b.
TEST(DpSrm, ChargesCombinationWithGammaOnGradient) {
  const Problem p = small_problem("cosine-saddle", 60);
  DpSrm method;
  DpSrmParameters& q = method.parameters;
  q.steps = 3;
  q.momentum = 0.1;
  q.clip = 2;
  q.clip_difference = 0.05;
  method.set_common_noise(3);
  const Ran ran = run_unsound(method, p.facts, *p.records, {});
  ASSERT_EQ(ran.ledger.entries().size(), 2U);
  EXPECT_NEAR(ran.ledger.entries()[1].sensitivity_high, 2 * (0.1 * 2 + 0.9 * 0.05) / 60, 1e-15);
}

}  // namespace
}  // namespace dpsosp::dp_srm_test
