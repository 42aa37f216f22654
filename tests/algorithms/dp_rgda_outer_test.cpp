// SPDX-License-Identifier: Apache-2.0
// DP-RGDA's outer loop (xu-2026, Algorithm 2) on scripted estimates.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::xu_2026::dp_rgda_outer_test {
namespace {

using test::Ran;

/// A run on the line whose estimate at step t is norms[t] (the last one repeats).
Ran scripted_run(const DpRgda& algorithm, std::vector<double> norms) {
  PublicFacts facts;
  facts.name = "script";
  facts.dimension = facts.records = facts.dual_dimension = 1;
  facts.dual_kind = DualKind::per_record;
  facts.initial_point = Vector::Constant(1, 0.25);
  facts.initial_dual = Vector::Zero(1);
  const test::ScriptedRecords records(1, [&](std::size_t call, const Point&, Block) -> Vector {
    return Vector::Constant(1, norms[std::min(call, norms.size() - 1)]);
  });
  return test::run_unsound(algorithm, facts, records, test::exact);
}

/// One gradient query a step; η_H and D̄ of xu-2026 notes, 9.
DpRgda line(Index steps) {
  DpRgda algorithm;
  DpRgdaParameters& p = algorithm.parameters;
  p.steps = steps;
  p.period = 1;
  p.alpha = 0.1;
  p.escape_step = 0.1;
  p.escape_mean_sq_move = 0.03;
  p.descent_step = 0.2;
  return algorithm;
}

double move(const Ran& ran, std::size_t t) { return (ran.iterates[t + 1] - ran.iterates[t])[0]; }

TEST(DpRgdaOuter, BreakStepExhaustsMeanSquaredMove) {
  DpRgda algorithm = line(6);
  const Ran ran = scripted_run(algorithm, {0.05, 1, 2, 3, 1});
  EXPECT_NEAR(move(ran, 1), -0.1, 1e-15);
  EXPECT_NEAR(move(ran, 2), -0.2, 1e-15);
  EXPECT_NEAR(move(ran, 3), -0.0666666667 * 3, 1e-9);
  // Σ η_j² ‖v_j‖² = k D̄
  EXPECT_NEAR(0.01 * 1 + 0.01 * 4 + std::pow(move(ran, 3), 2), 3 * 0.03, 1e-15);
  EXPECT_NEAR(move(ran, 4), -0.2, 1e-15) << "descends again";
  EXPECT_EQ(ran.outcome.counts.at("breaks"), 1);

  algorithm.parameters.break_rule = BreakRule::printed;
  const Ran printed = scripted_run(algorithm, {0.05, 1, 2, 3, 1});
  EXPECT_NEAR(move(printed, 3), -0.0801783726 * 3, 1e-9);
  // negative control: the printed step goes beyond k D̄
  EXPECT_GT(0.01 * 1 + 0.01 * 4 + std::pow(move(printed, 3), 2), 3 * 0.03 + 0.01);
}

TEST(DpRgdaOuter, CountsMovesPerEscape) {
  for (const BreakRule rule : {BreakRule::printed, BreakRule::repaired}) {
    DpRgda algorithm = line(8);
    algorithm.parameters.break_rule = rule;
    const Ran ran = scripted_run(algorithm, {0.05, 1, 2, 3, 0.05, 1, 2, 3});
    EXPECT_EQ(ran.outcome.counts.at("breaks"), 2);
    for (const std::size_t t : {1U, 2U}) EXPECT_NEAR(move(ran, t), move(ran, t + 4), 1e-15);
    EXPECT_NEAR(ran.outcome.point[0], ran.iterates[4][0], 0) << "the anchor of the second escape";
    algorithm.parameters.horizon_rule = HorizonRule::last;
    const Ran last = scripted_run(algorithm, {0.05, 1, 2, 3, 0.05, 1, 2, 3});
    EXPECT_NEAR(last.outcome.point[0] - last.iterates[7][0], move(ran, 3), 1e-15);
  }
}

TEST(DpRgdaOuter, CertifiesAnchorWhenEscapeStays) {
  DpRgda algorithm = line(100);
  algorithm.parameters.escape_steps = 20;
  const Ran ran = scripted_run(algorithm, {0.5, 0.5, 0.05});
  EXPECT_EQ(ran.outcome.status, Status::certified);
  EXPECT_EQ(ran.outcome.steps, 2 + 1 + 20);  // two descents, the kick, t_thres small steps
  EXPECT_EQ(ran.outcome.point, ran.iterates[2]);
  EXPECT_EQ(ran.outcome.counts.at("escapes"), 1);
  EXPECT_EQ(ran.outcome.counts.at("breaks"), 0);
  // the kick may be longer than the steps of the escape, but not longer than r
  EXPECT_LE(std::abs(move(ran, 2)), algorithm.parameters.perturb_radius);
  EXPECT_GT(std::abs(move(ran, 2)), 0.0);
}

TEST(DpRgdaOuter, CertifiesNothingOneStepBeforeThreshold) {
  DpRgda algorithm = line(2 + 1 + 19);
  algorithm.parameters.escape_steps = 20;
  const Ran ran = scripted_run(algorithm, {0.5, 0.5, 0.05});
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.point, ran.iterates[2]) << "the anchor of the open escape";
  algorithm.parameters.horizon_rule = HorizonRule::last;
  const Ran last = scripted_run(algorithm, {0.5, 0.5, 0.05});
  EXPECT_EQ(last.iterates, ran.iterates);
  EXPECT_NEAR(last.outcome.point[0], last.iterates.back()[0] - 0.1 * 0.05, 1e-15);
}

TEST(DpRgdaOuter, ReturnsLastIterateWithoutEscape) {
  for (const HorizonRule rule : {HorizonRule::anchor, HorizonRule::last}) {
    DpRgda algorithm = line(5);
    algorithm.parameters.horizon_rule = rule;
    const Ran ran = scripted_run(algorithm, {1});
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    EXPECT_NEAR(ran.outcome.point[0], 0.25 - 5 * 0.2, 1e-15);
  }
}

TEST(DpRgdaOuter, UsesStepLengthOfDescentRule) {
  DpRgda algorithm = line(3);
  EXPECT_NEAR(move(scripted_run(algorithm, {7}), 0), -0.2, 1e-15);
  algorithm.parameters.descent_rule = DescentRule::plain;
  EXPECT_NEAR(move(scripted_run(algorithm, {7}), 0), -0.2 * 7, 1e-15);
}

TEST(DpRgdaOuter, StartsEscapeAtZeroEstimate) {
  for (const BreakRule rule : {BreakRule::printed, BreakRule::repaired}) {
    DpRgda algorithm = line(50);
    algorithm.parameters.break_rule = rule;
    const Ran ran = scripted_run(algorithm, {0});
    EXPECT_EQ(ran.outcome.status, Status::certified);
    EXPECT_EQ(ran.outcome.point[0], 0.25);
  }
}

// With normalised steps x stays finite even if y overflows.
TEST(DpRgdaOuter, ReportsNotFiniteWhenDualOverflows) {
  const Problem problem = test::small_problem("cosine-minimax");
  for (const Selection selection :
       {Selection::argmin_from_start, Selection::argmin_after_start, Selection::argmin_of_proof,
        Selection::last, Selection::ascended}) {
    DpRgda algorithm;
    DpRgdaParameters& p = algorithm.parameters;
    p.dual_release = DualRelease::released;
    p.selection = selection;
    p.steps = 50;
    p.inner_steps = 3;
    p.ascent_step = 1e200;
    const Ran ran = test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
    // The argmin from the start selects y_0.
    EXPECT_EQ(ran.outcome.status == Status::not_finite, selection != Selection::argmin_from_start)
        << to_string(ran.outcome.status);
  }
}

}  // namespace
}  // namespace dpsosp::xu_2026::dp_rgda_outer_test
