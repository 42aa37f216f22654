// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::fit_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// values(x, stream) at x = 100, 200, 400, … for seeds 1, 2, ….
std::vector<FitCell> cells_of(int cells, int seeds, std::uint64_t key, auto&& value) {
  Stream stream(StreamKey{.seed = key});
  std::vector<FitCell> all;
  for (int c = 0; c < cells; ++c) {
    FitCell& cell = all.emplace_back(FitCell{.x = 100 * std::pow(2.0, c)});
    for (int s = 1; s <= seeds; ++s) {
      cell.seeds.push_back(static_cast<std::uint64_t>(s));
      cell.values.push_back(value(cell.x, stream));
    }
  }
  return all;
}

double exact_law(double x, Stream&) { return 3 * std::pow(x, -0.4); }
double noisy_law(double x, Stream& stream) {
  return 3 * std::pow(x, -0.4) * std::exp(0.2 * stream.normal());
}

double least_squares_slope(const std::vector<FitCell>& cells) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const FitCell& cell : cells)
    for (const double v : cell.values) {
      const double u = std::log(cell.x);
      n += 1;
      x += u;
      y += std::log(v);
      xx += u * u;
      xy += u * std::log(v);
    }
  return (n * xy - x * y) / (n * xx - x * x);
}

void expect_near(const Interval& a, const Interval& b, double tolerance) {
  EXPECT_NEAR(a.low, b.low, tolerance);
  EXPECT_NEAR(a.high, b.high, tolerance);
}

void expect_same_bits(const SlopeFit& a, const SlopeFit& b) {
  EXPECT_EQ(a.slope, b.slope);
  EXPECT_EQ(a.intercept, b.intercept);
  EXPECT_EQ(a.drift, b.drift);
  expect_near(a.interval, b.interval, 0);
  expect_near(a.drift_interval, b.drift_interval, 0);
}

TEST(FitSlope, RecoversExactPowerLaw) {
  const SlopeFit fit = fit_slope(cells_of(5, 4, 1, exact_law));
  EXPECT_NEAR(fit.slope, -0.4, 1e-13);
  EXPECT_LE(fit.interval.half_width(), 1e-12);
  EXPECT_NEAR(fit.intercept, std::log(3.0), 1e-12);
  EXPECT_NEAR(fit.at(1000), 3 * std::pow(1000, -0.4), 1e-12);
  EXPECT_NEAR(fit.drift, 0, 1e-12);
  EXPECT_LE(fit.drift_interval.half_width(), 1e-11);
  EXPECT_FALSE(fit.drifting);
  EXPECT_FALSE(fit.bent);
  EXPECT_NEAR(fit.off_line, 1, 1e-11);
  ASSERT_EQ(fit.local.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(fit.local[k].slope, -0.4, 1e-12);
    EXPECT_NEAR(fit.local[k].x, 100 * std::pow(2.0, static_cast<double>(k) + 0.5), 1e-9);
  }
}

TEST(FitSlope, KeepsExactExponentDespiteOutlier) {
  auto cells = cells_of(5, 10, 1, exact_law);
  cells[4].values[3] *= 1000;
  EXPECT_NEAR(fit_slope(cells).slope, -0.4, 1e-12);
  EXPECT_GT(least_squares_slope(cells), -0.3);
}

TEST(FitSlope, ScalingValuesChangesOnlyIntercept) {
  auto cells = cells_of(5, 8, 2, noisy_law);
  const SlopeFit before = fit_slope(cells);
  for (FitCell& cell : cells)
    for (double& v : cell.values) v *= 1.7e-9;
  const SlopeFit after = fit_slope(cells);
  EXPECT_NEAR(after.slope, before.slope, 1e-12);
  EXPECT_NEAR(after.drift, before.drift, 1e-12);
  EXPECT_NEAR(after.intercept, before.intercept + std::log(1.7e-9), 1e-11);
  expect_near(after.interval, before.interval, 1e-10);
  expect_near(after.drift_interval, before.drift_interval, 1e-10);
}

TEST(FitSlope, ScalingAxisChangesOnlyIntercept) {
  auto cells = cells_of(5, 8, 3, noisy_law);
  const SlopeFit before = fit_slope(cells);
  for (FitCell& cell : cells) cell.x *= 31e5;
  const SlopeFit after = fit_slope(cells);
  EXPECT_NEAR(after.slope, before.slope, 1e-12);
  EXPECT_NEAR(after.drift, before.drift, 1e-12);
  EXPECT_NEAR(after.intercept, before.intercept - before.slope * std::log(31e5), 1e-11);
  expect_near(after.interval, before.interval, 1e-10);
  expect_near(after.drift_interval, before.drift_interval, 1e-10);
}

TEST(FitSlope, SquaringValuesDoublesSlopeDriftAndIntervals) {
  auto cells = cells_of(5, 8, 3, noisy_law);
  const SlopeFit before = fit_slope(cells);
  for (FitCell& cell : cells)
    for (double& v : cell.values) v = v * v;
  const SlopeFit after = fit_slope(cells);
  EXPECT_NEAR(after.slope, 2 * before.slope, 1e-12);
  EXPECT_NEAR(after.drift, 2 * before.drift, 1e-12);
  EXPECT_NEAR(after.interval.half_width(), 2 * before.interval.half_width(), 1e-10);
}

TEST(FitSlope, IgnoresOrderOfCellsAndSeeds) {
  auto cells = cells_of(5, 8, 4, noisy_law);
  const SlopeFit before = fit_slope(cells);
  std::swap(cells[0], cells[3]);
  std::reverse(cells.begin(), cells.end());
  for (FitCell& cell : cells) {
    const auto shift = static_cast<std::ptrdiff_t>(std::fmod(cell.x, 7));
    std::rotate(cell.values.begin(), cell.values.begin() + shift, cell.values.end());
    std::rotate(cell.seeds.begin(), cell.seeds.begin() + shift, cell.seeds.end());
  }
  const SlopeFit after = fit_slope(cells);
  expect_same_bits(after, before);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(after.local[k].slope, before.local[k].slope);
}

TEST(FitSlope, RepeatsForSameSeedAndChangesIntervalForAnother) {
  const auto cells = cells_of(5, 8, 5, noisy_law);
  const SlopeFit fit = fit_slope(cells, {.seed = 7});
  expect_same_bits(fit_slope(cells, {.seed = 7}), fit);
  const SlopeFit other = fit_slope(cells, {.seed = 8});
  EXPECT_EQ(other.slope, fit.slope);
  EXPECT_NE(other.interval.low, fit.interval.low);
}

// Where the Huber loss is least, residuals clamped at 1.345 deviations balance.
TEST(FitSlope, LineBalancesClampedResiduals) {
  for (std::uint64_t key = 0; key < 20; ++key) {
    auto cells = cells_of(5, 9, key, [](double x, Stream& stream) {
      return std::pow(x, -0.4) * std::exp(0.2 * stream.normal() / stream.uniform());
    });
    const SlopeFit fit = fit_slope(cells);
    std::vector<double> sizes;
    const auto each = [&](auto&& take) {
      for (const FitCell& cell : cells)
        for (const double v : cell.values) take(std::log(cell.x), std::log(v / fit.at(cell.x)));
    };
    each([&](double, double r) { sizes.push_back(std::abs(r)); });
    const double threshold = 1.345 * 1.482602218505602 * median(sizes);
    double sum = 0, tilt = 0;
    each([&](double u, double r) {
      sum += std::clamp(r, -threshold, threshold);
      tilt += u * std::clamp(r, -threshold, threshold);
    });
    EXPECT_NEAR(sum, 0, 1e-7 * threshold) << key;
    EXPECT_NEAR(tilt, 0, 1e-7 * threshold) << key;
  }
}

TEST(FitSlope, ResistsOutlierBetterThanLeastSquares) {
  auto cells = cells_of(5, 10, 6, noisy_law);
  const double robust = fit_slope(cells).slope;
  const double squares = least_squares_slope(cells);
  EXPECT_NEAR(robust, squares, 0.02);
  cells[4].values[3] *= 1000;
  const double robust_shift = std::abs(fit_slope(cells).slope - robust);
  const double squares_shift = std::abs(least_squares_slope(cells) - squares);
  RecordProperty("robust", std::to_string(robust_shift));
  RecordProperty("squares", std::to_string(squares_shift));
  EXPECT_NEAR(squares_shift, std::log(1000.0) / 10 / (5 * std::log(2.0)), 1e-12);  // 0.199
  EXPECT_LE(robust_shift, 0.1 * squares_shift);
}

// All values of one cell come twice, under seeds of their own.
TEST(FitSlope, WeighsCellsEquallyForAnyRunCount) {
  auto cells = cells_of(5, 8, 7, noisy_law);
  const SlopeFit before = fit_slope(cells);
  for (std::size_t s = 0; s < 8; ++s) {
    cells[4].seeds.push_back(100 + s);
    cells[4].values.push_back(double{cells[4].values[s]});
  }
  const SlopeFit after = fit_slope(cells);
  EXPECT_NEAR(after.slope, before.slope, 1e-11);
  EXPECT_NEAR(after.drift, before.drift, 1e-10);
}

TEST(FitSlope, DetectsDriftOfTwoPowerLaws) {
  const auto cells = cells_of(9, 8, 8, [](double x, Stream& stream) {
    return (30 / x + 0.01 * std::pow(x, -0.1)) * std::exp(0.1 * stream.normal());
  });
  const SlopeFit fit = fit_slope(cells);
  EXPECT_TRUE(fit.drifting);
  EXPECT_GT(fit.drift_interval.low, 0.1);
  EXPECT_LT(fit.local.front().slope, fit.local.back().slope);
}

// Both ends lie on a power law, and a parabola through a step in the middle has no square.
TEST(FitSlope, DetectsStepWithoutDrift) {
  const auto cells = cells_of(6, 8, 8, [](double x, Stream& stream) {
    return (x < 500 ? 1.0 : 0.1) * std::exp(0.05 * stream.normal());
  });
  const SlopeFit fit = fit_slope(cells);
  EXPECT_FALSE(fit.drifting);
  EXPECT_TRUE(fit.bent);
  EXPECT_GT(fit.off_line, 1.5);
  EXPECT_FALSE(fit_slope(cells, {.off_line_tolerance = 10}).bent);
}

TEST(FitSlope, OutlierDoesNotCountAsBend) {
  auto cells = cells_of(5, 10, 8, [](double x, Stream& stream) {
    return std::pow(x, -0.5) * std::exp(0.05 * stream.normal());
  });
  cells[2].values[3] *= 1000;
  const SlopeFit fit = fit_slope(cells);
  EXPECT_FALSE(fit.bent);
  EXPECT_LT(fit.off_line, 1.5);
}

// y = x^(a + b log x) in logarithms: the slope changes by 2b (log x_last − log x_first).
TEST(FitSlope, DriftOfParabolaEqualsItsSlopeChange) {
  const auto cells = cells_of(5, 4, 1, [](double x, Stream&) {
    return std::exp((-0.4 + 0.03 * std::log(x)) * std::log(x));
  });
  const SlopeFit fit = fit_slope(cells);
  EXPECT_NEAR(fit.drift, 2 * 0.03 * 4 * std::log(2.0), 1e-12);
  EXPECT_TRUE(fit.drifting);
  EXPECT_FALSE(fit_slope(cells, {.drift_tolerance = 0.2}).drifting);
}

TEST(FitSlope, CountsMissingRunsAndKeepsTheirSeedsElsewhere) {
  auto cells = cells_of(5, 6, 9, exact_law);
  for (const std::size_t c : {1U, 3U}) {
    cells[c].seeds.erase(cells[c].seeds.begin(), cells[c].seeds.begin() + 2);
    cells[c].values.erase(cells[c].values.begin(), cells[c].values.begin() + 2);
    cells[c].failed = 2;
  }
  const SlopeFit fit = fit_slope(cells);
  EXPECT_EQ(fit.cells, 5);
  EXPECT_EQ(fit.seeds, 4);
  EXPECT_EQ(fit.failed, 4);
  EXPECT_NEAR(fit.slope, -0.4, 1e-13);

  // Only seeds 5 and 6 are in every cell; many draws miss both.
  for (std::size_t c = 0; c < 5; ++c)
    for (std::size_t s = 0; s + 2 < cells[c].values.size(); ++s) cells[c].seeds[s] += 100 * c;
  EXPECT_NEAR(fit_slope(cells).interval.low, -0.4, 1e-12);
}

TEST(FitSlope, RejectsInvalidDataNamingTheCell) {
  const auto refusal = [](auto&& spoil) {
    auto cells = cells_of(3, 3, 1, exact_law);
    spoil(cells);
    return refusal_of([&] { fit_slope(cells); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_EQ(refusal([](auto& c) { c[1].values[2] = 0; }),
            "fit: cell x = 200: value of seed 3 = 0, expected finite and > 0, to have a logarithm");
  EXPECT_NE(refusal([](auto& c) { c[1].values[2] = inf; }), "");
  EXPECT_NE(refusal([](auto& c) { c[1].values[2] = std::nan(""); }), "");
  EXPECT_EQ(refusal([](auto& c) { c[0].x = -1; }), "fit: x = -1, expected finite and > 0");
  EXPECT_EQ(refusal([](auto& c) { c[2].x = 100; }),
            "fit: x = 100, expected different x in different cells");
  EXPECT_EQ(refusal([](auto& c) { c.pop_back(); }), "fit: cells = 2, expected at least 3");
  EXPECT_EQ(refusal([](auto& c) { c[2].seeds.pop_back(); }),
            "fit: cell x = 400: seeds = 2, expected one for each of the 3 values");
  EXPECT_EQ(refusal([](auto& c) {
              c[2].seeds.resize(1);
              c[2].values.resize(1);
            }),
            "fit: cell x = 400: values = 1, expected at least 2");
  EXPECT_EQ(refusal([](auto& c) {
              c[2].seeds = {1, 4, 1};
            }),
            "fit: cell x = 400: seed = 1, expected each seed once");
  EXPECT_EQ(refusal([](auto& c) {
              c[2].seeds = {1, 4, 5};
            }),
            "fit: seeds that all cells have = 1, expected at least 2");
  EXPECT_EQ(refusal([](auto& c) { c[2].failed = -1; }),
            "fit: cell x = 400: failed = -1, expected >= 0");
  const auto cells = cells_of(3, 3, 1, exact_law);
  EXPECT_EQ(refusal_of([&] { fit_slope(cells, {.resamples = 38}); }),
            "fit: resamples = 38, expected at least 39, to have a 2.5 % quantile");
  EXPECT_NE(refusal_of([&] { fit_slope(cells, {.drift_tolerance = -1}); }), "");
}

// Values of a cell with means that follow another power than the typical ones.
TEST(FitSlope, SlopeOfMeansCountsWildSeedsWithTheirSize) {
  auto cells = cells_of(5, 10, 8, exact_law);
  EXPECT_NEAR(fit_slope(cells).mean_slope, -0.4, 1e-12);
  for (FitCell& cell : cells) cell.values[3] = 1000 * std::pow(cell.x, -0.1);
  const SlopeFit fit = fit_slope(cells);
  EXPECT_NEAR(fit.slope, -0.4, 0.01);
  EXPECT_NEAR(fit.mean_slope, -0.1, 0.01);
  EXPECT_TRUE(fit.mean_interval.contains(-0.4)) << "a draw may miss the wild seed";
}

TEST(FitSlope, EndsHaveSlopesOfParabola) {
  const auto cells = cells_of(5, 4, 1, [](double x, Stream&) {
    return std::exp((-0.4 + 0.03 * std::log(x)) * std::log(x));
  });
  const SlopeFit fit = fit_slope(cells);
  for (const auto& [end, x] : {std::pair{fit.first, 100.0}, std::pair{fit.last, 1600.0}}) {
    EXPECT_NEAR(end.low, -0.4 + 2 * 0.03 * std::log(x), 1e-9);
    EXPECT_NEAR(end.high, end.low, 1e-9);
  }
}

/// Two samples whose log ratios have the given mean and deviation 1.
struct Pairs {
  std::vector<double> first{};
  std::vector<double> second{};
};
Pairs pairs_of(int count, double mean, std::uint64_t key) {
  Stream stream(StreamKey{.seed = key});
  Pairs pairs;
  for (int k = 0; k < count; ++k) {
    pairs.second.push_back(std::exp(3 * stream.normal()));
    pairs.first.push_back(pairs.second.back() * std::exp(mean + stream.normal()));
  }
  return pairs;
}

/// Share of the 2^n sign patterns after the first `at` with |sum| ≥ the observed one.
double enumerated_p(const std::vector<double>& d, std::size_t at, double sum, double observed) {
  if (at == d.size()) return std::abs(sum) >= observed * (1 - 1e-9) ? 1 : 0;
  return 0.5 * (enumerated_p(d, at + 1, sum + d[at], observed) +
                enumerated_p(d, at + 1, sum - d[at], observed));
}
double enumerated_p(const Pairs& pairs) {
  std::vector<double> d;
  double sum = 0;
  for (std::size_t k = 0; k < pairs.first.size(); ++k) {
    d.push_back(std::log(pairs.first[k] / pairs.second[k]));
    sum += d.back();
  }
  return enumerated_p(d, 0, 0, std::abs(sum));
}

TEST(Compare, PValueIsExactUpToSixteenPairsAndCloseBeyond) {
  for (const int count : {1, 2, 5, 11, 16}) {
    const Pairs pairs = pairs_of(count, 0.6, static_cast<std::uint64_t>(count));
    EXPECT_NEAR(compare("c", pairs.first, pairs.second).p, enumerated_p(pairs), 1e-12) << count;
  }
  const Pairs pairs = pairs_of(19, 0.3, 19);
  const double p = enumerated_p(pairs);
  EXPECT_GT(p, 0.001);
  EXPECT_NEAR(compare("c", pairs.first, pairs.second).p, p, 5 * std::sqrt(p * (1 - p) / 20000));
}

TEST(Compare, PairsOfOneSignReachSmallestPValue) {
  const std::vector<double> one(12, 1.0);
  const std::vector<double> two(12, 2.0);
  const PairedComparison c = compare("halves", one, two);
  EXPECT_EQ(c.name, "halves");
  EXPECT_EQ(c.pairs, 12);
  EXPECT_DOUBLE_EQ(c.ratio, 0.5);
  EXPECT_NEAR(c.interval.low, 0.5, 1e-12);
  EXPECT_NEAR(c.interval.high, 0.5, 1e-12);
  EXPECT_EQ(c.p, std::exp2(-11));
  EXPECT_EQ(compare("equal", one, one).p, 1);
}

TEST(Compare, SwapInvertsRatioAndKeepsPValue) {
  for (const int count : {6, 9, 24}) {
    const Pairs pairs = pairs_of(count, 0.5, 3);
    const PairedComparison there = compare("c", pairs.first, pairs.second);
    const PairedComparison back = compare("c", pairs.second, pairs.first);
    EXPECT_NEAR(there.ratio * back.ratio, 1, 1e-12);
    EXPECT_NEAR(there.interval.low * back.interval.high, 1, 1e-12);
    EXPECT_NEAR(there.interval.high * back.interval.low, 1, 1e-12);
    EXPECT_EQ(there.p, back.p);
    EXPECT_TRUE(there.interval.contains(there.ratio));
  }
}

TEST(Compare, SkipsPairsWithoutLogarithm) {
  const std::vector<double> first{2, 0, 6, inf, 8, 3};
  const std::vector<double> second{1, 1, 2, 1, std::nan(""), -1};
  const PairedComparison c = compare("c", first, second);
  EXPECT_EQ(c.pairs, 2);
  EXPECT_DOUBLE_EQ(c.ratio, std::sqrt(6.0));
  EXPECT_EQ(c.p, 0.5);
}

double mean_over(const std::vector<double>& values, std::span<const std::size_t> seeds) {
  double sum = 0;
  for (const std::size_t k : seeds) sum += values[k];
  return sum / static_cast<double>(seeds.size());
}

// 20 values at the quantiles of a normal law: t_{0.975}(19) s/√20 on either side.
TEST(BootstrapInterval, OfMeanIsAsWideAsStudents) {
  std::vector<double> values;
  double squares = 0;
  for (int k = 0; k < 20; ++k)
    values.push_back((k < 10 ? 1 : -1) * normal_lower_quantile((k % 10 + 0.5) / 20));
  for (const double v : values) squares += v * v;
  const double half = 2.0930 * std::sqrt(squares / 19 / 20);
  const Interval i = bootstrap_interval(
      20, 0, [&](std::span<const std::size_t> seeds) { return mean_over(values, seeds); });
  EXPECT_NEAR(i.low, -half, 0.06 * half);
  EXPECT_NEAR(i.high, half, 0.06 * half);
}

TEST(BootstrapInterval, HasNoEndsForOneSeedAndNoWidthForEqualSeeds) {
  const auto of = [](std::size_t seeds) {
    return bootstrap_interval(seeds, 3, [](std::span<const std::size_t>) { return 3.0; });
  };
  EXPECT_EQ(of(1).low, -inf);
  EXPECT_EQ(of(1).high, inf);
  EXPECT_EQ(of(5).low, 3);
  EXPECT_EQ(of(5).high, 3);
  EXPECT_NE(refusal_of([] {
              bootstrap_interval(3, 0, [](std::span<const std::size_t>) { return 0.0; },
                                 {.resamples = 10});
            }),
            "");
}

TEST(Compare, HandlesOnePairAndNoPairs) {
  const PairedComparison one = compare("c", std::vector{2.0}, std::vector{1.0});
  EXPECT_DOUBLE_EQ(one.ratio, 2);
  EXPECT_EQ(one.interval.low, 0);
  EXPECT_EQ(one.interval.high, inf);
  EXPECT_EQ(one.p, 1);
  const PairedComparison none = compare("c", {}, {});
  EXPECT_TRUE(std::isnan(none.ratio));
  EXPECT_EQ(none.p, 1);
  EXPECT_EQ(refusal_of([] { compare("a over b", std::vector{1.0}, {}); }),
            "a over b: values of the second = 0, expected 1, as many as of the first");
}

TEST(Adjust, MatchesHolmCorrectionByHand) {
  std::vector<PairedComparison> c(5);
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005, 0.9};
  for (std::size_t k = 0; k < p.size(); ++k) c[k].p = p[k];
  adjust(c);
  // Sorted: 5 · 0.005, 4 · 0.01, 3 · 0.03, then 2 · 0.04 = 0.08 raised to 0.09, 0.9.
  const std::vector<double> expected{0.04, 0.09, 0.09, 0.025, 0.9};
  for (std::size_t k = 0; k < p.size(); ++k) EXPECT_DOUBLE_EQ(c[k].adjusted_p, expected[k]);
  for (PairedComparison& one : c) one.p = 0.6;
  adjust(c);
  for (const PairedComparison& one : c) EXPECT_EQ(one.adjusted_p, 1);
}

TEST(Median, ReturnsMiddleValueOrMeanOfTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({1, inf, 2}), 2);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median({1, std::nan(""), 2})));
}

}  // namespace
}  // namespace dpsosp::fit_test
