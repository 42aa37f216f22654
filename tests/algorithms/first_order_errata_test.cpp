// SPDX-License-Identifier: Apache-2.0
// Errors of the first-order baselines' sources: what is printed fails, what runs here does not.
#include <cmath>
#include <variant>

#include <gtest/gtest.h>

#include "dpsosp/baselines/abadi_2016.hpp"
#include "dpsosp/baselines/dp_gld.hpp"
#include "dpsosp/baselines/dp_svrg.hpp"
#include "dpsosp/baselines/kl_spider.hpp"
#include "dpsosp/baselines/tree_spider.hpp"
#include "dpsosp/baselines/zhou_2020.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::first_order_errata_test {
namespace {

using namespace baselines;
using test::Ran;

double gaussian_zcdp(const Ledger& ledger) {
  double total = 0;
  for (const LedgerEntry& e : ledger.entries()) {
    const double z = std::get<GaussianEvent>(*e.event).noise_multiplier;
    total += static_cast<double>(e.count) / (2 * z * z);
  }
  return total;
}

// F1. One noise of variance G²T ln(1/δ)/(nε)² an inner step and one sampled record: the record's
// own difference moves v by up to 4G, the epoch's exact gradient by 2G/n at every step.
TEST(FirstOrderErrata, PrintedDpSvrgNoiseExceedsBudget) {
  const double n = 1000, T = 1000, epsilon = 1, delta = 1e-6;
  const double sigma = std::sqrt(T * std::log(1 / delta)) / (n * epsilon);
  // the sampled part alone, amplified as much as is proved
  const std::vector<CountedEvent> printed{
      {FixedSizeGaussianEvent{1 / n, sigma / 4}, static_cast<std::int64_t>(T)}};
  EXPECT_GT(epsilon_of(printed, Adjacency::replace_one, delta).epsilon, 30 * epsilon);
  // the safe form
  const Problem p = test::small_problem("cosine-saddle", 1000);
  DpSvrg a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {epsilon, delta}, Calibrator::cks);
  const Ran ran = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_LE(ran.ledger.spent(delta).epsilon, epsilon);
}

// F2. As printed, the population bound is below (d/n)^{1/3} for constant ε, and tends to 0 as ε
// grows.
TEST(FirstOrderErrata, ZhouPopulationBoundStaysAboveCubeRoot) {
  for (const double n : {1e3, 1e5, 1e7})
    for (const double d : {1.0, 30.0, 500.0}) {
      const double cube_root = std::cbrt(d / n);
      for (double epsilon = 1e-6; epsilon < 100; epsilon *= 1.3)
        EXPECT_GE(zhou_2020_population_bound(n, d, epsilon), cube_root);
      const double printed = std::sqrt(std::sqrt(d) / (n * 1.0));  // ε = 1
      EXPECT_LT(printed, cube_root);
      EXPECT_GT(zhou_2020_population_bound(n, d, 1.0), 1.0);  // vacuous
    }
  // the promise that a run makes is the repaired one
  const Problem p = test::small_problem("cosine-saddle", 1000);
  ZhouSgd a;
  a.parameters.population = true;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  EXPECT_EQ(s.utility, Utility::vacuous);
}

// F3. A temperature chosen beside the privacy noise sets the noise itself: four times colder costs
// four times the budget.
TEST(FirstOrderErrata, DpGldNoiseDeterminesTemperature) {
  const Problem p = test::small_problem("cosine-saddle", 500);
  DpGld a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  for (const Field& f : a.fields()) EXPECT_EQ(f.name.find("temperature"), std::string::npos);
  const double G = p.facts.constants[constant::lipschitz], n = 500;
  const double T = static_cast<double>(a.parameters.steps);
  const auto cost = [&](double beta) {  // Langevin noise 2/(ηβ) of the mean gradient
    const double deviation = std::sqrt(2 / (a.parameters.step_size * beta));
    return T * std::pow(2 * G / n / deviation, 2) / 2;
  };
  const double beta = a.inverse_temperature(500);
  EXPECT_NEAR(cost(beta), s.rule.capacity, 1e-9 * s.rule.capacity);
  EXPECT_NEAR(cost(4 * beta), 4 * s.rule.capacity, 1e-8);
  EXPECT_NEAR(beta, n * n * s.rule.capacity / (G * G * T * a.parameters.step_size), 1e-9 * beta);
}

/// How far a run without data moves over its steps, in units of the sum of its step sizes.
double noise_travel(Algorithm& a, const Problem& p) {
  const Ran ran = test::run_unsound(a, p.facts, *p.records, test::no_data);
  double travel = 0;
  for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t)
    travel += (ran.iterates[t + 1] - ran.iterates[t]).lpNorm<1>() /
              static_cast<double>(p.facts.dimension);
  const double eta = std::stod(values_of(a.fields()).at("step_size"));
  return travel / (eta * static_cast<double>(ran.iterates.size() - 1));
}

// F4. With ν = 1e-8 a coordinate that sees noise alone moves by about η a step (E|N| = 0.8),
// however small the noise; with ν ≥ s by less, and by ever less at the start.
TEST(FirstOrderErrata, RmsPropWithTinyDampingDriftsOnNoiseAlone) {
  const Problem p = test::small_problem("cosine-saddle", 500);
  ZhouRmsProp a;
  a.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  EXPECT_NEAR(a.parameters.damping, a.parameters.deviation(500), 1e-15);  // ν = s
  test::set(a, {{"steps", "2000"}});
  const double repaired = noise_travel(a, p);
  test::set(a, {{"damping", "1e-8"}});
  const double printed = noise_travel(a, p);
  EXPECT_GT(printed, 0.8);
  EXPECT_LT(repaired, 0.6);
}

// F5. Adam's second moment contains the noise's variance, which makes it SGD-like: of two
// coordinates with slopes 10 apart below the noise it moves 7 times less along the smaller. AdamBC
// takes the variance out, down to ν′ = s²/100.
TEST(FirstOrderErrata, AdamBcRemovesNoiseFromSecondMoment) {
  PublicFacts facts;
  facts.name = "two slopes";
  facts.dimension = 2;
  facts.records = 10;
  facts.initial_point = Vector::Zero(2);
  const Vector slope = (Vector(2) << 1.0, 0.1).finished();
  const test::ScriptedRecords records(10, [&](std::size_t, const Point&, Block) { return slope; });
  AbadiAdam a;
  auto& p = a.parameters;
  p.steps = 20000;
  p.step_size = 1e-3;
  p.clip = 1.0;
  p.noise = 5.0;
  const double s = p.deviation(10);
  EXPECT_EQ(s, 1.0);
  p.moment_floor = s * s / 100;
  const auto ratio = [&](MomentCorrection correction) {
    p.correction = correction;
    const Vector x = test::run_unsound(a, facts, records, {}).outcome.point;
    return x[1] / x[0];
  };
  EXPECT_LT(ratio(MomentCorrection::start), 0.25);  // 0.1 · sqrt(2/1.01) = 0.14
  EXPECT_GT(ratio(MomentCorrection::noise), 0.5);   // towards 1
}

KlSpider small_stages(const Problem& problem, Variant variant) {
  KlSpider a;
  a.set_variant(variant);
  a.schedule(Schedule::practical, problem.facts, {100, 1e-6}, Calibrator::cks);
  return a;
}

// F6. "w_{k+1,0} = w_{k,t−1}": where a stage has one step (k = 2) the next stage starts where this
// one started, and the iterate never moves.
TEST(FirstOrderErrata, PrintedKlSpiderNeverLeavesStart) {
  const Problem p = find_problem("radial-ripple")->make({.records = 10000});
  const auto end = [&](Variant variant) {
    return test::run_unsound(small_stages(p, variant), p.facts, *p.records, test::no_noise)
        .outcome.point;
  };
  EXPECT_EQ(end(Variant::printed), p.facts.initial_point);
  EXPECT_LT(p.empirical->value(end(Variant::repaired)),
            0.1 * p.empirical->value(p.facts.initial_point));
}

// F7. The printed K is more than four times the stages that the targets need, and the floor grows
// with K: the promise is four times worse. Its first term alone is negative for F₀ < 1.
TEST(FirstOrderErrata, PrintedStageCountWorsensKlSpiderBound) {
  const KlProblem z2{
      .n = 1e8, .d = 16, .L = .96833, .beta = 1.50635, .F0 = .142, .gamma = 3.87252, .k = 2};
  const double rho = 0.0174689048 / 2;
  const KlConstants paper{64, 32, [](Index) { return 20.0; }};
  const KlNumbers repaired = kl_numbers(z2, rho, paper);
  const double printed = kl_printed_stages(z2, rho);
  EXPECT_GT(printed, 4 * static_cast<double>(repaired.stages));
  EXPECT_GT(kl_floor(z2, rho, paper, static_cast<Index>(printed)), 4 * repaired.target);
  // the smallest K: its own target is met after K contractions, and not after K − 1
  const auto K = static_cast<double>(repaired.stages);
  EXPECT_LE(z2.F0 * std::pow(repaired.contraction, -K), repaired.target);
  EXPECT_GT(z2.F0 * std::pow(repaired.contraction, 1 - K),
            kl_floor(z2, rho, paper, repaired.stages - 1));
}

// F8. Printed deviations ŝ = L sqrt(K/ρ)/n and s_j = Φ^{1/k} sqrt(T_j K/ρ)/(γn) cost 2ρ and ρ/8
// under replace-one.
TEST(FirstOrderErrata, PrintedKlSpiderNoiseCosts17EighthsOfBudget) {
  const double n = 1000, L = 2, gamma = 1.3, rho = 0.1, K = 50, phi = 0.01, T = 8, k = 4.0 / 3;
  const auto cost = [](double sensitivity, double s) { return std::pow(sensitivity / s, 2) / 2; };
  const double root = std::pow(phi, 1 / k);
  const double anchor = K * cost(2 * L / n, L * std::sqrt(K / rho) / n);
  const double difference =
      K * T * cost(root / (2 * gamma * n), root * std::sqrt(T * K / rho) / (gamma * n));
  EXPECT_NEAR(anchor + difference, 17.0 / 8 * rho, 1e-12);
  // ours, at whole stages of every length
  Problem p = test::small_problem("cosine-saddle", 1000);
  p.facts.constants.set(constant::kl_gamma, {0.01});
  p.facts.constants.set(constant::kl_exponent, {1.2});
  KlSpider a;
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {8, 1e-6}, Calibrator::cks);
  a.parameters.target_excess *= 0.01;  // stages of many steps
  a.parameters.stages = 3 + a.parameters.stages;
  a.parameters.steps = 1000000;
  a.parameters.oracle.refresh_noise =
      noise_ratio_for(s.rule.capacity / 2, static_cast<double>(a.parameters.stages));
  const Ran ran = test::run_unsound(a, p.facts, *p.records, {});
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_LE(gaussian_zcdp(ran.ledger), s.rule.capacity);
  EXPECT_GE(gaussian_zcdp(ran.ledger), s.rule.capacity / 2 * (1 - 1e-9));
}

// F9. The paper's threshold 2C̃α exceeds every gradient, so the first leaf, the start, is returned
// (baselines notes, 8.2).
TEST(FirstOrderErrata, TreeSpiderReturnsStartAtPaperThreshold) {
  Problem p = test::small_problem("cosine-saddle", 20000);
  Stream({.seed = 4, .purpose = Purpose::test}).fill_normal(1.0, p.facts.initial_point);
  TreeSpider a;
  const Scheduled paper = a.schedule(Schedule::paper, p.facts, {8, 1e-6}, Calibrator::cks);
  EXPECT_EQ(paper.utility, Utility::vacuous);
  EXPECT_GT(2 * a.parameters.alpha, 1000 * p.facts.constants[constant::lipschitz]);
  const Ran printed = test::run_enforced(a, p.facts, *p.records, paper.rule);
  EXPECT_EQ(printed.outcome.status, Status::certified);
  EXPECT_EQ(printed.outcome.point, p.facts.initial_point);
  const Scheduled s = a.schedule(Schedule::practical, p.facts, {8, 1e-6}, Calibrator::cks);
  const Ran moved = test::run_enforced(a, p.facts, *p.records, s.rule);
  EXPECT_GT(moved.iterates.size(), 1U);
  EXPECT_NE(moved.outcome.point, p.facts.initial_point);
}

}  // namespace
}  // namespace dpsosp::first_order_errata_test
