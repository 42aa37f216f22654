// SPDX-License-Identifier: Apache-2.0
// Schedules of DP-SGD and noisy SGD (avdiukhin-2024): the budget that they spend, the proved bound,
// the promised α.
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::avdiukhin_2024::avdiukhin_schedule_test {
namespace {

using test::Ran;
using test::run_enforced;

Problem double_well(Index n, std::map<std::string, std::string> settings = {}, Index d = 10) {
  const auto family = find_problem("double-well");
  Fields fields = family->fields();
  for (const auto& [name, text] : settings) set_field(fields, "double-well", name, text);
  return family->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

std::vector<std::unique_ptr<MinibatchSgd>> both() {
  std::vector<std::unique_ptr<MinibatchSgd>> made;
  made.push_back(std::make_unique<DpSgd>());
  made.push_back(std::make_unique<NoisySgd>());
  return made;
}

TEST(MinibatchSgdSchedule, SpendsBudgetExactlyOverFullLength) {
  const Problem p = double_well(2000);
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian, Calibrator::rdp})
    for (const Schedule kind : {Schedule::practical, Schedule::paper})
      for (const double share : {0.0, 0.3})
        for (const auto& algorithm : both()) {
          if (share > 0 && calibrator == Calibrator::exact_gaussian) continue;
          const bool clips = dynamic_cast<DpSgd*>(algorithm.get()) != nullptr;
          if (calibrator == Calibrator::rdp && clips != (share > 0)) continue;  // slow
          algorithm->parameters.selection.share = share;
          algorithm->parameters.deviation = algorithm->parameters.largest_deviation = 1.0;
          const Scheduled s = algorithm->schedule(kind, p.facts, {2, 1e-6}, calibrator);
          algorithm->check(p.facts);
          const auto plan = algorithm->plan(p.facts);
          const GaussianPlan one =
              plan_gaussian(plan[0].policy, BatchUse::one_query, 2000, 1.0,
                            Noise::sensitivity_ratio(algorithm->parameters.noise));
          double spent = static_cast<double>(plan[0].count) * s.rule.charge(*one.event);
          if (share > 0) {
            const double selection =
                s.rule.charge(PureEvent{algorithm->parameters.selection.epsilon});
            EXPECT_NEAR(selection, share * s.rule.capacity, 1e-9 * s.rule.capacity);
            spent += selection;
          }
          EXPECT_LE(spent, s.rule.capacity * (1 + 1e-15));
          EXPECT_NEAR(spent, s.rule.capacity, 1e-9 * s.rule.capacity)
              << to_string(calibrator) << ' ' << share;
        }
}

TEST(MinibatchSgdSchedule, GivesUnclippedRunsProvedBoundAndClassRelativeDelta) {
  const Problem p = double_well(10000);
  const PrivacyBudget budget{1, 1e-5};
  for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
    NoisySgd algorithm;
    auto& q = algorithm.parameters;
    q.deviation = q.largest_deviation = 1.0;
    const Scheduled s = algorithm.schedule(kind, p.facts, budget, Calibrator::cks);
    EXPECT_EQ(s.bound_failure, bound_failure(budget));
    EXPECT_EQ(s.rule.capacity, zcdp_budget({1, 0.5e-5}, Calibrator::cks));
    EXPECT_NEAR(class_relative_delta({1, 0.5e-5}, s.bound_failure), 1e-5, 1e-18);
    const double noise = q.noise * 2 * q.clip / 10000;
    const Numbers n{10000, 10, 1, p.facts.constants[constant::suboptimality], 1};
    const double infinite = std::numeric_limits<double>::infinity();
    const UnclippedRun run{infinite, static_cast<double>(q.steps), q.step_size, 1.0,
                           s.bound_failure};
    EXPECT_GE(q.clip, std::sqrt(2 * proved_gap(n, run, noise)) + 1);
    EXPECT_LE(q.step_size, 1.0 + 1e-9);
    // Poisson batches, another C, or clipping: no class-relative statement
    NoisySgd printed;
    printed.set_variant(Variant::printed);
    EXPECT_EQ(printed.schedule(kind, p.facts, budget, Calibrator::cks).bound_failure, 0.0);
    EXPECT_EQ(DpSgd().schedule(kind, p.facts, budget, Calibrator::cks).bound_failure, 0.0);
    NoisySgd poisson;
    poisson.parameters.sampling = Sampling::poisson;
    poisson.parameters.batch = 500;
    if (kind == Schedule::practical) {
      EXPECT_EQ(poisson.schedule(kind, p.facts, budget, Calibrator::rdp).bound_failure, 0.0);
      EXPECT_EQ(poisson.parameters.sampling, Sampling::poisson);
      EXPECT_EQ(poisson.parameters.batch, 500);
    }
  }
}

TEST(MinibatchSgdSchedule, PracticalScheduleIsNearClosedForm) {
  const Problem p = double_well(100000);
  DpSgd algorithm;
  auto& q = algorithm.parameters;
  q.bound = BoundRule::given;
  q.clip = 2.616227428;
  const Scheduled s = algorithm.schedule(Schedule::practical, p.facts, {1, 1e-5}, Calibrator::cks);
  const double kappa = 2.0 / 100000 * noise_ratio_for(s.rule.capacity, 1.0);
  const ClosedForm closed = practical_closed_form(
      {100000, 10, 1, p.facts.constants[constant::suboptimality], 1}, 10, kappa * q.clip);
  EXPECT_LE(s.alpha, 1.05 * closed.alpha * (1 + 1e-9));
  EXPECT_GE(s.alpha, closed.alpha * (1 - 1e-9));
  EXPECT_LE(static_cast<double>(q.steps), closed.time * 1.1 + 1);
  EXPECT_GT(static_cast<double>(q.steps), 0.5 * closed.time);
}

// A16: the promise counts the second moment for Poisson batches and the variance for fixed sizes.
TEST(MinibatchSgdSchedule, CountsSamplingNoiseOfBatches) {
  const Problem p = double_well(4000);
  for (const Sampling sampling : {Sampling::poisson, Sampling::sample}) {
    DpSgd algorithm;
    auto& q = algorithm.parameters;
    q.bound = BoundRule::given;
    q.clip = 2.6;
    q.deviation = 1.0;
    q.sampling = sampling;
    q.batch = 100;
    const Scheduled s =
        algorithm.schedule(Schedule::practical, p.facts, {1, 1e-5}, Calibrator::rdp);
    const double noise = q.noise * 2 * 2.6 / 100;
    const double one = sampling == Sampling::poisson ? 2.6 * 2.6 : 1.0;
    const Descent d = best_descent({4000, 10, 1, p.facts.constants[constant::suboptimality], 1},
                                   static_cast<double>(q.steps), one / 100 + 10 * noise * noise);
    EXPECT_NEAR(s.alpha, d.alpha, 1e-9);
    EXPECT_NEAR(q.step_size, d.step_size, 1e-9);
  }
}

// The gap is that of x₀, wherever it is (avdiukhin-2024, Assumption A.1).
TEST(MinibatchSgdSchedule, UsesSuboptimalityGapOfStart) {
  const Problem near = double_well(10000), far = double_well(10000, {{"start", "far"}});
  const auto alpha = [](const Problem& p) {
    return DpSgd().schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks).alpha;
  };
  const double ratio =
      far.facts.constants[constant::suboptimality] / near.facts.constants[constant::suboptimality];
  ASSERT_GT(ratio, 2.0);
  EXPECT_NEAR(alpha(far) / alpha(near), std::pow(ratio, 0.25), 0.1);
}

TEST(MinibatchSgdSchedule, ReportsTrueCostOfNaiveNoise) {
  const Problem p = double_well(10000);
  DpSgd algorithm;
  algorithm.parameters.noise_form = NoiseForm::naive;
  const Scheduled s = algorithm.schedule(Schedule::paper, p.facts, {1, 1e-5}, Calibrator::cks);
  const auto& q = algorithm.parameters;
  const double noise = q.noise * 2 * q.clip / 10000;
  EXPECT_NEAR(noise,
              naive_kappa(10000, {1, 1e-5}) * q.clip * std::sqrt(static_cast<double>(q.steps)),
              1e-12);
  const double cost = implied_epsilon(BatchPolicy::all(), 10000, q.steps, q.noise, 1e-5);
  EXPECT_GT(cost, 1.5);  // printed: 1
  EXPECT_NE(s.note.find("costs epsilon"), std::string::npos);
  // the sound curator ends such a run before its last step
  const Ran ran = run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::budget);
  EXPECT_LT(ran.outcome.steps, q.steps);
}

TEST(MinibatchSgdSchedule, RejectsSelectionWithExactGaussianAndZeroGap) {
  const Problem p = double_well(1000);
  DpSgd algorithm;
  algorithm.parameters.selection.share = 0.5;
  EXPECT_THROW(
      algorithm.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::exact_gaussian),
      InputError);
  PublicFacts still = p.facts;
  still.constants.set(constant::suboptimality, {0.0});
  EXPECT_THROW(DpSgd().schedule(Schedule::practical, still, {1, 1e-6}, Calibrator::cks),
               InputError);
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::avdiukhin_schedule_test
