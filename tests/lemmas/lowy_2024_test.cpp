// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/claims/claims.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "findings.hpp"
#include "script_privacy.hpp"

namespace dpsosp::lowy_2024_lemma_test {
namespace {

using nlohmann::json;

// A sum of n rows of norm 1, projected to k: its length changes by a relative 1/√k.
TEST(LowyProbes, ProjectionDeviationFallsAsInverseRootOfDimension) {
  const auto median_at = [](int k) {
    std::vector<double> v =
        compute_probe("lowy-2024/projection-deviation",
                      {{"dimension", 100}, {"rank", 20}, {"projected", k}, {"maps", 7}})
            .at("scaled");
    std::ranges::nth_element(v, v.begin() + 3);
    return v[3];
  };
  const double few = median_at(4), many = median_at(64);
  EXPECT_GT(few, 0.2);
  EXPECT_LT(few, 1.2);
  EXPECT_NEAR(std::log(few / many), 0, 0.5);
}

// Where every batch is all of the data the script is a Gaussian mechanism, whose ε is known.
TEST(LowyProbes, ScriptIntervalHoldsExactGaussian) {
  constexpr double deviation = 0.05, delta = 1e-3;
  const auto [lower, upper] = lowy_2024_exhibit::script_epsilon(
      {.records = 20, .rate = 1, .deviation = deviation, .steps = 9}, delta);
  const double exact = gaussian_epsilon(delta, 3 / (20 * deviation));
  EXPECT_LE(lower, exact);
  EXPECT_GE(lower, 0.97 * exact);
  EXPECT_GE(upper, exact);
  EXPECT_LE(upper, 1.03 * exact);
}

// At a stated ε of 0.1 the lower bound shows nothing. On the experiment's own loss, where records
// differ by 2 and not by 2L = 10, the upper bound keeps every stated ε.
TEST(LowyProbes, ScriptExceedsStatedEpsilonAtOneAndEight) {
  const auto interval = [](double epsilon, double difference) {
    const json r = compute_probe("lowy-2024/script-privacy",
                                 {{"epsilon", epsilon}, {"clip", 5}, {"difference", difference}});
    return std::pair<double, double>(r.at("lower"), r.at("upper"));
  };
  EXPECT_GT(interval(1, 10).first, 1.12);
  EXPECT_LT(interval(1, 10).first, 1.19);
  EXPECT_GT(interval(8, 10).first, 9.1);
  EXPECT_LT(interval(8, 10).first, 9.21);
  for (const double epsilon : {0.1, 1.0}) {
    const auto [lower, upper] = interval(epsilon, 2);
    EXPECT_GT(lower, 0);
    EXPECT_LE(lower, upper);
    EXPECT_LE(upper, epsilon);
  }
}

// Statistics lead from n = 1e4 on: the mechanism is within a tenth of exact minimisation there, and
// a level that falls as n^-1, as in a smooth well of a fixed law, is not the claim's.
TEST(LowyClaims, WorstLawAttainsStatisticalExponent) {
  const Finding worst = finding_of("lowy-2024/c12", Scale::quick);
  EXPECT_EQ(worst.verdict, Verdict::holds) << worst.measured;
  EXPECT_NEAR(*worst.value, -0.5, 0.02);
  const auto verdict = [](double exponent, double over_minimiser) {
    return finding_of("lowy-2024/c12", Scale::quick,
                      [&](const json& job) {
                        const double level =
                            std::pow(job.at("parameters").at("records").get<double>(), exponent);
                        return json{{"mechanism", level},
                                    {"minimiser", level / over_minimiser},
                                    {"bound", 1}};
                      })
        .verdict;
  };
  EXPECT_EQ(verdict(-0.5, 1), Verdict::holds);
  EXPECT_EQ(verdict(-1, 1), Verdict::inconclusive);
  EXPECT_EQ(verdict(-0.5, 200), Verdict::inconclusive);
}

TEST(LowyClaims, RefutesScriptByLowerBoundsAlone) {
  const auto verdict = [](double lower, double upper) {
    return finding_of(
               "lowy-2024/c17-privacy", Scale::quick,
               [&](const json& job) {
                 const double stated = job.at("parameters").at("epsilon");
                 return json{{"lower", lower * stated}, {"upper", upper * stated}, {"batch", 1}};
               })
        .verdict;
  };
  EXPECT_EQ(verdict(1.1, 2), Verdict::fails);
  EXPECT_EQ(verdict(0.9, 100), Verdict::inconclusive);
  EXPECT_EQ(verdict(0.5, 1), Verdict::holds);
}

TEST(LowyClaims, FormulasDecideClaimsThatNeedNoRun) {
  EXPECT_EQ(finding_by_formulas("lowy-2024/introduction-glm").verdict, Verdict::fails);
  EXPECT_NEAR(*finding_by_formulas("lowy-2024/introduction-glm").value, -3.0 / 7, 1e-3);
  EXPECT_EQ(finding_by_formulas("lowy-2024/non-smooth-quasar").verdict, Verdict::holds);
  EXPECT_EQ(finding_by_formulas("lowy-2024/c15").verdict, Verdict::holds);
  EXPECT_NEAR(*finding_by_formulas("lowy-2024/c15").value, -3.0 / 7, 1e-3);
  EXPECT_EQ(finding_by_formulas("lowy-2024/c3-tail-printed").verdict, Verdict::fails);
  EXPECT_EQ(finding_by_formulas("lowy-2024/section-6-example").verdict, Verdict::fails);
  EXPECT_EQ(finding_by_formulas("lowy-2024/corollary-e.4").verdict, Verdict::fails);
  const Finding noise = finding_by_formulas("lowy-2024/c9-privacy");
  EXPECT_EQ(noise.verdict, Verdict::fails);
  EXPECT_NEAR(*noise.value, 2, 1e-12);
  const Finding batch = finding_by_formulas("lowy-2024/c6-privacy");
  EXPECT_EQ(batch.verdict, Verdict::fails);
  EXPECT_NEAR(*batch.value, 116.74, 0.01);  // P − e^ε Q over δ, by a computation apart from this
}

}  // namespace
}  // namespace dpsosp::lowy_2024_lemma_test
