// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/matrix_sensing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::matrix_sensing_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Matrix dense_hessian(const Objective& f, ConstVectorRef x) {
  const Index d = f.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) f.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return H;
}

/// `n` drawn measurements of a p × q matrix.
std::shared_ptr<const MatrixSensingData> drawn_data(Index p, Index q, Index r, Index n) {
  auto data = std::make_shared<MatrixSensingData>();
  data->rows = p;
  data->cols = q;
  data->rank = r;
  data->features.resize(p * q, n);
  data->labels.resize(n);
  Stream stream({.seed = 5, .purpose = Purpose::data});
  stream.fill_normal(1.0, data->features.reshaped());
  stream.fill_normal(1.0, data->labels);
  return data;
}

TEST(MatrixSensing, ObjectiveIsMeanOfRecordsWithMomentsKeptAndWithout) {
  for (const Index n : {11, 12, 13, 300}) {  // from pq = 12 records on the moments are kept
    const auto data = drawn_data(4, 3, 2, n);
    const auto value = matrix_sensing_value(data);
    Vector x(14), v(14), found(14), difference(14);
    Stream stream({.seed = 6});
    stream.fill_normal(1.0, x);
    stream.fill_normal(1.0, v);
    const auto residuals = [&](const Vector& at) {
      const Matrix product = at.head(8).reshaped(4, 2) * at.tail(6).reshaped(3, 2).transpose();
      return Vector(data->features.transpose() * product.reshaped() - data->labels);
    };
    EXPECT_NEAR(value->value(x), 0.5 * residuals(x).squaredNorm() / static_cast<double>(n), 1e-10);
    Vector sum = Vector::Zero(14);
    matrix_sensing_records(data)->add_gradients(Point(x), Block::x, BatchView(0, n), unlimited,
                                                sum);
    value->gradient(x, found);
    EXPECT_LT((found - sum / static_cast<double>(n)).norm(), 1e-11 * (1 + found.norm()));
    Matrix H(14, 14);
    value->hessian(x, H);
    value->hessian_product(x, v, found);
    EXPECT_LT((H * v - found).norm(), 1e-11 * H.norm()) << n;
    EXPECT_LT((H - dense_hessian(*value, x)).norm(), 1e-11 * H.norm()) << n;
  }
}

TEST(MatrixSensing, HessianIsThatOfItsProductsWhereMomentsHaveRowsOfZeros) {
  const auto value = matrix_sensing_value(drawn_data(8, 8, 1, 70));
  Vector x(16);
  Stream({.seed = 7}).fill_normal(1.0, x);
  Matrix H(16, 16);
  value->hessian(x, H);
  EXPECT_LT((H - dense_hessian(*value, x)).norm(), 1e-13 * H.norm());
}

// xu-2026 notes, 9
class SmallInstance : public testing::Test {
 protected:
  SmallInstance() {
    data->rows = data->cols = 2;
    data->rank = 1;
    data->features.resize(4, 3);
    data->features << 1, 0, 1,  //
        0, 1, 0,                //
        0, 1, 2,                //
        1, 0, -1;
    data->labels = Vector{{1, 0.5, -1}};
    records = matrix_sensing_records(data);
    value = matrix_sensing_value(data);
  }
  std::shared_ptr<MatrixSensingData> data = std::make_shared<MatrixSensingData>();
  std::unique_ptr<const AnyRecords> records;
  std::unique_ptr<const Objective> value;
  const Vector x{{0.5, -0.25, 0.2, 0.4}};
  const Vector y{{0.1, -0.2, 0.3}};
};

TEST_F(SmallInstance, ValueGradientAndHessianMatchReference) {
  EXPECT_NEAR(value->value(x), 0.61375, 1e-14);
  Vector g(4);
  value->gradient(x, g);
  EXPECT_LT((g - Vector{{0.42, -0.37, 0.1291666667, 0.6916666667}}).norm(), 1e-9);
  const Vector spectrum = symmetric_eigen(dense_hessian(*value, x)).values;
  EXPECT_LT((spectrum - Vector{{-1.2837671729, 0.0433947894, 0.2524287628, 2.3204436207}}).norm(),
            1e-9);
  Vector Hv(4);
  value->hessian_product(x, Vector{{1, 0, 0, -1}}, Hv);
  EXPECT_LT((Hv - Vector{{-1.0166666667, 0.9533333333, 0.2416666667, 0.7916666667}}).norm(), 1e-9);
  const Matrix at_origin = dense_hessian(*value, Vector::Zero(4));
  EXPECT_NEAR(symmetric_eigen(at_origin).values[0], -0.8440825170, 1e-9);
}

TEST_F(SmallInstance, BothGradientBlocksMatchReference) {
  const Vector expected{
      {0.08, -0.04, 0.0833333333, 0.0833333333, -0.3666666667, -0.05, 0.4333333333}};
  Vector joint = Vector::Zero(7), gx = Vector::Zero(4), gy = Vector::Zero(3);
  records->add_gradients(Point(x, y), Block::joint, BatchView(0, 3), unlimited, joint);
  records->add_gradients(Point(x, y), Block::x, BatchView(0, 3), unlimited, gx);
  records->add_gradients(Point(x, y), Block::y, BatchView(0, 3), unlimited, gy);
  EXPECT_LT((joint / 3 - expected).norm(), 1e-9);
  EXPECT_LT((gx / 3 - expected.head(4)).norm(), 1e-9);
  EXPECT_LT((gy / 3 - expected.tail(3)).norm(), 1e-9);
}

TEST_F(SmallInstance, RecordsUseTheirMaximiserWithoutDual) {
  Vector local = Vector::Zero(4), expected(4);
  records->add_gradients(Point(x), Block::x, BatchView(0, 3), unlimited, local);
  value->gradient(x, expected);
  EXPECT_LT((local / 3 - expected).norm(), 1e-14);
  Vector u = Vector::Zero(3);
  EXPECT_THROW(records->add_gradients(Point(x), Block::y, BatchView(0, 3), unlimited, u),
               InputError);
}

TEST(MatrixSensing, MetricsAtGaussianPointsMatchSection62) {
  // xu-2026 notes, 9: X* = 0, x ~ N(0, I): means over 200 instances; four standard errors.
  MatrixSensing family;
  family.planted_norm = 1e-9;
  family.planted_scale = PlantedScale::frobenius;
  family.label_noise = 0.0;
  constexpr int instances = 40;
  double values = 0, gradients = 0, curvatures = 0;
  for (std::uint64_t seed = 0; seed < instances; ++seed) {
    const Problem p = family.make({.records = 400, .seed = seed, .data_seed = seed});
    Vector x(120), g(120);
    Stream({.seed = seed, .purpose = Purpose::test}).fill_normal(1.0, x);
    p.empirical->gradient(x, g);
    const double phi = p.empirical->value(x);
    const double lambda_min = symmetric_eigenvalues(dense_hessian(*p.empirical, x))[0];
    values += phi / instances;
    gradients += g.norm() / std::pow(phi, 0.75) / instances;
    curvatures += lambda_min / std::sqrt(phi) / instances;
  }
  const double four_errors = 4.0 / std::sqrt(static_cast<double>(instances));
  EXPECT_NEAR(values, 1.45, 0.41 * four_errors);
  EXPECT_NEAR(gradients, 0.461, 0.014 * four_errors);
  EXPECT_NEAR(curvatures, -0.0547, 0.0039 * four_errors);
}

TEST(MatrixSensing, StartingPointsMatchSection61) {
  // medians over 20 data sets. E Phi(0) = 3/2 without rescaling, and the
  // printed sd 0.4 makes 0.4 about three standard errors of a median of 20.
  const auto medians = [](PlantedScale scale) {
    std::vector<double> values, gradients;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      MatrixSensing family;
      family.planted_scale = scale;
      const Problem p = family.make({.records = 400, .seed = seed, .data_seed = seed});
      Vector g(120);
      p.empirical->gradient(p.facts.initial_point, g);
      values.push_back(p.empirical->value(p.facts.initial_point));
      gradients.push_back(g.norm());
    }
    std::ranges::nth_element(values, values.begin() + 10);
    std::ranges::nth_element(gradients, gradients.begin() + 10);
    return std::pair{values[10], gradients[10]};
  };
  const auto [unscaled_value, unscaled_gradient] = medians(PlantedScale::none);
  EXPECT_NEAR(unscaled_value, 1.5, 0.4);
  EXPECT_NEAR(unscaled_gradient, 0.0309, 0.006);
  const auto [unit_value, unit_gradient] = medians(PlantedScale::frobenius);
  EXPECT_NEAR(unit_value, 0.0014, 0.0002);
  EXPECT_NEAR(unit_gradient, 0.0010, 0.0002);
}

TEST(MatrixSensing, RejectsWrongDimensionNamingTheRightOne) {
  try {
    MatrixSensing().make({.records = 10, .dimension = 100});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "matrix-sensing: dimension = 100, expected (rows + cols) rank = 120; set "
                 "problem.rows, problem.cols, problem.rank");
  }
}

}  // namespace
}  // namespace dpsosp::matrix_sensing_test
