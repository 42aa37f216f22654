// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <set>
#include <span>

#include <Random123/philox.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace dpsosp::stream_test {
namespace {

using Counter = r123::Philox4x64::ctr_type;
using Key = r123::Philox4x64::key_type;

TEST(Stream, PhiloxMatchesPublishedKnownAnswers) {  // Random123, tests/kat_vectors
  EXPECT_EQ(
      (r123::Philox4x64{}(Counter{{0, 0, 0, 0}}, Key{{0, 0}})),
      (Counter{
          {0x16554d9eca36314cU, 0xdb20fe9d672d0fdcU, 0xd7e772cee186176bU, 0x7e68b68aec7ba23bU}}));
  EXPECT_EQ(
      (r123::Philox4x64{}(Counter{{~0U + 0xffffffff00000000U, ~0ULL, ~0ULL, ~0ULL}},
                          Key{{~0ULL, ~0ULL}})),
      (Counter{
          {0x87b092c3013fe90bU, 0x438c3c67be8d0224U, 0x9cc7d7c69cd777b6U, 0xa09caebf594f0ba0U}}));
  EXPECT_EQ(
      (r123::Philox4x64{}(
          Counter{
              {0x243f6a8885a308d3U, 0x13198a2e03707344U, 0xa4093822299f31d0U, 0x082efa98ec4e6c89U}},
          Key{{0x452821e638d01377U, 0xbe5466cf34e90c6cU}})),
      (Counter{
          {0xa528f45403e61d95U, 0x38c72dbd566e9788U, 0xa5a1610e72fd18b5U, 0x57bd43b5e52b7fe6U}}));
}

TEST(Stream, YieldsPhiloxBlocksOfItsKey) {
  Stream stream({.seed = 7, .run = 3, .purpose = Purpose::noise, .path = 11});
  for (std::uint64_t block = 0; block < 3; ++block) {
    const Counter expected = r123::Philox4x64{}(Counter{{block, 0, 3, 3}}, Key{{7, 11}});
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(stream.bits(), expected[k]);
  }
}

TEST(Stream, NormalsKeepRecordedBits) {
  Stream stream({.seed = 1, .run = 2, .purpose = Purpose::noise});
  std::uint64_t digest = 0;
  for (int k = 0; k < 100000; ++k)
    digest = std::rotl(digest, 7) ^ std::bit_cast<std::uint64_t>(stream.normal());
  EXPECT_EQ(digest, 0x689be691539c4e7bU);
}

TEST(Stream, RepeatsBitsForSameKey) {
  const StreamKey key{.seed = 5, .run = 1, .purpose = Purpose::sampling};
  Stream a(key), b(key);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(a.normal(), b.normal());
}

TEST(Stream, DiffersByChildPurposeRunAndSeed) {
  const StreamKey key{.seed = 5, .run = 1, .purpose = Purpose::noise};
  std::set<std::uint64_t> first{Stream(key).bits()};
  std::size_t keys = 1;
  for (std::uint64_t k = 0; k < 1000; ++k, keys += 4) {
    first.insert(Stream(key.child(k)).bits());
    first.insert(Stream(key.child(k).child(0)).bits());
    first.insert(Stream({.seed = 6 + k, .run = 1, .purpose = Purpose::noise}).bits());
    first.insert(
        Stream({.seed = 5, .run = static_cast<std::uint32_t>(k + 2), .purpose = Purpose::noise})
            .bits());
  }
  first.insert(Stream({.seed = 5, .run = 1, .purpose = Purpose::sampling}).bits());
  EXPECT_EQ(first.size(), keys + 1);
}

TEST(Stream, PortableLogIsWithinTwoUlp) {
  EXPECT_TRUE(rc::check([](double raw) {
    const double x = std::abs(raw);
    RC_PRE(std::isnormal(x));
    const double exact = std::log(x);
    const double ulp = std::nextafter(std::abs(exact), INFINITY) - std::abs(exact);
    RC_ASSERT(std::abs(portable_log(x) - exact) <= 2.0 * ulp + 1e-18);
  }));
}

TEST(Stream, LowerQuantileInvertsNormalCdf) {
  for (double p = 0.5; p > 1e-16; p *= 0.93) {
    const double z = normal_lower_quantile(p);
    const double tail = 0.5 * std::erfc(-z / std::sqrt(2.0));
    // relative error of the tail is |z| times that of z; erfc itself is good to a few ulp
    EXPECT_NEAR(tail / p, 1.0, 4e-15 * (1.0 + z * z)) << p;
  }
  EXPECT_EQ(normal_lower_quantile(0.5), 0.0);
}

TEST(Stream, BelowReturnsEveryValueInRangeOnly) {
  Stream stream({.seed = 3, .purpose = Purpose::test});
  std::set<Index> seen;
  for (int k = 0; k < 200; ++k) seen.insert(stream.below(7));
  EXPECT_EQ(seen, (std::set<Index>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(stream.below(1), 0);
}

TEST(Stream, SubsetsAreAscendingDistinctAndInRange) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t raw_population, std::uint8_t raw_size) {
    const Index population = 1 + raw_population;
    const Index size = raw_size % (population + 1);
    Stream stream({.seed = seed, .purpose = Purpose::sampling});
    const auto subset = stream.subset(population, size);
    RC_ASSERT(static_cast<Index>(subset.size()) == size);
    RC_ASSERT(std::ranges::adjacent_find(subset, std::greater_equal<>{}) == subset.end());
    const bool in_range = subset.empty() || (subset.front() >= 0 && subset.back() < population);
    RC_ASSERT(in_range);
  }));
}

TEST(Stream, SubsetsAreThoseOfFloydsAlgorithm) {
  EXPECT_TRUE(
      rc::check([](std::uint64_t seed, std::uint16_t raw_population, std::uint16_t raw_size) {
        const Index population = 1 + raw_population % 3000;
        const Index size = raw_size % (population + 1);
        Stream stream({.seed = seed}), again({.seed = seed});
        std::set<Index> expected;
        for (Index top = population - size; top < population; ++top) {
          const Index candidate = again.below(top + 1);
          expected.insert(expected.contains(candidate) ? top : candidate);
        }
        RC_ASSERT(stream.subset(population, size) ==
                  std::vector<Index>(expected.begin(), expected.end()));
      }));
}

TEST(Stream, BernoulliSubsetsAreWholeAtOneAndEmptyAtZero) {
  Stream stream({.seed = 4});
  std::vector<Index> members;
  stream.bernoulli_subset(5, 1.0, members);
  EXPECT_EQ(members, (std::vector<Index>{0, 1, 2, 3, 4}));
  stream.bernoulli_subset(5, 0.0, members);
  EXPECT_TRUE(members.empty());
}

TEST(Stream, BallPointsLieInsideTheBall) {
  Stream stream({.seed = 9, .purpose = Purpose::algorithm});
  for (Index d : {1, 2, 30}) {
    Vector x(d);
    for (int k = 0; k < 100; ++k) {
      stream.fill_ball(0.25, x);
      EXPECT_LE(x.norm(), 0.25 * (1 + 1e-12));
    }
  }
}

TEST(Stream, BernoulliIsCertainAtZeroAndOne) {
  Stream stream({.seed = 9, .purpose = Purpose::sampling});
  for (int k = 0; k < 100; ++k) {
    EXPECT_FALSE(stream.bernoulli(0.0));
    EXPECT_TRUE(stream.bernoulli(1.0));
  }
}

TEST(Stream, SealedGivesTheSameNumbers) {
  const StreamKey key{.seed = 7, .run = 2, .purpose = Purpose::algorithm, .path = 5};
  Stream open(key), sealed = Stream::sealed(key);
  Vector a(37), b(37);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(open.bits(), sealed.bits());
    open.fill_normal(0.3, a);
    sealed.fill_normal(0.3, b);
    EXPECT_EQ(a, b);
    open.add_normal(2.0, a);
    sealed.add_normal(2.0, b);
    EXPECT_EQ(a, b);
    open.skip(11);
    sealed.skip(11);
    EXPECT_EQ(open.below(1000), sealed.below(1000));
    EXPECT_EQ(open.position(), sealed.position());
    open = open.child(3);
    sealed = sealed.child(3);
  }
}

/// The same words again and again.
class FixedWords final : public WordFeed {
 public:
  FixedWords(std::uint64_t even, std::uint64_t odd) : words_{even, odd} {}
  void words(std::uint64_t, std::span<std::uint64_t> out) const override {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = words_[k % 2];
  }
  std::shared_ptr<const WordFeed> child(std::uint64_t) const override { return nullptr; }

 private:
  std::array<std::uint64_t, 2> words_;
};

Stream stream_of_words(std::uint64_t even, std::uint64_t odd = 0) {
  return Stream(std::make_shared<FixedWords>(even, odd));
}

using Exact = boost::multiprecision::cpp_bin_float_100;

/// Words whose leading bits are 2^k, a few more, and all but a few: every size of probability.
std::vector<std::uint64_t> words_of_every_size() {
  std::vector<std::uint64_t> words{0, ~std::uint64_t{0}};
  for (int k = 0; k < 64; ++k)
    for (const std::uint64_t word :
         {std::uint64_t{1} << k, (std::uint64_t{3} << k) + 1, ~(std::uint64_t{1} << k)}) {
      words.push_back(word);
      words.push_back(~word);
    }
  return words;
}

/// The probability beyond a draw is that of its word, from 1/2 down to 2^-54.
TEST(Stream, InvertsEverySizeOfNormalProbability) {
  for (const std::uint64_t word : words_of_every_size()) {
    const double z = stream_of_words(word).normal();
    const Exact tail = boost::multiprecision::erfc(abs(Exact(z)) / sqrt(Exact(2))) / 2;
    const Exact expected = (Exact(word >> 12) + 0.5) * pow(Exact(2), -53);
    EXPECT_LE(abs(tail / expected - 1), 1e-15 * (1 + z * z)) << word;
    EXPECT_EQ(z > 0, (word & 1) != 0);
  }
}

TEST(Stream, InvertsEverySizeOfLaplaceProbability) {
  for (const std::uint64_t word : words_of_every_size()) {
    const Exact survival = exp(-abs(Exact(stream_of_words(word).laplace())));
    const Exact expected = (Exact(word >> 12) + 0.5) * pow(Exact(2), -52);
    EXPECT_LE(abs(survival / expected - 1), 1e-14) << word;
  }
}

/// The upper tail down to 2^-129; the lower one as far as u, a double, tells 1 - u.
TEST(Stream, InvertsEverySizeOfGumbelProbability) {
  for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    for (const std::uint64_t high : words_of_every_size()) {
      const double g = stream_of_words(high, low).gumbel();
      const Exact u = (Exact(high) + (Exact(low) + 0.5) * pow(Exact(2), -64)) * pow(Exact(2), -64);
      if (1 - u < pow(Exact(2), -50)) continue;  // cut at 2^-53 of 1 - u
      const Exact expected = -log(-log1p(-u));
      EXPECT_LE(abs(Exact(g) - expected),
                1e-14 * (1 + abs(expected)) + pow(Exact(2), -52) / (1 - u))
          << high << ' ' << low;
    }
}

}  // namespace
}  // namespace dpsosp::stream_test
