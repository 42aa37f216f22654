// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/elementary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {
namespace {

/// Distance in units in the last place of the value, at least 2^-100.
double units_off(double value, long double exact) {
  const double size = std::abs(static_cast<double>(exact));
  const double unit = std::nextafter(size, 2.0) - size;
  return static_cast<double>(std::abs(static_cast<long double>(value) - exact)) /
         std::max(unit, 0x1p-100);
}

/// Arguments of every size up to 2^20, and the doubles next to multiples of π/2, where a remainder
/// loses most digits.
Vector arguments() {
  constexpr Index count = 200000;
  Stream stream({.seed = 5, .purpose = Purpose::statistics});
  Vector x(count);
  for (Index k = 0; k < count; ++k) {
    const double size = std::exp2(20 * stream.uniform() - 10 * static_cast<double>(k % 2));
    x[k] = (stream.bernoulli(0.5) ? 1 : -1) * stream.uniform() * size;
    if (k % 4 != 0) continue;
    const double multiple = static_cast<double>(stream.below(600000)) * std::numbers::pi / 2;
    x[k] = std::nextafter(multiple, stream.bernoulli(0.5) ? 1e9 : -1e9);
  }
  return x;
}

TEST(Sines, AreWithinNineTenthsOfAUnitInTheLastPlace) {
  double worst_sine = 0, worst_cosine = 0;
  for (const double x : arguments()) {
    worst_sine =
        std::max(worst_sine, units_off(portable_sin(x), std::sin(static_cast<long double>(x))));
    worst_cosine =
        std::max(worst_cosine, units_off(portable_cos(x), std::cos(static_cast<long double>(x))));
  }
  EXPECT_LT(worst_sine, 0.9);
  EXPECT_LT(worst_cosine, 0.9);
}

TEST(Exponential, IsWithinOneAndAHalfUnitsInTheLastPlace) {
  Stream stream({.seed = 6, .purpose = Purpose::statistics});
  double worst = 0;
  for (int k = 0; k < 200000; ++k) {
    const double x = (2 * stream.uniform() - 1) * (k % 2 == 0 ? 700 : 1);
    const long double exact = std::exp(static_cast<long double>(x));
    const double size = static_cast<double>(exact);
    const double unit = std::nextafter(size, 2 * size) - size;
    worst = std::max(
        worst,
        static_cast<double>(std::abs(static_cast<long double>(portable_exp(x)) - exact)) / unit);
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(Power, HasTheStatedError) {
  Stream stream({.seed = 7, .purpose = Purpose::statistics});
  for (int k = 0; k < 100000; ++k) {
    const double base = stream.uniform(), exponent = 20 * stream.uniform() - 5;
    const long double exact =
        std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    const double log = std::abs(static_cast<double>(std::log(exact)));
    if (log > 700) continue;
    EXPECT_LE(std::abs(static_cast<double>(portable_pow(base, exponent) / exact - 1)),
              (2 * log + 2) * 0x1p-52)
        << base << ", " << exponent;
  }
}

TEST(Sines, BeyondTheLargestArgumentAreTheLibrarys) {
  for (const double x : {0x1.8p20, 1e15, 1e300}) {
    EXPECT_EQ(portable_sin(x), std::sin(x));
    EXPECT_EQ(portable_cos(-x), std::cos(-x));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(portable_sin(infinity)));
  EXPECT_TRUE(std::isnan(portable_cos(std::nan(""))));
  EXPECT_EQ(portable_sin(0), 0);
  EXPECT_EQ(portable_cos(0), 1);
}

TEST(Sines, OfVectorsHaveBitsOfSinesOneByOne) {
  Vector x = arguments();
  x[7] = 1e9;  // one lane alone is the library's
  x[20] = std::nan("");
  for (const Index size : {1, 3, 7, 8, 9, 200}) {
    const Vector sine = sines(x.head(size)), cosine = cosines(x.head(size));
    for (Index k = 0; k < size; ++k) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sine[k]),
                std::bit_cast<std::uint64_t>(portable_sin(x[k])));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(cosine[k]),
                std::bit_cast<std::uint64_t>(portable_cos(x[k])));
    }
  }
  EXPECT_EQ(sines(Vector()).size(), 0);
}

}  // namespace
}  // namespace dpsosp
