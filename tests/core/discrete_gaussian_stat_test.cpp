// SPDX-License-Identifier: Apache-2.0
// Words are fixed, so each test is deterministic; bounds are set for a false-alarm rate of 1e-6.
#include "dpsosp/core/discrete_gaussian.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include "dpsosp/core/errors.hpp"
#include "stream_words.hpp"

namespace dpsosp::discrete_gaussian_stat_test {
namespace {

using testing::StreamWords;

constexpr double false_alarm = 1e-6;

double chi_square_limit(std::size_t cells) {
  return quantile(
      complement(boost::math::chi_squared(static_cast<double>(cells - 1)), false_alarm));
}

/// Pearson's χ² of integers against weights on [−reach, reach], the ends taking what is beyond.
double misfit(const std::vector<std::int64_t>& sample, std::int64_t reach,
              const std::function<double(double)>& weight) {
  const auto cells = static_cast<std::size_t>(2 * reach + 1);
  std::vector<double> counts(cells, 0.0), weights(cells, 0.0);
  for (const std::int64_t z : sample)
    ++counts[static_cast<std::size_t>(std::clamp(z, -reach, reach) + reach)];
  double total = 0;
  for (std::int64_t z = -40 * reach; z <= 40 * reach; ++z) {
    const double w = weight(static_cast<double>(z));
    weights[static_cast<std::size_t>(std::clamp(z, -reach, reach) + reach)] += w;
    total += w;
  }
  double chi_square = 0;
  for (std::size_t k = 0; k < cells; ++k) {
    const double expected = static_cast<double>(sample.size()) * weights[k] / total;
    chi_square += std::pow(counts[k] - expected, 2) / expected;
  }
  return chi_square / chi_square_limit(cells);
}

std::vector<std::int64_t> draw(std::int64_t sigma, std::size_t count, std::uint64_t seed) {
  StreamWords words(seed);
  std::vector<std::int64_t> sample(count);
  for (std::int64_t& z : sample) z = discrete_gaussian(words, sigma);
  return sample;
}

TEST(DiscreteGaussian, MatchesProbabilitiesOfItsOwnSigmaOnly) {
  for (const std::int64_t sigma : {1, 2, 3, 7, 20}) {
    const auto s = static_cast<double>(sigma);
    const auto sample = draw(sigma, 1'000'000, static_cast<std::uint64_t>(sigma));
    const auto law = [](double deviation) {
      return [deviation](double z) { return std::exp(-z * z / (2 * deviation * deviation)); };
    };
    EXPECT_LT(misfit(sample, 3 * sigma, law(s)), 1) << sigma;
    EXPECT_GT(misfit(sample, 3 * sigma, law(1.02 * s)), 1) << sigma;
    // A rounded normal has other probabilities, which shows where σ is small.
    const auto rounded = [&](double z) {
      const boost::math::normal normal(0.0, s);
      return cdf(normal, z + 0.5) - cdf(normal, z - 0.5);
    };
    if (sigma == 1) {
      EXPECT_GT(misfit(sample, 3, rounded), 1);
    }
  }
}

/// On a wide law signs and the lowest bits of sizes are fair coins, together: a clean sum that is
/// one step away would otherwise show through.
TEST(DiscreteGaussian, SignsAndLowBitsAreFairCoinsTogether) {
  for (const int bits : {8, 12, 15, 16, 17, 20, 30, 40, 45}) {
    std::vector<std::int64_t> sample = draw(std::int64_t{1} << bits, 50'000, 77);
    std::erase(sample, 0);
    std::vector<double> counts(16, 0.0);
    for (const std::int64_t z : sample)
      ++counts[static_cast<std::size_t>((z < 0 ? 8 : 0) + (std::abs(z) & 7))];
    double chi_square = 0;
    for (const double count : counts) {
      const double expected = static_cast<double>(sample.size()) / 16;
      chi_square += std::pow(count - expected, 2) / expected;
    }
    EXPECT_LT(chi_square, chi_square_limit(16)) << bits;
  }
}

TEST(DiscreteGaussian, ApproachesNormalForLargeSigma) {
  const boost::math::normal normal;
  for (const std::int64_t sigma :
       {std::int64_t{1} << 20, (std::int64_t{1} << 41) + 1, largest_discrete_sigma}) {
    constexpr std::size_t cells = 256, count = 300'000;
    std::vector<double> counts(cells, 0.0);
    for (const std::int64_t z : draw(sigma, count, 99))
      ++counts[static_cast<std::size_t>(
          cdf(normal, (static_cast<double>(z) + 0.5) / static_cast<double>(sigma)) * cells)];
    double chi_square = 0;
    constexpr double expected = static_cast<double>(count) / cells;
    for (const double c : counts) chi_square += std::pow(c - expected, 2) / expected;
    EXPECT_LT(chi_square, chi_square_limit(cells)) << sigma;
  }
}

TEST(DiscreteGaussian, HasUniformLowBitsForLargeSigma) {
  std::vector<double> counts(64, 0.0);
  const auto sample = draw((std::int64_t{1} << 40) + 12345, 300'000, 5);
  for (const std::int64_t z : sample) ++counts[static_cast<std::size_t>(z & 63)];
  double chi_square = 0;
  const double expected = static_cast<double>(sample.size()) / 64;
  for (const double c : counts) chi_square += std::pow(c - expected, 2) / expected;
  EXPECT_LT(chi_square, chi_square_limit(64));
}

TEST(DiscreteGaussian, RejectsSigmaOutsideExactRange) {
  StreamWords words(1);
  EXPECT_THROW(discrete_gaussian(words, 0), InputError);
  EXPECT_THROW(discrete_gaussian(words, -1), InputError);
  EXPECT_THROW(discrete_gaussian(words, largest_discrete_sigma + 1), InputError);
}

TEST(SystemEntropy, YieldsDistinctUnbiasedWords) {
  SystemEntropy one, another;
  std::int64_t ones = 0;
  constexpr int count = 100'000;
  for (int k = 0; k < count; ++k) {
    const std::uint64_t word = one.bits();
    ASSERT_NE(word, another.bits());
    ones += std::popcount(word);
  }
  // 12 deviations: these words are other ones in every run.
  EXPECT_LT(std::abs(static_cast<double>(ones) - 32.0 * count), 12 * std::sqrt(16.0 * count));
}

/// Independent words collide with probability 2^-25.
TEST(SystemEntropy, ShowsNoCollisionOverAMillionSources) {
  constexpr std::size_t sources = std::size_t{1} << 20U;
  std::vector<std::uint64_t> words(sources);
  for (std::uint64_t& word : words) word = SystemEntropy().bits();
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(SystemEntropy, ShowsNoRepeatOverAMillionWords) {
  std::vector<std::uint64_t> words(std::size_t{1} << 20U);
  SystemEntropy source;
  for (std::uint64_t& word : words) word = source.bits();
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

}  // namespace
}  // namespace dpsosp::discrete_gaussian_stat_test
