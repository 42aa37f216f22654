// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/cholesky.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::cholesky_test {
namespace {

const Index sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 60, 64, 120, 200};

Matrix with_spectrum(const Vector& spectrum, std::uint64_t seed) {
  const Index d = spectrum.size();
  Matrix g(d, d);
  Stream({.seed = seed}).fill_normal(1.0, g.reshaped());
  const Matrix q = full_qr(g).q;
  return q * spectrum.asDiagonal() * q.transpose();
}

TEST(Cholesky, DecidesTheSignOfTheLeastEigenvalue) {
  for (const Index d : sizes) {
    Cholesky cholesky(d);
    for (const double least : {-1.0, -1e-9, 1e-9, 1.0}) {
      Vector spectrum = Vector::LinSpaced(d, 1.0, 2.0);
      spectrum[0] = least;
      const Matrix a = with_spectrum(spectrum, 9);
      EXPECT_EQ(cholesky.factor(a, 0.0), least > 0) << d << " " << least;
      EXPECT_EQ(cholesky.factor(a, 0.5), least > 0.5) << d << " " << least;
      EXPECT_TRUE(cholesky.factor(a, least - 1e-9)) << d << " " << least;
    }
    EXPECT_FALSE(cholesky.factor(Matrix::Zero(d, d), 0.0));
    EXPECT_FALSE(cholesky.factor(Matrix::Constant(d, d, std::nan("")), 0.0));
    EXPECT_FALSE(
        cholesky.factor(Matrix::Constant(d, d, std::numeric_limits<double>::infinity()), 0.0));
  }
}

TEST(Cholesky, SolvesShiftedSystemsAndReadsTheLowerTriangleAlone) {
  for (const Index d : sizes) {
    Matrix a = with_spectrum(Vector::LinSpaced(d, 1.0, 100.0), 10);
    const Matrix shifted = a - 0.5 * Matrix::Identity(d, d);
    a.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
    Vector x(d);
    Stream({.seed = 11}).fill_normal(1.0, x);
    Cholesky cholesky(d);
    ASSERT_TRUE(cholesky.factor(a, 0.5));
    for (int twice = 0; twice < 2; ++twice) {
      Vector b = shifted * x;
      cholesky.solve(b);
      EXPECT_LT((b - x).norm(), 1e-12 * x.norm()) << d;
    }
  }
}

}  // namespace
}  // namespace dpsosp::cholesky_test
