// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"

// The sums over records beside the formulas, record by record, in shapes that leave a remainder in
// every loop of the implementation.
namespace dpsosp::matrix_sensing_sum_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Shape {
  Index rows, cols, rank;
};
const std::vector<Shape> shapes{{1, 1, 1}, {2, 3, 1}, {3, 2, 2}, {4, 5, 3},  {5, 4, 4},
                                {7, 6, 5}, {6, 9, 8}, {9, 7, 9}, {20, 20, 3}};

class MatrixSensingSums : public testing::TestWithParam<Shape> {
 protected:
  MatrixSensingSums() {
    const auto [p, q, r] = GetParam();
    data->rows = p;
    data->cols = q;
    data->rank = r;
    data->features.resize(p * q, n);
    data->labels.resize(n);
    x.resize((p + q) * r);
    y.resize(n);
    Stream stream({.seed = 3});
    stream.fill_normal(1.0 / std::sqrt(static_cast<double>(p * q)), data->features.reshaped());
    for (const VectorRef& v : {VectorRef(data->labels), VectorRef(x), VectorRef(y)})
      stream.fill_normal(1.0, v);
    x_from = x;
    y_from = y;
    stream.add_normal(0.1, x_from);
    stream.add_normal(0.1, y_from);
    records = matrix_sensing_records(data);
  }

  /// ∇f_i(x, y) as the paper writes it; the local dual where y is empty.
  Vector gradient(Index i, const Vector& at, const Vector& dual) const {
    const auto [p, q, r] = GetParam();
    const Eigen::Map<const Matrix> U(at.data(), p, r), V(at.data() + p * r, q, r);
    const Eigen::Map<const Matrix> A(data->features.col(i).data(), p, q);
    const double residual = A.cwiseProduct(U * V.transpose()).sum() - data->labels[i];
    const double c = dual.size() > 0 ? dual[i] : residual;
    Vector g = Vector::Zero(at.size() + n);
    g.head(p * r) = (c * A * V).reshaped();
    g.segment(p * r, q * r) = (c * A.transpose() * U).reshaped();
    g[at.size() + i] = residual - c;
    return g;
  }

  static constexpr Index n = 600;  // three chunks
  std::shared_ptr<MatrixSensingData> data = std::make_shared<MatrixSensingData>();
  std::unique_ptr<const AnyRecords> records;
  Vector x, x_from, y, y_from;
};

Vector clipped(const Vector& v, double limit) { return v * std::min(1.0, limit / v.norm()); }

/// What floating-point sums of so many terms of so much weight may differ by.
double rounding(const Vector& sum, double weight) {
  return 64 * std::numeric_limits<double>::epsilon() * (sum.norm() + weight);
}

TEST_P(MatrixSensingSums, MatchFormulasForRangesAndLists) {
  std::vector<Index> list;
  for (Index i = 0; i < n; ++i)
    if (i % 5 < 2) list.push_back(i);
  const Index d = x.size();
  const Vector none;
  for (const double limit : {unlimited, 0.5})
    for (const BatchView& batch : {BatchView(10, 590), BatchView(list)})
      for (const bool local : {false, true})
        for (const bool difference : {false, true}) {
          const Vector& dual = local ? none : y;
          const Vector& dual_from = local ? none : y_from;
          const Block block = local ? Block::x : Block::joint;
          const Index size = local ? d : d + n;
          Vector expected = Vector::Zero(size), sum = Vector::Zero(size);
          double weight = 0;
          for (Index k = 0; k < batch.size(); ++k) {
            Vector v = gradient(batch[k], x, dual);
            if (difference) v -= gradient(batch[k], x_from, dual_from);
            weight += v.norm();
            expected += clipped(v.head(size), limit);
          }
          const Point to = local ? Point(x) : Point(x, y);
          const Point from = local ? Point(x_from) : Point(x_from, y_from);
          if (difference)
            records->add_gradient_differences(to, from, block, batch, limit, sum);
          else
            records->add_gradients(to, block, batch, limit, sum);
          EXPECT_LE((sum - expected).norm(), rounding(expected, weight))
              << "limit " << limit << ", local " << local << ", difference " << difference;
        }
}

TEST_P(MatrixSensingSums, DifferencesAtOnePointOfThePrimalMatchFormulas) {
  const BatchView batch(10, 590);
  const Index d = x.size();
  for (const double limit : {unlimited, 0.5})
    for (const Block block : {Block::x, Block::y, Block::joint}) {
      const Index begin = block == Block::y ? d : 0;
      const Index size = block == Block::x ? d : block == Block::y ? n : d + n;
      Vector expected = Vector::Zero(size), sum = expected;
      double weight = 0;
      for (Index k = 0; k < batch.size(); ++k) {
        const Vector v = gradient(batch[k], x, y) - gradient(batch[k], x, y_from);
        weight += v.norm();
        expected += clipped(v.segment(begin, size), limit);
      }
      records->add_gradient_differences(Point(x, y), Point(x, y_from), block, batch, limit, sum);
      EXPECT_LE((sum - expected).norm(), rounding(expected, weight)) << "limit " << limit;
    }
}

TEST_P(MatrixSensingSums, DualDifferencesAtOnePointOfThePrimalReadNoRecord) {
  data->features.setConstant(std::nan(""));
  data->labels.setConstant(std::nan(""));
  Vector sum = Vector::Zero(n);
  records->add_gradient_differences(Point(x, y), Point(x, y_from), Block::y, BatchView(0, n),
                                    unlimited, sum);
  EXPECT_EQ(sum, y_from - y);
}

TEST_P(MatrixSensingSums, ToleranceDetectsOneWrongRecord) {  // negative control of the tolerance
  Vector sum = Vector::Zero(x.size()), expected = Vector::Zero(x.size());
  records->add_gradients(Point(x), Block::x, BatchView(0, n), unlimited, sum);
  double weight = 0;
  for (Index i = 0; i < n; ++i) {
    const Vector v = gradient(i, x, {});
    weight += v.norm();
    expected += v.head(x.size());
  }
  EXPECT_LE((sum - expected).norm(), rounding(expected, weight));
  expected -= gradient(n - 1, x, {}).head(x.size());
  expected += gradient(n - 1, x * (1 + 1e-6), {}).head(x.size());
  EXPECT_GT((sum - expected).norm(), rounding(expected, weight));
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatrixSensingSums, testing::ValuesIn(shapes), [](const auto& s) {
  return std::to_string(s.param.rows) + "x" + std::to_string(s.param.cols) + "_rank_" +
         std::to_string(s.param.rank);
});

}  // namespace
}  // namespace dpsosp::matrix_sensing_sum_test
