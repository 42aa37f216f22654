// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/numbers.hpp"

#include <limits>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace dpsosp::numbers_test {
namespace {

TEST(WholeNumber, ReadsDigitsOfAnySizeExactly) {
  EXPECT_TRUE(rc::check(
      [](std::int64_t value) { RC_ASSERT(whole_number(std::to_string(value)) == value); }));
  EXPECT_EQ(whole_number("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
}

TEST(WholeNumber, ReadsDecimalNumbersThatAreWhole) {
  EXPECT_EQ(whole_number("1e5"), 100000);
  EXPECT_EQ(whole_number("2.5e3"), 2500);
  EXPECT_EQ(whole_number("1E+05"), 100000);
  EXPECT_EQ(whole_number("-3e2"), -300);
  EXPECT_EQ(whole_number("7.0"), 7);
  EXPECT_EQ(whole_number("9007199254740992.0"), 9007199254740992);
}

TEST(WholeNumber, RejectsFractionsAndWhatIsInexact) {
  for (const char* text : {"", "1.5", "1e-1", "1e16", "9007199254740993.5", "1e400", "inf", "nan",
                           "9223372036854775808", "99999999999999999999", "1_000", "1,000", "1e",
                           "1e5 ", " 1", "+1", "0x10", "many"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST(CountText, SaysWhereACountIsRounded) {
  EXPECT_EQ(count_text(217411), "217411");
  EXPECT_EQ(count_text(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(count_text(1.234e20), "≈ 1.23e+20");
}

}  // namespace
}  // namespace dpsosp::numbers_test
