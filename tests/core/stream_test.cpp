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
  EXPECT_EQ((r123::Philox4x64{}(Counter{{0, 0, 0, 0}}, Key{{0, 0}})),
            (Counter{{0x16554d9eca36314cU, 0xdb20fe9d672d0fdcU, 0xd7e772cee186176bU,
                      0x7e68b68aec7ba23bU}}));
  EXPECT_EQ((r123::Philox4x64{}(Counter{{~0U + 0xffffffff00000000U, ~0ULL, ~0ULL, ~0ULL}},
                                Key{{~0ULL, ~0ULL}})),
            (Counter{{0x87b092c3013fe90bU, 0x438c3c67be8d0224U, 0x9cc7d7c69cd777b6U,
                      0xa09caebf594f0ba0U}}));
  EXPECT_EQ((r123::Philox4x64{}(Counter{{0x243f6a8885a308d3U, 0x13198a2e03707344U,
                                         0xa4093822299f31d0U, 0x082efa98ec4e6c89U}},
                                Key{{0x452821e638d01377U, 0xbe5466cf34e90c6cU}})),
            (Counter{{0xa528f45403e61d95U, 0x38c72dbd566e9788U, 0xa5a1610e72fd18b5U,
                      0x57bd43b5e52b7fe6U}}));
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

/// p·2^64 of the 2^64 words are a success.
TEST(Stream, BernoulliSucceedsForItsShareOfWords) {
  for (const double p : {0x1p-64, 0x1p-40, 0.25, 0.5, 0.75, 1 - 0x1p-53}) {
    const auto words = static_cast<std::uint64_t>(std::ldexp(p, 64));
    EXPECT_TRUE(stream_of_words(words - 1).bernoulli(p)) << p;
    EXPECT_FALSE(stream_of_words(words).bernoulli(p)) << p;
  }
  EXPECT_FALSE(stream_of_words(0).bernoulli(0.0));
}

/// Every value has ⌊2^64/count⌋ words, so 2^64 mod count words are drawn again: of each value that
/// has one more, the first.
TEST(Stream, BelowHasAsManyWordsForEachValue) {
  for (const Index count : {Index{3}, Index{7}, Index{1000}, (Index{1} << 62) + 1}) {
    const auto range = static_cast<std::uint64_t>(count);
    const std::uint64_t share = ~std::uint64_t{0} / range, over = ~std::uint64_t{0} % range + 1;
    ASSERT_NE(over, range) << "a power of 2 has no word too many";
    __extension__ using Wide = unsigned __int128;
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, range / 2, range - 1}) {
      const auto first = static_cast<std::uint64_t>(((Wide{value} << 64) + range - 1) / range);
      const bool one_more = static_cast<std::uint64_t>(Wide{first} * range) < over;
      Stream stream = stream_of_words(first, ~std::uint64_t{0});
      EXPECT_EQ(stream.below(count), one_more ? count - 1 : static_cast<Index>(value));
      EXPECT_EQ(stream.position(), one_more ? 2U : 1U) << count << ' ' << value;
      const std::uint64_t last = first + share - (one_more ? 0 : 1);
      stream = stream_of_words(last);
      EXPECT_EQ(stream.below(count), static_cast<Index>(value));
      EXPECT_EQ(stream.position(), 1U);
      if (last != ~std::uint64_t{0}) {
        EXPECT_NE(stream_of_words(last + 1, ~std::uint64_t{0}).below(count),
                  static_cast<Index>(value));
      }
    }
  }
}

/// A pair of words, and then a half and 0 in turn.
class PairFirst final : public WordFeed {
 public:
  PairFirst(std::uint64_t first, std::uint64_t second) : pair_{first, second} {}
  void words(std::uint64_t first, std::span<std::uint64_t> out) const override {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = first + k < 2 ? pair_[k] : k % 2 == 0 ? std::uint64_t{1} << 63 : 0;
  }
  std::shared_ptr<const WordFeed> child(std::uint64_t) const override { return nullptr; }

 private:
  std::array<std::uint64_t, 2> pair_;
};

/// Every count has words that draw it: a second word of 0 accepts whatever the first proposes.
TEST(Stream, BinomialCountsReachBothEnds) {
  for (const double p : {0.5, 0.4}) {
    std::set<Index> seen;
    for (std::uint64_t k = 0; k < 4096; ++k)
      seen.insert(Stream(std::make_shared<PairFirst>(k << 52, 0)).binomial(40, p));
    EXPECT_EQ(seen.size(), 41U) << p;
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), 40);
  }
}

using Exact = boost::multiprecision::cpp_bin_float_100;

/// No success of n by gaps is the probability (1 - p)^n, to 12 digits, however small p is.
TEST(Stream, BinomialGapsFollowTheGeometricLaw) {
  for (const double p : {0.3, 2e-3, 9.9e-4, 1e-4, 1e-9}) {
    const auto n = static_cast<Index>(10 / p);
    std::uint64_t none = 0, some = std::uint64_t{1} << 52;
    while (some - none > 1) {
      const std::uint64_t middle = none + (some - none) / 2;
      const Stream fed(std::make_shared<PairFirst>(middle << 12, 0));
      (Stream(fed).binomial(n, p) == 0 ? none : some) = middle;
    }
    const double attained = (static_cast<double>(none) + 1) * 0x1p-52;
    const Exact expected = exp(Exact(n) * log1p(-Exact(p)));
    EXPECT_LE(abs(attained / expected - 1), 1e-12 + 0x1p-52 / attained) << p;
  }
}

/// Successes s are accepted with probability P(s)/P(mode)·(a/us² + b)/α, P the binomial law, to 13
/// digits, as BTRS (Hörmann 1993) has it with its constants.
TEST(Stream, BinomialAcceptsByTheExactLaw) {
  for (const auto& [n, p] :
       {std::pair{Index{40}, 0.5}, {40, 0.4}, {200, 0.1}, {3000, 0.3}, {1000000, 0.25}}) {
    const auto mode = static_cast<Index>((static_cast<double>(n) + 1) * p);
    const double deviation = std::sqrt(static_cast<double>(n) * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double alpha = (2.83 + 5.1 / b) * deviation;
    std::set<Index> ends;
    int compared = 0;
    const std::uint64_t near_ends = n == 40 ? 1 : 12;
    for (std::uint64_t k = 1; k < 4096; k += k < 320 || k > 3776 ? near_ends : 400) {
      const std::uint64_t first = k << 52;
      const double u = (static_cast<double>(first >> 12) + 0.5) * 0x1p-52 - 0.5;
      const double us = 0.5 - std::abs(u);
      Index successes = 0;
      const auto accepts = [&](std::uint64_t second) {
        Stream stream(std::make_shared<PairFirst>(first, second << 12));
        successes = stream.binomial(n, p);
        return stream.position() == 2;
      };
      if (!accepts(0)) continue;  // proposes what is no count
      const Index proposed = successes;
      std::uint64_t low = 0, high = std::uint64_t{1} << 52;
      while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (accepts(middle) ? low : high) = middle;
      }
      if (high == std::uint64_t{1} << 52) continue;  // accepts always
      Exact ratio = 1;
      for (Index j = mode; j < proposed; ++j) ratio *= Exact(n - j) / (j + 1) * p / (1 - p);
      for (Index j = mode; j > proposed; --j) ratio *= Exact(j) / (n - j + 1) * (1 - p) / p;
      const Exact expected = ratio * (a / (us * us) + b) / alpha;
      if (us >= 0.07 && expected <= 0.92 - 4.2 / b) continue;  // the squeeze decides
      const double attained = (static_cast<double>(low) + 1) * 0x1p-52;
      EXPECT_LE(abs(attained / expected - 1), 1e-12 + 0x1p-52 / attained)
          << n << ' ' << p << ' ' << proposed;
      if (proposed == 0 || proposed == n) ends.insert(proposed);
      ++compared;
    }
    EXPECT_GT(compared, 10) << n;
    if (n == 40) {
      EXPECT_EQ(ends, (std::set<Index>{0, 40})) << p;
    }
  }
}

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
