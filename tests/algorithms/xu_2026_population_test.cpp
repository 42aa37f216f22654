// SPDX-License-Identifier: Apache-2.0
// DP-RGDA for the population: Theorem 2's numbers, the one-pass practical schedule, and runs of it
// on simulated records.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::xu_2026::xu_2026_population_test {
namespace {

using test::Ran;

void expect_digits(double actual, double expected, double relative) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

// xu-2026 notes, 9
TEST(XuTheorem2, MatchesReferenceValuesAndCannotDescend) {
  const PaperPopulation s = paper_population(1e6, 120, 2, 1e-6, 1);
  expect_digits(s.alpha, 0.0145120, 1e-5);
  expect_digits(s.steps, 1341.23, 1e-5);
  expect_digits(s.refresh_batch, 1e4, 1e-9);
  expect_digits(s.period, 36.6228, 1e-5);
  expect_digits(s.increment_batch, 36.6228, 1e-5);
  expect_digits(s.steps * s.step * s.alpha, 0.0878, 1e-3);  // against F₀ = 1
  expect_digits(s.records, 415348, 1e-4);
  // docs/errata.md, X11: S₁ = n and q = ē^{1/3} < 1 of xu-2026, Lemma 8 need T n/q records
  const double q = std::cbrt(s.ebar);
  EXPECT_LT(q, 1.0);
  EXPECT_GT(s.steps / q * 1e6, 1e6 * 1000);
  // docs/errata.md, X12: T η α tends to 0 as n grows
  const auto fall = [](double n) {
    const PaperPopulation p = paper_population(n, 120, 2, 1e-6, 1);
    return p.steps * p.step * p.alpha;
  };
  EXPECT_LT(fall(1e9), fall(1e6));
  EXPECT_LT(fall(1e12), fall(1e9));
}

// X8. Lemma 8's noise over half of what one record adds to an increment of v that has it, C₂ = 1
// and the lemma's S₂ at κ = 5, δ₁ = 0.1: such an answer is 47 deviations away from every one
// without it, and a run has one. So ε > 1100 for 2; with C₂ = 100 the same at n = 1e9, for no C₂
// mends it.
TEST(XuTheorem2, NoiseOfLemma8ShowsASampledRecord) {
  constexpr double epsilon = 2, delta = 1e-6, K = 5, kappa = 5;
  for (const auto& [n, C2] : {std::pair{1e6, 1.0}, std::pair{1e9, 100.0}}) {
    const PaperPopulation s = paper_population(n, 120, epsilon, delta, 1);
    const double S2 = std::ceil(std::pow(std::log(4 / 0.1), 2) * kappa * std::cbrt(1 / s.ebar));
    const double noise = 2 * C2 * std::sqrt(std::log(1.25 / delta)) / (n * epsilon);
    const double half = 0.5 * std::sqrt(1 - 1 / kappa) / S2 / noise;  // a² = L² − Lμ
    EXPECT_NEAR(half, 47.9, 0.1);
    const double answers = s.steps * (K - 1);
    const double seen = 1 - std::pow(1 - S2 / n, answers);
    EXPECT_GT(seen, 0.99);
    const double log_false = std::log(answers) - half * half / 2;  // Φ(−h) <= exp(−h²/2)
    EXPECT_GT(std::log(seen - delta) - log_false, 1100);
  }
}

// X24. A step of 1/(2L) along v/‖v‖ from √2 on Φ = x²/2, L = 1, stays on √2 + ℤ/2 whatever v is.
TEST(XuTheorem1, PrintedStepKeepsAwayFromStationaryPoint) {
  const double alpha = std::pow(paper_population(1e6, 120, 2, 1e-6, 1).ebar, 2.0 / 3.0);
  double x = std::sqrt(2.0), least = x;
  for (int t = 0; t < 1000; ++t) {
    x -= 0.5 * (x > 0 ? 1 : -1);
    least = std::min(least, std::abs(x));
  }
  EXPECT_NEAR(least, 0.0858, 1e-4);
  EXPECT_GT(least, 115 * alpha);
}

PopulationNumbers cosine(double n) {
  return {.records = n,
          .dimension = 30,
          .clip = 4,
          .deviation = std::sqrt(2.0),
          .smoothness = 3,
          .value_smoothness = 4.5,
          .gap = 10,
          .rho_z = 0.06757388167};
}

TEST(PracticalPopulation, UsesRecordsOnceAndMeetsNoiseTolerances) {
  for (const double n : {1e5, 1e7, 1e9, 1e12}) {
    const PopulationNumbers m = cosine(n);
    const PracticalPopulation s = practical_population(m);
    EXPECT_LE(s.records, n);
    EXPECT_GE(s.records, 0.9 * n);
    EXPECT_LE(std::ceil(s.steps / s.period) * s.refresh_batch + s.steps * s.increment_batch, n);
    const double e = std::sqrt(2 * m.rho_z), quarter = s.alpha / 4 * (1 + 1e-12);
    EXPECT_LE(m.deviation / std::sqrt(s.refresh_batch), quarter);
    EXPECT_LE(std::sqrt(m.dimension) * 2 * m.clip / (s.refresh_batch * e), quarter);
    const double move = m.smoothness * s.alpha / (4 * m.value_smoothness);
    EXPECT_LE(std::sqrt(s.period / s.increment_batch) * move, quarter);
    EXPECT_LE(std::sqrt(s.period * m.dimension) * 2 * move / (s.increment_batch * e), quarter);
    EXPECT_EQ(s.steps, std::ceil(16 * m.value_smoothness * m.gap / (s.alpha * s.alpha)));
  }
}

TEST(PracticalPopulation, ChoosesPeriodThatNeedsFewestRecords) {
  const PopulationNumbers m = cosine(1e8);
  const PracticalPopulation s = practical_population(m);
  const double e = std::sqrt(2 * m.rho_z), slack = m.smoothness / m.value_smoothness;
  const auto records = [&](double q) {
    const double S2 =
        std::ceil(std::max(q * slack * slack, 2 * slack * std::sqrt(q * m.dimension) / e));
    return std::ceil(s.steps / q) * s.refresh_batch + s.steps * S2;
  };
  for (double q = 1; q < 2000; ++q) EXPECT_GE(records(q), s.records * 0.995) << q;
}

// The rate of xu-2026 notes, 3.3, n^{−1/3} + (√d/(nε))^{3/7}: its first term at a large budget, its
// second at a small one.
TEST(PracticalPopulation, HasDerivedExponents) {
  const auto slope = [](PopulationNumbers m) {
    const double one = practical_population(m).alpha;
    m.records *= 1000;
    return std::log(practical_population(m).alpha / one) / std::log(1000.0);
  };
  PopulationNumbers sampling = cosine(1e9);
  sampling.rho_z = 1e6;
  EXPECT_NEAR(slope(sampling), -1.0 / 3, 0.01);
  PopulationNumbers privacy = cosine(1e14);
  privacy.rho_z = 1e-12;
  privacy.deviation = 1e-6;
  EXPECT_NEAR(slope(privacy), -3.0 / 7, 0.01);
}

TEST(PracticalPopulation, RejectsTooFewRecords) {
  EXPECT_THROW(practical_population(cosine(1)), InputError);
}

Problem stream(Index n, std::uint64_t seed) {
  const auto family = find_problem("cosine-minimax");
  Fields fields = family->fields();
  set_field(fields, "cosine-minimax", "sampling", "stream");
  return family->make({.records = n, .dimension = {}, .seed = seed, .data_seed = seed});
}

DpRgda population(const Problem& p, Scheduled& scheduled, Calibrator calibrator = Calibrator::cks) {
  DpRgda algorithm;
  algorithm.parameters.objective = ObjectiveKind::population;
  algorithm.parameters.deviation = std::sqrt(2.0);
  scheduled = algorithm.schedule(Schedule::practical, p.facts, {2, 1e-6}, calibrator);
  algorithm.check(p.facts);
  return algorithm;
}

TEST(PopulationSchedule, ChargesEachRecordBudgetOnce) {
  const Problem p = stream(10000000, 1);
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian, Calibrator::rdp})
    for (const bool separate : {false, true}) {
      DpRgda algorithm;
      algorithm.parameters.objective = ObjectiveKind::population;
      algorithm.parameters.streams = separate ? Streams::separate : Streams::joint;
      const Scheduled s = algorithm.schedule(Schedule::practical, p.facts, {2, 1e-6}, calibrator);
      const auto& o = algorithm.parameters.oracle;
      EXPECT_EQ(o.sampling, Sampling::fresh);
      const double one = s.rule.charge(GaussianEvent{o.refresh_noise});
      EXPECT_NEAR((separate ? 2 : 1) * one, s.rule.capacity, 1e-9 * s.rule.capacity);
      EXPECT_EQ(o.refresh_noise, o.increment_noise);
    }
}

TEST(PopulationSchedule, DoesNotAffectEmpiricalSchedule) {
  const Problem p = test::small_problem("cosine-minimax", 5000);
  DpRgda plain, changed;
  plain.schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::cks);
  changed.parameters.deviation = 3;
  changed.schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::cks);
  changed.parameters.deviation = 0;
  EXPECT_EQ(values_of(plain.fields()), values_of(changed.fields()));
}

// A formula whose units do not match fails here.
TEST(PopulationSchedule, IsInvariantToUnits) {
  const Problem p = stream(10000000, 1);
  const double f = std::pow(2.0, 24), s = std::pow(2.0, 6);
  PublicFacts other = p.facts;
  for (const auto& [name, length] :
       std::map<std::string_view, int>{{constant::lipschitz, -1},
                                       {constant::smoothness, -2},
                                       {constant::joint_smoothness, -2},
                                       {constant::strong_concavity, -2},
                                       {constant::hessian_lipschitz, -3},
                                       {constant::suboptimality, 0}})
    other.constants.set(name, {p.facts.constants[name] * f * std::pow(s, length)});
  DpRgda here, there;
  here.parameters.objective = there.parameters.objective = ObjectiveKind::population;
  const PrivacyBudget budget{2, 1e-6};
  const Scheduled a = here.schedule(Schedule::practical, p.facts, budget, Calibrator::cks);
  const Scheduled b = there.schedule(Schedule::practical, other, budget, Calibrator::cks);
  expect_digits(b.alpha, a.alpha * f / s, 1e-9);
  const auto& x = here.parameters;
  const auto& y = there.parameters;
  EXPECT_EQ(x.steps, y.steps);
  EXPECT_EQ(x.period, y.period);
  EXPECT_EQ(x.escape_steps, y.escape_steps);
  EXPECT_EQ(x.oracle.refresh_batch, y.oracle.refresh_batch);
  EXPECT_EQ(x.oracle.increment_batch, y.oracle.increment_batch);
  expect_digits(y.descent_step, x.descent_step * s, 1e-9);
  expect_digits(y.escape_step, x.escape_step * s * s / f, 1e-9);
  expect_digits(y.perturb_radius, x.perturb_radius * s, 1e-9);
  expect_digits(y.escape_mean_sq_move, x.escape_mean_sq_move * s * s, 1e-9);
}

TEST(PopulationSchedule, ReportsPaperScheduleAsVacuous) {
  const Problem p = stream(10000000, 1);
  DpRgda algorithm;
  algorithm.set_variant(Variant::printed);
  algorithm.parameters.objective = ObjectiveKind::population;
  const Scheduled s = algorithm.schedule(Schedule::paper, p.facts, {2, 1e-6}, Calibrator::cks);
  EXPECT_EQ(s.utility, Utility::vacuous);
  EXPECT_NE(s.note.find("cannot lower"), std::string::npos) << s.note;
  EXPECT_NE(s.note.find("Lemma 8"), std::string::npos);
  const auto& q = algorithm.parameters;
  const PaperPopulation numbers = paper_population(1e7, 20, 2, 1e-6, 3);
  EXPECT_EQ(q.steps, static_cast<Index>(std::ceil(numbers.steps)));
  EXPECT_EQ(q.oracle.refresh_batch, static_cast<Index>(std::ceil(numbers.refresh_batch)));
  EXPECT_EQ(q.period, static_cast<Index>(numbers.period));
  EXPECT_EQ(q.inner_steps, 3);  // κ = L/μ
  const Ran ran = test::run_enforced(algorithm, p.facts, *p.simulated, s.rule);
  EXPECT_NE(ran.outcome.status, Status::budget);
  EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2 * (1 + 1e-9));
}

// As xu-2026 notes, 6.6, in one pass over a stream of simulated records: from an exact saddle to a
// certified point near x_j = ±π.
TEST(PopulationRuns, FindSospFromExactSaddle) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Problem p = stream(100000000, seed);
    Scheduled s;
    const DpRgda algorithm = population(p, s);
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.simulated, s.rule, seed);
    EXPECT_EQ(ran.outcome.status, Status::certified);
    EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2.0);
    CertificateOptions options;
    options.hessian_lipschitz = p.facts.constants[constant::hessian_lipschitz];
    const Certificate c = certify(*p.population, ran.outcome.point, options);
    EXPECT_GT(c.lambda_min, 0.2);
    EXPECT_LT(*c.sosp_level, 2 * s.alpha);
  }
}

// xu-2026, Remark 3: where no dual is released, DP-RGDA's estimator equals that of Stochastic
// Spider bit for bit.
TEST(XuRemark3, EstimatorWithoutReleasedDualEqualsStochasticSpider) {
  const Problem p = test::small_problem("matrix-sensing", 200);
  DpRgda rgda;
  auto& a = rgda.parameters;
  a.steps = 50;
  a.alpha = 1e-300;
  a.descent_rule = DescentRule::plain;
  a.descent_step = 0.05;
  a.period = 7;
  ganesh_2023::StochasticSpider spider;
  auto& b = spider.parameters.spider;
  b.steps = 50;
  b.step_size = 0.05;
  b.refresh = RefreshTrigger::period;
  b.period = 7;
  a.oracle.increment_clip = b.oracle.increment_clip = IncrementClip::proportional;
  a.oracle.refresh_noise = b.oracle.refresh_noise = 1.5;
  a.oracle.increment_noise = b.oracle.increment_noise = 2.5;
  for (const Sampling sampling : {Sampling::all, Sampling::sample}) {
    a.oracle.sampling = b.oracle.sampling = sampling;
    a.oracle.refresh_batch = b.oracle.refresh_batch = 50;
    a.oracle.increment_batch = b.oracle.increment_batch = 20;
    const Ran one = test::run_unsound(rgda, p.facts, *p.records, {});
    const Ran two = test::run_unsound(spider, p.facts, *p.records, {});
    EXPECT_EQ(one.iterates, two.iterates);
  }
}

}  // namespace
}  // namespace dpsosp::xu_2026::xu_2026_population_test
