// SPDX-License-Identifier: Apache-2.0
// The nets that the exponential mechanism chooses from.
#include "dpsosp/privacy/net.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::net_test {
namespace {

TEST(StreamSkip, EqualsDrawingWords) {
  for (const std::uint64_t first : {0U, 1U, 3U, 4U})
    for (const std::uint64_t skipped : {0U, 1U, 2U, 4U, 5U, 11U}) {
      Stream drawn({.seed = 21}), jumped({.seed = 21});
      for (std::uint64_t k = 0; k < first + skipped; ++k) drawn.bits();
      for (std::uint64_t k = 0; k < first; ++k) jumped.bits();
      jumped.skip(skipped);
      for (int k = 0; k < 9; ++k) ASSERT_EQ(drawn.bits(), jumped.bits());
    }
}

TEST(Net, CoversItsSetAndCountsPoints) {
  Stream stream({.seed = 6});
  for (const Index d : {1, 2, 3}) {
    const Vector centre = Vector::Constant(d, 0.3);
    constexpr double radius = 0.21;
    for (const Net& net : {Net::box(centre, 1.0, radius), Net::ball(centre, 1.0, radius)}) {
      std::vector<Vector> points;
      Vector p(d);
      for (Index k = 0; k < net.indices(); ++k)
        if (net.point(k, p)) points.push_back(p);
      EXPECT_NEAR(std::log(static_cast<double>(points.size())), net.log_size(), 1e-12);
      EXPECT_EQ(net.size(), static_cast<Index>(points.size()));
      for (const Vector& point : points)
        EXPECT_LE((point - centre).norm(), net.reach() * (1 + 1e-12));
      const bool ball = net.reach() == 1.0 && d > 1;
      for (int trial = 0; trial < 500; ++trial) {
        Vector x(d);
        if (ball || d == 1)
          stream.fill_ball(1.0, x);
        else
          for (double& entry : x) entry = 2 * stream.uniform() - 1;
        x += centre;
        double nearest = HUGE_VAL;
        for (const Vector& point : points) nearest = std::min(nearest, (point - x).norm());
        EXPECT_LE(nearest, radius * (1 + 1e-12));
      }
    }
  }
}

// exp(8 ln 80) is 1677721599999995 in doubles; 10^16 is beyond 2^53, and a ball's N a bound here.
TEST(Net, CountsExactlyOrNotAtAll) {
  const auto cells = [](Index d, double per_axis) {
    return Net::box(Vector::Zero(d), 1.0, std::sqrt(static_cast<double>(d)) / per_axis).size();
  };
  EXPECT_EQ(cells(8, 80), 1677721600000000);
  EXPECT_EQ(cells(15, 10), 1000000000000000);
  EXPECT_EQ(cells(16, 10), std::nullopt);
  EXPECT_EQ(cells(1000, 10), std::nullopt);
  EXPECT_EQ(Net::ball(Vector::Zero(12), 1.0, 0.5).size(), std::nullopt);
}

TEST(Net, NumbersFewerThanTwoToThe62Points) {
  const auto square = [](double per_axis) {
    return Net::box(Vector::Zero(2), 1.0, std::sqrt(2.0) / per_axis).indices();
  };
  constexpr Index side = Index{1} << 31;
  EXPECT_EQ(square(static_cast<double>(side / 2)), side / 2 * (side / 2));
  EXPECT_THROW(square(static_cast<double>(side)), InputError);
}

TEST(Net, MatchesPublishedSizes) {
  // cube of side 2, radius 2 d/(eps_A n) or sqrt(4 d/(eps_A n)), eps_A = eps/2
  const auto points = [](double d, double epsilon_n, bool smooth) {
    const double per = d / (epsilon_n / 2);
    const double radius = smooth ? std::sqrt(4 * per) : 2 * per;
    return std::exp(Net::box(Vector::Zero(static_cast<Index>(d)), 1.0, radius).log_size());
  };
  EXPECT_NEAR(points(1, 1e3, false), 2.5e2, 0.5);
  EXPECT_NEAR(points(1, 1e3, true), 12, 0.5);
  EXPECT_NEAR(points(2, 1e3, false), 3.1e4, 500);
  EXPECT_NEAR(points(2, 1e4, true), 1.3e3, 50);
  EXPECT_NEAR(points(3, 1e4, true), 4.7e4, 500);
  EXPECT_NEAR(points(4, 1e3, false), 2.4e8, 5e6);
  // setting S: a box of diameter 2 in ten dimensions
  const Vector zero = Vector::Zero(10);
  const double half = 1.0 / std::sqrt(10.0);
  EXPECT_EQ(Net::box(zero, half, 0.004).per_axis(), 250);
  EXPECT_NEAR(Net::box(zero, half, 0.004).log_size(), 55.214609, 1e-6);
  EXPECT_EQ(Net::box(zero, half, 0.0894427).per_axis(), 12);
}

}  // namespace
}  // namespace dpsosp::net_test
