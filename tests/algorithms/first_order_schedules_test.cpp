// SPDX-License-Identifier: Apache-2.0
// Schedules of the first-order baselines against the numbers of baselines notes, and full-length
// runs against the budget.
#include <algorithm>
#include <cmath>
#include <variant>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/baselines/abadi_2016.hpp"
#include "dpsosp/baselines/dp_gd.hpp"
#include "dpsosp/baselines/dp_gld.hpp"
#include "dpsosp/baselines/dp_prox_gd.hpp"
#include "dpsosp/baselines/dp_svrg.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/baselines/momentum_aggregation.hpp"
#include "dpsosp/baselines/reference.hpp"
#include "dpsosp/baselines/tree_spider.hpp"
#include "dpsosp/baselines/zhou_2020.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::first_order_schedules_test {
namespace {

using namespace baselines;
using test::Ran;

void expect_digits(double actual, double expected, double relative) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

PublicFacts unit_facts(Index n, Index d) {
  PublicFacts facts;
  facts.name = "unit constants";
  facts.dimension = d;
  facts.records = n;
  facts.initial_point = Vector::Zero(d);
  for (const auto name : {constant::lipschitz, constant::smoothness, constant::suboptimality})
    facts.constants.set(name, {1.0});
  return facts;
}

/// The reference point of baselines notes, 0.
const PublicFacts reference_facts = unit_facts(100000, 50);
const PrivacyBudget reference_budget{1, 1e-6};
constexpr double reference_zcdp = 0.0243559703595;

TEST(DpGdSchedule, MatchesValuesAtReferencePoint) {
  DpGd a;
  const Scheduled s =
      a.schedule(Schedule::practical, reference_facts, reference_budget, Calibrator::cks);
  expect_digits(s.rule.capacity, reference_zcdp, 1e-11);
  EXPECT_EQ(a.parameters.steps, 2208);
  EXPECT_EQ(a.parameters.step_size, 1.0);
  expect_digits(a.parameters.deviation(100000), 0.00425806036, 1e-8);
  expect_digits(s.alpha, 0.0425717160, 1e-8);
  EXPECT_EQ(s.utility, Utility::proved);
  // the printed number of steps: n eps/sqrt(d ln(1/delta)) = 3804.8
  a.schedule(Schedule::paper, reference_facts, reference_budget, Calibrator::cks);
  EXPECT_EQ(a.parameters.steps, 3805);
}

TEST(DpGdSchedule, TakesLogarithmicallyManyStepsForPlLosses) {
  PublicFacts facts = reference_facts;
  facts.constants.set(constant::pl, {0.1});
  DpGd a;
  a.parameters.pl = true;
  const Scheduled s = a.schedule(Schedule::practical, facts, reference_budget, Calibrator::cks);
  EXPECT_EQ(a.parameters.steps, 108);  // 10 ln(1e10 · 0.01 · R/50) = 107.94
  EXPECT_EQ(a.parameters.output, OutputRule::last);
  const double s2 = std::pow(a.parameters.deviation(100000), 2);
  expect_digits(s2, 2 * 108 / (1e10 * reference_zcdp), 1e-9);
  expect_digits(s.excess_risk, std::pow(0.9, 108) + 50 * s2 / 0.2, 1e-12);
  EXPECT_LT(s.alpha, 0.03);  // below the bound of the general schedule
}

TEST(DescentBound, IsMinimisedByBestStep) {
  const double eta = best_step(2.0, 3.0, 1000, 0.5);
  const double least = descent_bound(2.0, 3.0, eta, 1000, 0.5);
  EXPECT_LT(eta, 1.0 / 3);
  for (const double factor : {0.5, 0.9, 1.1, 2.0})
    EXPECT_GT(descent_bound(2.0, 3.0, factor * eta, 1000, 0.5), least);
  EXPECT_EQ(best_step(2.0, 3.0, 1000, 1e-9), 1.0 / 3);
  expect_digits(descent_bound(1, 1, 1, 2208, 50 * 0.00425806036 * 0.00425806036), 0.0425717160,
                1e-8);
}

TEST(MomentumAggregationSchedule, MatchesValuesAtReferencePoint) {
  MomentumAggregation a;
  const auto& p = a.parameters;
  const Scheduled s =
      a.schedule(Schedule::practical, reference_facts, reference_budget, Calibrator::cks);
  EXPECT_EQ(p.steps, 1317);
  expect_digits(p.step_size, 0.0275626887, 1e-8);  // α/M
  expect_digits(p.difference_budget, reference_zcdp * 2 / 3, 1e-10);
  const double s0 = 2e-5 * p.oracle.refresh_noise;
  expect_digits(s0, 1.56954189e-4, 3e-8);
  const LevelNoise levels = level_noise(1, 1, p.step_size, p.steps, 1e5, p.difference_budget);
  EXPECT_EQ(levels.deviation.size(), 11U);
  expect_digits(levels.total, 5.90011164e-4, 1e-8);
  EXPECT_LE(levels.total, 11.7e-5 * std::sqrt(1317 * p.step_size));
  const double error =
      std::sqrt(50 * (s0 * s0 + levels.total * levels.total / (2 * p.difference_budget)));
  expect_digits(error, 0.0231777678, 3e-8);
  expect_digits(s.alpha, 1 / (p.step_size * 1317) + 2 * error + p.step_size / 2, 1e-12);
  // what all levels cost together is R_t
  double cost = 0;
  for (std::size_t l = 0; l < levels.deviation.size(); ++l) {
    const Index width = Index{1} << l;
    cost += static_cast<double>(1317 / width - 1317 / (2 * width)) *
            std::pow(levels.sensitivity[l] / levels.deviation[l], 2) / 2;
  }
  expect_digits(cost, p.difference_budget, 1e-12);
  EXPECT_LE(cost, p.difference_budget);
}

TEST(TreeSpiderSchedule, PaperScheduleMatchesValuesAtReferencePoint) {
  const TreeNumbers numbers = tree_paper(numbers_of(reference_facts, false), 1.0);
  expect_digits(numbers.batch, 2154.43, 1e-5);
  TreeSpider a;
  const auto& p = a.parameters;
  const Scheduled s =
      a.schedule(Schedule::paper, reference_facts, reference_budget, Calibrator::cks);
  EXPECT_EQ(p.batch, 2048);
  EXPECT_EQ(p.depth, 7);
  EXPECT_EQ(p.steps, 10 * 128);
  expect_digits(numbers.alpha, 0.0304683076, 1e-8);
  expect_digits(p.step_size, 0.0304683076, 1e-8);
  expect_digits(2 * p.noise / 2048, 0.00442468468, 1e-8);
  expect_digits(2 * p.step_size * std::exp2(3.5) * p.noise / 2048, 0.00152523107, 1e-8);
  expect_digits(p.step_size / std::exp2(3.5), 0.00269304336, 1e-8);
  expect_digits(p.alpha, 4e4 * numbers.alpha, 0.05);
  EXPECT_EQ(s.utility, Utility::vacuous);
  // the records that a run uses: a root, and half of it at each depth
  double used = 0;
  for (const PlannedQuery& q : a.plan(reference_facts))
    used += static_cast<double>(q.count * q.policy.size);
  EXPECT_EQ(used, 92160);
}

TEST(TreeSpiderSchedule, PracticalScheduleMatchesLowyValues) {
  TreeSpider a;
  const PublicFacts facts = unit_facts(1000000, 10);
  const double rho = filter_rule({1, 1e-6}, Calibrator::bun_steinke).capacity;
  expect_digits(rho, 0.0174689048, 1e-8);
  const TreeNumbers numbers = tree_practical(numbers_of(facts, false), rho);
  EXPECT_TRUE(numbers.fits);
  expect_digits(numbers.alpha, 0.0871, 1e-3);
  expect_digits(numbers.batch, 1553.8, 1e-4);
  EXPECT_EQ(numbers.depth, 6);
  EXPECT_EQ(numbers.rounds, 160);
  expect_digits(numbers.step_size, 0.03588, 1e-3);
  a.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::bun_steinke);
  EXPECT_EQ(a.parameters.batch, 24 * 64);
  EXPECT_EQ(a.parameters.steps, 160 * 64);
}

// lowy-2024 notes, 8: Z2 with p = 2
const auto kl_z2 = [](double n) {
  return KlProblem{
      .n = n, .d = 16, .L = .96833, .beta = 1.50635, .F0 = .142, .gamma = 3.87252, .k = 2};
};

TEST(KlSpiderSchedule, MatchesSpecifiedValues) {
  const double rho = 0.0174689048 / 2;
  const KlConstants practical{8, 4, [](Index) { return 1.0; }};
  const KlConstants rigorous{64, 32, [](Index) { return 20.0; }};
  const KlNumbers a = kl_numbers(kl_z2(1e7), rho, practical);
  expect_digits(a.contraction, 1.0055335, 1e-7);
  EXPECT_EQ(a.stages, 1788);
  expect_digits(a.target, 7.36893e-6, 2e-5);
  const KlNumbers b = kl_numbers(kl_z2(1e7), rho, rigorous);
  expect_digits(b.contraction, 1.00069168, 1e-8);
  EXPECT_EQ(b.stages, 3118);
  expect_digits(b.target, 1.64484e-2, 2e-5);
  const KlNumbers c = kl_numbers(kl_z2(1e8), rho, practical);
  EXPECT_EQ(c.stages, 2558);
  expect_digits(c.target, 1.05424e-7, 2e-5);
  const KlNumbers e = kl_numbers(kl_z2(1e8), rho, rigorous);
  EXPECT_EQ(e.stages, 8353);
  expect_digits(e.target, 4.40646e-4, 2e-5);
  EXPECT_NEAR(kl_printed_stages(kl_z2(1e8), rho), 35783, 1);
  KlSpider algorithm;
  algorithm.parameters.initial_excess = .05;
  algorithm.parameters.kl_exponent = 4.0 / 3;
  EXPECT_EQ(algorithm.stage_length(.001), 8);  // ⌈7.0711⌉
  EXPECT_EQ(algorithm.stage_length(.05), 1);
}

TEST(KlSpiderSchedule, ReportsExcessRiskForSecondStage) {
  const Problem p = find_problem("radial-ripple")->make({.records = 10000});
  KlSpider a;
  const Scheduled s =
      a.schedule(Schedule::practical, p.facts, {100, 1e-6}, Calibrator::bun_steinke);
  const KlNumbers expected =
      kl_numbers(kl_problem(p.facts), s.rule.capacity, {8, 4, [](Index) { return 1.0; }});
  EXPECT_EQ(s.excess_risk, expected.target);
  EXPECT_EQ(s.alpha, expected.target);
  EXPECT_LT(s.excess_risk, p.facts.constants[constant::suboptimality]);
  EXPECT_EQ(a.parameters.target_excess, expected.target);
  // PL is KL with k = 2 and gamma = 1/sqrt(2 mu)
  const Problem pl = find_problem("separable-pl")->make({.records = 1000});
  const KlProblem q = kl_problem(pl.facts);
  EXPECT_EQ(q.k, 2);
  expect_digits(q.gamma, 1 / std::sqrt(2 * pl.facts.constants[constant::pl]), 1e-14);
}

TEST(KlSpiderSchedule, ReturnsStartWithoutQueriesWhenVacuous) {
  const Problem p = find_problem("radial-ripple")->make({.records = 100});
  KlSpider a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  EXPECT_EQ(s.utility, Utility::vacuous);
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.point, p.facts.initial_point);
  EXPECT_EQ(ran.ledger.queries(), 0);
}

TEST(DpGldSchedule, TemperatureDependsOnBudgetAndTimeAlone) {
  DpGld a;
  const double n = 1e5;
  for (const double time : {1.0, 3.0, 10.0, 30.0}) {
    a.parameters.diffusion_time = time;
    a.schedule(Schedule::practical, reference_facts, reference_budget, Calibrator::cks);
    EXPECT_EQ(a.parameters.steps, static_cast<Index>(4 * time));
    EXPECT_LE(a.parameters.step_size, 0.25);
    expect_digits(a.inverse_temperature(100000), n * n * reference_zcdp / time, 1e-10);
  }
  a.schedule(Schedule::paper, reference_facts, reference_budget, Calibrator::cks);
  expect_digits(a.inverse_temperature(100000), std::log(n), 1e-6);
  // (d/2β) ln((eM/m)(bβ/d + 1))
  expect_digits(gibbs_suboptimality(50, 100, 2, 0.5, 3), 0.25 * std::log(4 * std::exp(1.0) * 7),
                1e-14);
}

TEST(AbadiSchedule, SamplesOnlyWithAmplificationAndNeedsLessNoise) {
  for (const auto& key : {"abadi-2016/dp-sgd", "abadi-2016/dp-adam"}) {
    const auto a = find_algorithm(key);
    const PublicFacts facts = unit_facts(5120, 8);
    const Scheduled full = a->schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
    EXPECT_EQ(values_of(a->fields()).at("sampling"), "all");
    EXPECT_FALSE(full.rule.order);
    const Scheduled s = a->schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::rdp);
    EXPECT_EQ(values_of(a->fields()).at("sampling"), "poisson");
    EXPECT_EQ(values_of(a->fields()).at("batch"), "256");
    EXPECT_EQ(values_of(a->fields()).at("steps"), "200");  // 10/q
    ASSERT_TRUE(s.rule.order);
    // less noise than the same steps need without amplification
    const auto plan = a->plan(facts);
    EXPECT_LT(
        std::stod(values_of(a->fields()).at("noise")),
        0.5 * calibrate_common_noise(plan, 5120, {1, 1e-6}, Calibrator::cks).sensitivity_ratio);
    if (key == std::string("abadi-2016/dp-adam")) {
      EXPECT_EQ(values_of(a->fields()).at("moment_floor"), "0") << "of the noise in force";
    }
    test::set(*a, {{"sampling", "sample"}});
    a->schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::rdp);
    EXPECT_EQ(values_of(a->fields()).at("sampling"), "sample");
  }
}

double gaussian_zcdp(const Ledger& ledger) {
  double total = 0;
  for (const LedgerEntry& e : ledger.entries()) {
    const double z = std::get<GaussianEvent>(*e.event).noise_multiplier;
    total += static_cast<double>(e.count) / (2 * z * z);
  }
  return total;
}

TEST(FullLengthRuns, SpendWholeBudget) {
  for (const std::string key :
       {"wang-ye-xu-2017/dp-gd", "wang-ye-xu-2017/dp-svrg", "zhang-2017/rrpsgd",
        "wang-xu-2019/dp-prox-gd", "zhou-2020/dp-sgd", "zhou-2020/dp-rmsprop", "zhou-2020/dp-adam",
        "wang-chen-xu-2019/dp-gld", "abadi-2016/dp-sgd", "abadi-2016/dp-adam"})
    for (const Schedule kind : {Schedule::practical, Schedule::paper}) {
      SCOPED_TRACE(key + (kind == Schedule::paper ? " paper" : ""));
      const Problem p = test::small_problem("cosine-saddle", 150);
      const auto a = find_algorithm(key);
      const Scheduled s = a->schedule(kind, p.facts, {1, 1e-6}, Calibrator::cks);
      const Ran ran = test::run_enforced(*a, p.facts, *p.records, s.rule);
      EXPECT_EQ(ran.outcome.status, Status::steps_done);
      expect_digits(gaussian_zcdp(ran.ledger), s.rule.capacity, 1e-9);
      EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 1.0);
    }
}

TEST(FullLengthRuns, TreeSpiderSpendsBudgetOnEveryUsedRecord) {
  const Problem p = test::small_problem("cosine-saddle", 3000);
  TreeSpider a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {4, 1e-6}, Calibrator::cks);
  a.parameters.alpha = 0;
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  Index end = 0;
  for (const LedgerEntry& e : ran.ledger.entries()) {
    EXPECT_EQ(e.charged.begin, end) << "every record once, in order";
    end = e.charged.end;
    const double z = std::get<GaussianEvent>(*e.event).noise_multiplier;
    expect_digits(1 / (2 * z * z), s.rule.capacity, 1e-9);
  }
  EXPECT_GT(end, 1500);
  EXPECT_LE(end, 3000);
}

TEST(FullLengthRuns, MomentumAggregationAndKlSpiderStayWithinBudget) {
  const Problem p = test::small_problem("cosine-saddle", 2000);
  MomentumAggregation a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {4, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  // steps bend, so the distances moved, and with them the charges, are shorter than planned
  EXPECT_GT(gaussian_zcdp(ran.ledger), s.rule.capacity / 2);
  EXPECT_LE(gaussian_zcdp(ran.ledger), s.rule.capacity);

  const Problem ripple = find_problem("radial-ripple")->make({.records = 10000});
  KlSpider kl;
  const Scheduled k = kl.schedule(Schedule::practical, ripple.facts, {100, 1e-6}, Calibrator::cks);
  const Ran stages = test::run_enforced(kl, ripple.facts, *ripple.records, k.rule);
  EXPECT_EQ(stages.outcome.status, Status::steps_done);
  expect_digits(gaussian_zcdp(stages.ledger), k.rule.capacity, 1e-9);
  EXPECT_LE(gaussian_zcdp(stages.ledger), k.rule.capacity);
  // no noisier than ŝ = (2L/n) sqrt(K/ρ) of lowy-2024 notes, 2.6
  EXPECT_LE(kl.parameters.oracle.refresh_noise,
            std::sqrt(static_cast<double>(kl.parameters.stages) / k.rule.capacity));
}

TEST(RrPsgdSchedule, SpendsBudgetOnSingleRecordsWithAmplification) {
  const Problem p = test::small_problem("cosine-saddle", 40);
  RrPsgd a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::rdp);
  EXPECT_EQ(a.parameters.steps, 1600);
  EXPECT_EQ(a.parameters.batch, 1);
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_NEAR(ran.ledger.spent(1e-6, {.accountant = Accountant::rdp}).epsilon, 2.0, 2e-9);
}

TEST(DpSvrgSchedule, SamplesDifferencesAloneWithAmplification) {
  const Problem p = test::small_problem("cosine-saddle", 600);
  DpSvrg a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::rdp);
  EXPECT_EQ(a.parameters.oracle.refresh_batch, 600);
  EXPECT_EQ(a.parameters.oracle.increment_batch, 256);
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_NEAR(ran.ledger.spent(1e-6, {.accountant = Accountant::rdp}).epsilon, 2.0, 2e-9);
}

TEST(ReferenceSchedules, MatchTheirSources) {
  PublicFacts facts = unit_facts(10000, 10);
  facts.constants.set(constant::hessian_lipschitz, {1.0});
  facts.constants.set(constant::smoothness, {4.0});
  ReferenceSpider spider;
  spider.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks);
  EXPECT_EQ(spider.parameters.period, 100);
  EXPECT_EQ(spider.parameters.increment_batch, 100);
  EXPECT_EQ(spider.parameters.refresh_batch, 10000);
  EXPECT_EQ(spider.parameters.step_size, 0.125);
  PerturbedGd kicked;
  kicked.schedule(Schedule::paper, facts, {1, 1e-6}, Calibrator::cks);
  // χ = 3 max(ln(dℓΔ/(0.1 ε²)), 4), ε = 0.01
  const double chi = 3 * std::log(10 * 4 / (0.1 * 1e-4));
  expect_digits(kicked.parameters.threshold, 0.01 / (chi * chi), 1e-12);
  expect_digits(kicked.parameters.radius, 0.0025 / (chi * chi), 1e-12);
  expect_digits(kicked.parameters.decrease, 1e-3 / (chi * chi * chi), 1e-12);
  EXPECT_EQ(kicked.parameters.escape_steps, static_cast<Index>(std::ceil(chi * 4 / 0.1)));
}

}  // namespace
}  // namespace dpsosp::first_order_schedules_test
