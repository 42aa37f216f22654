// SPDX-License-Identifier: Apache-2.0
// The losses that docs/add-a-problem.md writes down.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp::page_losses_test {
namespace {

#include "page_losses.inc"

constexpr Index d = 5, n = 40;

Vector gradients(const AnyRecords& records, const Vector& x) {
  Vector sum = Vector::Zero(d);
  records.add_gradients(Point(x), Block::x, BatchView(0, n), 1e12, sum);
  return sum;
}

void expect_derivatives(const AnyRecords& records) {
  Stream stream({.seed = 2, .purpose = Purpose::test});
  Vector x(d), v(d), product = Vector::Zero(d);
  stream.fill_normal(1.0, x);
  stream.fill_normal(1.0, v);
  const double h = 1e-5;
  const Vector ahead = x + h * v, behind = x - h * v;
  double rise = 0;
  records.add_loss_differences(Point(ahead), Point(behind), BatchView(0, n), 1e12, rise);
  EXPECT_NEAR(rise / (2 * h), gradients(records, x).dot(v), 1e-7);
  records.add_hessian_products(Point(x), v, BatchView(0, n), 1e12, product);
  const Vector change = (gradients(records, ahead) - gradients(records, behind)) / (2 * h);
  EXPECT_LE((change - product).norm(), 1e-7);
}

TEST(PageLosses, OfLogisticRegressionAreThoseOfTheZoo) {
  RecordColumns data{Matrix(d, n), Vector(n)};
  Stream stream({.seed = 1, .purpose = Purpose::test});
  stream.fill_normal(1.0, data.features.reshaped());
  for (double& label : data.labels) label = stream.bernoulli(0.5) ? 1 : 0;
  const auto records = logistic_records(data);
  expect_derivatives(*records);
  Vector expected = Vector::Zero(d);
  const Vector x = Vector::LinSpaced(d, -1, 1);
  for (Index i = 0; i < n; ++i)
    expected +=
        (1 / (1 + std::exp(-data.features.col(i).dot(x))) - data.labels[i]) * data.features.col(i);
  EXPECT_LE((gradients(*records, x) - expected).norm(), 1e-13);
}

TEST(PageLosses, OfDoubleWellAreThoseOfTheZoo) {
  const auto records = double_well_records(d, n, Stream({.seed = 3}));
  expect_derivatives(*records);
  const Problem zoo = find_problem("double-well")->make({.records = n, .dimension = d});
  const Wells wells(1);
  const Vector x = Vector::LinSpaced(d, -2, 1);
  Vector one(d), other(d);
  wells.gradient(x, one);
  zoo.population->gradient(x, other);
  EXPECT_LE((one - other).norm(), 1e-14);
  EXPECT_NEAR(wells.value(x), zoo.population->value(x), 1e-14);
  const Constants constants = wells.constants(d, 3);
  for (const std::string_view name :
       {constant::lipschitz, constant::smoothness, constant::hessian_lipschitz})
    EXPECT_NEAR(constants[name], zoo.facts.constants[name], 1e-14) << name;
  Curator curator(zoo.facts, *records, {Calibrator::cks, {}, 1.0}, {.seed = 1});
  EXPECT_EQ(curator.label(), PrivacyLabel::enforced);
}

}  // namespace
}  // namespace dpsosp::page_losses_test
