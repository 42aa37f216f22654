// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "random_formulas.hpp"

namespace dpsosp::formula_slow_test {
namespace {

class TenThousandFormulas : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TenThousandFormulas, HaveBoundsThatHoldAtSamples) {
  Stream random({.seed = GetParam()});
  int bounded = 0;
  for (int k = 0; k < 1000; ++k) bounded += random_formulas::bounds_hold(random) ? 1 : 0;
  EXPECT_GE(bounded, 750);
}

INSTANTIATE_TEST_SUITE_P(OfSeed, TenThousandFormulas, testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace dpsosp::formula_slow_test
