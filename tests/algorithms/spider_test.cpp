// SPDX-License-Identifier: Apache-2.0
// The Spider driver: bit for bit against ganesh-2023, Algorithm 1; by test vectors and properties
// against liu-talwar-2025, Algorithm 3; escapes from saddles.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "digits.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::spider_test {
namespace {

using ganesh_2023::StochasticSpider;
using liu_talwar_2025::AdaptiveSpider;
using test::expect_digits;
using test::Ran;

/// ganesh-2023, Algorithm 1, by the steps of ganesh-2023 notes, 2.1, without the driver.
Ran algorithm_1(const SpiderParameters& p, const PublicFacts& facts, const AnyRecords& records,
                std::uint64_t seed) {
  UnsoundCurator curator(facts, records, {.seed = seed}, {});
  Stream stream({.seed = seed, .purpose = Purpose::algorithm});
  Ran ran;
  Vector x = facts.initial_point, x_prev = x, g = Vector::Zero(x.size()), step(x.size());
  double drift = std::numeric_limits<double>::infinity();  // step 1
  Index frozen = 1;
  for (Index t = 0; t < p.steps; ++t) {
    ran.iterates.push_back(x);
    const bool kick = t > 0 && frozen == 0 && g.norm() <= p.escape.threshold;  // step 3
    const bool refresh =
        drift >= p.drift_threshold || (kick && p.escape.kind == EscapeKind::isotropic_fresh);
    const Batch batch = curator.draw(BatchPolicy::all());
    if (refresh) {  // steps 4 to 6
      curator.gradient(Point(x), batch,
                       {p.oracle.clip_refresh, Noise::sensitivity_ratio(p.oracle.refresh_noise)},
                       g);
      drift = 0;
    } else {  // step 7
      Vector increment(x.size());
      curator.gradient_difference(Point(x), Point(x_prev), batch,
                                  {p.oracle.clip_increment * (x - x_prev).norm(),
                                   Noise::sensitivity_ratio(p.oracle.increment_noise)},
                                  increment);
      g += increment;
    }
    step = g;  // steps 8 to 11
    if (kick) {
      stream.add_normal(p.escape.kick_deviation, step);
      frozen = p.escape.steps;
      if (p.escape.carry_kick) g = step;
    } else {
      frozen = std::max<Index>(0, frozen - 1);
    }
    x_prev = x;  // steps 12 and 13
    x -= p.step_size * step;
    drift += (x - x_prev).squaredNorm();
  }
  ran.outcome.point = x;
  return ran;
}

TEST(SpiderDriver, MatchesGaneshAlgorithm1BitForBit) {
  const Problem problem = test::small_problem("cosine-saddle", 500);
  for (const Variant variant : {Variant::printed, Variant::repaired}) {
    StochasticSpider spider;
    spider.set_variant(variant);
    spider.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
    SpiderParameters& p = spider.parameters.spider;
    p.steps = 300;
    p.refresh_cap = 0;
    p.drift_threshold = 0.05;
    p.escape.threshold = 1.0;
    p.escape.steps = 7;
    spider.parameters.selection.epsilon = 0;
    const Ran driver = test::run_unsound(spider, problem.facts, *problem.records, {}, 5);
    const Ran written = algorithm_1(p, problem.facts, *problem.records, 5);
    EXPECT_EQ(driver.iterates, written.iterates);
    EXPECT_EQ(driver.outcome.point, written.outcome.point);
    EXPECT_GT(driver.outcome.counts.at("escapes"), 3);
    EXPECT_GT(driver.outcome.counts.at("refreshes"), 3);
  }
}

// Noise, batch and drift are switches: at the settings of ganesh-2023 the library of
// liu-talwar-2025 is the same algorithm.
TEST(SpiderDriver, GivesSameIteratesInBothLibraries) {
  const Problem problem = test::small_problem("cosine-saddle", 500);
  StochasticSpider ganesh;
  ganesh.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
  ganesh.parameters.spider.steps = 200;
  ganesh.parameters.selection.epsilon = 0;
  AdaptiveSpider liu_talwar;
  liu_talwar.parameters.spider = ganesh.parameters.spider;
  const Ran a = test::run_unsound(ganesh, problem.facts, *problem.records, {}, 2);
  const Ran b = test::run_unsound(liu_talwar, problem.facts, *problem.records, {}, 2);
  EXPECT_EQ(a.iterates, b.iterates);
}

// Zero noise, full batches: gradient descent, whatever the noise switch.
TEST(SpiderDriver, EqualsGradientDescentWithoutNoise) {
  const Problem problem = test::small_problem("cosine-saddle");
  for (const SpiderNoise noise :
       {SpiderNoise::tree, SpiderNoise::gaussian_fixed, SpiderNoise::gaussian_proportional})
    for (const DriftKind drift : {DriftKind::linear, DriftKind::quadratic}) {
      AdaptiveSpider algorithm;
      SpiderParameters& p = algorithm.parameters.spider;
      p.noise = noise;
      p.drift_kind = drift;
      p.batch = SpiderBatch::fixed;
      p.oracle.sampling = Sampling::all;
      p.escape.kind = EscapeKind::none;
      p.steps = 40;
      p.step_size = 0.2;
      p.drift_threshold = 0.3;
      const Ran ran = test::run_unsound(algorithm, problem.facts, *problem.records, test::exact);
      Vector gradient(problem.facts.dimension);
      for (std::size_t t = 0; t + 1 < ran.iterates.size(); ++t) {
        problem.empirical->gradient(ran.iterates[t], gradient);
        ASSERT_LT(((ran.iterates[t] - ran.iterates[t + 1]) / 0.2 - gradient).norm(), 1e-11);
      }
      EXPECT_GT(ran.outcome.counts.at("refreshes"), 1);
    }
}

/// A run of the Hessian-power escape from the origin of the cosine saddle, all records fresh.
Ran escape_run(const Problem& problem, const UnsoundCurator::Departures& departures,
               double deviation, std::uint64_t seed = 1) {
  AdaptiveSpider algorithm;
  SpiderParameters& p = algorithm.parameters.spider;
  const double M = problem.facts.constants[constant::smoothness];
  p.noise = SpiderNoise::gaussian_proportional;
  p.batch = SpiderBatch::fixed;
  p.steps = 120;
  p.step_size = 1 / M;
  p.drift_threshold = 1e9;
  p.oracle.sampling = Sampling::fresh;
  p.oracle.refresh_batch = 1000;
  p.oracle.increment_batch = 100;
  p.oracle.clip_refresh = problem.facts.constants[constant::lipschitz];
  p.oracle.increment_clip = IncrementClip::capped;
  p.oracle.clip_increment = M;
  p.oracle.refresh_noise = p.oracle.increment_noise = 1e-3;
  p.escape.threshold = 0.5;
  p.escape.steps = 100;
  p.escape.radius = 0.5;
  p.escape.deviation = deviation;
  p.escape.hessian_clip = M;
  p.escape.hessian_batch = 1000;
  p.escape.hessian_batch_rate = 100;
  p.escape.escapes_per_refresh = 1000;
  return test::run_unsound(algorithm, problem.facts, *problem.records, departures, seed);
}

Problem at_the_saddle(Index records) {
  const auto family = find_problem("cosine-saddle");
  return family->make({.records = records, .dimension = 4, .seed = 3, .data_seed = 1});
}

// Without noise a gradient estimate that is exactly zero never moves.
TEST(HessianPowerEscape, LeavesSaddleOnlyWithNoise) {
  const Problem problem = at_the_saddle(200000);
  const Ran noisy = escape_run(problem, {}, 0.01);
  EXPECT_GT(noisy.outcome.counts.at("escapes"), 0);
  EXPECT_GT(noisy.outcome.point.norm(), 0.5);
  // without noise, and with g = 0, an escape stays at its anchor
  const Ran still = escape_run(problem, {.no_noise = true, .no_data = true}, 0.01);
  EXPECT_EQ(still.outcome.point, problem.facts.initial_point);
}

// liu-talwar-2025, Lemma 3.9: two escapes that share their noise and start z apart are (I − ηH)^t z
// apart after t steps.
TEST(HessianPowerEscape, SeparatesCoupledRunsByPowerOfHessian) {
  const double gamma = 0.01;
  const Index d = 3;
  Matrix H = Matrix::Zero(d, d);
  H.diagonal() << -0.5 * std::sqrt(gamma), 0.3, 0.9;
  const Vector g = Vector::Constant(d, 1e-3);
  Stream noise({.seed = 5, .purpose = Purpose::test});
  const Vector anchor = Vector::Zero(d);
  Vector x = Vector::Zero(d), y = Vector::Zero(d);
  y[0] = 1e-6;
  for (int t = 0; t < 100; ++t) {
    Vector xi(d);
    noise.fill_normal(0.01, xi);
    x -= g + H * (x - anchor) + xi;
    y -= g + H * (y - anchor) + xi;
  }
  expect_digits((y - x)[0] / 1e-6, 131.501, 1e-5);
  EXPECT_NEAR((y - x).tail(2).norm(), 0.0, 1e-18);
}

/// F(x) = −λx²/2 + x⁴/4 in one dimension with an error that removes the gradient's component along
/// the escape direction, of length at most γ (ganesh-2023 notes, 6.4).
struct AdversarialSaddle {
  double lambda, gamma;
  double estimate(double x) const {
    const double gradient = -lambda * x + x * x * x;
    return gradient - std::clamp(gradient, -gamma, gamma);
  }
};

// The isotropic kick reads the running estimate, which the adversary flattens. The frozen pair asks
// for gradient and Hessian once and leaves. liu-talwar-2025 notes, 5 (claim 14)
TEST(AdversarialError, StallsIsotropicKickButNotHessianPower) {
  const AdversarialSaddle f{.lambda = 0.2, .gamma = 0.05};
  const auto scripted = [&](EscapeKind kind) {
    StochasticSpider spider;
    SpiderParameters& p = spider.parameters.spider;
    p.steps = 2000;
    p.step_size = 1.0;
    p.refresh = RefreshTrigger::always;
    p.escape.kind = kind;
    p.escape.threshold = 0.5;
    p.escape.kick_deviation = 0.25 * f.gamma;
    p.escape.steps = 1000000;
    PublicFacts facts;
    facts.name = "adversarial";
    facts.dimension = facts.records = 1;
    facts.initial_point = Vector::Zero(1);
    const test::ScriptedRecords records(1, [&](std::size_t, const Point& at, Block) -> Vector {
      return Vector::Constant(1, f.estimate(at.x[0]));
    });
    return test::run_unsound(spider, facts, records, test::exact);
  };
  const Ran kicked = scripted(EscapeKind::isotropic_reuse);
  EXPECT_EQ(kicked.outcome.counts.at("escapes"), 1);
  EXPECT_EQ(kicked.iterates.back(), kicked.iterates[2]) << "the kicked point never moves again";
  EXPECT_LT(std::abs(f.lambda * kicked.outcome.point[0]), f.gamma);
  // The frozen pair: g = 0 at the anchor, H = −λ, and some noise at each step.
  Stream stream({.seed = 1, .purpose = Purpose::test});
  double x = 0;
  Index t = 0;
  while (std::abs(x) < std::sqrt(0.2) && t < 200) {
    x -= -f.lambda * x + 0.25 * f.gamma * stream.normal();
    ++t;
  }
  EXPECT_LT(t, 60);
}

// The dense Hessian and the lazy one are the same estimate.
TEST(HessianPowerEscape, DenseAndLazyModesAgreeToRounding) {
  const Problem problem = at_the_saddle(300000);
  const auto run = [&](HessianMode mode) {
    AdaptiveSpider algorithm;
    algorithm.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
    algorithm.parameters.spider.escape.hessian_mode = mode;
    algorithm.parameters.spider.steps = 60;
    return test::run_unsound(algorithm, problem.facts, *problem.records, {}, 3);
  };
  const Ran dense = run(HessianMode::dense), lazy = run(HessianMode::lazy);
  ASSERT_EQ(dense.iterates.size(), lazy.iterates.size());
  EXPECT_GT(dense.outcome.counts.at("escapes"), 0);
  EXPECT_LT((dense.outcome.point - lazy.outcome.point).norm(), 1e-9);
}

// No record pays more than its zCDP, and the most charged one nearly as much. liu-talwar-2025
// notes, 4
TEST(LiuTalwarRun, ChargesNoRecordAboveBudget) {
  const Problem problem = at_the_saddle(300000);
  for (const SpiderNoise noise :
       {SpiderNoise::tree, SpiderNoise::gaussian_fixed, SpiderNoise::gaussian_proportional}) {
    AdaptiveSpider algorithm;
    algorithm.parameters.spider.noise = noise;
    const Scheduled s =
        algorithm.schedule(Schedule::practical, problem.facts, {2, 1e-6}, Calibrator::bun_steinke);
    const Ran ran = test::run_enforced(algorithm, problem.facts, *problem.records, s.rule);
    EXPECT_NE(ran.outcome.status, Status::budget);
    const AccountOptions bs{.accountant = Accountant::zcdp, .conversion = Conversion::bs};
    EXPECT_LE(ran.ledger.spent(1e-6, bs).epsilon, 2 * (1 + 1e-9));
    EXPECT_GT(ran.ledger.spent(1e-6, bs).epsilon, noise == SpiderNoise::tree ? 1.0 : 1.9);
  }
}

Problem simulated_saddle(Index records, Index dimension) {
  const auto family = find_problem("cosine-saddle");
  Fields fields = family->fields();
  set_field(fields, family->name(), "sampling", "stream");
  return family->make({.records = records, .dimension = dimension});
}

// The variant `printed`: Theorem 3.17 with constants and logarithms 1, at the α whose predicted
// records are n, and no selection.
TEST(LiuTalwarPrinted, NoiseAndBatchesAreThoseOfTheorem317) {
  for (const double epsilon : {0.01, 1.0}) {
    const PublicFacts facts = simulated_saddle(100000000, 9).facts;
    const ProblemNumbers f = numbers_of(facts);
    AdaptiveSpider algorithm;
    algorithm.set_variant(Variant::printed);
    const double alpha =
        algorithm.schedule(Schedule::practical, facts, {epsilon, 1e-6}, Calibrator::cks).alpha;
    const SpiderParameters& p = algorithm.parameters.spider;
    EXPECT_DOUBLE_EQ(p.tree_deviation, alpha / 3);
    EXPECT_DOUBLE_EQ(p.escape.deviation, alpha / 3);
    const double kappa = std::max(3 * alpha / epsilon, std::cbrt(f.B * f.G * f.M));
    EXPECT_DOUBLE_EQ(p.drift_threshold, kappa);
    const double b = 3 * f.G / (epsilon * alpha) + f.G * f.G / (alpha * alpha) +
                     3 * f.M / (f.rho * epsilon) + f.M * f.M / (f.rho * alpha);
    EXPECT_NEAR(static_cast<double>(p.oracle.refresh_batch), b, 1);
    EXPECT_EQ(p.escape.hessian_batch, p.oracle.refresh_batch);
    const double rate = f.M * std::max({3 / (alpha * epsilon), kappa / (alpha * alpha),
                                        f.rho * kappa / (f.M * f.M * alpha)});
    expect_digits(p.batch_rate, rate, 1e-12);
    expect_digits(p.escape.hessian_batch_rate, rate, 1e-12);
    EXPECT_EQ(p.escape.escapes_per_refresh, 1);
    EXPECT_FALSE(algorithm.parameters.selection.on());
    expect_digits(liu_talwar_2025::printed_at(f, epsilon, alpha).records, f.n, 1e-3);
  }
}

// At ε = 1 the printed noise costs more than ε under replace-one, and a filter would have ended the
// run; noise and batches by the accountant cost no more than ε.
TEST(LiuTalwarPrinted, CostsMoreThanItsBudget) {
  const Problem problem = simulated_saddle(1000000, 10);
  for (const Variant variant : {Variant::printed, Variant::repaired}) {
    AdaptiveSpider algorithm;
    algorithm.set_variant(variant);
    algorithm.schedule(Schedule::practical, problem.facts, {1, 1e-6}, Calibrator::cks);
    const Ran ran = test::run_unsound(algorithm, problem.facts, *problem.simulated, {});
    const double spent = ran.ledger.spent(1e-6).epsilon;
    EXPECT_TRUE(variant == Variant::printed ? spent > 2 : spent <= 1 * (1 + 1e-9)) << spent;
    EXPECT_GT(ran.outcome.steps, 20);
  }
}

// The printed batches belong to the tree, adaptive batches and the Hessian-power escape.
TEST(LiuTalwarPrinted, RefusesOtherSettings) {
  AdaptiveSpider algorithm;
  algorithm.set_variant(Variant::printed);
  algorithm.parameters.spider.noise = SpiderNoise::gaussian_fixed;
  EXPECT_THROW(algorithm.schedule(Schedule::practical, at_the_saddle(100000).facts, {1, 1e-6},
                                  Calibrator::cks),
               InputError);
}

// L10. A refresh takes both batches or none.
TEST(LiuTalwarRun, StopsWhenRecordsDoNotCoverBothBatches) {
  const Problem problem = at_the_saddle(2000);
  AdaptiveSpider algorithm;
  SpiderParameters& p = algorithm.parameters.spider;
  p.oracle.refresh_batch = 1500;
  p.escape.hessian_batch = 600;
  const Ran ran = test::run_unsound(algorithm, problem.facts, *problem.records, {});
  EXPECT_EQ(ran.outcome.status, Status::data);
  EXPECT_EQ(ran.ledger.queries(), 0);
}

TEST(StochasticSpiderRun, PopulationRunReadsOnceAndSelectsOnOtherHalf) {
  const Problem problem = at_the_saddle(200000);
  StochasticSpider spider;
  spider.parameters.target = ganesh_2023::Target::population;
  const Scheduled s =
      spider.schedule(Schedule::practical, problem.facts, {4, 1e-6}, Calibrator::cks);
  const Ran ran = test::run_enforced(spider, problem.facts, *problem.records, s.rule);
  Index gradients_end = 0, tests_begin = 0;
  for (const LedgerEntry& e : ran.ledger.entries()) {
    EXPECT_EQ(e.count, 1);
    if (e.query == "stationarity_test")
      tests_begin = e.charged.begin;
    else
      gradients_end = std::max(gradients_end, e.charged.end);
  }
  EXPECT_EQ(tests_begin, 100000);
  EXPECT_LE(gradients_end, 100000);
  EXPECT_GT(gradients_end, 1000);
}

}  // namespace
}  // namespace dpsosp::spider_test
