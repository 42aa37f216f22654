// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/store.hpp"
#include "findings.hpp"

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

// ‖g‖²/2 − ⟨∇F, g⟩ = (‖e‖² − ‖∇F‖²)/2 bounds the change of an M-smooth F over a step 1/M.
TEST(GaneshProbes, StepMeetsRepairedDescentBound) {
  for (const char* problem : {"cosine-saddle", "double-well"})
    EXPECT_LE(compute_probe("ganesh-2023/descent", {{"problem", problem}, {"pairs", 400}})
                  .at("repaired")
                  .get<double>(),
              3.0 / 32 - 15.0 / 32 + 1e-12);
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

TEST(GaneshProbes, NetExcessFallsWithEpsilonAndStaysBelowBound) {
  json p{{"dimension", 1}, {"records", 1000}, {"epsilon", 1}};
  const json one = compute_probe("ganesh-2023/net", p);
  p["epsilon"] = 4;
  const json four = compute_probe("ganesh-2023/net", p);
  EXPECT_LE(one.at("excess").get<double>(), one.at("bound").get<double>());
  EXPECT_LE(four.at("excess").get<double>(), one.at("excess").get<double>() / 3);
  EXPECT_GT(four.at("points").get<int>(), 3 * one.at("points").get<int>());
}

TEST(GaneshProbes, ExactRoundsContractDivergenceAsClaimed) {
  const json r =
      compute_probe("ganesh-2023/divergence", {{"cells", 120}, {"rounds", 10}, {"exponent", 2.0}});
  EXPECT_LE(r.at("largest_ratio").get<double>(), r.at("claimed_ratio").get<double>());
  EXPECT_GT(r.at("last").get<double>(), 0);  // a divergence of laws, which sum to 1
  EXPECT_LT(r.at("last").get<double>(), r.at("first").get<double>());
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
  for (const char* repaired : {"ganesh-2023/3-repaired",
                               "ganesh-2023/6-privacy-zero-out",
                               "ganesh-2023/7-privacy-zero-out",
                               "ganesh-2023/9-privacy-zero-out",
                               "ganesh-2023/11",
                               "ganesh-2023/11-repaired"})
    EXPECT_EQ(finding_of(repaired, Scale::smoke).verdict, Verdict::holds)
        << finding_of(repaired, Scale::smoke).measured;
  for (const char* printed : {"ganesh-2023/5",
                              "ganesh-2023/6-privacy",
                              "ganesh-2023/7-fresh",
                              "ganesh-2023/7-privacy",
                              "ganesh-2023/9-fresh",
                              "ganesh-2023/9-privacy",
                              "ganesh-2023/15-rounds"})
    EXPECT_EQ(finding_of(printed, Scale::smoke).verdict, Verdict::fails)
        << printed << ": " << finding_of(printed, Scale::smoke).measured;
}

TEST(GaneshPredicates, ProbeFindingsStateMeasurements) {
  for (const char* claim : {"ganesh-2023/2",
                            "ganesh-2023/3",
                            "ganesh-2023/6",
                            "ganesh-2023/8",
                            "ganesh-2023/12",
                            "ganesh-2023/13-privacy",
                            "ganesh-2023/14",
                            "ganesh-2023/15",
                            "ganesh-2023/16-net",
                            "ganesh-2023/17",
                            "ganesh-2023/table-2-tran-cutkosky-2022-gradients"}) {
    const Finding f = finding_of(claim, Scale::smoke);
    EXPECT_TRUE(f.verdict == Verdict::holds || f.verdict == Verdict::fails) << claim;
    EXPECT_FALSE(f.measured.empty()) << claim;
    RecordProperty(claim, std::string(to_string(f.verdict)) + ": " + f.measured);
  }
}

}  // namespace
}  // namespace dpsosp::ganesh_2023_test
