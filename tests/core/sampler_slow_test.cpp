// SPDX-License-Identifier: Apache-2.0
// Every sampler at 10⁹ draws: cells of equal probability, tails, and pairs of streams. The
// generator is fixed, so each test is deterministic; bounds are set for a false-alarm rate of 1e-6.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/stream.hpp"
#include "stream_words.hpp"

namespace dpsosp::sampler_slow_test {
namespace {

constexpr std::int64_t draws = 1'000'000'000;
constexpr double false_alarm = 1e-6;

/// Pearson's χ² of counts against probabilities, over its quantile at the false-alarm rate.
double excess(const std::vector<std::int64_t>& counts, const std::vector<double>& probabilities) {
  double total = 0, chi_square = 0;
  for (const std::int64_t c : counts) total += static_cast<double>(c);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = total * probabilities[k];
    chi_square += std::pow(static_cast<double>(counts[k]) - expected, 2) / expected;
  }
  const boost::math::chi_squared law(static_cast<double>(counts.size() - 1));
  return chi_square / quantile(complement(law, false_alarm));
}

std::vector<double> equal(std::size_t cells) {
  return std::vector<double>(cells, 1.0 / static_cast<double>(cells));
}

/// The excess of `draw` in 1024 cells between the quantiles of its law.
double misfit(const std::function<double()>& draw, const std::function<double(double)>& quantile) {
  constexpr std::size_t cells = 1024;
  std::vector<double> edges;
  for (std::size_t k = 1; k < cells; ++k) edges.push_back(quantile(static_cast<double>(k) / cells));
  std::vector<std::int64_t> counts(cells, 0);
  for (std::int64_t k = 0; k < draws; ++k)
    ++counts[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), draw()) -
                                      edges.begin())];
  return excess(counts, equal(cells));
}

Stream noise(std::uint64_t seed) { return Stream({.seed = seed, .purpose = Purpose::noise}); }

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

TEST(Samplers, NormalFitsItsQuantilesAndDetectsScaleError) {
  Stream stream = noise(1);
  EXPECT_LT(misfit([&] { return stream.normal(); }, normal_quantile), 1);
  EXPECT_GT(misfit([&] { return 0.998 * stream.normal(); }, normal_quantile), 1);
}

TEST(Samplers, LaplaceFitsItsQuantiles) {
  Stream stream = noise(2);
  EXPECT_LT(misfit([&] { return stream.laplace(); },
                   [](double p) { return p < 0.5 ? std::log(2 * p) : -std::log(2 * (1 - p)); }),
            1);
}

TEST(Samplers, GumbelFitsItsQuantiles) {
  Stream stream = noise(3);
  EXPECT_LT(
      misfit([&] { return stream.gumbel(); }, [](double p) { return -std::log(-std::log(p)); }), 1);
}

TEST(Samplers, UniformFitsItsQuantiles) {
  Stream stream = noise(4);
  EXPECT_LT(misfit([&] { return stream.uniform(); }, [](double p) { return p; }), 1);
}

TEST(Samplers, DiscreteDrawsFitTheirProbabilities) {
  Stream stream({.seed = 5, .purpose = Purpose::sampling});
  std::vector<std::int64_t> sides(7, 0), coins(2, 0), successes(21, 0);
  const boost::math::binomial law(20, 0.3);
  std::vector<double> probabilities;
  for (int k = 0; k <= 20; ++k) probabilities.push_back(pdf(law, k));
  for (std::int64_t k = 0; k < draws; ++k) {
    ++sides[static_cast<std::size_t>(stream.below(7))];
    ++coins[stream.bernoulli(1e-3) ? 1 : 0];
    ++successes[static_cast<std::size_t>(stream.binomial(20, 0.3))];
  }
  EXPECT_LT(excess(sides, equal(7)), 1);
  EXPECT_LT(excess(coins, {1 - 1e-3, 1e-3}), 1);
  // cells of fewer than about ten draws are no normal counts
  std::int64_t rare = 0;
  double rare_probability = 0;
  while (probabilities.back() * static_cast<double>(draws) < 10) {
    rare += successes.back();
    rare_probability += probabilities.back();
    successes.pop_back();
    probabilities.pop_back();
  }
  successes.back() += rare;
  probabilities.back() += rare_probability;
  EXPECT_LT(excess(successes, probabilities), 1);
}

TEST(Samplers, NormalTailsHaveExpectedMassToFiveSigma) {
  Stream stream = noise(6);
  const std::vector<double> levels{3.0, 4.0, 4.5, 5.0};
  std::vector<std::int64_t> above(levels.size(), 0), below(levels.size(), 0);
  for (std::int64_t k = 0; k < draws; ++k) {
    const double z = stream.normal();
    if (std::abs(z) < levels.front()) continue;
    for (std::size_t j = 0; j < levels.size(); ++j) {
      above[j] += z > levels[j];
      below[j] += z < -levels[j];
    }
  }
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double mean = static_cast<double>(draws) * 0.5 * std::erfc(levels[j] / std::sqrt(2.0));
    for (const std::int64_t count : {above[j], below[j]})
      EXPECT_LT(std::abs(static_cast<double>(count) - mean), 6 * std::sqrt(mean)) << levels[j];
  }
}

// No draw reaches the ends, so the least and greatest words go through the transform directly.
// Beyond 5 deviations alone, 57 of 10⁸ are expected.
TEST(Samplers, DiscreteGaussianTailsHaveExpectedMassToFiveSigma) {
  constexpr std::int64_t count = 100'000'000, sigma = 1 << 20;
  testing::StreamWords words(6);
  std::array<std::int64_t, 3> beyond{};
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t size = std::abs(discrete_gaussian(words, sigma));
    for (std::int64_t tail = 3; tail <= 5; ++tail)
      beyond[static_cast<std::size_t>(tail - 3)] += size > tail * sigma ? 1 : 0;
  }
  for (int tail = 3; tail <= 5; ++tail) {
    const double p = std::erfc(tail / std::sqrt(2.0));
    const boost::math::binomial law(static_cast<double>(count), p);
    const auto seen = static_cast<double>(beyond[static_cast<std::size_t>(tail - 3)]);
    EXPECT_GT(seen, quantile(law, false_alarm)) << tail;
    EXPECT_LT(seen, quantile(complement(law, false_alarm))) << tail;
  }
}

TEST(Samplers, NormalQuantileIsAccurateAtExtremeUniforms) {
  for (int exponent = 10; exponent <= 53; ++exponent) {
    const double p = std::ldexp(1.0, -exponent);
    EXPECT_NEAR(normal_lower_quantile(p) / normal_quantile(p), 1, 1e-14) << exponent;
  }
  EXPECT_GT(normal_lower_quantile(std::ldexp(1.0, -53)), -8.3);
}

TEST(Samplers, StreamsOfDifferentKeysAreIndependent) {
  constexpr std::size_t side = 32;  // cells of a stream
  const StreamKey key{.seed = 7, .run = 3, .purpose = Purpose::noise};
  StreamKey purpose = key, run = key, seed = key;
  purpose.purpose = Purpose::sampling;
  run.run = 4;
  seed.seed = 8;
  const auto dependence = [&](const StreamKey& other) {
    Stream a(key), b(other);
    std::vector<std::int64_t> counts(side * side, 0);
    const auto cell = [&](Stream& s) { return static_cast<std::size_t>(s.uniform() * side); };
    for (std::int64_t k = 0; k < draws; ++k) {
      const std::size_t row = cell(a);
      ++counts[row * side + cell(b)];
    }
    return excess(counts, equal(side * side));
  };
  for (const StreamKey& other : {purpose, run, seed, key.child(0), key.child(1)})
    EXPECT_LT(dependence(other), 1);
  EXPECT_GT(dependence(key), 1);  // the test can fail
}

}  // namespace
}  // namespace dpsosp::sampler_slow_test
