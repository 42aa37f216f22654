// SPDX-License-Identifier: Apache-2.0
// Losses a coordinate at a time against losses of whole points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::separable_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double by_coordinates(const RecordSums& records, const Vector& x, const Vector& centre,
                      const BatchView& batch, double limit) {
  double sum = 0;
  for (Index j = 0; j < x.size(); ++j) {
    Vector out = Vector::Zero(1);
    records.add_coordinate_loss_differences(j, Vector::Constant(1, x[j]), centre[j], batch, limit,
                                            out);
    sum += out[0];
  }
  return sum;
}

double whole(const RecordSums& records, const Vector& x, const Vector& centre,
             const BatchView& batch) {
  double sum = 0;
  records.add_loss_differences(Point(x), Point(centre), batch, infinity, sum);
  return sum;
}

class SeparableFamily : public testing::TestWithParam<std::string> {};

TEST_P(SeparableFamily, CoordinatesSumToLoss) {
  for (const std::string sampling : {"independent", "whole", "stream"}) {
    const auto family = find_problem(GetParam());
    Fields fields = family->fields();
    set_field(fields, GetParam(), "sampling", sampling);
    const Problem problem = family->make({.records = 41, .dimension = 5});
    const RecordSums& records = problem.sums();
    ASSERT_TRUE(records.separable());
    Stream stream({.seed = 2});
    for (int trial = 0; trial < 20; ++trial) {
      Vector x(5), centre(5);
      stream.fill_normal(0.7, x);
      stream.fill_normal(0.7, centre);
      if (trial % 3 == 0) x[1] = centre[1];
      const BatchView all(0, 41);
      const double expected = whole(records, x, centre, all);
      EXPECT_NEAR(by_coordinates(records, x, centre, all, infinity), expected,
                  1e-10 * (41 + std::abs(expected)))
          << sampling;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, SeparableFamily,
                         testing::Values("ripple-location", "separable-pl", "multi-well",
                                         "cosine-saddle", "double-well", "ramp"),
                         [](const auto& family) {
                           std::string name = family.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

// Where the facts call a problem separable, G/√d bounds every coordinate's slope on the domain.
TEST(Separable, FactsBoundSlopeOfEveryCoordinate) {
  for (const std::string name :
       {"ripple-location", "separable-pl", "multi-well", "cosine-saddle"}) {
    const Problem problem = find_problem(name)->make({.records = 50, .dimension = 4});
    const PublicFacts& facts = problem.facts;
    ASSERT_TRUE(facts.separable) << name;
    const double limit = facts.constants[constant::lipschitz] / 2;
    const double half_width = facts.domain.kind == Domain::Kind::box ? facts.domain.radius : 3.0;
    Vector values(400), out(400);
    for (Index k = 0; k < 400; ++k)
      values[k] = half_width * (static_cast<double>(2 * k + 1) / 400 - 1);
    double steepest = 0;
    for (Index j = 0; j < 4; ++j)
      for (Index k = 0; k + 1 < 400; ++k) {
        const ClipReport report = problem.extremes->add_coordinate_loss_differences(
            j, values.segment(k, 1), values[k + 1], {0, problem.extremes->size()}, limit,
            out.head(1));
        EXPECT_EQ(report.clipped, 0) << name;
        steepest = std::max(steepest, report.largest_norm);
      }
    EXPECT_GT(steepest, 0.8 * limit) << name;
  }
  for (const std::string name : {"double-well", "ramp"})
    EXPECT_FALSE(find_problem(name)->make({.records = 10, .dimension = 4}).facts.separable) << name;
}

TEST(Separable, OtherFamiliesRejectCoordinateQueries) {
  const Problem problem = find_problem("radial-ripple")->make({.records = 10, .dimension = 2});
  EXPECT_FALSE(problem.facts.separable);
  EXPECT_FALSE(problem.records->separable());
  Vector out = Vector::Zero(1);
  EXPECT_THROW(problem.records->add_coordinate_loss_differences(0, Vector::Ones(1), 0.0,
                                                                BatchView(0, 10), 1.0, out),
               InputError);
}

}  // namespace
}  // namespace dpsosp::separable_test
