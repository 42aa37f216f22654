// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "near.hpp"

namespace dpsosp::filter_test {
namespace {

TEST(Filter, RefusesOverdraftAndGrantsWhatFits) {
  PrivacyFilter filter(0.5);
  EXPECT_TRUE(filter.try_charge(0.2));
  EXPECT_TRUE(filter.try_charge(0.2));
  const double before = filter.spent();
  EXPECT_FALSE(filter.try_charge(0.15));
  EXPECT_EQ(filter.spent(), before);
  EXPECT_TRUE(filter.try_charge(0.1));
  EXPECT_EQ(filter.remaining(), 0);
}

TEST(Filter, ComposesDisjointBatchesInParallel) {
  std::vector<PrivacyFilter> records(20, PrivacyFilter(1));
  const auto charge = [&](int first, int last, double rho) {
    for (int i = first; i < last; ++i)
      ASSERT_TRUE(records[static_cast<std::size_t>(i)].try_charge(rho));
  };
  charge(0, 10, 0.3);
  charge(10, 20, 0.3);
  charge(0, 20, 0.2);
  double highest = 0;
  for (const PrivacyFilter& record : records) highest = std::max(highest, record.spent());
  EXPECT_DOUBLE_EQ(highest, 0.5);
}

TEST(Filter, SpendsEqualSlicesEntirely) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_capacity, std::uint16_t raw_steps) {
    const double capacity = log_uniform(raw_capacity, 1e-6, 10);
    const int steps = 1 + raw_steps % 20000;
    PrivacyFilter filter(capacity);
    for (int i = 0; i < steps; ++i) RC_ASSERT(filter.try_charge(capacity / steps));
    RC_ASSERT(!filter.try_charge(capacity / steps));
    RC_ASSERT(!filter.try_charge(capacity * 1e-14));
    RC_ASSERT(filter.spent() <= std::nextafter(capacity, 100.0));
  }));
}

// What the compensation is for: a plain sum loses every one of these charges.
TEST(Filter, KeepsChargesBelowRoundingError) {
  PrivacyFilter filter(2);
  double plain = 1;
  ASSERT_TRUE(filter.try_charge(1));
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(filter.try_charge(1e-17));
    plain += 1e-17;
  }
  EXPECT_EQ(plain, 1);
  EXPECT_DOUBLE_EQ(filter.spent(), 1 + 1e-11);
}

TEST(Filter, RejectsBadCharges) {
  PrivacyFilter filter(1);
  EXPECT_THROW(filter.try_charge(-0.1), InputError);
  EXPECT_THROW(filter.try_charge(std::nan("")), InputError);
  EXPECT_THROW(PrivacyFilter(-1), InputError);
  EXPECT_EQ(filter.spent(), 0);
}

}  // namespace
}  // namespace dpsosp::filter_test
