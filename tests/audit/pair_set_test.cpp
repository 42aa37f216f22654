// SPDX-License-Identifier: Apache-2.0
#include "likelihood/pair_set.hpp"

#include <cstdint>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::audit::pair_set_test {
namespace {

TEST(PairSet, FindsWhatAStandardSetFinds) {
  Stream stream({.seed = 4, .purpose = Purpose::test});
  PairSet pairs;
  std::set<PairSet::Pair> expected;
  for (int k = 0; k < 20000; ++k) {
    const PairSet::Pair pair{stream.below(200) - 100, stream.below(200) << 40};
    ASSERT_EQ(pairs.insert(pair), expected.insert(pair).second);
    ASSERT_EQ(pairs.size(), expected.size());
  }
}

TEST(PairSet, HoldsEveryNumber) {
  PairSet pairs;
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (const PairSet::Pair& pair : {PairSet::Pair{least, least}, {0, 0}, {least, 0}, {0, least}}) {
    EXPECT_TRUE(pairs.insert(pair));
    EXPECT_FALSE(pairs.insert(pair));
  }
}

}  // namespace
}  // namespace dpsosp::audit::pair_set_test
