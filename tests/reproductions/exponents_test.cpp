// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/reproductions/reproductions.hpp"

// An exponent stands in one place: with the claim that states it, or in a sweep that no claim is
// about.
namespace dpsosp::exponents_test {
namespace {

using Visit = std::function<void(const Claim&, const ClaimedSlope&, const FitRequest&)>;

/// Every fit of the arm and axis of a claim's slope, at full scale, where every part runs.
void each_fit_of_claims(const Visit& visit) {
  const Study study{reproductions().catalogue, Scale::full};
  for (const Claim& c : reproductions().claims.claims)
    for (const ClaimedSlope& s : c.slopes) {
      const Sweep sweep = study.sweep(s.sweep);
      for (const Part& part : sweep.parts)
        for (const FitRequest& fit : part.fits)
          if (part.name == s.part && fit.axis == s.axis && (fit.arm.empty() || fit.arm == s.arm) &&
              std::ranges::any_of(part.arms, [&](auto a) { return sweep.arms[a].name == s.arm; }))
            visit(c, s, fit);
    }
}

std::string name_of(const Claim& c, const ClaimedSlope& s) {
  return c.id + ": " + s.sweep + ", " + s.part + ", " + s.arm + ", " + s.axis + " " + s.metric;
}

TEST(Exponents, OfEverySlopeClaimFindTheirFit) {
  std::set<std::string> found;
  each_fit_of_claims([&](const Claim& c, const ClaimedSlope& s, const FitRequest& fit) {
    if (s.metric.empty() || s.metric == fit.metric) found.insert(name_of(c, s));
  });
  for (const Claim& c : reproductions().claims.claims)
    for (const ClaimedSlope& s : c.slopes)
      EXPECT_TRUE(found.contains(name_of(c, s))) << name_of(c, s);
}

TEST(Exponents, OfFitsThatClaimsCoverAreTheClaims) {
  each_fit_of_claims([](const Claim& c, const ClaimedSlope& s, const FitRequest& fit) {
    EXPECT_TRUE(!fit.claimed || !fit.claim.empty())
        << name_of(c, s) << ": a fit of " << fit.metric << " states the exponent again";
    if (fit.claim == c.id && fit.claimed) {
      EXPECT_EQ(fit.claimed, s.exponent) << name_of(c, s);
    }
  });
}

// An exhibit shows the verdicts of judged fits. Where a claim is about the same slope, the fit is
// judged by the claim's metric, exponent and terms, so that both come to one verdict.
TEST(Exponents, JudgedFitsAgreeWithEveryClaimAboutTheirSlope) {
  std::size_t judged = 0;
  each_fit_of_claims([&](const Claim& c, const ClaimedSlope& s, const FitRequest& fit) {
    EXPECT_FALSE(s.metric.empty()) << name_of(c, s) << " names no metric";
    if (!is_rate(fit)) return;
    ++judged;
    EXPECT_EQ(fit.metric, s.metric) << name_of(c, s) << ", judged for " << fit.claim;
    EXPECT_EQ(fit.claimed, s.exponent) << name_of(c, s);
    EXPECT_EQ(fit.solved, s.solved) << name_of(c, s);
  });
  EXPECT_GE(judged, 80U);
}

}  // namespace
}  // namespace dpsosp::exponents_test
