// SPDX-License-Identifier: Apache-2.0
// Second-order baselines spend the budget that their schedules plan for, and no more.
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/baselines/dp_gd_sosp.hpp"
#include "dpsosp/baselines/dp_trust_region.hpp"
#include "dpsosp/baselines/short_steps.hpp"
#include "dpsosp/core/errors.hpp"
#include "second_order_runs.hpp"

namespace dpsosp::second_order_budget_test {
namespace {

using namespace baselines;
using namespace test;

template <class Method>
void expect_budget_spent(Method method, bool all_of_it, Schedule kind = Schedule::practical) {
  const Problem p = small_problem("cosine-saddle", 60);
  const Scheduled s = method.schedule(kind, p.facts, {1, 1e-6}, Calibrator::cks);
  set(method, {{"alpha", "1e-300"}});  // no end but the horizon's
  const Ran ran = run_enforced(method, p.facts, *p.records, s.rule);
  EXPECT_NE(ran.outcome.status, Status::budget);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_LE(rho, s.rule.capacity * (1 + 1e-12));
  if (all_of_it) {
    EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
  }
}

TEST(SecondOrderBudgets, AreNeverExceededByFullLengthRuns) {
  expect_budget_spent(DpTrustRegion(), true);
  DpGdSosp scalar, noisy;
  noisy.parameters.selection = Selecting::noisy;
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    expect_budget_spent(scalar, kind == Schedule::practical, kind);
    expect_budget_spent(noisy, false, kind);  // what follows an acceptance stays unspent
  }
  for (const bool phases : {false, true})
    for (const StepRule rule : {StepRule::fixed, StepRule::line_search})
      for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
        ShortSteps method;
        method.parameters.two_phase = phases;
        method.parameters.step_rule = rule;
        method.parameters.curvature = curvature;
        expect_budget_spent(method, false);  // curvature that no step asked for stays unspent
      }
}

TEST(SecondOrderBudgets, AreSpentByShortStepsThatAlwaysUseCurvature) {
  PublicFacts facts = reference_facts();
  facts.records = 10'000'000;
  facts.dimension = 6;
  facts.initial_point = Vector::Zero(6);
  const SaddleRecords records(facts.records);
  for (const bool phases : {false, true})
    for (const CurvatureRule curvature : {CurvatureRule::dense, CurvatureRule::products}) {
      ShortSteps method;
      ShortStepsParameters& p = method.parameters;
      p.two_phase = phases;
      p.curvature = curvature;
      p.target = 0.1;
      const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
      const Ran ran = run_enforced(method, facts, records, s.rule);
      EXPECT_EQ(ran.outcome.status, Status::steps_done);
      EXPECT_EQ(ran.outcome.steps, p.steps + (phases ? 17 : 0));  // ⌊√303⌋
      EXPECT_EQ(ran.outcome.counts.at("curvature_steps"), ran.outcome.steps);
      double rho = 0;
      for (const LedgerEntry& e : ran.ledger.entries())
        rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
      EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
    }
}

TEST(SecondOrderBudgets, AreSpentByNoisySelectionThatAcceptsNothing) {
  PublicFacts facts = reference_facts();
  facts.records = 10'000'000;
  facts.dimension = 6;
  facts.initial_point = Vector::Zero(6);
  const SaddleRecords records(facts.records);
  DpGdSosp method;
  method.parameters.selection = Selecting::noisy;
  method.parameters.target = 0.1;
  const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = run_enforced(method, facts, records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.counts.at("asked"), 200);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
}

// What the first phase does not spend is left to the second one: if no step asks for curvature, the
// second phase has R − 3R/8.
TEST(SecondOrderBudgets, PassUnspentShareToSecondPhase) {
  PublicFacts facts = reference_facts();
  const ScriptedRecords records(facts.records, [](std::size_t, const Point& at, Block) -> Vector {
    return Vector::Unit(at.x.size(), 0);
  });
  ShortSteps method;
  method.parameters.two_phase = true;
  method.parameters.target = 0.1;
  const Scheduled s = method.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
  const Ran ran = run_enforced(method, facts, records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_NEAR(rho / s.rule.capacity, 0.375 + 0.5 * 0.625, 1e-9);
}

TEST(SecondOrderMethods, RejectMinimaxAndDenseHessiansInHighDimension) {
  const PublicFacts minimax = small_problem("matrix-sensing").facts;
  PublicFacts large = small_problem("cosine-saddle").facts;
  large.dimension = 513;
  large.initial_point = Vector::Zero(513);
  DpGdSosp a;
  DpTrustRegion b;
  ShortSteps c, products;
  products.parameters.curvature = CurvatureRule::products;
  for (Algorithm* method : std::initializer_list<Algorithm*>{&a, &b, &c}) {
    EXPECT_THROW(method->check(minimax), InputError);
    EXPECT_THROW(method->check(large), InputError);
  }
  EXPECT_NO_THROW(products.check(large));
}

}  // namespace
}  // namespace dpsosp::second_order_budget_test
