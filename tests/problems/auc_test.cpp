// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/auc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "counts.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::auc_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::shared_ptr<const AucData> vector_data() {  // xu-2026 notes, 9
  AucData data;
  data.features.resize(2, 4);
  data.features << 1, -0.3, 0.2, -1,  //
      0.5, 1, -1.2, 0.4;
  data.labels = Vector{{1, 1, -1, -1}};
  return std::make_shared<const AucData>(data);
}

TEST(Auc, ValueGradientProductAndDualMatchReference) {
  const auto data = vector_data();
  const auto phi = auc_value(data, Vector::Constant(4, 0.25));
  const Vector x{{0.4, -0.7, 0.3, 0.6}};
  EXPECT_NEAR(phi->value(x), 0.0776525278, 1e-10);
  Vector g(4), Hv(4);
  phi->gradient(x, g);
  EXPECT_LT((g - Vector{{-0.0738185412, -0.1434274723, -0.0545652641, 0.0371741479}}).norm(), 1e-9);
  phi->hessian_product(x, Vector{{1, -1, 0.5, 2}}, Hv);
  EXPECT_LT((Hv - Vector{{0.1008162643, 0.0594147839, 0.2877580025, 1.0068014612}}).norm(), 1e-9);
  Vector slope = Vector::Zero(1);
  auc_records(data)->add_gradients(Point(x, Vector::Zero(1)), Block::y, BatchView(0, 4), unlimited,
                                   slope);
  EXPECT_NEAR(slope[0] / 4 / 0.5, 0.1165211760, 1e-10);  // y* = mean ∂f/∂y(0) / μ
}

/// f as it is defined: xu-2026 notes, 8.2.
double loss(const Vector& z, double label, double p, const Vector& x, double y) {
  const double h = 1 / (1 + std::exp(-z.dot(x.head(z.size()))));
  const double a = x[z.size()], b = x[z.size() + 1];
  const bool positive = label > 0;
  return (positive ? (1 - p) * (h - a) * (h - a) : p * (h - b) * (h - b)) +
         2 * (1 + y) * (positive ? -(1 - p) * h : p * h) - p * (1 - p) * y * y;
}

TEST(Auc, RecordGradientsMatchSpecifiedLoss) {
  AucData data{{Matrix(2, 3), Vector{{1, -1, 1}}}, 0.3};
  data.features << 0.6, -0.2, 0,  //
      0.3, 0.9, 0;                // the last has no features
  const auto shared = std::make_shared<const AucData>(data);
  const auto records = auc_records(shared);
  const Vector x{{0.4, -0.7, 0.3, 0.6}}, y{{0.8}};
  for (Index i = 0; i < 3; ++i) {
    Vector g = Vector::Zero(5), measured(5);
    records->add_gradients(Point(x, y), Block::joint, BatchView(i, i + 1), unlimited, g);
    const double h = 1e-5;
    for (Index j = 0; j < 5; ++j) {
      Vector up = x, down = x;
      double y_up = y[0], y_down = y[0];
      if (j < 4) {
        up[j] += h;
        down[j] -= h;
      } else {
        y_up += h;
        y_down -= h;
      }
      const Vector z = data.features.col(i);
      measured[j] =
          (loss(z, data.labels[i], 0.3, up, y_up) - loss(z, data.labels[i], 0.3, down, y_down)) /
          (2 * h);
    }
    EXPECT_LT((g - measured).norm(), 1e-9);
  }
}

TEST(Auc, ValueIsMaximumOverDual) {
  const auto data = vector_data();
  const auto phi = auc_value(data, Vector::Constant(4, 0.25));
  const Vector x{{0.4, -0.7, 0.3, 0.6}};
  double largest = -unlimited;
  for (double y = -2; y <= 2; y += 1e-4) {
    double mean = 0;
    for (Index i = 0; i < 4; ++i)
      mean += loss(data->features.col(i), data->labels[i], 0.5, x, y) / 4;
    largest = std::max(largest, mean);
  }
  EXPECT_NEAR(phi->value(x), largest, 1e-8);
}

TEST(Auc, ClassMeansAreOptimalThresholds) {
  const auto data = vector_data();
  const auto phi = auc_value(data, Vector::Constant(4, 0.25));
  Vector x{{0.4, -0.7, 0, 0}};
  Vector h(4), g(4);
  for (Index i = 0; i < 4; ++i) h[i] = 1 / (1 + std::exp(-data->features.col(i).dot(x.head(2))));
  x.tail(2) << (h[0] + h[1]) / 2, (h[2] + h[3]) / 2;
  phi->gradient(x, g);
  EXPECT_LT(g.tail(2).norm(), 1e-15);
}

/// Data sets of two values with random shares, features on the unit sphere.
class AucOnTwoValues : public testing::TestWithParam<double> {};

TEST_P(AucOnTwoValues, ValueConstantsHold) {
  Auc family;
  family.prior = GetParam();
  const Constants c = family.make({.records = 10, .dimension = 4}).facts.constants;
  Stream stream({.seed = 5});
  double curvature = 0, third = 0;
  for (int k = 0; k < 3000; ++k) {
    AucData data{{Matrix(2, 2), Vector(2)}, family.prior};
    stream.fill_normal(1.0, data.features.reshaped());
    data.features.colwise().normalize();
    for (double& label : data.labels) label = stream.bernoulli(0.5) ? 1 : -1;
    const double share = k % 3 == 0 ? 1.0 : stream.uniform();
    const auto phi = auc_value(std::make_shared<const AucData>(data), Vector{{share, 1 - share}});
    Vector x(4), v(4);
    stream.fill_normal(2.0, x);
    for (double& threshold : x.tail(2))
      threshold = k % 2 == 0 ? (threshold < 0 ? -1 : 1) : std::clamp(threshold, -1.0, 1.0);
    Matrix H(4, 4);
    for (Index j = 0; j < 4; ++j) phi->hessian_product(x, Vector::Unit(4, j), H.col(j));
    curvature = std::max(curvature, symmetric_eigen(H).values.cwiseAbs().maxCoeff());
    stream.fill_normal(1.0, v);
    v.normalize();
    Vector ahead(4), behind(4);
    const double step = 1e-4;
    phi->hessian_product(x + step * v, v, ahead);
    phi->hessian_product(x - step * v, v, behind);
    third = std::max(third, (ahead - behind).norm() / (2 * step));
  }
  EXPECT_LE(curvature, c[constant::smoothness]);
  EXPECT_GE(curvature, 0.75 * c[constant::smoothness]);
  EXPECT_LE(third, c[constant::hessian_lipschitz]);
  EXPECT_GE(third, 0.45 * c[constant::hessian_lipschitz]);
}
INSTANTIATE_TEST_SUITE_P(Priors, AucOnTwoValues, testing::Values(0.1, 0.5, 0.8));

TEST(Auc, RequiresSharedDual) {
  const Problem p = Auc().make({.records = 3});
  Vector g = Vector::Zero(12);
  EXPECT_THROW(
      p.sums().add_gradients(Point(p.facts.initial_point), Block::x, BatchView(0, 3), unlimited, g),
      InputError);
}

TEST(Auc, RejectsInvalidSettings) {
  const auto refused = [](auto change, Index dimension = 12) {
    Auc family;
    change(family);
    EXPECT_THROW(family.make({.records = 3, .dimension = dimension}), InputError);
  };
  refused([](Auc& f) { f.prior = 0; });
  refused([](Auc& f) { f.prior = std::nan(""); });
  refused([](Auc& f) { f.separation = 1.1; });
  refused([](Auc& f) { f.points = 0; });
  refused([](Auc& f) { f.start.kind = StartOption::Kind::saddle; });
  refused([](Auc&) {}, 2);
}

TEST(Auc, PositiveCountIsBinomialForEverySampling) {
  for (const RecordSampling sampling :
       {RecordSampling::independent, RecordSampling::whole, RecordSampling::stream}) {
    constexpr Index n = 20;
    const auto count = [&](std::uint64_t seed, Index begin, Index end) {
      Auc family;
      family.prior = 0.3;
      family.points = 3;
      family.sampling = sampling;
      const Problem p = family.make({.records = n, .dimension = 4, .data_seed = seed});
      const Vector x = Vector::Zero(4), y = Vector::Zero(1);
      Vector g = Vector::Zero(4);
      p.sums().add_gradients(Point(x, y), Block::x, BatchView(begin, end), unlimited, g);
      return static_cast<Index>(std::lround(-g[2] / 0.7));  // −2(1−p)(h − a) each, h = 1/2
    };
    std::vector<Index> whole, first, second;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      whole.push_back(count(seed, 0, n));
      if (sampling == RecordSampling::whole) continue;
      first.push_back(count(seed, 0, 8));
      second.push_back(count(seed, 8, n));
    }
    testing_support::expect_binomial(whole, n, 0.3);
    if (sampling == RecordSampling::whole) continue;
    testing_support::expect_binomial(first, 8, 0.3);
    testing_support::expect_binomial(second, 12, 0.3);
    testing_support::expect_uncorrelated(first, second);
  }
}

}  // namespace
}  // namespace dpsosp::auc_test
