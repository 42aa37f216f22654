// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/number.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "markup_text.hpp"

namespace dpsosp::plots::number_test {
namespace {

TEST(Number, KeepsTrailingZeros) {
  EXPECT_EQ(plain_number(13.7046, {.digits = 6}), "13.7046");
  EXPECT_EQ(plain_number(13.7, {.digits = 4}), "13.70");
  EXPECT_EQ(plain_number(1234, {.digits = 4}), "1234");
  EXPECT_EQ(plain_number(12345, {.digits = 4}), "1.234e4");
  EXPECT_EQ(plain_number(0, {.digits = 4}), "0");
  EXPECT_EQ(plain_number(-4.8504e-2, {.digits = 5, .scientific = true}), "-4.8504e-2");
}

TEST(Number, WritesPowersOfTenForEachBackEnd) {
  EXPECT_EQ(latex_number(-9e-5, {.digits = 2}), "-9.0\\times10^{-5}");
  EXPECT_EQ(latex_number(-0.5, {.digits = 2}), "-0.50");
}

TEST(Number, RoundsWithinHalfUnitOfLastDigit) {
  EXPECT_TRUE(rc::check([](double value, unsigned pick, bool scientific) {
    if (!std::isfinite(value) || value == 0) return;
    const int digits = 1 + static_cast<int>(pick % 17);
    const double shown =
        std::stod(plain_number(value, {.digits = digits, .scientific = scientific}));
    RC_ASSERT(std::abs(shown - value) <=
              0.5001 * std::pow(10, 1 - digits) * std::abs(value) +
                  4 * std::numeric_limits<double>::epsilon() * std::abs(value));
  }));
}

TEST(Number, RejectsNonFiniteValuesAndZeroDigits) {
  EXPECT_THROW(plain_number(std::nan(""), {}), InputError);
  EXPECT_THROW(plain_number(std::numeric_limits<double>::infinity(), {}), InputError);
  EXPECT_THROW(latex_number(1, {.digits = 0}), InputError);
}

}  // namespace
}  // namespace dpsosp::plots::number_test
