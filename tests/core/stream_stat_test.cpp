// SPDX-License-Identifier: Apache-2.0
// Goodness of fit and independence of the random streams. The generator is fixed, so each test is
// deterministic; bounds are set for a false-alarm rate of 1e-6 had the seed been drawn at random.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::stream_stat_test {
namespace {

constexpr double kolmogorov_1e6 = 2.7;  // sqrt(n) D exceeds this with probability 9e-7
constexpr double normal_1e6 = 4.9;      // |Z| exceeds this with probability 1e-6

double kolmogorov(std::vector<double> sample, const std::function<double(double)>& distribution) {
  std::ranges::sort(sample);
  const auto n = static_cast<double>(sample.size());
  double d = 0;
  for (std::size_t k = 0; k < sample.size(); ++k) {
    const double F = distribution(sample[k]);
    d = std::max({d, F - static_cast<double>(k) / n, static_cast<double>(k + 1) / n - F});
  }
  return std::sqrt(n) * d;
}

double Phi(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(StreamStatistics, NormalsPassKolmogorovSmirnov) {
  Stream stream({.seed = 11, .purpose = Purpose::noise});
  std::vector<double> sample(1'000'000);
  for (double& z : sample) z = stream.normal();
  EXPECT_LT(kolmogorov(sample, Phi), kolmogorov_1e6);
}

TEST(StreamStatistics, VarianceTestDetectsTenthPercentScaleError) {
  Stream stream({.seed = 12, .purpose = Purpose::noise});
  constexpr int n = 100'000'000;
  const auto z_score = [&](double scale, int count) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      const double z = scale * stream.normal();
      sum += z * z;
    }
    return (sum - count) / std::sqrt(2.0 * count);
  };
  EXPECT_LT(std::abs(z_score(1.0, n / 4)), normal_1e6);
  EXPECT_GT(std::abs(z_score(0.999, n / 4)), normal_1e6);  // the test can fail
}

TEST(StreamStatistics, NormalTailsHaveExpectedMass) {
  Stream stream({.seed = 13, .purpose = Purpose::noise});
  constexpr int n = 10'000'000;
  const std::array<double, 4> levels{2.0, 3.0, 4.0, 4.8};
  std::array<int, 4> beyond{};
  for (int k = 0; k < n; ++k) {
    const double z = std::abs(stream.normal());
    for (std::size_t j = 0; j < levels.size(); ++j) beyond[j] += z > levels[j] ? 1 : 0;
  }
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double expected = 2.0 * n * Phi(-levels[j]);
    EXPECT_LT(std::abs(beyond[j] - expected) / std::sqrt(expected), normal_1e6) << levels[j];
  }
}

TEST(StreamStatistics, LaplacePassesKolmogorovSmirnov) {
  Stream stream({.seed = 14, .purpose = Purpose::noise});
  std::vector<double> sample(1'000'000);
  for (double& x : sample) x = stream.laplace();
  EXPECT_LT(kolmogorov(sample,
                       [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }),
            kolmogorov_1e6);
}

double correlation(Stream a, Stream b, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a.normal() * b.normal();
  return sum / std::sqrt(static_cast<double>(n));
}

TEST(StreamStatistics, StreamsOfDifferentKeysAreUncorrelated) {
  const StreamKey key{.seed = 15, .run = 4, .purpose = Purpose::noise};
  StreamKey other = key;
  other.run = 5;
  StreamKey purpose = key;
  purpose.purpose = Purpose::sampling;
  StreamKey seed = key;
  seed.seed = 16;
  for (const StreamKey& k :
       {other, purpose, seed, key.child(0), key.child(1), key.child(0).child(0)})
    EXPECT_LT(std::abs(correlation(Stream(key), Stream(k), 1'000'000)), normal_1e6);
  EXPECT_LT(std::abs(correlation(Stream(key.child(0)), Stream(key.child(1)), 1'000'000)),
            normal_1e6);
  EXPECT_GT(correlation(Stream(key), Stream(key), 1'000'000), 100.0);  // the test can fail
}

TEST(StreamStatistics, SuccessiveDrawsAreUncorrelatedInValueAndSquare) {
  Stream stream({.seed = 17, .purpose = Purpose::noise});
  constexpr int n = 4'000'000;
  std::vector<double> z(n);
  for (double& x : z) x = stream.normal();
  for (std::size_t lag : {1U, 2U, 3U, 4U, 8U}) {
    double linear = 0;
    double square = 0;
    for (std::size_t k = lag; k < z.size(); ++k) {
      linear += z[k] * z[k - lag];
      square += (z[k] * z[k] - 1) * (z[k - lag] * z[k - lag] - 1) / 2.0;
    }
    EXPECT_LT(std::abs(linear) / std::sqrt(n), normal_1e6) << lag;
    EXPECT_LT(std::abs(square) / std::sqrt(n), 1.5 * normal_1e6)
        << lag;  // products of squares have heavy tails
  }
}

TEST(StreamStatistics, SubsetsAreUniform) {
  Stream stream({.seed = 18, .purpose = Purpose::sampling});
  constexpr int draws = 200'000;
  std::array<std::array<int, 6>, 6> pairs{};
  for (int k = 0; k < draws; ++k) {
    const auto s = stream.subset(6, 2);
    ++pairs[static_cast<std::size_t>(s[0])][static_cast<std::size_t>(s[1])];
  }
  double chi_square = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = i + 1; j < 6; ++j)
      chi_square += std::pow(pairs[i][j] - draws / 15.0, 2) / (draws / 15.0);
  EXPECT_LT(chi_square, 57.0);  // χ²(14) exceeds 57 with probability 4e-7
}

TEST(StreamStatistics, BernoulliSubsetsHaveIndependentMembers) {
  Stream stream({.seed = 21, .purpose = Purpose::sampling});
  constexpr int draws = 200'000;
  for (const double p : {0.02, 0.3, 0.7}) {
    std::array<int, 32> counts{};
    std::vector<Index> members;
    for (int k = 0; k < draws; ++k) {
      stream.bernoulli_subset(5, p, members);
      std::size_t pattern = 0;
      for (const Index i : members) pattern |= std::size_t{1} << i;
      ++counts[pattern];
    }
    // patterns of fewer than five expected draws together
    double chi_square = 0, rare = 0, rare_expected = 0;
    for (std::size_t pattern = 0; pattern < 32; ++pattern) {
      const int ones = std::popcount(pattern);
      const double expected = draws * std::pow(p, ones) * std::pow(1 - p, 5 - ones);
      if (expected >= 5) {
        chi_square += std::pow(counts[pattern] - expected, 2) / expected;
      } else {
        rare += counts[pattern];
        rare_expected += expected;
      }
    }
    EXPECT_LT(chi_square, 91.0) << p;  // χ²(31) exceeds 91 with probability 1e-7
    EXPECT_LT(rare, rare_expected + 6 * std::sqrt(rare_expected) + 6) << p;
  }
}

TEST(StreamStatistics, BernoulliSubsetsOfManyTrialsHaveUniformGapsAndSizes) {
  Stream stream({.seed = 22, .purpose = Purpose::sampling});
  constexpr Index n = 100'000;
  constexpr double p = 0.0026;
  constexpr int draws = 2000;
  std::vector<Index> members;
  std::vector<double> gaps;
  double size = 0, square = 0;
  for (int k = 0; k < draws; ++k) {
    stream.bernoulli_subset(n, p, members);
    const auto m = static_cast<double>(members.size());
    size += m;
    square += m * m;
    for (std::size_t j = 1; j < members.size(); j += 2)
      gaps.push_back(
          1 - std::pow(1 - p, static_cast<double>(members[j] - members[j - 1]) - stream.uniform()));
  }
  const double mean = size / draws, variance = square / draws - mean * mean;
  EXPECT_NEAR(mean, n * p, 5.5 * std::sqrt(n * p / draws));
  EXPECT_NEAR(variance / (n * p * (1 - p)), 1.0, 5.5 * std::sqrt(2.0 / draws));
  EXPECT_LT(kolmogorov(gaps, [](double u) { return u; }), kolmogorov_1e6);
}

TEST(StreamStatistics, BallPointsAreUniform) {
  Stream stream({.seed = 19, .purpose = Purpose::algorithm});
  constexpr Index d = 5;
  Vector x(d);
  std::vector<double> volume(200'000);
  Vector mean = Vector::Zero(d);
  for (double& v : volume) {
    stream.fill_ball(2.0, x);
    v = std::pow(x.norm() / 2.0, static_cast<double>(d));
    mean += x;
  }
  EXPECT_LT(kolmogorov(volume, [](double u) { return u; }), kolmogorov_1e6);
  // coordinate variance of the uniform ball: radius² / (d + 2)
  const double scale = std::sqrt(4.0 / (d + 2.0) * static_cast<double>(volume.size()));
  EXPECT_LT(mean.cwiseAbs().maxCoeff() / scale, normal_1e6);
}

}  // namespace
}  // namespace dpsosp::stream_stat_test
