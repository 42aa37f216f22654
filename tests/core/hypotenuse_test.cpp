// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/hypotenuse.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::hypotenuse_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Hypotenuse, IsWithinOneUnitOfTheLastPlace) {
  Stream stream({.seed = 3, .purpose = Purpose::test});
  for (int k = 0; k < 200000; ++k) {
    const double x = std::ldexp(stream.normal(), static_cast<int>(stream.below(60)) - 30);
    const double y = std::ldexp(stream.normal(), static_cast<int>(stream.below(60)) - 30);
    const long double exact =
        std::sqrt(static_cast<long double>(x) * x + static_cast<long double>(y) * y);
    const double h = hypotenuse(x, y);
    const double unit = std::nextafter(h, infinity) - h;
    EXPECT_LE(std::abs(static_cast<double>(h - exact)), unit) << x << ' ' << y;
    EXPECT_EQ(h, hypotenuse(-y, x));
    // Powers of two are exact, as far as numbers go.
    EXPECT_EQ(hypotenuse(x * 0x1p900, y * 0x1p900), h * 0x1p900);
    EXPECT_EQ(hypotenuse(x * 0x1p-900, y * 0x1p-900), h * 0x1p-900);
  }
}

TEST(Hypotenuse, IsExactForTriplesAndExtremes) {
  EXPECT_EQ(hypotenuse(3, -4), 5);
  EXPECT_EQ(hypotenuse(119, 120), 169);
  EXPECT_EQ(hypotenuse(0, -0.0), 0);
  EXPECT_EQ(hypotenuse(0, 7), 7);
  EXPECT_EQ(hypotenuse(0x1p-1074, 0), 0x1p-1074);
  EXPECT_EQ(hypotenuse(3 * 0x1p1020, 4 * 0x1p1020), 5 * 0x1p1020);
  EXPECT_EQ(hypotenuse(nan, -infinity), infinity);
  EXPECT_TRUE(std::isnan(hypotenuse(1, nan)));
  EXPECT_EQ(hypotenuse(0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023), infinity);
}

}  // namespace
}  // namespace dpsosp::hypotenuse_test
