// SPDX-License-Identifier: Apache-2.0
// Every operation on intervals holds the exact results, in a hundred digits, and little else.
#include "interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::interval_test {
namespace {

using Big = boost::multiprecision::cpp_bin_float_100;

double any_number(Stream& random) {
  if (random.bernoulli(0.05)) return 0;
  return (random.bernoulli(0.5) ? 1 : -1) * std::pow(10.0, -20 + 22 * random.uniform());
}

Interval any_interval(Stream& random) {
  const double a = any_number(random);
  if (random.bernoulli(0.3)) return {a, a};
  const double b = random.bernoulli(0.3) ? std::nextafter(a, 1e9) : any_number(random);
  return {std::min(a, b), std::max(a, b)};
}

double any_of(const Interval& i, Stream& random) {
  const double x = i.least + random.uniform() * (i.most - i.least);
  return random.bernoulli(0.3) ? i.least : random.bernoulli(0.3) ? i.most : std::min(x, i.most);
}

void expect_holds(const Interval& found, const Big& exact, bool of_points) {
  EXPECT_TRUE(found.least <= exact && exact <= found.most)
      << exact << " is not in [" << found.least << ", " << found.most << ']';
  if (of_points) {
    EXPECT_LE(found.width(), 3e-15 * found.largest() + 1e-300);
  }
}

TEST(Interval, HoldsTheExactResultsOfEveryOperation) {
  Stream random({.seed = 8});
  for (int k = 0; k < 20000; ++k) {
    const Interval a = any_interval(random), b = any_interval(random);
    const double x = any_of(a, random), y = any_of(b, random);
    const bool one = a.width() == 0, both = one && b.width() == 0;
    const Big X = x, Y = y;
    expect_holds(interval::add(a, b), X + Y, false);
    expect_holds(interval::subtract(a, b), X - Y, false);
    expect_holds(interval::multiply(a, b), X * Y, both);
    if (y != 0) expect_holds(interval::divide(a, b), X / Y, both);
    expect_holds(interval::negate(a), -X, one);
    expect_holds(interval::abs(a), abs(X), one);
    expect_holds(interval::square(a), X * X, one);
    expect_holds(interval::hull(a, b), X, false);
    expect_holds(interval::hull(a, b), Y, false);
    if (x >= 0) expect_holds(interval::sqrt(a), sqrt(X), one);
    if (k % 20 != 0) continue;  // these take long
    expect_holds(interval::exp(a), exp(X), one);
    expect_holds(interval::expm1(a), exp(X) - 1, one);
    if (x > -1) expect_holds(interval::log1p(a), log(1 + X), one && x > -0.5);
  }
}

TEST(Interval, OfWhatIsUndefinedOrOverflowsIsUnbounded) {
  constexpr double most = std::numeric_limits<double>::max(),
                   infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(interval::divide({1, 1}, {-1, 1}).bounded());
  EXPECT_FALSE(interval::divide({0, 0}, {0, 0}).bounded());
  EXPECT_FALSE(interval::sqrt({-2, -1}).bounded());
  EXPECT_FALSE(interval::sqrt({-1e-9, 4}).bounded());
  EXPECT_FALSE(interval::log1p({-3, -1}).bounded());
  EXPECT_FALSE(interval::log1p({-1, 0}).bounded());
  EXPECT_FALSE(interval::exp({0, 800}).bounded());
  EXPECT_FALSE(interval::multiply({2, 3}, {1, most}).bounded());
  EXPECT_FALSE(interval::multiply({0, 1}, {1, infinity}).bounded());
  EXPECT_FALSE(interval::add({1, infinity}, {-infinity, 1}).bounded());
  EXPECT_FALSE(interval::multiply({0, 0}, {1, infinity}).bounded());
  EXPECT_GE(interval::exp({-800, 0}).least, 0);
}

}  // namespace
}  // namespace dpsosp::interval_test
