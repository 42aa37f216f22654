// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "dpsosp/problems/finite_records.hpp"

namespace dpsosp::finite_records_test {
namespace {

// All 6 orders of three values are equally frequent among independent runs: Pearson's statistic of
// two consecutive runs has 35 degrees of freedom and is above 110 with probability below 1e-9.
TEST(FiniteRecords, BalancedRunsAreIndependentRandomOrders) {
  constexpr Index pairs = 3600;
  const FiniteLaw law{.probabilities = Vector::Constant(3, 1.0 / 3)};
  const auto values = draw_values("p", law, 6 * pairs, RecordSampling::balanced, 4).list;
  std::map<std::array<Index, 6>, Index> seen;
  for (Index k = 0; k < pairs; ++k) {
    std::array<Index, 6> list{};
    std::copy_n(values.begin() + 6 * k, 6, list.begin());
    ++seen[list];
  }
  ASSERT_EQ(seen.size(), 36U);
  double statistic = 0;
  const double expected = static_cast<double>(pairs) / 36;
  for (const auto& [list, count] : seen)
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  EXPECT_LT(statistic, 110);
}

}  // namespace
}  // namespace dpsosp::finite_records_test
