// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "findings.hpp"

namespace dpsosp::liu_talwar_2025_test {
namespace {

using nlohmann::json;

json probe(const std::string& name, json parameters, std::uint64_t seed = 0) {
  return compute_probe("liu-talwar-2025/" + name, std::move(parameters), seed);
}

json escapes(const std::string& method, const std::string& error, double ratio) {
  return probe("escapes", {{"problem", "quartic-saddle"},
                           {"method", method},
                           {"error", error},
                           {"ratio", ratio},
                           {"alpha", 0.01},
                           {"dimension", 8},
                           {"error_over_alpha", 0.25},
                           {"seeds", 40}});
}

// Claim 14: errors that see the trajectory hold either escape, a pair that is chosen once neither.
TEST(LiuTalwarProbes, AdversaryThatSeesTheTrajectoryHoldsEscapes) {
  EXPECT_EQ(escapes("isotropic", "adversarial", 2).at("left"), 0);
  EXPECT_EQ(escapes("isotropic", "seeing", 2), escapes("isotropic", "adversarial", 2));
  EXPECT_EQ(escapes("hessian_power", "adversarial", 2).at("left"), 40);
  EXPECT_EQ(escapes("hessian_power", "frozen", 2), escapes("hessian_power", "adversarial", 2));
  EXPECT_GE(escapes("isotropic", "none", 2).at("left"), 38);
}

// Lemma 3.8: leaving a saddle along its curvature lowers F, by more the steeper it is.
TEST(LiuTalwarProbes, EscapesLowerObjectiveByMoreWhereSteeper) {
  const json flat = escapes("hessian_power", "none", 1),
             steep = escapes("hessian_power", "none", 3);
  EXPECT_LT(flat.at("change"), 0);
  EXPECT_LT(steep.at("change"), flat.at("change"));
  EXPECT_LT(steep.at("steps"), flat.at("steps"));
  for (const json& r : {flat, steep})
    EXPECT_LE(r.at("steps").get<double>(), r.at("allowed_steps").get<double>());
}

// Theorem 3.4 needs γ in its logarithm: an error along a flat direction of H leads out uphill.
TEST(LiuTalwarProbes, FlatErrorsRaiseObjectiveUnlessLogarithmHasGamma) {
  const auto lowered = [](bool gamma_in_log) {
    return probe("flat-escapes",
                 {{"gamma", 1e-5}, {"gamma_in_log", gamma_in_log}, {"escapes", 200}})
        .at("lowered");
  };
  EXPECT_LT(lowered(false), 100);
  EXPECT_EQ(lowered(true), 200);
}

// Theorem 2.2's norm: in one dimension it grows as log Σ and not as its root.
TEST(LiuTalwarProbes, TreeNoiseNormNeedsRootOfLogarithmAtSmallDimension) {
  const auto ratio = [](int dimension) {
    return probe("tree-noise",
                 {{"leaves", 4096}, {"trees", 20}, {"dimension", dimension}, {"covariance", false}})
               .at("mean_largest")
               .get<double>() /
           std::sqrt(12.0);
  };
  EXPECT_GT(ratio(1), 2);
  EXPECT_LT(ratio(16), 2);
}

// Lemma 3.9: within Γ steps one of any two points leaves; within half of them the pairs that only
// their distance drives apart stay.
TEST(LiuTalwarProbes, OneOfTwoStuckPointsLeavesWithinGammaAndNotWithinHalf) {
  const auto free = [](double share) {
    return probe("stuck-pairs", {{"gamma", 0.04}, {"share", share}, {"pairs", 100}}).at("free");
  };
  EXPECT_EQ(free(1.0), 100);
  EXPECT_LE(free(0.5), 50);
}

// Claim 3.7 holds with t for its Γ.
TEST(LiuTalwarProbes, DistanceClaimNeedsStepsForItsGamma) {
  const json r = probe("quadratic-paths", {{"paths", 20000}});
  EXPECT_GT(r.at("above"), 0);
  EXPECT_EQ(r.at("above_by_steps"), 0);
}

TEST(LiuTalwarProbes, HessianEstimatesStayWithinLemmaOverAnEpoch) {
  const json r = probe("hessian-errors", {{"alpha", 0.1}, {"epsilon", 100}, {"epochs", 5}});
  EXPECT_EQ(r.at("within"), 5);
  EXPECT_GT(r.at("median"), 0.05);
}

TEST(LiuTalwarProbes, TreeNoiseHasCovarianceOfCommonNodes) {
  const json r = probe("tree-noise",
                       {{"leaves", 16}, {"trees", 1000}, {"dimension", 3}, {"covariance", true}});
  EXPECT_LE(r.at("worst_standard_errors"), 5);
}

TEST(LiuTalwarProbes, OracleErrorsHalveWithFourTimesTheBatch) {
  const auto quantiles = [](int batch, double distance) {
    return probe("oracle-errors", {{"batch", batch}, {"distance", distance}, {"draws", 400}})
        .at("quantiles")
        .get<std::vector<double>>();
  };
  const auto small = quantiles(1000, 0.01), large = quantiles(4000, 0.01),
             near = quantiles(1000, 0.001);
  for (std::size_t oracle = 0; oracle < 4; ++oracle)
    EXPECT_NEAR(small[oracle] / large[oracle], 2, 0.4) << oracle;
  EXPECT_NEAR(small[1] / near[1], 10, 1);
  EXPECT_NEAR(small[3] / near[3], 10, 1);
}

TEST(LiuTalwarProbes, RampTakesFourTimesTheStepsAtHalfTheSlope) {
  const auto steps = [](double gamma, double drop) {
    return probe("ramp-steps", {{"gamma", gamma}, {"drop", drop}}).at("steps").get<double>();
  };
  EXPECT_NEAR(steps(0.005, 1) / steps(0.01, 1), 4, 0.1);
  EXPECT_NEAR(steps(0.01, 2) / steps(0.01, 1), 2, 0.05);
}

// Tree and adaptive batches: each without the other keeps 3/7.
TEST(LiuTalwarProbes, OnlyTreeWithAdaptiveBatchesReachesTheRate) {
  const auto slope = [](const std::string& variant) {
    const auto alpha =
        probe(
            "solved-schedule",
            {{"variant", variant}, {"epsilon", 1e-4}, {"dimension", 16}, {"records", {1e12, 1e16}}})
            .at("alpha")
            .get<std::vector<double>>();
    return std::log(alpha[1] / alpha[0]) / std::log(1e4);
  };
  EXPECT_LT(slope("V4"), -0.455);
  for (const char* other : {"V1", "V1′", "V2", "V2′", "V3", "V4′"}) EXPECT_GT(slope(other), -0.44);
}

// The grid's supremum is at least the gap anywhere, and falls as 1/√n.
TEST(LiuTalwarProbes, UniformGapFallsAsInverseRootOfRecords) {
  const auto gap = [](int records) {
    return probe("uniform-gap", {{"records", records}, {"dimension", 10}}).at("gap").get<double>();
  };
  EXPECT_NEAR(gap(400) / gap(40000), 10, 4);
}

// Equation (9): the first α-SOSP comes before the plan's steps and records are spent.
TEST(LiuTalwarProbes, PrivateRunSolvesWithinPlannedPath) {
  const json r = probe(
      "path-length",
      {{"problem", "cosine-saddle"}, {"records", 100000000}, {"dimension", 4}, {"epsilon", 0.01}});
  EXPECT_TRUE(r.at("solved").get<bool>());
  EXPECT_GT(r.at("path"), 0);
  EXPECT_LE(r.at("path"), r.at("bound"));
  EXPECT_LE(r.at("steps"), r.at("planned_steps"));
  EXPECT_LT(r.at("records_used"), 100000000);
}

// Errata L6, L8 and L15 and the two sentences of Section 1.2.
TEST(LiuTalwarClaims, HaveTheVerdictsOfTheErrata) {
  for (const char* claim : {"1", "1-privacy", "1-privacy-lemma-3-13", "7-logarithm", "claim-3-7"}) {
    const Finding f = finding_of(std::string("liu-talwar-2025/") + claim, Scale::quick);
    EXPECT_EQ(f.verdict, Verdict::fails) << claim << ": " << f.measured;
  }
  for (const char* claim : {"1-2-fixed-batches", "1-2-applied", "14"}) {
    const Finding f = finding_of(std::string("liu-talwar-2025/") + claim, Scale::quick);
    EXPECT_EQ(f.verdict, Verdict::holds) << claim << ": " << f.measured;
  }
}

}  // namespace
}  // namespace dpsosp::liu_talwar_2025_test
