// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/evaluator/lanczos.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "test_objectives.hpp"

namespace dpsosp::lanczos_test {
namespace {

using testing::Quadratic;
using testing::random_vector;

LanczosFactorization factorize(const Objective& f, ConstVectorRef start, Index steps) {
  HessianOperator hessian(f, Vector::Zero(f.dimension()));
  return lanczos(hessian, start, steps);
}

TEST(Lanczos, BasisIsOrthonormalAndSatisfiesRecurrence) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t size, std::uint8_t raw_steps) {
    const Index d = 2 + size;
    const Index steps = 1 + raw_steps;
    const Quadratic f(random_vector(d, seed), seed);
    const Vector start = random_vector(d, seed, 1);
    const LanczosFactorization l = factorize(f, start, steps);
    const Index k = l.steps();
    RC_ASSERT(k == std::min(steps, d));
    const double orthogonality =
        (l.basis.transpose() * l.basis - Matrix::Identity(k, k)).cwiseAbs().maxCoeff();
    RC_ASSERT(orthogonality <= 1e-13);
    RC_ASSERT((l.basis.col(0) - start.normalized()).norm() <= 1e-14);
    Matrix t = l.diagonal.asDiagonal();
    if (k > 1) {
      t.diagonal(1) = l.off_diagonal.head(k - 1);
      t.diagonal(-1) = l.off_diagonal.head(k - 1);
    }
    Matrix product(d, k);
    for (Index j = 0; j < k; ++j) {
      Vector w(d);
      f.hessian_product(start, l.basis.col(j), w);
      product.col(j) = w;
    }
    Matrix remainder = product - l.basis * t;
    const double last = remainder.col(k - 1).norm();
    remainder.col(k - 1).setZero();
    RC_ASSERT(remainder.norm() <= 1e-12);
    RC_ASSERT(std::abs(last - l.off_diagonal[k - 1]) <= 1e-12);
    RC_ASSERT(l.asymmetry <= 1e-12);
  }));
}

TEST(Lanczos, StopsAtInvariantKrylovSpace) {
  Vector spectrum = Vector::Ones(100);
  spectrum.head(30).setConstant(-2);
  spectrum.tail(20).setConstant(5);
  const LanczosFactorization l = factorize(Quadratic(spectrum), random_vector(100, 1), 50);
  EXPECT_EQ(l.steps(), 3);  // three distinct eigenvalues
  EXPECT_NEAR(extreme_ritz(l).smallest, -2, 1e-13);
  EXPECT_NEAR(extreme_ritz(l).largest, 5, 1e-13);
  EXPECT_EQ(factorize(Quadratic(Vector::Zero(9)), random_vector(9, 1), 5).steps(), 1);
}

/// The smallest eigenvalue is `depth` below the rest and the start has exactly weight w on it.
struct Planted {
  Quadratic f;
  Vector start;
};
Planted planted(Index d, double depth, double w, std::uint64_t seed) {
  Vector spectrum = random_vector(d, seed).cwiseAbs();
  spectrum /= spectrum.maxCoeff();
  spectrum[0] = -depth;
  Quadratic f(spectrum, seed);
  const Vector u = f.eigenvector(0);
  Vector rest = random_vector(d, seed, 2);
  rest -= u.dot(rest) * u;
  return {f, rest.normalized() + w * u};
}

TEST(LowerBounds, HoldForStartsOfAssumedWeight) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t size, std::uint8_t raw_steps,
                           std::uint8_t raw_depth, std::uint8_t raw_weight) {
    const Index d = 3 + size;
    const Index steps = 1 + raw_steps % 40;
    const double depth = raw_depth / 255.0;
    const double weight = std::pow(10.0, -raw_weight / 32.0);
    // A little more than is assumed: the start's own weight is rounded.
    const Planted p = planted(d, depth, (1 + 1e-6) * weight, seed);
    const LanczosFactorization l = factorize(p.f, p.start, steps);
    const double theta = extreme_ritz(l).smallest;
    const double slack = 1e-12;
    RC_ASSERT(theta >= -depth - slack);
    RC_ASSERT(moment_lower_bound(l, weight) <= -depth + slack);
    RC_ASSERT(theta - (1 - theta) * chebyshev_gap(weight, steps) <= -depth + slack);
  }));
}

TEST(LowerBounds, FailForOverstatedWeight) {  // the property above can fail
  int moment_failures = 0, chebyshev_failures = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const double weight = 1e-4;
    const Planted p = planted(200, 1e-2, weight, seed);
    const LanczosFactorization l = factorize(p.f, p.start, 25);
    const double theta = extreme_ritz(l).smallest;
    moment_failures += moment_lower_bound(l, 100 * weight) > -0.99e-2;
    chebyshev_failures += theta - (1 - theta) * chebyshev_gap(100 * weight, 25) > -0.99e-2;
  }
  EXPECT_GT(moment_failures, 25);
  EXPECT_GT(chebyshev_failures, 25);
}

TEST(LowerBounds, MomentBoundIsAttained) {
  // One step: b has mean α and the only measures with mass m at λ that fit α, β have
  // (α − λ)² m/(1 − m) ≤ β², with equality for two atoms: d = 2.
  const Quadratic f((Vector(2) << -1, 3).finished());
  const double w = 0.25;
  const LanczosFactorization l = factorize(f, f.eigenvector(1) + w * f.eigenvector(0), 1);
  EXPECT_NEAR(moment_lower_bound(l, w), -1, 1e-12);
  EXPECT_GT(moment_lower_bound(l, 1.001 * w), -1 + 1e-4);
}

TEST(LowerBounds, ChebyshevGapIsAttainedByExtremalMeasure) {
  // k = 1: mass b² at λ₁ = 1, the rest at 0 on A's scale: ξ = b², ε/(1 − ε) = (1 − b²)/b² =
  // 1/weight².
  EXPECT_NEAR(chebyshev_gap(0.5, 1), 4.0, 1e-12);
  // d = 10⁴, p = 0.01, ε = 0.05: 23 steps suffice by the published form (avdiukhin-2024 notes, 8:
  // vector 18), hence by the sharper one as well.
  const double gap = chebyshev_gap(start_weight(10000, 0.01), 23);
  EXPECT_LE(gap / (1 + gap), 0.05);
  const double published = std::pow(std::log(1.648 * 100 / 0.01) / (2 * 23 - 1), 2);
  EXPECT_LE(gap / (1 + gap), published);
  EXPECT_GE(gap / (1 + gap), 0.8 * published);  // it is the same theorem
}

TEST(LowerBounds, WeakenWithLessWeightAndFewerSteps) {
  const Planted p = planted(300, 0.01, 0.05, 3);
  double before = -INFINITY;
  for (const Index k : {2, 5, 10, 20, 40}) {
    const double bound = moment_lower_bound(factorize(p.f, p.start, k), 1e-3);
    EXPECT_GE(bound, before);
    before = bound;
  }
  EXPECT_LE(moment_lower_bound(factorize(p.f, p.start, 10), 1e-6),
            moment_lower_bound(factorize(p.f, p.start, 10), 1e-3));
  EXPECT_GT(chebyshev_gap(1e-6, 10), chebyshev_gap(1e-3, 10));
  EXPECT_GT(chebyshev_gap(1e-3, 5), chebyshev_gap(1e-3, 10));
}

TEST(LowerBounds, AreExactInOneDimension) {
  const double w = start_weight(1, 0.01);
  EXPECT_TRUE(std::isinf(w));
  EXPECT_EQ(chebyshev_gap(w, 1), 0.0);
  const Quadratic f(Vector::Constant(1, -3.0));
  EXPECT_NEAR(moment_lower_bound(factorize(f, Vector::Ones(1), 4), w), -3, 1e-12);
}

TEST(LowerBounds, RejectBadInput) {
  EXPECT_THROW(start_weight(0, 0.1), InputError);
  EXPECT_THROW(start_weight(5, 0.0), InputError);
  EXPECT_THROW(start_weight(5, 1.0), InputError);
  EXPECT_THROW(start_weight(5, NAN), InputError);
}

}  // namespace
}  // namespace dpsosp::lanczos_test
