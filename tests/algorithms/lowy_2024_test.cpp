// SPDX-License-Identifier: Apache-2.0
// lowy-2024: rates, DP-SGD for quasar-convex losses, the JL method's dimensions.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/jl.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/lowy_2024/quasar_dp_sgd.hpp"
#include "dpsosp/lowy_2024/rates.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::lowy_2024::lowy_2024_test {
namespace {

constexpr double budget_delta = 1e-6;

void expect_near_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected));
}

/// Setting S of lowy-2024 notes, 8: n = 10000, d = 10, ε = 1, L = β = Δ = 1.
Setting setting_s() { return {1e4, 10, 1, budget_delta, 1, 1, 1}; }

PublicFacts facts_of(Index n, Index d, double L, double beta, double q, double radius) {
  PublicFacts f;
  f.name = "a problem";
  f.dimension = d;
  f.records = n;
  f.initial_point = Vector::Zero(d);
  f.domain = Domain::ball(radius);
  f.constants.set(constant::lipschitz, {L, Origin::clipped});
  f.constants.set(constant::smoothness, {beta, Origin::clipped});
  f.constants.set(constant::suboptimality, {1.0, Origin::clipped});
  f.constants.set(constant::quasar_convexity, {q, Origin::clipped});
  return f;
}

TEST(LowyRates, MatchReferenceValues) {
  const Setting s = setting_s();
  expect_near_relative(paper_noise_unit(s), 1.17539400e-3, 1e-8);
  expect_near_relative(spider_rate(s), 1.23129e-2, 1e-5);
  // n = 10⁶, d = 16, ε = 1, no logarithms: ln(1/δ) = 1
  const Setting plain{1e6, 16, 1, std::exp(-1.0), 1, 1, 1};
  expect_near_relative(paper_noise_unit(plain), 4e-6, 1e-12);
  expect_near_relative(std::pow(paper_noise_unit(plain), 2.0 / 3), 2.51984e-4, 1e-5);
  expect_near_relative(exponential_rate(plain, 1) - paper_noise_unit(plain), 6.34960e-6, 1e-5);
  expect_near_relative(population_excess_scale(plain), 4.016e-3, 1e-6);
}

// lowy-2024, Corollary 5.3 prints 1/q; lowy-2024, Theorem 3.2 with ψ = LDa/q gives q^{−1/3}.
TEST(LowyRates, QuasarConvexRateFollowsWarmRate) {
  const Setting s{1e5, 20, 0.7, 1e-5, 1.3, 2.1, 1};
  for (const double q : {1.0, 0.5, 0.1}) {
    const double psi = s.L * 1.5 * paper_noise_unit(s) / q;  // lowy-2024, Proposition D.1
    expect_near_relative(quasar_rate(s, 1.5, q), warm_rate(s, psi), 1e-12);
    const double printed =
        s.L * paper_noise_unit(s) + std::cbrt(s.L * s.L * s.beta * 1.5) * paper_noise_unit(s) / q;
    EXPECT_GE(printed, (q < 1 ? 1.2 : 1.0) * warm_rate(s, psi) * (1 - 1e-12));
  }
}

// The third term of lowy-2024, Theorem 3.4 depends on εn in the theorem that it cites, not on n
// alone.
TEST(LowyRates, SecondOrderRateDependsOnEpsilonTimesRecords) {
  const Setting s = setting_s();
  const double rho = 2.5;
  for (const double factor : {0.25, 4.0}) {
    Setting more_records = s, more_epsilon = s;
    more_records.n *= factor;
    more_epsilon.epsilon *= factor;
    expect_near_relative(warm_second_order_rate(more_records, 0.1, rho),
                         warm_second_order_rate(more_epsilon, 0.1, rho), 1e-12);
  }
}

// lowy-2024, Corollary E.4 prints LD(…) to the power 1 and (Lβ³)^{1/4}, and drops sqrt(d/n).
// lowy-2024, Theorem E.2 with the ψ of lowy-2024, Lemma E.3 scales with the unit of the loss.
TEST(LowyRates, PopulationAndKlRatesScaleWithLossUnit) {
  const Setting s{1e6, 10, 1, 1e-6, 1, 1, 1};
  const double c = 7.0;  // f → c f: L, β, ρ_H and ψ are c times as large, and so is the gradient
  Setting scaled = s;
  scaled.L *= c;
  scaled.beta *= c;
  expect_near_relative(population_rate(scaled, c * 0.01, c * 2.0),
                       c * population_rate(s, 0.01, 2.0), 1e-12);
  expect_near_relative(kl_rate(scaled, std::pow(c, 1.0 / 2 - 1), 2, c * 0.1),
                       c * kl_rate(s, 1, 2, 0.1), 1e-12);
}

TEST(QuasarDpSgd, PaperScheduleMatchesReferenceValues) {
  const PropositionD1 p = proposition_d1(1e4, 10, 1, 2, 0.5, {1, budget_delta});
  EXPECT_EQ(p.steps, 723824);
  expect_near_relative(p.variance, 99.99998, 1e-7);
  expect_near_relative(p.step_size, 7.430132e-5, 1e-6);
  expect_near_relative(p.batch, 11.7539, 1e-5);
  EXPECT_EQ(std::ceil(p.printed_batch), 4);
  expect_near_relative(p.excess, 0.1487512, 1e-6);
}

// The privacy theorem that the paper cites needs b ≥ n sqrt(ε/(4T)), which grows as ε falls; the
// printed sqrt(dε) falls with ε.
TEST(QuasarDpSgd, BatchMeetsConditionUnlikePrinted) {
  for (const double epsilon : {0.1, 0.3, 1.0}) {
    const PropositionD1 p = proposition_d1(1e4, 10, 1, 2, 0.5, {epsilon, budget_delta});
    const double needed = 1e4 * std::sqrt(epsilon / (4 * p.steps));
    EXPECT_GE(p.batch, needed);
    EXPECT_LT(p.printed_batch, needed);
  }
  QuasarDpSgd algorithm;
  const PublicFacts facts = facts_of(10000, 10, 1, 1, 0.5, 2);
  algorithm.schedule(Schedule::paper, facts, {1, budget_delta}, Calibrator::rdp);
  EXPECT_EQ(algorithm.parameters.batch, 12);
  EXPECT_EQ(algorithm.parameters.sampling, Sampling::sample);
  algorithm.set_variant(Variant::printed);
  algorithm.schedule(Schedule::paper, facts, {1, budget_delta}, Calibrator::rdp);
  EXPECT_EQ(algorithm.parameters.batch, 4);
}

TEST(QuasarDpSgd, PracticalScheduleMatchesReferenceValues) {
  // ε_A = 1/2; D = 2 is the radius around the start
  QuasarDpSgd algorithm;
  const PublicFacts facts = facts_of(10000, 10, 1, 1, 0.5, 2);
  const PrivacyBudget half{0.5, budget_delta};
  const Scheduled s = algorithm.schedule(Schedule::practical, facts, half, Calibrator::bun_steinke);
  expect_near_relative(s.rule.capacity, 0.0044438442, 1e-8);
  const QuasarDpSgdParameters& p = algorithm.parameters;
  const double unit = std::sqrt(20 / s.rule.capacity) / 1e4;
  EXPECT_EQ(p.steps, std::ceil(1 / (unit * unit)));
  // the numbers of the notes are those of ε = 1
  const Scheduled whole =
      algorithm.schedule(Schedule::practical, facts, {1, budget_delta}, Calibrator::bun_steinke);
  EXPECT_EQ(p.steps, 87345);
  EXPECT_NEAR(p.noise * 2.0 / 1e4, 0.31622863, 1e-8);
  expect_near_relative(p.step_size, 4.78514807e-3, 1e-8);
  expect_near_relative(whole.excess_risk, 1.91406446e-2, 1e-8);
  EXPECT_EQ(whole.alpha, whole.excess_risk);
}

TEST(QuasarDpSgd, SpendsWholeBudget) {
  const Problem p = find_problem("radial-ripple")->make({.records = 200, .dimension = 4});
  for (const Calibrator calibrator :
       {Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian}) {
    QuasarDpSgd algorithm;
    const PrivacyBudget budget{1.5, 1e-5};
    const Scheduled s = algorithm.schedule(Schedule::practical, p.facts, budget, calibrator);
    const test::Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    double rho = 0;
    for (const LedgerEntry& e : ran.ledger.entries())
      rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
    EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
    EXPECT_LE(rho, s.rule.capacity);
  }
}

TEST(QuasarDpSgd, EqualsProjectedGradientDescentWithoutNoise) {
  const Problem p = find_problem("radial-ripple")->make({.records = 30, .dimension = 3});
  QuasarDpSgd algorithm;
  algorithm.parameters.steps = 40;
  algorithm.parameters.step_size = 0.7;
  algorithm.parameters.clip = 1e6;
  algorithm.parameters.output = OutputRule::last;
  for (const Confinement where :
       {Confinement::none, Confinement::start_ball, Confinement::domain}) {
    algorithm.parameters.confinement = where;
    algorithm.parameters.radius = 0.2;
    const test::Ran ran = test::run_unsound(algorithm, p.facts, *p.records, test::exact);
    Vector w = p.facts.initial_point, g(3);
    for (Index t = 0; t < 40; ++t) {
      EXPECT_LE((ran.iterates[static_cast<std::size_t>(t)] - w).norm(), 1e-12);
      p.empirical->gradient(w, g);
      w -= 0.7 * g;
      if (where == Confinement::domain && w.norm() > p.facts.domain.radius)
        w *= p.facts.domain.radius / w.norm();
      const Vector moved = w - p.facts.initial_point;
      if (where == Confinement::start_ball && moved.norm() > 0.2)
        w = p.facts.initial_point + moved * (0.2 / moved.norm());
    }
    EXPECT_LE((ran.outcome.point - w).norm(), 1e-12);
  }
}

// ψ bounds the excess risk in expectation over noise and output index.
TEST(QuasarDpSgd, MeetsExcessRiskBound) {
  const Problem p = find_problem("radial-ripple")->make({.records = 3000, .dimension = 4});
  QuasarDpSgd algorithm;
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {1, budget_delta}, Calibrator::cks);
  double mean = 0;
  constexpr int seeds = 5;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const test::Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule, seed);
    double sum = 0;
    for (const Vector& w : ran.iterates) sum += p.empirical->value(w);  // min F = 0
    mean += sum / static_cast<double>(ran.iterates.size()) / seeds;
    EXPECT_LT(p.empirical->value(ran.outcome.point), p.empirical->value(p.facts.initial_point));
  }
  EXPECT_LE(mean, s.excess_risk);
  EXPECT_GT(mean, 0);
}

// K runs on half the budget and a choice that pays for the spread of the released list.
TEST(QuasarDpSgd, BoostingChargesForSpreadOfCandidates) {
  const Problem p = find_problem("radial-ripple")->make({.records = 300, .dimension = 3});
  QuasarDpSgd algorithm;
  algorithm.parameters.boosted = true;
  const Scheduled s =
      algorithm.schedule(Schedule::practical, p.facts, {2, budget_delta}, Calibrator::cks);
  algorithm.check(p.facts);
  EXPECT_DOUBLE_EQ(s.rule.pure_capacity, 1);
  const test::Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule);
  EXPECT_EQ(ran.outcome.status, Status::steps_done);
  EXPECT_EQ(ran.outcome.counts.at("runs"), 6);  // ⌈log₂(2/0.05)⌉
  EXPECT_EQ(std::ssize(ran.iterates), 6 * algorithm.parameters.steps);
  EXPECT_NE(std::ranges::find(ran.iterates, ran.outcome.point), ran.iterates.end());
  const LedgerEntry& choice = ran.ledger.entries().back();
  EXPECT_NEAR(*pure_epsilon(*choice.event), 1, 1e-9);
  // R is the released list's own; the printed LD is for losses of a bounded set
  const double L = p.facts.constants[constant::lipschitz];
  const double D = p.facts.domain.diameter(3);
  EXPECT_GT(choice.sensitivity_high, 0);
  EXPECT_LE(choice.sensitivity_high, 4 * L * D / 300);
  EXPECT_LE(ran.ledger.spent(budget_delta).epsilon, 2 * (1 + 1e-9));
  double rho = 0;
  for (const LedgerEntry& e : ran.ledger.entries())
    if (!e.pure) rho += static_cast<double>(e.count) * s.rule.charge(*e.event);
  EXPECT_NEAR(rho / s.rule.capacity, 1, 1e-9);
}

TEST(QuasarDpSgd, RequiresDistanceBound) {
  PublicFacts facts = facts_of(100, 3, 1, 1, 0.5, 2);
  facts.initial_point = Vector::Constant(3, 1.0);
  EXPECT_DOUBLE_EQ(farthest(facts), 2 + std::sqrt(3.0));
  facts.domain = Domain::box(2);
  EXPECT_DOUBLE_EQ(farthest(facts), 3 * std::sqrt(3.0));
  facts.domain = {};
  QuasarDpSgd algorithm;
  EXPECT_THROW(algorithm.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks),
               InputError);
  algorithm.parameters.distance_bound = 2;
  EXPECT_NO_THROW(algorithm.schedule(Schedule::practical, facts, {1, 1e-6}, Calibrator::cks));
  EXPECT_EQ(algorithm.parameters.confinement, Confinement::none);
}

// g(j) + j^{−1/2} at εn = 10⁴, unit constants. \source lowy-2024 notes, 3.7 and 8
TEST(JlDimension, MatchesReferenceValues) {
  const auto exponential = [](double j) { return std::pow(j, 2.0 / 3) / 1e4; };
  const auto spider = [](double j) { return std::cbrt(j) / std::pow(1e4, 2.0 / 3); };
  const Index k = jl_free_dimension(exponential, 1, 1, 100000);
  EXPECT_EQ(k, 2096);
  EXPECT_NEAR(exponential(2096) + 1 / std::sqrt(2096.0), 0.0382206, 1e-7);
  EXPECT_EQ(jl_free_dimension(spider, 1, 1, 100000), 2578);
  EXPECT_NEAR(spider(2578) + 1 / std::sqrt(2578.0), 0.0492363, 1e-7);
  EXPECT_EQ(jl_free_dimension(spider, 1, 1, 100), 100);
  EXPECT_EQ(jl_free_dimension(spider, 1, 5000, 9000), 5000);
}

// lowy-2024, Section 1 prints the rate (εn)^{−2/7}. The two terms balance at k of order (εn)^{6/7},
// where the error is of order (εn)^{−3/7} (lowy-2024, Corollary 8.2).
TEST(JlDimension, BalancesAtExponentOfCorollary82) {
  const auto best = [](double n) {
    const auto bound = [n](double j) { return std::pow(j, 2.0 / 3) / n; };
    const Index k = jl_free_dimension(bound, 1, 1, Index{1} << 40);
    return std::pair(static_cast<double>(k),
                     bound(static_cast<double>(k)) + 1 / std::sqrt(static_cast<double>(k)));
  };
  const auto [k0, e0] = best(1e6);
  const auto [k1, e1] = best(1e8);
  const double decades = std::log(100.0);
  EXPECT_NEAR(std::log(k1 / k0) / decades, 6.0 / 7, 1e-4);
  EXPECT_NEAR(std::log(e1 / e0) / decades, -3.0 / 7, 1e-4);
  EXPECT_GT(std::abs(std::log(e1 / e0) / decades + 2.0 / 7), 0.1);
}

// k as in lowy-2024, Lemma 8.1 lacks the factor ln(2n/δ) and does not grow with n, although the
// embedding must hold for n records at once.
TEST(JlDimension, GrowsWithRecordsInRankBranch) {
  EXPECT_EQ(jl_rank_dimension(5, 1e4, 1e-6, 1), std::ceil(5 * std::log(2e10)));
  EXPECT_GT(jl_rank_dimension(5, 1e8, 1e-6, 8), jl_rank_dimension(5, 1e4, 1e-6, 8));
}

// The proof that lowy-2024, Lemma 8.1 rests on bounds ‖I − ΦᵀΦ‖ by 1/sqrt(k). For k < d the norm is
// at least 1, by any vector of Φ's kernel. The uniform deviation of norms is what holds
// (lowy-2024 notes, 2.9).
TEST(JlProjection, PreservesNormsDespiteKernel) {
  Stream stream({.seed = 3});
  const Index d = 300, k = 60;
  const Matrix map = draw_projection(k, d, stream);
  const Matrix gram = map.transpose() * map;
  Vector kernel =
      Vector::Unit(d, 0) - map.transpose() * symmetric_solve(map * map.transpose(), map.col(0));
  kernel.normalize();
  EXPECT_LE((map * kernel).norm(), 1e-9);
  EXPECT_NEAR((kernel - gram * kernel).norm(), 1.0, 1e-9);
  EXPECT_LT(1 / std::sqrt(static_cast<double>(k)), 0.2) << "the bound that is claimed";
  double worst = 0;
  for (int i = 0; i < 100; ++i) {
    Vector x(d);
    stream.fill_normal(1, x);
    x.normalize();
    worst = std::max(worst, std::abs((map * x).norm() - 1));
  }
  EXPECT_LE(worst, 4 / std::sqrt(static_cast<double>(k)));
}

}  // namespace
}  // namespace dpsosp::lowy_2024::lowy_2024_test
