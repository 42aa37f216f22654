// SPDX-License-Identifier: Apache-2.0
// xu-2026: lemmas and laws that formulas decide.
#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "../trusted/written_records.hpp"
#include "dpsosp/baselines/dp_sgda.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "findings.hpp"
#include "lemmas.hpp"
#include "printed_noise.hpp"
#include "weak_risk.hpp"

namespace dpsosp::xu_2026_test {
namespace {

using Complex = std::complex<double>;

TEST(XuLemma1, SumOfSignsMissesItsBound) {
  // two terms: |e_1 + e_2| is 0 or 2; three: 1 or 3; four: 0, 2 (not beyond √4) or 4
  EXPECT_NEAR(sign_sum_failure(2), 0.5, 1e-12);
  EXPECT_NEAR(sign_sum_failure(3), 0.25, 1e-12);
  EXPECT_NEAR(sign_sum_failure(4), 0.125, 1e-12);
  EXPECT_NEAR(sign_sum_factor(2, 0.4), 2, 1e-12);
  EXPECT_NEAR(sign_sum_factor(2, 0.6), 0, 1e-12);
  for (const int m : {5, 20, 65}) EXPECT_LE(sign_sum_factor(m, 0.01), 2 * std::log(200));
  EXPECT_EQ(finding_by_formulas("xu-2026/lemma-1").verdict, Verdict::fails);
}

TEST(XuLemma4, SlopeExceedsStatedBoundByRootOfSmoothness) {
  EXPECT_NEAR(slope_over_lemma_4(1, 1000, 1), 1, 1e-12);
  EXPECT_NEAR(slope_over_lemma_4(400, 1000, 1), 20, 1e-10);
  EXPECT_NEAR(slope_over_lemma_4(400, 1000, 4), 40, 1e-10);
}

TEST(XuLemma4, DescentAscentRunsAwayFromConditionThree) {
  // |1 − ηλ|² = 1 − η + η²κ(κ − 1) at μ = 1 and η = 1/(2κ): below 1 just if κ < 3
  EXPECT_LT(saddle_over_lemma_4(2, 1000), 1);
  EXPECT_LT(saddle_over_lemma_4(2.9, 20000), saddle_over_lemma_4(2.9, 1000));
  EXPECT_GT(saddle_over_lemma_4(3.1, 20000), saddle_over_lemma_4(3.1, 1000));
  EXPECT_GT(saddle_over_lemma_4(5, 1000), 1e10);
  EXPECT_EQ(finding_by_formulas("xu-2026/lemma-4").verdict, Verdict::fails);
}

// S₂ ≥ n/√T, as the proof asks: its second term meets it at every ε, the statement's, without
// ε^{−2/3}, from ε = 1 on.
TEST(XuLemma5, StatedBatchMissesConditionOfProofBelowEpsilonOne) {
  constexpr double n = 1e6, d = 120, delta = 1e-6;
  for (const double epsilon : {0.1, 2.0}) {
    const xu_2026::PaperErm s = xu_2026::paper_erm(n, d, epsilon, delta, 1, 1, 1);
    const double least = n / std::sqrt(s.steps) * (1 - 1e-9);
    const double stated =
        std::max(std::pow(s.ebar, -2.0 / 3.0), std::cbrt(n * d * std::log(1 / delta)));
    EXPECT_GE(s.increment_batch, least) << epsilon;
    EXPECT_EQ(stated >= least, epsilon >= 1) << epsilon;
  }
}

// Section 5 with the noise of Appendix D: v is a clipped mean and at most 50 clipped differences,
// and the step has length 0.2 along it, so that data turn each step by at most |signal|/|noise|.
TEST(XuSection5, DataMoveTheEndByLessThanOne) {
  constexpr double z = 1244, d = 120;
  const double refresh = 2 * z / 200 * std::sqrt(d), increment = 2 * z / 50 * std::sqrt(d);
  double moved = 0;
  for (int step = 0; step < 400; ++step) {
    double turn = 0;  // the argmin may take the estimate after any of the five increments
    for (int k = 1; k <= 5; ++k) {
      const double increments = 5 * (step % 10) + k;
      turn =
          std::max(turn, (1 + increments) / std::hypot(refresh, increment * std::sqrt(increments)));
    }
    moved += 0.2 * turn;
  }
  EXPECT_LT(moved, 1);
  EXPECT_GT(moved, 0.5);
}

TEST(XuLemma7, StepsOfItsSizesDoNotReachTheBall) {
  // 2η_H(r + r₀ ln(r/r₀)/η_H) at r = η_H α_H, largest at η_H = 1 and r₀ = r/e
  EXPECT_NEAR(lemma_7_reach(0.01, 1), 2 * 0.01 * (1 + 1 / std::exp(1)), 1e-5);
  EXPECT_GT(lemma_7_reach(0.9, 1), 1);  // not for large α
  EXPECT_EQ(finding_by_formulas("xu-2026/lemma-7").verdict, Verdict::fails);
}

TEST(XuLemma11, SlackIsNeverNegativeAndReachesZero) {
  const double least = cocoercivity_slack(2000, 3);
  EXPECT_GE(least, -1e-12);
  EXPECT_LT(least, 1e-6);
}

TEST(XuLemma12, MappingBoundsDistanceForShortStepsAlone) {
  EXPECT_GE(mapping_ratio(1.0 / 6, 500, 3), 2 - 1e-6);  // twice the constant, by contraction
  EXPECT_GE(mapping_ratio(1, 500, 3), 2 - 1e-6);
  EXPECT_LT(mapping_ratio(100, 500, 3), 1);
  EXPECT_EQ(finding_by_formulas("xu-2026/lemma-12").verdict, Verdict::holds);
}

TEST(WeakRisk, AveragedLawMatchesRecursion) {
  constexpr double step = 0.07, a = 0.3, b = 0.8;
  constexpr int T = 40;
  const AveragedLaw law = averaged_law({a, b}, step, T);
  // the same coefficients, step by step in x and y
  const auto averaged = [&](double x, double y, double zx, double zy, int from) {
    double mean_x = 0, mean_y = 0;
    for (int t = 0; t < T; ++t) {
      const bool on = from < 0 || t == from;  // the record's part in every step, noise in one
      const double gx = a * x + b * y + (on ? zx : 0), gy = b * x - a * y - (on ? zy : 0);
      x -= step * gx;
      y += step * gy;
      mean_x += x / T;
      mean_y += y / T;
    }
    return Complex(mean_x, mean_y);
  };
  EXPECT_LT(std::abs(averaged(1, 0, 0, 0, -1) - law.kept), 1e-14);
  EXPECT_LT(std::abs(averaged(0, 1, 0, 0, -1) - Complex(0, 1) * law.kept), 1e-14);
  EXPECT_NEAR(std::norm(averaged(0, 0, 1, 0, -1)), law.of_records, 1e-12);
  double noise = 0;
  for (int t = 0; t < T; ++t)
    noise += std::norm(averaged(0, 0, 1, 0, t)) + std::norm(averaged(0, 0, 0, 1, t));
  EXPECT_NEAR(noise, law.of_noise, 1e-12);
}

/// f of QuadraticSaddle in one dimension, every record with the same z.
class SaddleRecords final : public test::WrittenRecords {
 public:
  SaddleRecords(QuadraticSaddle f, double zx, double zy)
      : WrittenRecords(5), f_(f), zx_(zx), zy_(zy) {}

 private:
  Vector of(Index, const Summand& s) const override {
    const double x = s.point.x[0], y = s.point.y[0];
    return Vector{{f_.a * x + f_.b * y + zx_, f_.b * x - f_.a * y - zy_}};
  }
  QuadraticSaddle f_;
  double zx_, zy_;
};

TEST(WeakRisk, LawIsThatOfDpSgda) {
  constexpr QuadraticSaddle f{0.3, 0.8};
  baselines::DpSgda algorithm;
  algorithm.parameters = {
      .steps = 40, .step_size = 0.07, .ascent_step = 0.07, .local_dual = false, .average = true};
  PublicFacts facts;
  facts.name = "saddle";
  facts.dimension = facts.dual_dimension = 1;
  facts.records = 5;
  facts.dual_kind = DualKind::shared;
  facts.initial_point = Vector{{0.6}};
  facts.initial_dual = Vector{{-0.2}};
  class Quiet final : public Observer {
    void iterate(Index, ConstVectorRef) override {}
  } observer;
  const SaddleRecords records(f, 0.1, -0.4);
  UnsoundCurator curator(facts, records, {.seed = 1}, {.no_noise = true, .no_clipping = true});
  const Outcome outcome = algorithm.run(curator, Stream({.seed = 1}), observer);
  const AveragedLaw law = averaged_law(f, 0.07, 40);
  const Complex z(0.1, -0.4), lambda(f.a, -f.b);
  const Complex expected = law.kept * Complex(0.6, -0.2) - (1.0 - law.kept) / lambda * z;
  EXPECT_NEAR(outcome.point[0], expected.real(), 1e-12);
}

TEST(WeakRisk, IsMaximumOverComparisonPoints) {
  // by a grid over x′ and y′ on the line of E w̄; the best one on the boundary, and inside
  constexpr double n = 50, d = 3, rho = 2;
  const DescentAscentSizes s = descent_ascent_sizes(n, d, rho);
  for (const QuadraticSaddle f : {QuadraticSaddle{0.2, 0.6}, QuadraticSaddle{0.9, 0.3}}) {
    const AveragedLaw law = averaged_law(f, s.step, s.steps);
    const double second =
        std::norm(law.kept) + law.of_records / n + law.of_noise * d * s.deviation * s.deviation;
    double highest = 0;
    for (double at = -1; at <= 1; at += 1e-4)
      highest = std::max(highest, f.b * std::abs(law.kept) * at - f.a / 2 * at * at);
    EXPECT_NEAR(weak_risk(f, n, d, rho), f.a / 2 * second + highest, 1e-7);
  }
}

TEST(WeakRisk, WorstCaseHasClaimedExponents) {
  EXPECT_EQ(finding_by_formulas("xu-2026/table-1-dp-sgda").verdict, Verdict::holds);
  // for one curvature the risk falls with the square of the rate
  const double few = weak_risk({1, 0}, 1e4, 10, 1e6), many = weak_risk({1, 0}, 1e6, 10, 1e6);
  EXPECT_NEAR(std::log(many / few) / std::log(100), -1, 0.05);
}

RunResult with_printed_noise(std::map<std::string, std::string> settings) {
  settings["release"] = "printed";
  RunSpec spec;
  spec.algorithm = "xu-2026/dp-rgda";
  spec.problem = "cosine-minimax";
  spec.variant = Variant::printed;
  spec.schedule = Schedule::paper;
  spec.settings = std::move(settings);
  spec.records = 3000;
  spec.epsilon = 2;
  spec.observations = 0;
  return compute_run(describe(spec));
}

// The noise of Algorithm 3 and that of Lemma 8 run, whatever they cost, and say so.
TEST(XuPrintedNoise, RunsAndIsLabelledViolated) {
  for (const char* objective : {"empirical", "population"}) {
    const RunResult r = with_printed_noise({{"objective", objective}});
    EXPECT_EQ(r.privacy.label, PrivacyLabel::violated) << objective;
    EXPECT_GT(r.privacy.spent, 2) << objective;
  }
}

TEST(XuPrintedNoise, IsRefusedWithoutThePapersSchedule) {
  RunSpec spec;
  spec.algorithm = "xu-2026/dp-rgda";
  spec.problem = "cosine-minimax";
  spec.settings = {{"release", "printed"}};
  EXPECT_THROW(compute_run(describe(spec)), InputError);
}

TEST(XuLemma8, OneQueryShowsASampledRecord) {
  // S₂/n, whether or not the record is drawn: 2492 of 1e6; C₂ = 100 needs n = 1e9
  EXPECT_NEAR(lemma_8_query_delta(1, 1e6), 2.49e-3, 1e-5);
  EXPECT_NEAR(lemma_8_query_delta(100, 1e9), 2.49e-5, 1e-7);
  EXPECT_LT(lemma_8_query_delta(1000, 1e6), 1e-6);
  EXPECT_GT(lemma_8_lower_epsilon(1, 1e6), 1100);
}

}  // namespace
}  // namespace dpsosp::xu_2026_test
