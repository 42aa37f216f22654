// SPDX-License-Identifier: Apache-2.0
// Why DP-FTRL is no baseline: independent noise is within 7 % of the best factorisation where every
// record takes part in every step (baselines notes, 11.1).
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp::correlated_noise_test {
namespace {

Matrix prefix_sums(Index T) {
  return Matrix::Ones(T, T).triangularView<Eigen::Lower>().toDenseMatrix();
}

/// The first `bands` diagonals of the root of prefix_sums(T): binom(2j, j)/4^j.
Matrix root(Index T, Index bands) {
  Matrix c = Matrix::Zero(T, T);
  double entry = 1.0;
  for (Index j = 0; j < bands; ++j) {
    c.diagonal(-j).setConstant(entry);
    entry *= (2.0 * static_cast<double>(j) + 1.0) / (2.0 * static_cast<double>(j) + 2.0);
  }
  return c;
}

/// Root mean square of the noise in the answers A g, over that of a unit contribution.
double error(const Matrix& a, const Matrix& c, double sensitivity) {
  const Matrix decoded =
      c.transpose().triangularView<Eigen::Upper>().solve(a.transpose());  // (A C⁻¹)ᵀ
  return sensitivity * decoded.norm() / std::sqrt(static_cast<double>(a.rows()));
}
double error_in_every_step(const Matrix& a, const Matrix& c) {
  return error(a, c, c.rowwise().sum().norm());  // of c with non-negative entries
}

TEST(CorrelatedNoise, RootIsNearlyBestWhereRecordsTakePartOnce) {
  for (const Index T : {16, 256}) {
    const Matrix a = prefix_sums(T), c = root(T, T);
    EXPECT_LT((c * c - a).norm(), 1e-10);
    const double n = static_cast<double>(T);
    const double once = error(a, c, c.col(0).norm());
    double nuclear = 0;  // of prefix sums, over T: no factorisation has a smaller error
    for (Index k = 1; k <= T; ++k)
      nuclear +=
          0.5 / std::sin((2.0 * static_cast<double>(k) - 1) * std::numbers::pi / (4 * n + 2));
    EXPECT_NEAR(symmetric_eigenvalues(a.transpose() * a).cwiseSqrt().sum(), nuclear,
                1e-8 * nuclear);
    EXPECT_GT(once, nuclear / n);
    EXPECT_LT(once, 1.11 * nuclear / n);
    // the largest error of a row: (ln T + γ + 4 ln 2)/π for large T
    EXPECT_NEAR(c.col(0).squaredNorm(),
                (std::log(n) + std::numbers::egamma + 4 * std::numbers::ln2) / std::numbers::pi,
                0.1 / n);
  }
}

TEST(CorrelatedNoise, GainsNothingWhereRecordsTakePartInEveryStep) {
  Stream stream({.seed = 4, .purpose = Purpose::test});
  for (const Index T : {16, 64}) {
    const Matrix a = prefix_sums(T);
    const Vector columns = a.colwise().norm();
    const double least = columns.sum() / std::sqrt(static_cast<double>(T));
    const double independent = error_in_every_step(a, Matrix::Identity(T, T));
    EXPECT_NEAR(error_in_every_step(a, columns.cwiseSqrt().asDiagonal().toDenseMatrix()), least,
                1e-12 * least);
    EXPECT_LT(independent, 1.07 * least);
    for (const Index bands : {2, 4, 16})
      EXPECT_GT(error_in_every_step(a, root(T, bands)), independent) << bands;
    for (int trial = 0; trial < 20; ++trial) {
      Matrix c(T, T);
      stream.fill_normal(trial % 2 == 0 ? 0.1 : 1.0, c.reshaped());
      c = c.cwiseAbs().triangularView<Eigen::Lower>();
      c.diagonal().array() += 1.0;
      EXPECT_GE(error_in_every_step(a, c), least);
    }
  }
}

TEST(CorrelatedNoise, HasTheErrorsOfTheNotes) {
  const Index T = 256;
  const Matrix a = prefix_sums(T);
  EXPECT_NEAR(a.colwise().norm().sum() / 16, 171.15, 0.01);
  EXPECT_NEAR(error_in_every_step(a, Matrix::Identity(T, T)), 181.37, 0.01);
  EXPECT_NEAR(error_in_every_step(a, root(T, 4)), 183.33, 0.01);
  EXPECT_NEAR(error_in_every_step(a, root(T, 16)), 195.31, 0.01);
  EXPECT_NEAR(error_in_every_step(a, root(T, T)), 324.30, 0.01);
  EXPECT_NEAR(error(a, root(T, T), root(T, T).col(0).norm()), 2.669, 0.001);
}

TEST(CorrelatedNoise, GainsInOneDimensionByEntriesOfBothSigns) {
  Matrix a(2, 3);  // three unit columns, 120° apart; C = A
  for (Index t = 0; t < 3; ++t) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(t) / 3;
    a.col(t) << std::cos(angle), std::sin(angle);
  }
  double squared = 0;
  for (const double second : {-1.0, 1.0})
    for (const double third : {-1.0, 1.0})
      squared = std::max(squared, (a * Eigen::Vector3d(1, second, third)).squaredNorm());
  EXPECT_NEAR(squared, 4, 1e-12);
  const Matrix decoder = a.transpose() / 1.5;  // A Aᵀ = 1.5 I
  EXPECT_NEAR(squared * (a * decoder).squaredNorm(), 8, 1e-12) << "less than (Σ‖a_t‖)² = 9";
}

TEST(CorrelatedNoise, CostsMoreInBatchesThatTakeTurns) {
  const Index T = 64;
  const Matrix a = prefix_sums(T);
  double last = error_in_every_step(a, Matrix::Identity(T, T));
  for (const Index turns : {2, 4, 16, 64}) {  // batches of n/turns, as many bands
    const Matrix c = root(T, turns);
    double worst = 0;  // a record's columns do not overlap
    for (Index first = 0; first < turns; ++first) {
      double squared = 0;
      for (Index t = first; t < T; t += turns) squared += c.col(t).squaredNorm();
      worst = std::max(worst, squared);
    }
    const double e = error(a, c, static_cast<double>(turns) * std::sqrt(worst));
    EXPECT_GT(e, 1.05 * last) << turns;
    last = e;
  }
}

}  // namespace
}  // namespace dpsosp::correlated_noise_test
