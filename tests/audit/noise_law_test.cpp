// SPDX-License-Identifier: Apache-2.0
// The tests of laws: how often they raise a false alarm, and how many numbers show what is wrong.
#include "noise/noise_law.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::audit::noise_law_test {
namespace {

Stream stream_of(std::uint64_t seed) { return Stream({.seed = seed, .purpose = Purpose::test}); }

/// How many of `trials` have a p below `level`, by the words that the finding begins with.
std::map<std::string, int> alarms(int trials, double level,
                                  const std::function<std::vector<Finding>(Stream&)>& experiment) {
  std::map<std::string, int> count;
  for (int k = 0; k < trials; ++k) {
    Stream stream = stream_of(static_cast<std::uint64_t>(k));
    for (const Finding& finding : experiment(stream)) {
      std::string kind = finding.what.substr(0, finding.what.find_first_of("0123456789"));
      if (const auto at = finding.what.find("beyond"); at != std::string::npos)
        kind = finding.what.substr(at, 9);
      if (finding.what.find("cell") != std::string::npos) kind = "cell";
      count[kind] += finding.p < level ? 1 : 0;
    }
  }
  return count;
}

TEST(NormalLaw, RaisesFalseAlarmsAtMostAsStated) {
  constexpr int trials = 2000;
  for (const int numbers : {3, 40, 1000}) {
    const auto of_each = alarms(trials, 0.05, [&](Stream& stream) {
      NormalLaw law;
      for (int k = 0; k < numbers; ++k) law.add(stream.normal());
      std::vector<Finding> findings;
      law.test("x", findings);
      return findings;
    });
    for (const auto& [kind, count] : of_each)
      EXPECT_LE(count, (kind == "cell" ? 2 : 1) * (0.05 * trials + 4 * std::sqrt(0.05 * trials)))
          << kind << numbers;
  }
}

/// What rounding leaves of squares that cancel, what overflows and what is no number.
TEST(SumsOfSquares, AreFoundWhereNoNormalNumbersHaveThem) {
  for (const double sum : {0.0, -5e-16, HUGE_VAL, std::nan("")})
    for (const std::int64_t degrees : {20, 5000})
      EXPECT_EQ(two_sided_chi_squared(sum, degrees), 0) << sum;
}

TEST(NormalLaw, RaisesFalseAlarmsAtMostAsStatedFarOut) {
  constexpr int trials = 10'000;
  const auto of_each = alarms(trials, 1e-3, [&](Stream& stream) {
    NormalLaw law;
    for (int k = 0; k < 300; ++k) law.add(stream.normal());
    std::vector<Finding> findings;
    law.test("x", findings);
    return findings;
  });
  for (const auto& [kind, count] : of_each) EXPECT_LE(count, 10 + 4 * 4) << kind;
}

/// Pairs of neighbours share numbers; the bound holds for them.
TEST(Products, RaiseFalseAlarmsAtMostAsStated) {
  constexpr int trials = 5'000;
  for (const int length : {2, 3, 30, 300}) {
    int count = 0;
    for (int k = 0; k < trials; ++k) {
      Stream stream = stream_of(static_cast<std::uint64_t>(k));
      Products products;
      double last = stream.normal();
      for (int i = 1; i < length; ++i) {
        const double next = stream.normal();
        products.add(last * next, last * last, 1);
        last = next;
      }
      std::vector<Finding> findings;
      products.test("x", findings);
      count += findings.front().p < 0.01 ? 1 : 0;
    }
    EXPECT_LE(count, 0.01 * trials + 4 * std::sqrt(0.01 * trials)) << length;
  }
}

TEST(Products, DetectCorrelationOfThreePercent) {
  Stream stream = stream_of(1);
  Products products;
  for (int k = 0; k < 100'000; ++k) {
    const double z = stream.normal();
    products.add(z * (0.03 * z + std::sqrt(1 - 0.03 * 0.03) * stream.normal()), z * z, 1);
  }
  std::vector<Finding> findings;
  products.test("x", findings);
  EXPECT_LT(findings.front().p, 1e-9);
}

TEST(Coincidences, AreRareAmongNormalNumbersAndFrequentAtAtoms) {
  for (const double rate : {0.0, 1e-3}) {
    Stream stream = stream_of(3);
    Coincidences coincidences;
    for (int k = 0; k < 100'000; ++k)
      coincidences.add(stream.uniform() < rate ? 1.25 : stream.normal());
    std::vector<Finding> findings;
    coincidences.test("x", findings);
    double least = 1;
    for (const Finding& finding : findings) least = std::min(least, finding.p);
    if (rate == 0)
      EXPECT_GT(least, 1e-4);
    else
      EXPECT_LT(least, 1e-12);
  }
}

TEST(NormalScore, HasTheProbabilityOfItsArgument) {
  for (const double u : {1e-9, 0.01, 0.4, 0.5, 0.7, 0.999})
    EXPECT_NEAR(0.5 * std::erfc(-normal_score(u) / std::numbers::sqrt2), u, 1e-12 * u + 1e-15);
  for (const double x : {-20.0, -1.0, 0.0, 0.3, 5.0, 20.0}) {
    const double tail = 0.5 * std::exp(-std::abs(x)), z = normal_score_of_laplace(x);
    EXPECT_NEAR(0.5 * std::erfc(std::abs(z) / std::numbers::sqrt2), tail, 1e-12 * tail);
    EXPECT_EQ(std::signbit(z), std::signbit(x) && x != 0) << x;
  }
}

class WrongLaws : public testing::TestWithParam<WrongLaw> {};

/// Detected in at least 95 of 100 experiments at the level of an audit with 1000 tests.
TEST_P(WrongLaws, AreDetected) {
  const auto& [name, draw, numbers] = GetParam();
  int detected = 0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    Stream stream = stream_of(k);
    NormalLaw law;
    Coincidences coincidences;
    for (std::int64_t i = 0; i < numbers; ++i) {
      const double z = draw(stream);
      law.add(z);
      coincidences.add(z);
    }
    std::vector<Finding> findings;
    law.test("x", findings);
    coincidences.test("x", findings);
    const auto worst = std::ranges::min_element(findings, {}, &Finding::p);
    detected += worst->p < 1e-9 ? 1 : 0;
  }
  EXPECT_GE(detected, 95) << name;
}

INSTANTIATE_TEST_SUITE_P(
    OfUnitVariance, WrongLaws, testing::ValuesIn(wrong_laws()), [](const auto& p) {
      std::string name(p.param.name);
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

// As many as a quick audit sees; single algorithms have too few to tell.
TEST(PooledTails, DetectClampsAtFourAndFiveDeviationsAndPassSoundNoise) {
  const double none = std::numeric_limits<double>::infinity();
  std::map<double, NoiseNumbers> numbers{{4.0, {}}, {5.0, {}}, {none, {}}};
  Stream stream = stream_of(7);
  Vector block(1 << 16);
  for (int k = 0; k < 900; ++k) {
    stream.fill_normal(1.0, block);
    for (auto& [clamp, all] : numbers) {
      all.count += block.size();
      for (const double z : block) {
        const double size = std::min(std::abs(z), clamp);
        for (std::size_t limit = 0; limit < all.beyond.size(); ++limit)
          all.beyond[limit] += size > NormalLaw::limits[limit] ? 1 : 0;
      }
    }
  }
  const auto failed = [&](double clamp) {
    return std::ranges::count(pooled_tails(numbers.at(clamp)), false, &CheckLine::passed);
  };
  EXPECT_EQ(failed(none), 0);
  EXPECT_EQ(failed(5.0), 1);
  EXPECT_EQ(failed(4.0), 2);
}

TEST(ExtremeNumbers, CoincideWhereNoiseIsClamped) {
  std::vector<double> sound, clamped;
  Stream stream({.seed = 5});
  for (int k = 0; k < 400; ++k) {
    const double z = -normal_lower_quantile(two_sided(NormalLaw::extreme) / 2 * stream.uniform());
    sound.push_back(z);
    clamped.push_back(std::min(z, 5.0 * (1 + 1e-16 * stream.normal())));
  }
  EXPECT_GT(coincidence_of_extremes(sound).p, 1e-3);
  EXPECT_LT(coincidence_of_extremes(clamped).p, 1e-100);
  EXPECT_EQ(coincidence_of_extremes({}).p, 1.0);
}

}  // namespace
}  // namespace dpsosp::audit::noise_law_test
