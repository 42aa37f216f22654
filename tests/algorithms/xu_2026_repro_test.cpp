// SPDX-License-Identifier: Apache-2.0
// Measurements of xu-2026 notes, 6, repeated at a few seeds.
#include <algorithm>

#include <gtest/gtest.h>

#include "dpsosp/evaluator/certificate.hpp"
#include "dpsosp/privacy/accounting/advanced_composition.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/xu_2026/dp_rgda.hpp"
#include "runs.hpp"

namespace dpsosp::xu_2026::xu_2026_repro_test {
namespace {

using test::Ran;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// xu-2026 notes, 6.6: n = 1e4, practical schedule, ε = 2, δ = 1e-6.
std::vector<double> cosine_levels(int seeds, double ascent_step) {
  const auto family = find_problem("cosine-minimax");
  std::vector<double> levels;
  for (int k = 0; k < seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    const Problem p =
        family->make({.records = 10000, .dimension = {}, .seed = seed, .data_seed = seed});
    DpRgda algorithm;
    const Scheduled s =
        algorithm.schedule(Schedule::practical, p.facts, {2, 1e-6}, Calibrator::bun_steinke);
    if (ascent_step > 0) algorithm.parameters.ascent_step = ascent_step;
    EXPECT_NEAR(s.alpha, 0.324, 5e-4);
    EXPECT_NEAR(static_cast<double>(algorithm.parameters.steps), 6848, 1);
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, s.rule, seed);
    EXPECT_EQ(ran.outcome.status, Status::certified);
    EXPECT_LT(ran.outcome.steps, 1500);
    EXPECT_GE(ran.outcome.counts.at("escapes"), 2) << "the start is an exact saddle";
    CertificateOptions options;
    options.hessian_lipschitz = p.facts.constants[constant::hessian_lipschitz];
    const Certificate c = certify(*p.empirical, ran.outcome.point, options);
    EXPECT_GT(c.lambda_min, 0.3) << "near x_j = ±π";
    EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2.0);
    levels.push_back(*c.sosp_level);
  }
  return levels;
}

TEST(XuCosineMinimax, RepairedMethodFindsSospFromExactSaddle) {
  const double level = median(cosine_levels(5, 0.0));
  EXPECT_GT(level, 0.35);
  EXPECT_LT(level, 0.95);
  RecordProperty("median_sosp_level", std::to_string(level));
}

TEST(XuCosineMinimax, AscentStepOneOverMuReachesLevelOfTable) {
  const double level = median(cosine_levels(5, 1.0));
  EXPECT_GT(level, 0.35);
  EXPECT_LT(level, 0.95);
}

/// xu-2026 notes, 5.1 and 5.3: n = 400, matrices 20 × 20 of rank 3, T = 400, K = 5, q = 10,
/// S₁ = 200, S₂ = 50.
Problem sensing(PlantedScale scale, std::uint64_t seed, std::uint64_t data_seed) {
  MatrixSensing family;
  family.planted_scale = scale;
  return family.make({.records = 400, .dimension = {}, .seed = seed, .data_seed = data_seed});
}

DpRgda as_published(Variant variant) {
  DpRgda algorithm;
  algorithm.set_variant(variant);
  auto& oracle = algorithm.parameters.oracle;
  oracle.sampling = Sampling::sample;
  oracle.refresh_batch = 200;
  oracle.increment_batch = 50;
  return algorithm;
}

TEST(XuMatrixSensing, PrintedDpRgdaIgnoresData) {
  DpRgda algorithm = as_published(Variant::printed);
  algorithm.set_common_noise(advanced_noise_multiplier(2, 1e-6, 4080));
  constexpr std::uint64_t seeds = 8;
  int identical = 0;
  std::int64_t kept = 0;
  std::vector<double> radius;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Problem a = sensing(PlantedScale::frobenius, seed, seed);
    const Problem b = sensing(PlantedScale::frobenius, seed, 1000 + seed);
    const Ran on_a = test::run_unsound(algorithm, a.facts, *a.records, {}, seed);
    const Ran on_b = test::run_unsound(algorithm, b.facts, *b.records, {}, seed);
    if (on_a.iterates.at(399) == on_b.iterates.at(399)) ++identical;
    kept += on_a.outcome.counts.at("dual_kept");
    radius.push_back(on_a.iterates.at(399).norm());
    EXPECT_EQ(on_a.outcome.counts.at("escapes"), 0);
  }
  EXPECT_GE(identical, static_cast<int>(seeds) - 2);
  EXPECT_GE(kept, 400 * static_cast<std::int64_t>(seeds) - 3);
  EXPECT_GT(median(radius), 9.5);  // a random walk of normalised steps: 10.66 [9.15, 12.43]
  EXPECT_LT(median(radius), 11.8);
}

TEST(XuMatrixSensing, RepairedMethodUsesData) {
  DpRgda algorithm = as_published(Variant::repaired);
  algorithm.parameters.alpha = 1e-300;  // without noise an escape would begin at the start
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Problem a = sensing(PlantedScale::frobenius, seed, seed);
    const Problem b = sensing(PlantedScale::frobenius, seed, 1000 + seed);
    const Ran on_a = test::run_unsound(algorithm, a.facts, *a.records, test::no_noise, seed);
    const Ran on_b = test::run_unsound(algorithm, b.facts, *b.records, test::no_noise, seed);
    EXPECT_GT((on_a.iterates.at(399) - on_b.iterates.at(399)).norm(), 0.1);
  }
}

/// xu-2026 notes, 6.5: Φ(x₃₉₉) ≤ Φ(0)/2 and λ_min(x₃₉₉) ≥ λ_min(0)/2.
struct Left {
  double value_ratio;
  bool escaped;
};

Left left_the_saddle(const Problem& p, const Ran& ran) {
  const Certificate end = certify(*p.empirical, ran.iterates.at(399), {});
  const Certificate origin = certify(*p.empirical, Vector::Zero(p.facts.dimension), {});
  return {end.value / origin.value,
          end.value <= origin.value / 2 && end.lambda_min >= origin.lambda_min / 2};
}

TEST(XuMatrixSensing, RepairedMethodLeavesSaddleOnlyWithoutNoise) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Problem p = sensing(PlantedScale::none, seed, seed);
    DpRgda algorithm = as_published(Variant::repaired);
    algorithm.parameters.alpha = 1e-300;  // descend to the horizon, without escapes
    algorithm.parameters.inner_steps = 1;
    const Left exact =
        left_the_saddle(p, test::run_unsound(algorithm, p.facts, *p.records, test::no_noise, seed));
    EXPECT_TRUE(exact.escaped) << exact.value_ratio;

    const CalibratedNoise noise = calibrate_common_noise(algorithm.plan(p.facts), p.facts.records,
                                                         {2, 1e-6}, Calibrator::rdp);
    algorithm.set_common_noise(noise.sensitivity_ratio);
    const Ran ran = test::run_enforced(algorithm, p.facts, *p.records, noise.rule, seed);
    EXPECT_EQ(ran.outcome.status, Status::steps_done);
    EXPECT_LE(ran.ledger.spent(1e-6).epsilon, 2.0 * (1 + 1e-9));
    const Left noisy = left_the_saddle(p, ran);
    EXPECT_FALSE(noisy.escaped) << noisy.value_ratio;
  }
}

}  // namespace
}  // namespace dpsosp::xu_2026::xu_2026_repro_test
