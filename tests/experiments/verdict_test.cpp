// SPDX-License-Identifier: Apache-2.0
// The rule of docs/claims.md.
#include "dpsosp/experiments/verdict.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::verdict_test {
namespace {

using enum Verdict;

const std::vector<double> rivals{-1, -2.0 / 3, -4.0 / 7, -0.5, -3.0 / 7, -1.0 / 3};

SlopeFit fitted(double slope, double half_width) {
  const Interval about{slope - half_width, slope + half_width};
  return {.slope = slope,
          .interval = about,
          .first = about,
          .last = about,
          .mean_slope = slope,
          .mean_interval = about};
}

SlopeFit drifting(Interval first, Interval last) {
  SlopeFit fit = fitted(0.25 * (first.low + first.high + last.low + last.high), 0.01);
  fit.first = first;
  fit.last = last;
  fit.drift = 0.5 * (last.low + last.high - first.low - first.high);
  fit.drift_interval = {fit.drift - 0.01, fit.drift + 0.01};
  fit.drifting = true;
  fit.off_curve = 1.2;
  return fit;
}

TEST(Zone, EndsHalfWayToNextRivalAndAtTolerance) {
  const Interval half = zone_of(-0.5, rivals);
  EXPECT_DOUBLE_EQ(half.low, (-4.0 / 7 - 0.5) / 2);
  EXPECT_DOUBLE_EQ(half.high, (-3.0 / 7 - 0.5) / 2);
  const Interval alone = zone_of(-0.5, {});
  EXPECT_DOUBLE_EQ(alone.low, -0.55);
  EXPECT_DOUBLE_EQ(alone.high, -0.45);
  const Interval third = zone_of(-1.0 / 3, rivals);
  EXPECT_DOUBLE_EQ(third.low, (-3.0 / 7 - 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(third.high, -1.0 / 3 + 0.05) << "no rival above";
}

TEST(Zone, TakesTheClaimItselfForNoRival) {
  EXPECT_DOUBLE_EQ(zone_of(-0.6667, std::vector{-2.0 / 3}).high, -0.6167);
  const std::vector<double> inside{-1.2, -1.0, -1.3333};
  EXPECT_DOUBLE_EQ(zone_of({-1.3333, -1}, inside).low, -1.3833);
  EXPECT_DOUBLE_EQ(zone_of({-1.3333, -1}, inside).high, -0.95);
}

TEST(Zone, RejectsExponentsThatAreNoRange) {
  EXPECT_EQ(refusal_of([] { zone_of(std::numeric_limits<double>::infinity(), {}); }),
            "judge: claimed = inf, expected a finite exponent");
  EXPECT_EQ(
      refusal_of([] {
        zone_of({-1, -2}, {});
      }),
      "judge: upper end of the claimed range = -2, expected finite and at least the lower end, -1");
}

TEST(Judge, ComparesIntervalAndNotSlopeWithZone) {
  const auto verdict = [](double slope, double half_width) {
    return judge(fitted(slope, half_width), -0.5, rivals).verdict;
  };
  EXPECT_EQ(verdict(-0.5, 0.03), as_claimed);
  EXPECT_EQ(verdict(-0.52, 0.01), as_claimed);
  EXPECT_EQ(verdict(-0.5, 0.04), more_seeds);
  EXPECT_EQ(verdict(-0.53, 0.01), as_claimed_or_better);
  EXPECT_EQ(verdict(-0.47, 0.01), more_seeds);
  EXPECT_EQ(verdict(-0.56, 0.02), better_than_claimed);
  EXPECT_EQ(verdict(-0.44, 0.02), worse_than_claimed);
  EXPECT_EQ(verdict(-0.44, 0.03), more_seeds);
  EXPECT_EQ(verdict(-0.5, std::nan("")), more_seeds);
}

TEST(Judge, NamesExponentsThatAreUndecided) {
  const auto reason = [](double slope, double half_width) {
    return judge(fitted(slope, half_width), -0.5, rivals).reason;
  };
  EXPECT_EQ(reason(-0.53, 0.02), "undecided between the claimed exponent and -0.571");
  EXPECT_EQ(reason(-0.46, 0.02), "undecided between the claimed exponent and -0.429");
  EXPECT_EQ(reason(-0.5, 0.1), "undecided between the claimed exponent and -0.571 and -0.429");
  EXPECT_EQ(judge(fitted(-0.45, 0.01), -0.5).reason,
            "the interval passes the zone [-0.550, -0.450] by 0.010");
  const std::vector<double> far{1.0 / 3, 1.0 / 2};
  EXPECT_EQ(judge(fitted(0.36, 0.025), 1.0 / 3, far).reason,
            "the interval passes the zone [+0.283, +0.383] by 0.002")
      << "1/2 is excluded";
  EXPECT_EQ(reason(-0.5, 0.03), "");
}

TEST(Judge, RatioDoesNotRiseForBetterSlopes) {
  const auto bound = [](const SlopeFit& fit) { return judge(fit, -0.5, rivals).bound; };
  EXPECT_EQ(bound(fitted(-0.5, 0.03)), BoundVerdict::flat);
  EXPECT_EQ(bound(fitted(-0.53, 0.02)), BoundVerdict::flat) << "though the exponent is undecided";
  EXPECT_EQ(bound(fitted(-0.8, 0.02)), BoundVerdict::flat);
  EXPECT_EQ(bound(fitted(-0.47, 0.015)), BoundVerdict::flat) << "it rises by less than n^0.05";
  EXPECT_EQ(bound(fitted(-0.46, 0.02)), BoundVerdict::undecided);
  EXPECT_EQ(bound(fitted(-0.42, 0.02)), BoundVerdict::rises);
  EXPECT_EQ(bound(fitted(-0.4, 0.02)), BoundVerdict::rises) << "as a logarithm would";
  EXPECT_EQ(bound(fitted(-0.3, 0.02)), BoundVerdict::exceeds);
  EXPECT_EQ(bound(drifting({-0.9, -0.8}, {-0.7, -0.6})), BoundVerdict::flat);
  EXPECT_EQ(bound(drifting({-0.9, -0.8}, {-0.5, -0.4})), BoundVerdict::undecided);
}

// A level of ε^-0.6 exceeds any multiple of ε^-0.5 as ε goes to 0.
TEST(Judge, SmallerExponentIsWorseTowardsSmallX) {
  const auto judged = [](const SlopeFit& fit) { return judge(fit, -0.5, rivals, HardEnd::small); };
  EXPECT_EQ(judged(fitted(-0.6, 0.01)).verdict, worse_than_claimed);
  EXPECT_EQ(judged(fitted(-0.6, 0.01)).bound, BoundVerdict::rises);
  EXPECT_EQ(judged(fitted(-0.7, 0.01)).bound, BoundVerdict::exceeds);
  EXPECT_EQ(judged(fitted(-0.4, 0.01)).verdict, better_than_claimed);
  EXPECT_EQ(judged(fitted(-0.4, 0.01)).bound, BoundVerdict::flat);
  EXPECT_EQ(judged(fitted(-0.5, 0.01)).verdict, as_claimed);
  EXPECT_EQ(judged(fitted(-0.46, 0.02)).bound, BoundVerdict::flat);
  EXPECT_EQ(judged(fitted(-0.54, 0.02)).bound, BoundVerdict::undecided);
  EXPECT_EQ(judged(drifting({-0.9, -0.8}, {-0.7, -0.6})).verdict, worse_than_claimed);
}

TEST(Judge, DriftingSlopeIsJudgedByBothEnds) {
  const auto verdict = [](Interval first, Interval last) {
    return judge(drifting(first, last), -0.5, rivals).verdict;
  };
  EXPECT_EQ(verdict({-0.9, -0.8}, {-0.7, -0.6}), better_than_claimed);
  EXPECT_EQ(verdict({-0.1, 0.0}, {-0.3, -0.2}), worse_than_claimed);
  EXPECT_EQ(verdict({-0.9, -0.8}, {-0.51, -0.49}), no_power_law);
  EXPECT_EQ(verdict({-0.8, -0.7}, {-0.3, -0.2}), no_power_law);
  EXPECT_EQ(
      judge(drifting({-0.9, -0.8}, {-0.51, -0.49}), -0.5, rivals).reason,
      "the slope goes from [-0.900, -0.800] at the first cell to [-0.510, -0.490] at the last");
}

TEST(Judge, CurveWithinFewPercentOfLineIsAsClaimed) {
  SlopeFit fit = drifting({-0.6, -0.55}, {-0.45, -0.4});
  fit.off_curve = 1.03;
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, as_claimed);
  EXPECT_EQ(judge(fit, -0.5, rivals).reason,
            "a drift of +0.15 leaves the line by a factor of at most 1.03");
  fit.off_curve = 1.2;
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, no_power_law);
  SlopeFit steep = drifting({-0.9, -0.8}, {-0.6, -0.5});
  steep.off_curve = 1.03;
  EXPECT_EQ(judge(steep, -0.5, rivals).verdict, no_power_law) << "better is about what lies beyond";
}

TEST(Judge, StepIsNoPowerLaw) {
  SlopeFit fit = fitted(-0.5, 0.01);
  fit.bent = true;
  fit.off_line = 2;
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, no_power_law);
  EXPECT_EQ(judge(fit, -0.5, rivals).reason, "a cell lies a factor of 2 off the line");
  fit = fitted(-0.9, 0.01);
  fit.bent = true;
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, no_power_law);
  EXPECT_EQ(judge(fit, -0.5, rivals).bound, BoundVerdict::flat);
}

TEST(Judge, PossibleDriftLeavesDeviatingSlopeOpen) {
  for (const double slope : {-0.8, -0.2}) {
    SlopeFit fit = fitted(slope, 0.01);
    EXPECT_NE(judge(fit, -0.5, rivals).verdict, more_seeds);
    const Verdict settled = judge(fit, -0.5, rivals).verdict;
    fit.drift = 0.15;
    fit.drift_interval = {-0.02, 0.32};
    EXPECT_EQ(judge(fit, -0.5, rivals).verdict, settled) << "both ends are on its side";
    fit.first = {-1.1, 0.1};
    EXPECT_EQ(judge(fit, -0.5, rivals).verdict, more_seeds);
    EXPECT_EQ(judge(fit, -0.5, rivals).reason,
              "a drift of +0.15 [-0.02, +0.32] is within chance, not excluded");
    EXPECT_EQ(judge(fit, -0.5, rivals).bound,
              slope < -0.5 ? BoundVerdict::flat : BoundVerdict::exceeds)
        << "of the levels in the range";
  }
  SlopeFit fit = fitted(-0.5, 0.01);
  fit.drift = 0.15;
  fit.drift_interval = {-0.02, 0.32};
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, as_claimed);
  EXPECT_NE(judge(fit, -0.5, rivals).reason, "");
}

TEST(Judge, MeansThatDeviateLeaveClaimOpen) {
  SlopeFit fit = fitted(-0.5, 0.01);
  fit.mean_slope = -0.4;
  fit.mean_interval = {-0.45, -0.35};
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, more_seeds);
  EXPECT_EQ(judge(fit, -0.5, rivals).reason,
            "runs as claimed, their means -0.400 [-0.450, -0.350]");
  EXPECT_EQ(judge(fit, -0.5, rivals).bound, BoundVerdict::undecided);
  fit.mean_interval = {-0.48, -0.35};
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, as_claimed);
}

TEST(Judge, AcceptsExponentWithinClaimedRange) {
  const ClaimedExponent either(-1.3333, -1);
  for (const double slope : {-1.37, -1.2, -0.97})
    EXPECT_EQ(judge(fitted(slope, 0.01), either).verdict, as_claimed) << slope;
  EXPECT_EQ(judge(fitted(-1.41, 0.01), either).verdict, better_than_claimed);
  EXPECT_EQ(judge(fitted(-0.93, 0.01), either).verdict, worse_than_claimed);
  EXPECT_EQ(to_text(either), "-1.333 to -1.000");
  EXPECT_EQ(to_text(SlopeFit{.slope = -0.5, .interval = {-0.625, 0.25}}),
            "-0.500 [-0.625, +0.250]");
}

// More seeds: the same estimate with intervals that shrink. A settled verdict stays, and "as
// claimed or better" becomes one of the two.
TEST(Judge, NarrowerIntervalNeverUnsettlesVerdict) {
  Stream stream({.seed = 5});
  for (int k = 0; k < 2000; ++k) {
    const double slope = -0.5 + 0.3 * (stream.uniform() - 0.5);
    Verdict before = more_seeds;
    for (double half_width = 0.2; half_width > 1e-12; half_width /= 2) {
      const Verdict v = judge(fitted(slope, half_width), -0.5, rivals).verdict;
      if (before == as_claimed_or_better) {
        EXPECT_TRUE(v == as_claimed_or_better || v == as_claimed || v == better_than_claimed)
            << slope << ' ' << half_width;
      } else if (before != more_seeds) {
        EXPECT_EQ(v, before) << slope << ' ' << half_width;
      }
      before = v;
    }
    EXPECT_TRUE(before == as_claimed || before == better_than_claimed ||
                before == worse_than_claimed)
        << slope;
  }
}

TEST(Judge, BetterSideAloneIsAsClaimedOrBetter) {
  EXPECT_EQ(judge(fitted(-0.53, 0.02), -0.5, rivals).verdict, as_claimed_or_better);
  EXPECT_EQ(judge(fitted(-0.47, 0.02), -0.5, rivals).verdict, more_seeds);
  EXPECT_EQ(judge(fitted(-0.47, 0.02), -0.5, rivals, HardEnd::small).verdict, as_claimed_or_better);
  SlopeFit fit = fitted(-0.53, 0.02);
  fit.mean_interval = {-0.5, -0.4};
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, more_seeds) << "of the means it may be worse";
  fit = fitted(-0.53, 0.02);
  fit.drift = 0.15;
  fit.drift_interval = {-0.02, 0.32};
  fit.last = {-0.5, -0.4};
  EXPECT_EQ(judge(fit, -0.5, rivals).verdict, more_seeds) << "at the last cell it may be worse";
}

// The bound is n^(-1/2) with logarithms, which make its slope larger in a finite range.
TEST(Judge, LevelsThatFollowSolvedBoundAreAsClaimedWithTerms) {
  const auto judged = [](const SlopeFit& fit, const SlopeFit& over_plan) {
    return judge(fit, -0.5, rivals, HardEnd::large, &over_plan);
  };
  const SlopeFit flat = fitted(0.005, 0.01), rising = fitted(0.1, 0.01),
                 falling = fitted(-0.1, 0.01), wide = fitted(0, 0.1);
  for (const SlopeFit& fit :
       {fitted(-0.4, 0.01), fitted(-0.46, 0.02), drifting({-0.6, -0.5}, {-0.4, -0.3})}) {
    EXPECT_EQ(judged(fit, flat).verdict, as_claimed_with_terms);
    EXPECT_EQ(judged(fit, flat).reason, "+0.005 [-0.005, +0.015] over the solved α");
    EXPECT_EQ(judged(fit, flat).bound, BoundVerdict::flat);
  }
  EXPECT_EQ(judged(fitted(-0.5, 0.01), rising).verdict, as_claimed)
      << "the plain exponent suffices";
  EXPECT_EQ(judged(fitted(-0.8, 0.01), flat).verdict, better_than_claimed);
  EXPECT_EQ(judged(fitted(-0.53, 0.02), flat).verdict, as_claimed_with_terms);
  EXPECT_EQ(judged(fitted(-0.53, 0.02), falling).verdict, as_claimed_or_better);
  EXPECT_EQ(judged(fitted(-0.4, 0.01), rising).verdict, worse_than_claimed);
  EXPECT_EQ(judged(fitted(-0.4, 0.01), rising).bound, BoundVerdict::rises);
  EXPECT_EQ(judged(fitted(-0.4, 0.01), falling).verdict, as_claimed_with_terms);
  EXPECT_EQ(judged(fitted(-0.46, 0.02), falling).verdict, more_seeds) << "may be worse, too";
  EXPECT_EQ(judged(fitted(-0.46, 0.02), falling).bound, BoundVerdict::flat);
  EXPECT_EQ(judged(fitted(-0.4, 0.01), wide).verdict, more_seeds);
  EXPECT_EQ(judged(fitted(-0.46, 0.02), rising).verdict, more_seeds);
}

TEST(Headline, ConfirmsTheClaimedExponentAlone) {
  const auto headline = [](const SlopeFit& fit) { return headline_of(judge(fit, -0.5, rivals)); };
  EXPECT_EQ(headline(fitted(-0.5, 0.01)), Headline::confirmed);
  EXPECT_EQ(headline(fitted(-0.53, 0.02)), Headline::bound_met) << "as claimed or better";
  EXPECT_EQ(headline(fitted(-0.8, 0.02)), Headline::bound_met) << "better";
  EXPECT_EQ(headline(fitted(-0.47, 0.015)), Headline::bound_met) << "more seeds needed";
  EXPECT_EQ(headline(fitted(-0.46, 0.03)), Headline::open);
  const SlopeFit flat = fitted(0.005, 0.01);
  EXPECT_EQ(headline_of(judge(fitted(-0.4, 0.01), -0.5, rivals, HardEnd::large, &flat)),
            Headline::confirmed)
      << "with all terms";
}

TEST(Headline, RefutesOnlyBeyondALogarithmAndAboveTheBound) {
  EXPECT_EQ(headline_of(judge(fitted(-0.4, 0.01), -0.5, rivals)), Headline::open)
      << "worse, by what a logarithm would make it";
  EXPECT_EQ(headline_of(judge(fitted(-0.37, 0.01), -0.5, rivals)), Headline::refuted);
  EXPECT_EQ(headline_of(judge(fitted(-0.37, 0.03), -0.5, rivals)), Headline::open);
  SlopeVerdict met = judge(fitted(-0.3, 0.01), -0.5, rivals);
  met.bound = BoundVerdict::below_promise;
  EXPECT_EQ(headline_of(met), Headline::bound_met);
  EXPECT_EQ(headline_of({}), Headline::open);
}

TEST(Judge, PrintsVerdictsAsWords) {
  EXPECT_EQ(to_string(as_claimed), "as claimed");
  EXPECT_EQ(to_string(not_reachable), "not reachable here");
  EXPECT_EQ(to_string(BoundVerdict::flat), "ratio to the claim does not rise");
}

}  // namespace
}  // namespace dpsosp::verdict_test
