// SPDX-License-Identifier: Apache-2.0
// Short steps: schedule, rules of steps, power method, errata.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/baselines/short_steps.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::short_steps_test {
namespace {

using namespace baselines;
using namespace test;

TEST(ShortSteps, MatchesValuesAtReferencePoint) {
  ShortSteps method;
  at_reference(method, 0.1);
  const ShortStepsParameters& p = method.parameters;
  EXPECT_NEAR(p.gradient_threshold(), 0.0909090909, 5e-11);
  EXPECT_NEAR(p.curvature_threshold(), 0.287479787, 5e-10);
  EXPECT_NEAR(p.decrease(), 0.00330578512, 5e-12);
  EXPECT_EQ(p.steps, 303);
  EXPECT_NEAR(p.gradient_noise * sensitivity, 0.00223073813, 5e-12);
  EXPECT_NEAR(p.hessian_noise * frobenius, 0.0157737006, 5e-11);
  method.parameters.step_rule = StepRule::line_search;
  at_reference(method, 0.1);
  EXPECT_NEAR(p.safe_step(), 0.6, 1e-15);
  EXPECT_NEAR(p.safe_curvature_step(), 1.64628607910488, 5e-14);
  EXPECT_NEAR(p.decrease(), 0.00148760331, 5e-12);
  // noise multipliers and Laplace ε⁻¹ all equal sqrt(3T/(2R))
  const double z = std::sqrt(3.0 * static_cast<double>(p.steps) / (2 * 0.0243559703595));
  EXPECT_NEAR(p.gradient_noise / z, 1, 1e-10);
  EXPECT_NEAR(p.hessian_noise / z, 1, 1e-10);
  EXPECT_NEAR(p.search_epsilon * z, 1, 1e-10);
}

/// The method on exact gradients and Hessians.
TEST(ShortSteps, EqualsExactMethodWithoutNoise) {
  for (const std::string name : {"cosine-saddle", "double-well"}) {
    const Exact exact(name);
    ShortSteps method;
    ShortStepsParameters& p = method.parameters;
    p.alpha = 0.02;
    p.smoothness = exact.problem.facts.constants[constant::smoothness];
    p.hessian_lipschitz = exact.problem.facts.constants[constant::hessian_lipschitz];
    p.steps = 400;
    const Ran ran = exact.run(method);
    Vector x = exact.problem.facts.initial_point;
    for (const Vector& seen : ran.iterates) {
      EXPECT_LT((seen - x).norm(), 1e-8) << name;
      const Vector g = gradient_of(exact.f(), x);
      if (g.norm() > p.gradient_threshold()) {
        x -= g / p.smoothness;
        continue;
      }
      const SymmetricEigen eigen = symmetric_eigen(hessian_of(exact.f(), x));
      const double lambda = eigen.values[0];
      if (lambda > -p.curvature_threshold()) break;
      Vector v = eigen.vectors.col(0);
      if (v.dot(g) > 0) v = -v;
      x += 2 * std::abs(lambda) / p.hessian_lipschitz * v;
    }
    EXPECT_LT((ran.outcome.point - x).norm(), 1e-8) << name;
    EXPECT_EQ(ran.outcome.status, Status::certified) << name;
  }
}

TEST(ShortSteps, LowersObjectiveByPromisedDecreaseWithoutNoise) {
  for (const StepRule rule : {StepRule::fixed, StepRule::line_search})
    for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
      ShortSteps method;
      ShortStepsParameters& p = method.parameters;
      p.alpha = 0.2;
      p.clip = 10;
      p.steps = 400;
      p.step_rule = rule;
      p.curvature = curvature;
      p.power_iterations = 60;
      Exact start;
      start.problem.facts.initial_point.setConstant(0.001);
      start.problem.facts.initial_point[0] = std::numbers::pi;  // a saddle: curvature first
      const Ran ran = start.run(method);
      ASSERT_GT(ran.iterates.size(), 2U);
      EXPECT_GE(ran.outcome.counts.at("curvature_steps"), 1);
      for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
        const Vector &now = ran.iterates[t], &then = ran.iterates[t + 1];
        EXPECT_LE(start.f().value(then), start.f().value(now) - p.decrease());
        EXPECT_LE((then - now).dot(gradient_of(start.f(), now)), 0) << "a step uphill";
      }
      EXPECT_EQ(ran.outcome.status, Status::certified);
    }
}

// Backtracking by hand: b times the safe step, then β of the last, the safe step at the end.
TEST(ShortSteps, LineSearchTakesLongestSufficientTrial) {
  const Exact exact;
  ShortSteps method;
  ShortStepsParameters& p = method.parameters;
  p.step_rule = StepRule::line_search;
  p.alpha = 0.02;
  p.clip = 10;
  p.steps = 12;
  const Ran ran = exact.run(method);
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
    const Vector& x = ran.iterates[t];
    const Vector g = gradient_of(exact.f(), x);
    if (g.norm() <= p.gradient_threshold()) break;
    double gamma = 20 * p.safe_step();
    const auto tries = static_cast<int>(std::ceil(std::log(1.0 / 20) / std::log(0.6)));
    EXPECT_EQ(tries, 6);
    int k = 0;
    while (k < tries &&
           exact.f().value(x) - exact.f().value(x - gamma * g) < 0.6 * gamma * g.squaredNorm()) {
      gamma *= 0.6;
      ++k;
    }
    if (k == tries) gamma = p.safe_step();
    EXPECT_LT((ran.iterates[t + 1] - (x - gamma * g)).norm(), 1e-9) << t;
  }
}

TEST(ShortSteps, PowerMethodFindsLowestEigenvalueWithinTolerance) {
  const Problem p = small_problem("double-well", 60);
  ShortSteps method;
  ShortStepsParameters& q = method.parameters;
  q.alpha = 0.3;
  q.curvature = CurvatureRule::products;
  q.smoothness = q.hessian_limit = p.facts.constants[constant::smoothness];
  q.hessian_lipschitz = p.facts.constants[constant::hessian_lipschitz];
  q.steps = 1;
  q.power_iterations = 100;
  PublicFacts facts = p.facts;
  facts.initial_point.setZero();  // the saddle
  const Ran ran = run_unsound(method, facts, *p.records, exact);
  const double lambda = -(ran.outcome.point - facts.initial_point).norm() * q.hessian_lipschitz / 2;
  const double exact = symmetric_eigen(hessian_of(*p.empirical, facts.initial_point)).values[0];
  EXPECT_NEAR(lambda, exact, q.curvature_threshold() / 5);
  EXPECT_LT(lambda, -q.curvature_threshold());
}

// B5: the code's line search takes e_H for e_H³ in the decrease of a curvature step. F falls along
// λ = −e_H by 2/3 · e_H³/ρ² at most where f''' = ρ, so a decrease in e_H is never reached.
TEST(ShortSteps, CurvatureStepDecreaseIsCubic) {
  ShortStepsParameters p;
  p.step_rule = StepRule::line_search;
  p.smoothness = 1e-3;  // so that the curvature's decrease is the smaller one
  for (const double alpha : {1e-1, 1e-2, 1e-3}) {
    p.alpha = alpha;
    const double eH = p.curvature_threshold();
    const double deepest = 2.0 / 3 * std::pow(eH, 3);  // of −e_H t²/2 + t³/6 at t = 2 e_H
    EXPECT_LE(p.decrease(), deepest);
    EXPECT_NEAR(p.decrease() / std::pow(eH, 3), 0.25 * 0.25 * std::pow(p.safe_curvature_step(), 2),
                1e-12);
    const double printed = 0.25 * 0.25 * std::pow(p.safe_curvature_step(), 2) * eH;
    if (alpha <= 1e-2) {
      EXPECT_GT(printed, deepest);
    }
  }
}

// B6: the code's sensitivity of the curvature line search has the smoothness constant in place of
// G. On a slope of G a loss moves by G‖x − y‖ whatever M is.
TEST(ShortSteps, ChargesLineSearchByGradientClip) {
  const Problem p = small_problem("cosine-saddle", 60);
  ShortSteps method;
  ShortStepsParameters& q = method.parameters;
  q.step_rule = StepRule::line_search;
  q.clip = 2.5;  // G, where M = 1
  q.alpha = 1e-3;
  q.steps = 1;
  q.gradient_noise = 1;
  q.search_epsilon = 0.5;
  PublicFacts facts = p.facts;
  facts.initial_point.setConstant(0.4);
  const Ran ran = run_unsound(method, facts, *p.records, {});
  const LedgerEntry& search = ran.ledger.entries().back();
  ASSERT_EQ(search.query, "line_search");
  const SpyRecords spy(*p.records);
  const Ran again = run_unsound(method, facts, spy, {});
  double farthest = 0;
  for (const Asked& a : spy.asked)
    if (a.kind == Summand::Kind::loss) farthest = std::max(farthest, (a.x - a.x_previous).norm());
  ASSERT_GT(farthest, 0);
  EXPECT_NEAR(search.sensitivity_high / (2 * 2.5 * farthest / 60), 1, 1e-6);
  EXPECT_GT(search.sensitivity_high, 1.5 * (2 * 1.0 * farthest / 60));  // with M it would be less
}

// B7: the code's mini-batch runs keep the sensitivity 2G/n of the full batch.
TEST(ShortSteps, UsesMiniBatchSizeInSensitivity) {
  const Problem p = small_problem("cosine-saddle", 60);
  ShortSteps method;
  set(method, {{"steps", "1"}, {"sampling", "sample"}, {"batch", "6"}});
  method.set_common_noise(2);
  const Ran ran = run_unsound(method, p.facts, *p.records, {});
  EXPECT_DOUBLE_EQ(ran.ledger.entries()[0].sensitivity_high, 2 * 1.0 / 6);
  EXPECT_DOUBLE_EQ(ran.ledger.entries()[0].deviation_high, 2 * 2 * 1.0 / 6);
}

}  // namespace
}  // namespace dpsosp::short_steps_test
