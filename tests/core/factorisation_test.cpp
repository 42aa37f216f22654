// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/factorisation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp::factorisation_test {
namespace {

Matrix normals(Index rows, Index cols, std::uint64_t seed) {
  Matrix m(rows, cols);
  Stream({.seed = seed}).fill_normal(1.0, m.reshaped());
  return m;
}

double distance_from_orthonormal(const Matrix& q) {
  return (q.transpose() * q - Matrix::Identity(q.cols(), q.cols())).norm();
}

void expect_ascending(const Vector& v) {
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end())) << v.transpose();
}

TEST(SymmetricEigen, PairsSatisfyTheirEquation) {
  for (const Index d : {1, 2, 7, 40}) {
    const Matrix g = normals(d, d, 1);
    const Matrix a = g + g.transpose();
    const auto [values, vectors] = symmetric_eigen(a);
    EXPECT_LT((a * vectors - vectors * values.asDiagonal()).norm(), 1e-12 * a.norm()) << d;
    EXPECT_LT(distance_from_orthonormal(vectors), 1e-12) << d;
    expect_ascending(values);
    const Vector alone = symmetric_eigenvalues(a);
    EXPECT_LT((alone - values).norm(), 1e-13 * a.norm()) << d;
    expect_ascending(alone);
  }
}

TEST(SymmetricEigen, UpperTriangleIsNotRead) {
  const Matrix g = normals(6, 6, 2);
  const Matrix symmetric = g.selfadjointView<Eigen::Lower>();
  EXPECT_EQ(symmetric_eigenvalues(g), symmetric_eigenvalues(symmetric));
  EXPECT_EQ(symmetric_eigen(g).vectors, symmetric_eigen(symmetric).vectors);
}

TEST(TridiagonalEigen, ScaleOfMatrixDoesNotMatter) {
  Stream stream({.seed = 5});
  Vector diagonal(80), beside(79);
  stream.fill_normal(1.0, diagonal);
  stream.fill_normal(1.0, beside);
  const Vector expected = tridiagonal_eigen(diagonal, beside).values;
  for (int power = -1000; power <= 1000; power += 50) {
    const double scale = std::scalbn(1.0, power);
    const auto [values, vectors] = tridiagonal_eigen(scale * diagonal, scale * beside);
    EXPECT_LT((values / scale - expected).norm(), 1e-13 * expected.norm()) << power;
    EXPECT_LT(distance_from_orthonormal(vectors), 1e-12) << power;
  }
}

// Entries of every size beside one another stall Eigen's iteration, and its values come unsorted.
TEST(TridiagonalEigen, EntriesOfManySizesAreSolvedAtEveryScale) {
  Stream stream({.seed = 6});
  Vector diagonal(30), beside(29), exponents(29);
  for (int trial = 0; trial < 500; ++trial) {
    stream.fill_normal(1.0, diagonal);
    stream.fill_normal(1.0, beside);
    stream.fill_normal(8.0, exponents);
    beside.array() *= Eigen::pow(10.0, -exponents.array().abs());
    const double scale = std::scalbn(1.0, 5 * (trial % 20));
    const auto [values, vectors] = tridiagonal_eigen(scale * diagonal, scale * beside);
    EXPECT_TRUE(std::ranges::is_sorted(values)) << trial;
    Matrix product = (scale * diagonal).asDiagonal() * vectors;
    product.topRows(29) += scale * (beside.asDiagonal() * vectors.bottomRows(29));
    product.bottomRows(29) += scale * (beside.asDiagonal() * vectors.topRows(29));
    EXPECT_LT((product - vectors * values.asDiagonal()).norm(), 1e-12 * scale) << trial;
  }
}

TEST(TridiagonalEigen, SecondDifferencesHaveTheirKnownSpectrum) {  // 2 − 2 cos(kπ/(d + 1))
  const Index d = 30;
  const auto [values, vectors] =
      tridiagonal_eigen(Vector::Constant(d, 2.0), Vector::Constant(d - 1, -1.0));
  for (Index k = 0; k < d; ++k) {
    const double angle = static_cast<double>(k + 1) * std::numbers::pi / static_cast<double>(d + 1);
    EXPECT_NEAR(values[k], 2 - 2 * std::cos(angle), 1e-13);
  }
  EXPECT_LT(distance_from_orthonormal(vectors), 1e-12);
}

TEST(Qr, FactorsMultiplyToTheMatrix) {
  for (const Index n : {1, 5, 47, 48, 49, 60}) {
    const Index m = 60;
    const Matrix a = normals(m, n, 3);
    const QrFactors thin = thin_qr(a);
    const QrFactors full = full_qr(a);
    ASSERT_EQ(thin.q.rows(), m);
    ASSERT_EQ(thin.q.cols(), n);
    ASSERT_EQ(full.q.cols(), m);
    EXPECT_LT(distance_from_orthonormal(thin.q), 1e-12) << n;
    EXPECT_LT(distance_from_orthonormal(full.q), 1e-12) << n;
    EXPECT_LT((thin.q - full.q.leftCols(n)).norm(), 1e-12) << n;
    EXPECT_EQ(thin.r_diagonal, full.r_diagonal);
    const Matrix r = thin.q.transpose() * a;
    EXPECT_LT((a - thin.q * r).norm(), 1e-12 * a.norm()) << n;
    EXPECT_LT((r.diagonal() - thin.r_diagonal).norm(), 1e-12 * a.norm()) << n;
    EXPECT_LT(Matrix(r.triangularView<Eigen::StrictlyLower>()).norm(), 1e-12 * a.norm()) << n;
  }
}

TEST(Svd, FactorsMultiplyToTheMatrix) {
  for (const Index n : {1, 4, 20, 33}) {
    const Matrix a = normals(25, n, 4);
    const auto [u, values, v] = thin_svd(a);
    ASSERT_EQ(values.size(), std::min<Index>(25, n));
    EXPECT_LT((a - u * values.asDiagonal() * v.transpose()).norm(), 1e-12 * a.norm()) << n;
    EXPECT_LT(distance_from_orthonormal(u), 1e-12) << n;
    EXPECT_LT(distance_from_orthonormal(v), 1e-12) << n;
    expect_ascending(values.reverse());
    EXPECT_LT((singular_values(a) - values).norm(), 1e-12 * a.norm()) << n;
  }
}

TEST(LeastSquares, ResidualIsOrthogonalToTheColumns) {
  const Matrix a = normals(20, 6, 5);
  const Vector b = normals(20, 1, 6);
  EXPECT_LT((a.transpose() * (a * least_squares(a, b) - b)).norm(), 1e-12);
}

TEST(LeastSquares, SolutionIsTheShortestWhereThereAreMany) {
  const Matrix a{{1, 1}, {2, 2}, {0, 0}};
  EXPECT_LT((least_squares(a, Vector{{1, 2, 5}}) - Vector{{0.5, 0.5}}).norm(), 1e-15);
}

TEST(SymmetricSolve, SolvesTheSystem) {
  const Matrix g = normals(15, 15, 7);
  const Matrix a = g * g.transpose();
  const Vector x = normals(15, 1, 8);
  EXPECT_LT((symmetric_solve(a, a * x) - x).norm(), 1e-9);
}

}  // namespace
}  // namespace dpsosp::factorisation_test
