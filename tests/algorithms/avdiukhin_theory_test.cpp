// SPDX-License-Identifier: Apache-2.0
// The formulas of avdiukhin-2024 against the vectors of avdiukhin-2024 notes, 8, against changes of
// units, and against the printed forms. Ids such as A5 are rows of docs/errata.md.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024::avdiukhin_theory_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double well = 0.6530477748538477;  // −φ(u*)
constexpr double C_well = 2.616227428;       // 2√(L f_max) + σ of the double well

void expect_digits(double actual, double expected, double relative = 1e-6) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

// avdiukhin-2024 notes, 8
TEST(Lemma32, MatchesReferenceBound) {
  expect_digits(lemma_3_2_bound({1e5, 10, 1, well, 1}, 1e4, 1e-5), 14.1138604);
}

// avdiukhin-2024 notes, 8
TEST(ProvedBound, MatchesReferenceValues) {
  const double ratio = std::sqrt(std::log(1e5)) / 1e5 * std::sqrt(1e5);
  const Numbers n{1e5, 10, 1, well, 1};
  UnclippedRun run{1000, 1e5, 0.01, 1.0, 1e-6};
  const auto known = proved_bound(n, run, ratio);
  ASSERT_TRUE(known);
  expect_digits(*known, 2.690530171);
  expect_digits(*known * ratio, 0.02886893170);
  expect_digits(proved_gap(n, run, *known * ratio), 1.428946129);
  run.largest_deviation = std::sqrt(1 + std::log(1e5));
  const auto general = proved_bound(n, run, ratio);
  ASSERT_TRUE(general);
  expect_digits(*general, 7.673549861);
  expect_digits(proved_gap(n, run, *general * ratio), 8.554027613);
  // the bound holds at its own noise, and a full batch has a smaller one
  EXPECT_GE(*known, std::sqrt(2 * proved_gap(n, {1000, 1e5, 0.01, 1.0, 1e-6}, *known * ratio)) + 1);
  EXPECT_LT(*proved_bound(n, {infinity, 1e5, 0.01, 1.0, 1e-6}, ratio), *known);
}

TEST(ProvedBound, HasNoValueWhenNoiseDiverges) {
  // 2 L² d S² κ² ≥ 1 (avdiukhin-2024 notes, 3.3)
  EXPECT_FALSE(proved_bound({100, 10, 1, 1, 1}, {infinity, 1e4, 1, 1.0, 1e-6}, 0.01));
}

/// All quantities of an objective s·f(x/l).
Numbers rescaled(const Numbers& n, double s, double l) {
  return {n.records, n.dimension, n.smoothness * s / (l * l), n.gap * s, n.deviation * s / l};
}

// A5: a bound on gradients must follow a change of units of f and x; that of Lemma 3.2 does not.
TEST(ProvedBound, ScalesWithUnitsUnlikeLemma32) {
  const Numbers n{1e5, 10, 1, well, 1};
  for (const auto& [s, l] : {std::pair{7.0, 1.0}, std::pair{1.0, 0.2}, std::pair{3.0, 5.0}}) {
    const Numbers m = rescaled(n, s, l);
    const double unit = s / l;  // of gradients
    const double eta = 0.01 * l * l / s, sigma_inf = 1.0 * unit;
    const double one = *proved_bound(n, {1000, 1e5, 0.01, 1.0, 1e-6}, 0.01);
    const double other = *proved_bound(m, {1000, 1e5, eta, sigma_inf, 1e-6}, 0.01);
    expect_digits(other, unit * one, 1e-9);
    const double printed = lemma_3_2_bound(n, 1e5, 1e-6);
    EXPECT_GT(std::abs(lemma_3_2_bound(m, 1e5, 1e-6) / (unit * printed) - 1), 0.01);
  }
}

// A5: iterates carry the privacy noise, so a bound on their gradients must grow with it.
TEST(ProvedBound, GrowsWithPrivacyNoise) {
  const Numbers n{1e5, 10, 1, well, 1};
  const UnclippedRun run{1000, 1e5, 0.01, 1.0, 1e-6};
  EXPECT_GT(proved_gap(n, run, 0.3), 2 * proved_gap(n, run, 0.01));
}

// avdiukhin-2024 notes, 8
TEST(ClassRelativeDelta, MatchesReferenceMultiplier) {
  expect_digits(class_relative_delta({0.125, 1}, 1), 3.133148453);
  expect_digits(class_relative_delta({1, 1}, 1), 4.718281828);
  expect_digits(class_relative_delta({8, 1}, 1), 2982.957987);
  const PrivacyBudget total{2, 1e-5};
  expect_digits(class_relative_delta({2, 0.5e-5}, bound_failure(total)), 1e-5, 1e-14);
}

// Two algorithms that differ with probability δ_E, the clipped one (ε, δ)-DP, by an event that
// outputs hide. Then the unclipped one can reach δ + (1 + e^ε) δ_E, which is above 2δ.
TEST(ClassRelativeDelta, IsAttainedAndExceedsTwiceDelta) {
  const PrivacyBudget nominal{1, 0.01};
  const double failure = nominal.delta, p = 0.2, e = std::exp(nominal.epsilon);
  // probabilities of a set: clipped on D′ and on D, tight for (ε, δ)
  const double clipped_other = p, clipped = e * p + nominal.delta;
  // unclipped: on D an outside outcome enters the set, on D′ an inside one leaves it
  const double unclipped = clipped + failure, unclipped_other = clipped_other - failure;
  ASSERT_LE(unclipped, 1.0);
  const double excess = unclipped - e * unclipped_other;
  EXPECT_GT(excess, 2 * nominal.delta * 1.5);
  expect_digits(excess, class_relative_delta(nominal, failure), 1e-12);
}

constexpr double kappa_w1 = 3.7169222e-6;

Circle w1(bool lemma_step) {
  const Numbers n{1e6, 1000, 1, 1, 1};
  const double kappa = naive_kappa(1e6, {1, 1e-6});
  expect_digits(kappa, kappa_w1, 1e-7);
  return resolve_circle(
      n,
      {.kappa = kappa,
       .batch = 1000,
       .constants = TheoremConstants::unit,
       .lemma_step = lemma_step},
      [&](double T, double, double, double) { return lemma_3_2_bound(n, std::ceil(T), 1e-6); });
}

// avdiukhin-2024 notes, 3.5 and 8
TEST(CircleResolver, MatchesWorkedExamples) {
  const Circle without = w1(false);
  EXPECT_NEAR(std::ceil(without.steps), 283199, 1);
  expect_digits(without.bound, 15.98715);
  expect_digits(without.noise, 0.0316228, 1e-5);
  expect_digits(without.alpha, 0.1226396);
  expect_digits(without.step_size, 0.0150254, 1e-5);
  expect_digits(without.time, 4255.18, 1e-5);
  EXPECT_GT(without.step_size * std::sqrt(without.steps), 7.9);  // the lemma's condition fails
  const Circle with = w1(true);
  expect_digits(with.steps, 16510126, 1e-6);
  expect_digits(with.bound, 16.75051);
  expect_digits(with.noise, 0.252980, 1e-5);
  expect_digits(with.alpha, 0.1255025);
  expect_digits(with.step_size, 2.461075e-4);
  expect_digits(with.time, 4063.27, 1e-5);
  const Circle dw = resolve_circle(
      {1e5, 10, 1, well, 1},
      {.kappa = naive_kappa(1e5, {1, 1e-5}), .batch = 1000, .constants = TheoremConstants::unit},
      [](double, double, double, double) { return C_well; });
  EXPECT_EQ(std::ceil(dw.steps), 126901);
  expect_digits(dw.noise, 0.0316228, 1e-5);
  expect_digits(dw.alpha, 0.0436278, 1e-5);
  expect_digits(dw.step_size, 0.173035, 1e-5);
}

/// The circle with the least batch that the theorem allows.
Circle least_batch(const Numbers& n, double kappa, TheoremConstants constants,
                   bool strict = false) {
  return resolve_circle(n,
                        {.kappa = kappa,
                         .batch = {},
                         .constants = constants,
                         .delta = 1e-6,
                         .rho = 1.5,
                         .strict_noise = strict},
                        [](double, double, double, double) { return 3.0; });
}

TEST(CircleResolver, SatisfiesItsConditions) {
  for (const auto constants :
       {TheoremConstants::paper, TheoremConstants::unit, TheoremConstants::corrected})
    for (const double d : {1.0, 10.0, 1000.0}) {
      const Numbers n{1e7, d, 2, 0.7, 1.3};
      const Circle c = least_batch(n, 1e-5, constants);
      EXPECT_LE(c.step_size * n.smoothness, 1 + 1e-9);
      EXPECT_GE(c.noise * c.noise, n.deviation * n.deviation / c.batch * (1 - 1e-9));
      expect_digits(c.noise, 1e-5 * 3 * std::sqrt(c.steps), 1e-9);
      // a target above the floor is met by its own closed form
      const double k_T = c.time * c.alpha * c.alpha / n.gap;
      const double c_eta = constants == TheoremConstants::unit ? 1 : 1.0 / 128;
      const auto target = circle_for(n, c.alpha, c.batch, 3e-5, c_eta, k_T);
      ASSERT_TRUE(target);
      expect_digits(target->steps, c.steps, 1e-5);
      EXPECT_FALSE(circle_for(n, 0.5 * c.alpha, c.batch, 3e-5, c_eta, k_T));
    }
}

// A2: at a given accuracy the gradient evaluations T·B are proportional to d + 1; in Theorem 1.1
// they do not depend on d.
TEST(CircleResolver, NeedsGradientsProportionalToDimension) {
  const auto calls = [](double d) {
    const Numbers n{1e12, d, 1, 1, 1};
    const double alpha = 0.01;  // at the theorem's edge Δ² = σ²/B, where A = 1/(d + 1)
    const double kappa_bound = std::sqrt(std::pow(alpha, 4) / (64 * (d + 1)));
    const double batch = 1000;
    return batch * circle_for(n, alpha, batch, kappa_bound, 1.0)->steps;
  };
  for (const double d : {10.0, 100.0, 1000.0})
    expect_digits(calls(10 * d) / calls(d), (10 * d + 1) / (d + 1), 1e-9);
  EXPECT_GT(calls(1000) / calls(10), 90);  // printed: 1
}

// A9: at a given C α is proportional to (L f_max)^{1/4}; Theorem 3.5 prints f_max.
TEST(CircleResolver, ScalesAlphaWithUnitsAndFourthRootOfGap) {
  const Numbers n{1e7, 20, 2, 0.7, 1.3};
  const auto alpha = [](const Numbers& m, double bound) {
    return resolve_circle(m, {.kappa = 1e-6, .batch = 1000.0, .constants = TheoremConstants::unit},
                          [&](double, double, double, double) { return bound; })
        .alpha;
  };
  for (const auto& [s, l] : {std::pair{7.0, 1.0}, std::pair{1.0, 0.2}})
    expect_digits(alpha(rescaled(n, s, l), 3 * s / l), s / l * alpha(n, 3), 1e-9);
  Numbers taller = n;
  taller.gap *= 16;
  const double grown = alpha(taller, 3) / alpha(n, 3);
  EXPECT_NEAR(grown, 2, 0.05);  // f_max^{1/4} at a given C
  EXPECT_LT(grown, 16 * 0.2);   // printed: f_max
}

// A6, A7: the buckets of 𝓘 steps that start at a saddle must lower f by more than f_max in all (the
// count is that of avdiukhin-2024 notes, 3.4); with the printed k_T they are too few.
TEST(Theorem34, CorrectedConstantsGiveEnoughTotalDecrease) {
  const Numbers n{1e7, 20, 1, 1, 1};
  const double rho = 1.5, alpha = 0.05, noise = 0.05;
  const double total = 20 * noise * noise;
  const auto spent = [&](TheoremConstants constants) {
    const Theorem34 t = theorem_3_4(n, rho, alpha, total, noise, 1e-6, constants);
    const double buckets = t.steps / t.escape_steps;
    return buckets / 4 / 2 / 3 * t.escape_drop;  // 1/4 · 1/2 · 1/3
  };
  EXPECT_LT(spent(TheoremConstants::paper), n.gap);  // as printed: no contradiction
  EXPECT_GT(spent(TheoremConstants::corrected), n.gap);
}

// A3, A4: step size, horizon, radius and drop follow a change of units. The printed step size, with
// 1 + σ̃² and f_max/(Lσ̃²), does not.
TEST(Theorem34, ScalesWithUnits) {
  const Numbers n{1e7, 20, 2, 0.7, 1.3};
  const double rho = 1.5, alpha = 0.05, noise = 0.05, batch = 400;
  const auto total = [&](const Numbers& m, double one_noise) {
    return m.deviation * m.deviation / batch + m.dimension * one_noise * one_noise;
  };
  const Theorem34 one =
      theorem_3_4(n, rho, alpha, total(n, noise), noise, 1e-6, TheoremConstants::paper);
  for (const auto& [s, l] : {std::pair{70.0, 1.0}, std::pair{1.0, 0.2}}) {
    const Numbers m = rescaled(n, s, l);
    const double unit = s / l, a = alpha * unit, b = noise * unit;
    const double total_m = total(m, b);
    const Theorem34 two =
        theorem_3_4(m, rho * s / (l * l * l), a, total_m, b, 1e-6, TheoremConstants::paper);
    expect_digits(two.step_size, one.step_size * l * l / s, 1e-9);
    expect_digits(two.steps, one.steps, 1e-9);
    expect_digits(two.escape_steps, one.escape_steps, 1e-9);
    expect_digits(two.escape_radius, one.escape_radius * l, 1e-9);
    expect_digits(two.escape_drop, one.escape_drop * s, 1e-9);
    const auto printed = [](const Numbers& k, double accuracy, double variance) {
      return std::min(accuracy * accuracy / (k.smoothness * (1 + variance)),
                      k.gap / (k.smoothness * variance));
    };
    EXPECT_GT(
        std::abs(printed(m, a, total_m) / (printed(n, alpha, total(n, noise)) * l * l / s) - 1),
        0.1);
  }
}

// A8: the analysis needs the privacy noise to exceed √ln(1/δ̃) times the sampling noise.
TEST(CircleResolver, MakesNoiseDominateSamplingOnlyWhenStrict) {
  const Numbers n{1e7, 10, 1, 0.7, 1};
  for (const bool strict : {false, true}) {
    const Circle c = least_batch(n, 1e-5, TheoremConstants::unit, strict);
    const double demand = std::log(c.steps / 1e-6) / c.batch;
    EXPECT_EQ(c.noise * c.noise >= demand * (1 - 1e-6), strict);
  }
}

// avdiukhin-2024 notes, 3.5 and 8
TEST(PracticalSchedule, MatchesWorkedExample) {
  const Numbers n{1e4, 10, 1, well, 1};
  const double kappa_bound = naive_kappa(1e4, {1, 1e-5}) * C_well;
  const ClosedForm closed = practical_closed_form(n, 11, kappa_bound);
  expect_digits(closed.time, 388.2, 1e-4);
  expect_digits(closed.alpha, 0.0820, 1e-3);
  const double T = std::ceil(10 * closed.time);
  EXPECT_EQ(T, 3882);
  const double noise = kappa_bound * std::sqrt(T);
  expect_digits(noise, 0.05531, 1e-4);
  EXPECT_EQ(std::ceil(1 / (noise * noise)), 327);
  struct Row {
    double noise, total, step_size, alpha;
  };
  for (const Row& row : {Row{0.0664295069, 0.0471868979, 0.0844401499, 0.0892689053},
                         Row{0.132316487, 0.178134632, 0.0434595804, 0.124431960},
                         Row{0.0553090382, 0.0336490011, 0.0999939263, 0.0820328682}}) {
    const double total = 1.0 / 327 + 10 * row.noise * row.noise;
    expect_digits(total, row.total);
    const Descent d = best_descent(n, 3882, total);
    expect_digits(d.step_size, row.step_size);
    expect_digits(d.alpha, row.alpha);
  }
}

// avdiukhin-2024 notes, 8
TEST(PrivateSelection, MatchesReferenceValues) {
  const double rho = 1.539600718, alpha = 0.1, G = 2.616, M = 2;
  const double s = std::max(2 * G / (20000 * alpha), 2 * M / (20000 * std::sqrt(rho * alpha)));
  expect_digits(s, 0.002616);
  expect_digits(selection_width(s, 10, 0.05, 1), 0.125389370);
  expect_digits(selection_records(G / alpha, M / std::sqrt(rho * alpha), 10, 0.05, 1), 5015.574802);
  EXPECT_EQ(selection_candidates(0.05), 6);
  EXPECT_EQ(selection_candidates(0.5), 2);
}

// avdiukhin-2024, Lemma B.8; avdiukhin-2024 notes, 8
TEST(LemmaB8, MatchesReferenceGrowth) {
  const std::map<double, std::pair<double, double>> known{{1, {1, 3.478505426}},
                                                          {10, {5.222433272, 8.202133838}},
                                                          {20, {14.51751907, 21.27422352}},
                                                          {50, {256.1585478, 371.2224716}}};
  for (const auto& [t, value] : known) {
    expect_digits(growth(0.1, t), value.first);
    expect_digits(growth_bound(0.1, t), value.second);
    EXPECT_LE(growth(0.1, t), growth_bound(0.1, t));
    if (t >= 20) {
      EXPECT_GE(growth(0.1, t), growth_bound(0.1, t) / 3);
    }
  }
  for (const auto& [t, deviation] : std::map<double, double>{{1, 0.005},
                                                             {10, 0.02611216636},
                                                             {20, 0.07258759533},
                                                             {50, 1.280792739},
                                                             {40.13300949, 0.5}})
    expect_digits(0.1 * 0.05 * growth(0.1, t), deviation);
  // A13: (1 + ηγ)^t is about e^{tηγ}, and not the printed e^{t/(ηγ)}
  EXPECT_NEAR(std::log(growth(0.1, 50) / growth(0.1, 40)), 10 * 0.1, 0.06);
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::avdiukhin_theory_test
