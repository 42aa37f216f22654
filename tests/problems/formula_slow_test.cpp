// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "random_formulas.hpp"

namespace dpsosp::formula_slow_test {
namespace {

TEST(FormulaLoss, BoundsHoldAtSamplesOfTenThousandRandomFormulas) {
  Stream random({.seed = 12});
  int bounded = 0;
  for (int k = 0; k < 10'000; ++k) bounded += random_formulas::bounds_hold(random) ? 1 : 0;
  EXPECT_GE(bounded, 7500);
}

}  // namespace
}  // namespace dpsosp::formula_slow_test
