// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/store.hpp"
#include "findings.hpp"
#include "risk_bounds.hpp"
#include "statements.hpp"

namespace dpsosp::ganesh_2023_test {
namespace {

using nlohmann::json;

TEST(GaneshProbes, EscapesSaddleUnlessErrorIsAdversarial) {
  json p{{"dimension", 16}, {"gamma", 0.01}, {"curvature", 0.2}, {"adversarial", false}};
  int left = 0, held = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    p["adversarial"] = false;
    left += compute_probe("ganesh-2023/escape", p, seed).at("left").get<bool>();
    p["adversarial"] = true;
    held += !compute_probe("ganesh-2023/escape", p, seed).at("left").get<bool>();
  }
  EXPECT_EQ(left, 20);
  EXPECT_EQ(held, 20);
}

TEST(GaneshProbes, GapsHalveWithFourTimesTheRecords) {
  json p{{"dimension", 10}, {"records", 1000}, {"draws", 2000}};
  const json few = compute_probe("ganesh-2023/concentration", p);
  p["records"] = 4000;
  const json many = compute_probe("ganesh-2023/concentration", p);
  // The 95 % quantile of 2000 draws is off by 3 % or so.
  for (const char* gap : {"gradient", "hessian"})
    EXPECT_NEAR(many.at(gap).get<double>() / few.at(gap).get<double>(), 0.5, 0.05) << gap;
}

TEST(GaneshProbes, SelectsAmongFairCoinsUniformly) {
  for (const int k : {2, 8}) {
    const double draws = 4000, p = (k - 1.0) / k;
    const double wrong =
        compute_probe("ganesh-2023/coins",
                      {{"records", 20}, {"coins", k}, {"draws", draws}, {"bias", 0.0}})
            .at("wrong");
    EXPECT_NEAR(wrong, p, 4 * std::sqrt(p * (1 - p) / draws)) << k;
  }
}

TEST(GaneshProbes, ExactRoundsContractDivergenceAsClaimed) {
  const json r =
      compute_probe("ganesh-2023/divergence", {{"cells", 120}, {"rounds", 10}, {"exponent", 2.0}});
  EXPECT_LE(r.at("largest_ratio").get<double>(), r.at("claimed_ratio").get<double>());
  EXPECT_GT(r.at("last").get<double>(), 0);  // a divergence of laws, which sum to 1
  EXPECT_LT(r.at("last").get<double>(), r.at("first").get<double>());
}

// The constant of a Gaussian is its variance, and a shifted start attains the factor of Theorem
// D.1.
TEST(GaneshProbes, ShiftedGaussianAttainsContractionFactor) {
  const json r = compute_probe("ganesh-2023/gaussian-divergence",
                               {{"cells", 400}, {"rounds", 6}, {"shift", 2}, {"step", 0.5}});
  EXPECT_NEAR(r.at("least_ratio").get<double>(), 1 / 2.25, 1e-4);
  EXPECT_NEAR(r.at("largest_ratio").get<double>(), 1 / 2.25, 1e-4);
}

// Without a bias either side is chosen half of the time; with one, Φ(−1) of the data mislead a
// selection that is not blurred.
TEST(GaneshProbes, CornerMechanismErrsAsItsDataDo) {
  json p{{"records", 100000}, {"dimension", 10}, {"draws", 20000}, {"bias", 0.0}, {"epsilon", 1}};
  const auto wrong = [&] {
    return compute_probe("ganesh-2023/corner-mechanism", p).at("wrong").get<double>();
  };
  EXPECT_NEAR(wrong(), 0.5, 0.015);
  p["bias"] = 1.0;
  EXPECT_NEAR(wrong(), 0.1587, 0.012);
  p["epsilon"] = 0.001;
  EXPECT_NEAR(wrong(), 0.5, 0.03);
}

/// E ⟨u, p⟩ of the exponential mechanism on sums of the signs of m records in K coordinates, with
/// p of density in proportion to (1 − p²)^{β−1}.
double mean_of_selected(int m, int coins, double prior, double epsilon, int draws) {
  Stream stream({.seed = 7, .purpose = Purpose::statistics});
  const auto half_gamma = [&] {  // of an integer shape
    double log_product = 0;
    for (int k = 0; k < static_cast<int>(prior); ++k) log_product += std::log(1 - stream.uniform());
    return -log_product;
  };
  double sum = 0;
  for (int t = 0; t < draws; ++t) {
    std::vector<double> p, score;
    for (int j = 0; j < coins; ++j) {
      const double a = half_gamma(), b = half_gamma();
      p.push_back((a - b) / (a + b));
      score.push_back(2.0 * static_cast<double>(stream.binomial(m, (1 + p.back()) / 2)));
    }
    // A replaced sign moves a sum by 2.
    const double best = *std::max_element(score.begin(), score.end());
    double total = 0, of_p = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const double weight = std::exp(epsilon * (score[j] - best) / 4);
      total += weight;
      of_p += weight * p[j];
    }
    sum += of_p / total;
  }
  return sum / draws;
}

// Tracing bounds what a private selection knows of p, and not what one without privacy does.
TEST(GaneshLowerBounds, TracingHoldsOfPrivateSelectionAlone) {
  constexpr int coins = 64, m = 20;
  constexpr double prior = 8;
  for (const double epsilon : {0.1, 0.5, 1.0}) {
    const double known = mean_of_selected(m, coins, prior, epsilon, 400);
    EXPECT_LE(known, ganesh_2023::traced_mean(m, prior, epsilon, 0)) << epsilon;
    EXPECT_GE(known, 0.1 * ganesh_2023::traced_mean(m, prior, epsilon, 0)) << epsilon;
  }
  EXPECT_GT(mean_of_selected(m, coins, prior, 100, 400),
            ganesh_2023::traced_mean(m, prior, 0.2, 0));
}

TEST(GaneshLowerBounds, FallAsClaimedAndVanishWithoutRecordsToTrace) {
  using namespace ganesh_2023;
  for (const double d : {30.0, 300.0}) {
    EXPECT_NEAR(traced_risk(1e8, d, 0.1, 0) / traced_risk(1e7, d, 0.1, 0), 0.1, 1e-6);
    EXPECT_NEAR(statistical_risk(1e8, d) / statistical_risk(1e6, d), 0.1, 1e-3);
  }
  EXPECT_GT(traced_risk(1e8, 300, 0.1, 0) / traced_risk(1e8, 30, 0.1, 0), 10);
  // δ that is as large as ε traces nothing more.
  EXPECT_LT(traced_risk(1e8, 30, 0.1, 0.1), 0.3 * traced_risk(1e8, 30, 0.1, 0));
}

// G13. The lower bound with ln(1/δ) grows over the upper one by a power of n.
TEST(GaneshLowerBounds, PrintedLogarithmContradictsUpperBound) {
  const Finding f = finding_of("ganesh-2023/lower-bound-risk-printed", Scale::smoke);
  EXPECT_EQ(f.verdict, Verdict::fails);
  EXPECT_NEAR(f.value.value(), 0.4, 0.05);
}

// G14. The printed schedule's errors grow over its α₁ as n^(1/18) where the two parts of the rate
// are equal.
TEST(GaneshPredicates, PrintedKappaExceedsItsAccuracy) {
  const Finding f = finding_of("ganesh-2023/9-kappa", Scale::smoke);
  EXPECT_EQ(f.verdict, Verdict::fails);
  EXPECT_NEAR(f.value.value(), 1.0 / 18, 0.003);
  RecordProperty("measured", f.measured);
}

TEST(GaneshProbes, SamplerKeepsTargetForShortStepsOnly) {
  const json fine = compute_probe("ganesh-2023/sampler",
                                  {{"scaled_step", 0.01}, {"chains", 4000}, {"rounds", 20}});
  const json coarse = compute_probe("ganesh-2023/sampler",
                                    {{"scaled_step", 0.72}, {"chains", 4000}, {"rounds", 20}});
  EXPECT_NEAR(fine.at("mean_errors").get<double>(), 0, 4);
  EXPECT_NEAR(fine.at("differences").get<double>(), std::exp(1.0), 0.03);
  EXPECT_GT(std::abs(coarse.at("mean_errors").get<double>()), 4);
}

// A claim and its repaired form do not both fail, and what is printed too small costs too much.
TEST(GaneshPredicates, PrintedErrataFailAndRepairsHold) {
  for (const char* repaired : {"ganesh-2023/6-privacy-zero-out", "ganesh-2023/7-privacy-zero-out",
                               "ganesh-2023/9-privacy-zero-out", "ganesh-2023/11-repaired",
                               "ganesh-2023/lower-bound-risk"})
    EXPECT_EQ(finding_of(repaired, Scale::smoke).verdict, Verdict::holds)
        << finding_of(repaired, Scale::smoke).measured;
  for (const char* printed :
       {"ganesh-2023/5", "ganesh-2023/7-fresh", "ganesh-2023/7-privacy-main-text",
        "ganesh-2023/9-fresh", "ganesh-2023/9-kappa", "ganesh-2023/11", "ganesh-2023/15-rounds",
        "ganesh-2023/lower-bound-risk-printed"})
    EXPECT_EQ(finding_of(printed, Scale::smoke).verdict, Verdict::fails)
        << printed << ": " << finding_of(printed, Scale::smoke).measured;
}

// χ²₃ exceeds 7.814728 and χ²₁₀ 18.307038 with probability 0.05.
TEST(GaneshStatements, NormTailIsThatOfChiSquared) {
  EXPECT_NEAR(ganesh_2023::norm_tail(3, 7.814728), 0.05, 1e-7);
  EXPECT_NEAR(ganesh_2023::norm_tail(10, 18.307038), 0.05, 1e-7);
  EXPECT_NEAR(ganesh_2023::norm_tail(1, 4), std::erfc(std::sqrt(2.0)), 1e-15);
}

// At a centre the excess is r times the coin's risk, so that no larger factor holds.
TEST(GaneshStatements, ReductionHoldsWithNoLargerFactor) {
  const auto found = ganesh_2023::search_reduction(4000, 1);
  EXPECT_LE(found.worst, 1e-12);
  EXPECT_LE(found.steepest, 1 + 1e-9);
  EXPECT_GE(found.least_points, 1);
  EXPECT_GT(ganesh_2023::search_reduction(4000, 1.5).worst, 1e-3);
}

// The normal law itself has 1: the search can tell perturbed laws from it.
TEST(GaneshStatements, PerturbationSearchFindsConstantsAboveOne) {
  const auto found = ganesh_2023::search_perturbations(100, 20);
  EXPECT_LE(found.largest_over_bound, 1 + 1e-6);
  EXPECT_GT(found.largest, 1.5);
}

TEST(GaneshStatements, StuckSetIsNarrowUnlessErrorSeesThePoint) {
  const auto s = ganesh_2023::stuck_set(1e-5, 16, 0.01);
  EXPECT_NEAR(s.allowed, 1e-7 / std::log(100) * std::sqrt(std::acos(-1) / 8), 1e-15);
  EXPECT_DOUBLE_EQ(s.adversarial, 2 * std::sqrt(1e-5));
  EXPECT_LT(s.shared, s.allowed);
  EXPECT_LT(s.chance_with_noise, 0.01);
}

TEST(GaneshPredicates, StatementsHoldBySearch) {
  for (const char* holds :
       {"ganesh-2023/fact-2-3", "ganesh-2023/claim-4-4", "ganesh-2023/10-population",
        "ganesh-2023/lemma-5-2", "ganesh-2023/lemma-b-2-shared", "ganesh-2023/theorem-5-1",
        "ganesh-2023/theorem-5-10", "liu-talwar-2025/lemma-3-16"})
    EXPECT_EQ(finding_of(holds, Scale::smoke).verdict, Verdict::holds)
        << holds << ": " << finding_of(holds, Scale::smoke).measured;
  EXPECT_EQ(finding_of("ganesh-2023/lemma-b-2", Scale::smoke).verdict, Verdict::fails);
}

TEST(GaneshPredicates, ProbeFindingsStateMeasurements) {
  for (const char* claim : {"ganesh-2023/2", "ganesh-2023/6", "ganesh-2023/8", "ganesh-2023/12",
                            "ganesh-2023/13-dimension", "ganesh-2023/14", "ganesh-2023/15",
                            "ganesh-2023/16-mean", "ganesh-2023/16-population", "ganesh-2023/17"}) {
    const Finding f = finding_of(claim, Scale::smoke);
    EXPECT_TRUE(f.verdict == Verdict::holds || f.verdict == Verdict::fails) << claim;
    EXPECT_FALSE(f.measured.empty()) << claim;
    RecordProperty(claim, std::string(to_string(f.verdict)) + ": " + f.measured);
  }
}

}  // namespace
}  // namespace dpsosp::ganesh_2023_test
