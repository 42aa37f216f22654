// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::domain_test {
namespace {

Vector normal_vector(Stream& stream, Index size, double scale) {
  Vector x(size);
  stream.fill_normal(scale, x);
  return x;
}

/// By the definition alone: bisection for the θ at which Σ max(x_j − θ, 0) = 1.
Vector projection_by_bisection(const Vector& x) {
  double low = x.minCoeff() - 2, high = x.maxCoeff();
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    ((x.array() - middle).cwiseMax(0.0).sum() > 1 ? low : high) = middle;
  }
  return (x.array() - low).cwiseMax(0.0);
}

TEST(SimplexDomain, ProjectionMatchesBisection) {
  Stream stream({.seed = 1});
  for (const Index size : {1, 2, 3, 10, 1000})
    for (const double scale : {1e-3, 1.0, 100.0}) {
      const Vector x = normal_vector(stream, size, scale);
      Vector projected = x;
      Domain::simplex().project(projected);
      EXPECT_LT((projected - projection_by_bisection(x)).norm(), 1e-12 * (1 + scale));
      EXPECT_TRUE(Domain::simplex().contains(projected)) << size << ' ' << scale;
    }
}

/// y is the projection of x onto a convex set just if ⟨x − y, z − y⟩ ≤ 0 for every z of it.
TEST(Domain, ProjectionsSatisfyVariationalInequality) {
  Stream stream({.seed = 2});
  for (const Domain& domain : {Domain::simplex(), Domain::ball(1.5), Domain::box(0.7)})
    for (int k = 0; k < 200; ++k) {
      const Vector x = normal_vector(stream, 6, 1.0);
      Vector y = x, z = normal_vector(stream, 6, 2.0);
      domain.project(y);
      domain.project(z);
      EXPECT_TRUE(domain.contains(y)) << to_string(domain);
      EXPECT_LE((x - y).dot(z - y), 1e-12) << to_string(domain);
      Vector again = y;
      domain.project(again);
      EXPECT_LT((again - y).norm(), 1e-14) << to_string(domain);
      Vector moved = x + z;
      const double apart = z.norm();
      domain.project(moved);
      EXPECT_LE((moved - y).norm(), apart * (1 + 1e-12)) << to_string(domain);
    }
}

TEST(SimplexDomain, ContainsItsPointsAlone) {
  const Domain simplex = Domain::simplex();
  EXPECT_TRUE(simplex.contains(Vector{{0.25, 0.75, 0}}));
  EXPECT_FALSE(simplex.contains(Vector{{0.5, 0.75, -0.25}}));
  EXPECT_FALSE(simplex.contains(Vector{{0.25, 0.5, 0}}));
  EXPECT_DOUBLE_EQ(simplex.diameter(3), std::sqrt(2.0));
  EXPECT_EQ(simplex.diameter(1), 0);
  EXPECT_EQ(to_string(simplex), "x_j >= 0, sum x_j = 1");
}

}  // namespace
}  // namespace dpsosp::domain_test
