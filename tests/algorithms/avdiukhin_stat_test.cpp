// SPDX-License-Identifier: Apache-2.0
// Quick checks of the paper's claims on the problems of avdiukhin-2024 notes, 6.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/problems/registry.hpp"
#include "runs.hpp"

namespace dpsosp::avdiukhin_2024::avdiukhin_stat_test {
namespace {

using test::Ran;

Problem double_well(Index n, Index d = 10) {
  return find_problem("double-well")
      ->make({.records = n, .dimension = d, .seed = 1, .data_seed = 1});
}

/// sosp_level of a point of a problem whose Hessian is diagonal.
double level(const Problem& p, const Vector& x) {
  Vector g(x.size()), column(x.size());
  p.objective().gradient(x, g);
  double least = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < x.size(); ++j) {
    p.objective().hessian_product(x, Vector::Unit(x.size(), j), column);
    least = std::min(least, column[j]);
  }
  return std::max(g.norm(), std::pow(std::max(0.0, -least), 2) /
                                p.facts.constants[constant::hessian_lipschitz]);
}

double share_below(const Problem& p, const std::vector<Vector>& iterates, double alpha) {
  const auto below =
      std::ranges::count_if(iterates, [&](const Vector& x) { return level(p, x) < alpha; });
  return static_cast<double>(below) / static_cast<double>(iterates.size());
}

// avdiukhin-2024 notes, 8
TEST(DoubleWellLevel, MatchesReferenceValues) {
  const Problem p = double_well(10);
  EXPECT_NEAR(level(p, Vector::Zero(10)), 0.6495190528, 1e-9);
  Vector g(10);
  p.objective().gradient(Vector::Unit(10, 0), g);
  EXPECT_NEAR(g[0], -0.5231883119, 1e-9);
  EXPECT_NEAR(p.objective().value(Vector::Unit(10, 0)), -0.3675616610, 1e-9);
}

// avdiukhin-2024 notes, 3.5: T = 3882, η = 0.1, Δ = 0.05531, B = 327,
// α = 0.0820; measured there: at least 96.8 % of the iterates below α in each of 20 runs, median
// level 0.0406.
TEST(MinibatchSgdIterates, AreMostlySospsInWorkedExample) {
  const Problem p = double_well(10000);
  DpSgd algorithm;
  algorithm.parameters = {.steps = 3882,
                          .step_size = 0.1,
                          .clip = 2.616227428,
                          .sampling = Sampling::sample,
                          .batch = 327,
                          .noise = 0.0553090382 * 327 / (2 * 2.616227428)};
  std::vector<double> medians;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Ran ran = test::run_unsound(algorithm, p.facts, *p.records, {}, seed);
    EXPECT_GE(share_below(p, ran.iterates, 0.0820), 0.93) << seed;
    std::vector<double> levels;
    for (const Vector& x : ran.iterates) levels.push_back(level(p, x));
    std::ranges::nth_element(levels, levels.begin() + 1941);
    medians.push_back(levels[1941]);
  }
  std::ranges::sort(medians);
  EXPECT_NEAR(medians[4], 0.0406, 0.003);
}

TEST(MinibatchSgdIterates, AreAtLeastHalfSospsUnderPracticalSchedules) {
  for (const Index n : {10000, 40000}) {
    const Problem p = double_well(n);
    for (const bool clips : {true, false})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        DpSgd clipped;
        NoisySgd unclipped;
        MinibatchSgd& algorithm = clips ? static_cast<MinibatchSgd&>(clipped) : unclipped;
        auto& q = algorithm.parameters;
        q.deviation = q.largest_deviation = 1;
        if (clips) {
          q.bound = BoundRule::given;
          q.clip = 2.616227428;
        }
        const Scheduled s =
            algorithm.schedule(Schedule::practical, p.facts, {1, 1e-5}, Calibrator::cks);
        ASSERT_LT(s.alpha, 0.6);  // below the start's level
        const Ran ran =
            test::run_unsound(algorithm, p.facts, *p.records, {.no_clipping = !clips}, seed);
        EXPECT_GE(share_below(p, ran.iterates, s.alpha), 0.5) << n << ' ' << clips << ' ' << seed;
      }
  }
}

/// One run of the practical schedule over n simulated records with C = 2√(L f_max) + σ.
struct Measured {
  double level;        // median over the iterates
  double escape_time;  // t ln(1 + ηγ) for the first t with λ_min > 0
};
Measured measured(Index n, Index d, std::uint64_t seed) {
  const auto family = find_problem("double-well");
  Fields fields = family->fields();
  set_field(fields, "double-well", "sampling", "whole");
  Problem p = family->make({.records = n, .dimension = d, .seed = seed, .data_seed = seed});
  p.facts.constants.set(constant::suboptimality, {0.6530477748538477});
  DpSgd algorithm;
  auto& q = algorithm.parameters;
  q.bound = BoundRule::given;
  q.clip = 2.616227428;
  algorithm.schedule(Schedule::practical, p.facts, {1, 1e-5}, Calibrator::cks);
  // No gradient on the trajectory exceeds the limit, but simulated records accept proved limits
  // alone, so nothing is clipped.
  const Ran ran = test::run_unsound(algorithm, p.facts, *p.simulated, {.no_clipping = true}, seed);
  std::vector<double> levels;
  double escape_time = 0;
  for (std::size_t t = 0; t < ran.iterates.size(); ++t) {
    levels.push_back(level(p, ran.iterates[t]));
    const double u = ran.iterates[t][0];
    if (escape_time == 0 && 1 - 2 / std::pow(std::cosh(u), 2) > 0)
      escape_time = std::log1p(q.step_size) * static_cast<double>(t);
  }
  std::ranges::nth_element(levels, levels.begin() + std::ssize(levels) / 2);
  return {levels[levels.size() / 2], escape_time};
}

Measured median_of(Index n, Index d) {
  std::vector<double> levels, times;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    const Measured m = measured(n, d, seed);
    levels.push_back(m.level);
    times.push_back(m.escape_time);
  }
  std::ranges::sort(levels);
  std::ranges::sort(times);
  return {levels[4], times[4]};
}

// avdiukhin-2024 notes, 6, rows 1 and 6 of the claims: the level is proportional to
// n^{−1/2} d^{1/4}, the escape time grows as ½ ln n.
TEST(MinibatchSgdIterates, ReachMedianLevelWithClaimedExponents) {
  const Measured few = median_of(100000, 10), many = median_of(10000000, 10);
  const double decades = std::log(100.0);
  EXPECT_NEAR(std::log(many.level / few.level) / decades, -0.5, 0.05);
  EXPECT_NEAR((many.escape_time - few.escape_time) / decades, 0.5, 0.1);
  const Measured wide = median_of(100000, 160);
  EXPECT_NEAR(std::log(wide.level / few.level) / std::log(161.0 / 11), 0.25, 0.06);
}

TEST(MinibatchSgdIterates, LeaveSaddleOnlyWithNoise) {
  const Problem p = double_well(1000);
  DpSgd algorithm;
  algorithm.parameters = {.steps = 2000, .step_size = 0.1, .clip = 3, .noise = 5};
  const Ran still = test::run_unsound(algorithm, p.facts, *p.records, test::no_noise);
  // Balanced records leave a mean tilt of the size of rounding, which grows by a factor e in 1/η
  // steps.
  for (std::size_t t = 0; t < 200; ++t)
    EXPECT_NEAR(level(p, still.iterates[t]), 0.6495190528, 1e-6);
  const Ran moved = test::run_unsound(algorithm, p.facts, *p.records, {});
  EXPECT_LT(level(p, moved.outcome.point), 0.3);
}

// avdiukhin-2024, Lemma 3.2: gradients on the trajectory do not grow with T, and here they stay
// below 2√(L f_max) + σ.
TEST(NoisySgdGradients, StayBelowBoundsAtTenfoldLength) {
  const Problem p = double_well(10000);
  NoisySgd algorithm;
  auto& q = algorithm.parameters;
  q.deviation = q.largest_deviation = 1;
  algorithm.schedule(Schedule::practical, p.facts, {1, 1e-5}, Calibrator::cks);
  std::vector<double> longest;
  for (const Index factor : {1, 10}) {
    NoisySgd longer = algorithm;
    longer.parameters.steps *= factor;
    ClipLog log;
    UnsoundCurator curator(p.facts, *p.records, {.seed = 5}, {.no_clipping = true}, &log);
    test::Iterates seen;
    longer.run(curator, Stream({.seed = 5, .purpose = Purpose::algorithm}), seen);
    EXPECT_EQ(log.violations, 0);
    longest.push_back(log.largest_over_nominal * q.clip);
    EXPECT_LT(longest.back(), 2.616227428);
  }
  EXPECT_LT(longest[1], 1.15 * longest[0]);
}

// avdiukhin-2024, Lemma B.8; avdiukhin-2024 notes, 8 (A12, A13). From a quadratic saddle
// ⟨v₁, x_t⟩ is Gaussian with standard deviation ηΔα_t, full batches.
TEST(QuadraticSaddle, EscapeMatchesLawOfLemmaB8) {
  constexpr Index n = 10;
  constexpr double eta = 0.1, gamma = 1, noise = 0.05, C = 1e6;
  constexpr int runs = 4000;
  const Vector curvature{{-gamma, 1.0}};
  PublicFacts facts;
  facts.name = "quadratic saddle";
  facts.dimension = 2;
  facts.records = n;
  facts.initial_point = Vector::Zero(2);
  const test::ScriptedRecords records(n, [&](std::size_t, const Point& at, Block) -> Vector {
    return curvature.cwiseProduct(at.x);
  });
  DpSgd algorithm;
  algorithm.parameters = {.steps = 51, .step_size = eta, .clip = C, .noise = noise * n / (2 * C)};
  const std::vector<std::pair<std::size_t, double>> known{
      {1, 0.005}, {10, 0.02611216636}, {20, 0.07258759533}, {50, 1.280792739}};
  std::vector<double> squares(known.size()), inside(known.size());
  for (int k = 0; k < runs; ++k) {
    const Ran ran = test::run_unsound(algorithm, facts, records, {}, static_cast<std::uint64_t>(k));
    for (std::size_t i = 0; i < known.size(); ++i) {
      const double x = ran.iterates[known[i].first][0];
      squares[i] += x * x / runs;
      inside[i] += std::abs(x) < 0.6744897501960817 * known[i].second ? 1.0 / runs : 0.0;
    }
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double deviation = std::sqrt(squares[i]);
    EXPECT_NEAR(deviation / known[i].second, 1, 5 / std::sqrt(2.0 * runs));
    EXPECT_NEAR(inside[i], 0.5, 5 * 0.5 / std::sqrt(runs));
    const auto t = static_cast<double>(known[i].first);
    EXPECT_NEAR(eta * noise * growth(eta * gamma, t), known[i].second, 1e-9);
  }
}

// A16: the mean of a Poisson batch has variance (1−q)(σ² + ‖∇f‖²)/B, not σ²/B.
TEST(PoissonBatches, HaveVarianceOfSecondMoment) {
  constexpr Index n = 200, B = 20;
  constexpr int draws = 20000;
  const Problem p = double_well(n, 2);
  const Vector x{{0.0, 2.0}};  // ∇F = (0, 2), every record's own part has length 1
  const UnsoundCurator::Departures departures{.no_noise = true};
  UnsoundCurator curator(p.facts, *p.records, {.seed = 1}, departures);
  Vector out(2), mean = Vector::Zero(2);
  double squares = 0;
  for (int k = 0; k < draws; ++k) {
    curator.gradient(Point(x), curator.draw(BatchPolicy::poisson(static_cast<double>(B) / n)),
                     {100.0, Noise::sensitivity_ratio(1.0)}, out);
    mean += out / draws;
    squares += out.squaredNorm() / draws;
  }
  const double variance = squares - mean.squaredNorm();
  const double expected = (1 - static_cast<double>(B) / n) * (1 + 4.0) / B;
  EXPECT_NEAR(variance / expected, 1, 0.05);
  EXPECT_GT(variance, 3 * 1.0 / B);  // printed: σ²/B
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::avdiukhin_stat_test
