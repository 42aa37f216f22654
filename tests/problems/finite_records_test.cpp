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
  const auto values = draw_values("p", law, 6 * pairs, RecordSampling::balanced, 4).listed;
  std::map<std::array<Index, 6>, Index> seen;
  for (Index k = 0; k < pairs; ++k) {
    std::array<Index, 6> list{};
    for (Index i = 0; i < 6; ++i) {
      const std::vector<Index> counts = values->of(BatchView(6 * k + i, 6 * k + i + 1));
      list[static_cast<std::size_t>(i)] = std::ranges::find(counts, 1) - counts.begin();
    }
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
