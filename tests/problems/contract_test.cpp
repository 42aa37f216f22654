// SPDX-License-Identifier: Apache-2.0
// What every problem of the registry owes.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"

namespace dpsosp {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

Vector random_vector(Index size, std::uint64_t seed, double scale = 1.0) {
  Vector v(size);
  Stream({.seed = seed, .purpose = Purpose::test}).fill_normal(scale, v);
  return v;
}

class EveryProblem : public testing::TestWithParam<std::string> {
 protected:
  Problem make(Index n, std::uint64_t data_seed = 1) const {
    return find_problem(GetParam())->make({.records = n, .seed = 3, .data_seed = data_seed});
  }
  static Vector dual_at(const PublicFacts& facts, std::uint64_t seed) {
    return facts.dual_dimension > 0 ? random_vector(facts.dual_dimension, seed) : Vector{};
  }
};

TEST_P(EveryProblem, GradientMeetsFiniteDifferences) {
  const Problem p = make(50);
  const Index d = p.facts.dimension;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Vector x = random_vector(d, seed);
    const Vector v = random_vector(d, 100 + seed).normalized();
    Vector gradient(d);
    p.empirical->gradient(x, gradient);
    const double h = 1e-5;
    const double slope = (p.empirical->value(x + h * v) - p.empirical->value(x - h * v)) / (2 * h);
    EXPECT_NEAR(
        slope, gradient.dot(v), 1e-6 * (1 + gradient.norm() + std::abs(p.empirical->value(x))));
  }
}

TEST_P(EveryProblem, HessianProductMeetsFiniteDifferencesAndIsSymmetric) {
  const Problem p = make(50);
  const Index d = p.facts.dimension;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Vector x = random_vector(d, seed);
    const Vector v = random_vector(d, 100 + seed).normalized();
    const Vector w = random_vector(d, 200 + seed).normalized();
    Vector Hv(d), Hw(d), plus(d), minus(d);
    p.empirical->hessian_product(x, v, Hv);
    p.empirical->hessian_product(x, w, Hw);
    const double h = 1e-5;
    p.empirical->gradient(x + h * v, plus);
    p.empirical->gradient(x - h * v, minus);
    EXPECT_LT(((plus - minus) / (2 * h) - Hv).norm(), 1e-6 * (1 + Hv.norm()));
    EXPECT_NEAR(w.dot(Hv), v.dot(Hw), 1e-10 * (1 + Hv.norm()));
  }
}

TEST_P(EveryProblem, TheRecordsAverageToTheGradientOfTheObjective) {
  const Problem p = make(300);
  const Index d = p.facts.dimension;
  const Vector x = random_vector(d, 7);
  Vector expected(d);
  p.empirical->gradient(x, expected);
  Vector sum = Vector::Zero(d);
  if (p.facts.dual_kind == DualKind::shared) {
    // At the maximiser: ascend y, where f is a quadratic with Hessian −μ.
    Vector y = Vector::Zero(p.facts.dual_dimension);
    const double mu = p.facts.constants[constant::strong_concavity];
    Vector u = Vector::Zero(y.size());
    p.records->add_gradients(Point(x, y), Block::y, BatchView(0, 300), unlimited, u);
    y = u / (300 * mu);
    p.records->add_gradients(Point(x, y), Block::x, BatchView(0, 300), unlimited, sum);
  } else {
    p.records->add_gradients(Point(x), Block::x, BatchView(0, 300), unlimited, sum);
  }
  EXPECT_LT((sum / 300 - expected).norm(), 1e-10 * (1 + expected.norm()));
}

TEST_P(EveryProblem, DifferencesAreDifferencesOfGradients) {
  const Problem p = make(40);
  const Vector x0 = random_vector(p.facts.dimension, 1), x1 = random_vector(p.facts.dimension, 2);
  const Vector y0 = dual_at(p.facts, 3), y1 = dual_at(p.facts, 4);
  const Point from(x0, y0), to(x1, y1);
  std::vector<Block> blocks{Block::x};
  if (p.facts.dual_dimension > 0) blocks = {Block::x, Block::y, Block::joint};
  for (const Block block : blocks) {
    const Index size = (block == Block::y ? 0 : p.facts.dimension) +
                       (block == Block::x ? 0 : p.facts.dual_dimension);
    for (Index i = 0; i < 40; ++i) {
      Vector a = Vector::Zero(size), b = Vector::Zero(size), c = Vector::Zero(size);
      p.records->add_gradients(to, block, BatchView(i, i + 1), unlimited, a);
      p.records->add_gradients(from, block, BatchView(i, i + 1), unlimited, b);
      p.records->add_gradient_differences(to, from, block, BatchView(i, i + 1), unlimited, c);
      EXPECT_LT((a - b - c).norm(), 1e-11 * (1 + a.norm()));
      // one record's clipped contribution is the contribution itself, shortened to the limit
      const double limit = 0.3 * c.norm();
      Vector clipped = Vector::Zero(size);
      const ClipReport report =
          p.records->add_gradient_differences(to, from, block, BatchView(i, i + 1), limit, clipped);
      EXPECT_LT((clipped - 0.3 * c).norm(), 1e-11 * (1 + c.norm()));
      EXPECT_EQ(report.clipped, c.norm() > 0 ? 1 : 0);
      EXPECT_NEAR(report.largest_norm, c.norm(), 1e-11 * (1 + c.norm()));
    }
  }
}

TEST_P(EveryProblem, ExchangingARecordMovesAClippedSumByAtMostTwiceTheLimit) {
  const Problem p = make(30, 1), q = make(30, 99);
  const Vector x = random_vector(p.facts.dimension, 1, 3.0);
  const Vector x_previous = random_vector(p.facts.dimension, 2, 3.0);
  const Vector y = dual_at(p.facts, 3), y_previous = dual_at(p.facts, 4);
  const double limit = 0.05;
  const Block block = p.facts.dual_dimension > 0 ? Block::joint : Block::x;
  const Index size = p.facts.dimension + p.facts.dual_dimension;
  for (Index i = 0; i < 30; ++i) {
    // Exchanging record i replaces its own term alone, so the move is the difference of two terms.
    Vector a = Vector::Zero(size), b = Vector::Zero(size);
    p.records->add_gradients(Point(x, y), block, BatchView(i, i + 1), limit, a);
    q.records->add_gradients(Point(x, y), block, BatchView(i, i + 1), limit, b);
    EXPECT_LE((a - b).norm(), 2 * limit * (1 + 1e-12));
    a.setZero();
    b.setZero();
    const Point to(x, y), from(x_previous, y_previous);
    p.records->add_gradient_differences(to, from, block, BatchView(i, i + 1), limit, a);
    q.records->add_gradient_differences(to, from, block, BatchView(i, i + 1), limit, b);
    EXPECT_LE((a - b).norm(), 2 * limit * (1 + 1e-12));
  }
}

TEST_P(EveryProblem, ASumOverAListIsTheSumOverItsRecords) {
  const Problem p = make(20);
  const Vector x = random_vector(p.facts.dimension, 1);
  const Vector y = dual_at(p.facts, 3);
  const std::vector<Index> list{2, 3, 11, 19};
  Vector sum = Vector::Zero(p.facts.dimension), by_record = sum;
  p.records->add_gradients(Point(x, y), Block::x, BatchView(list), 0.2, sum);
  for (const Index i : list)
    p.records->add_gradients(Point(x, y), Block::x, BatchView(i, i + 1), 0.2, by_record);
  EXPECT_LT((sum - by_record).norm(), 1e-12);
}

TEST_P(EveryProblem, SumsHaveTheSameBitsForAnyNumberOfThreads) {
  const Problem p = make(2000);
  const Vector x = random_vector(p.facts.dimension, 1);
  const Vector y = dual_at(p.facts, 3);
  std::vector<Vector> sums;
  for (const std::size_t threads : {1U, 2U, 7U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    sums.push_back(Vector::Zero(p.facts.dimension));
    p.records->add_gradients(Point(x, y), Block::x, BatchView(0, 2000), 0.2, sums.back());
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST_P(EveryProblem, PublicFactsDoNotDependOnTheRecords) {
  const PublicFacts a = make(30, 1).facts, b = make(30, 2).facts;
  EXPECT_EQ(a.initial_point, b.initial_point);
  for (const auto& [name, value] : a.constants.all())
    EXPECT_EQ(value.value, b.constants[name]) << name;
}

TEST_P(EveryProblem, ProvedConstantsResistASearch) {
  const Problem p = make(20);
  const Constants& c = p.facts.constants;
  const auto proved = [&](std::string_view name) {
    return c.contains(name) && c.at(name).origin == Origin::proved;
  };
  const Index d = p.facts.dimension;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Vector x = random_vector(d, seed, 3.0);
    const Vector v = random_vector(d, 1000 + seed).normalized();
    const double h = std::pow(10.0, -0.02 * static_cast<double>(seed));
    Vector Hv(d), Hv_moved(d);
    p.empirical->hessian_product(x, v, Hv);
    if (proved(constant::smoothness)) {
      EXPECT_LE(Hv.norm(), c[constant::smoothness] * (1 + 1e-12));
    }
    if (proved(constant::hessian_lipschitz)) {
      const Vector step = h * random_vector(d, 2000 + seed).normalized();
      p.empirical->hessian_product(x + step, v, Hv_moved);
      EXPECT_LE((Hv_moved - Hv).norm(), c[constant::hessian_lipschitz] * h * (1 + 1e-9));
    }
    if (proved(constant::lipschitz)) {
      Vector g = Vector::Zero(d);
      const ClipReport report = p.records->add_gradients(
          Point(x), Block::x, BatchView(0, 20), c[constant::lipschitz] * (1 + 1e-12), g);
      EXPECT_EQ(report.clipped, 0);
    }
    if (proved(constant::joint_smoothness)) {
      const Vector y = dual_at(p.facts, 3000 + seed);
      const Vector x_near = x + h * v, y_near = y + h * dual_at(p.facts, 4000 + seed).normalized();
      const Point to(x, y), from(x_near, y_near);
      Vector g = Vector::Zero(d + p.facts.dual_dimension);
      const ClipReport report = p.records->add_gradient_differences(
          to,
          from,
          Block::joint,
          BatchView(0, 20),
          c[constant::joint_smoothness] * to.distance(from) * (1 + 1e-9),
          g);
      EXPECT_EQ(report.clipped, 0);
    }
  }
}

TEST_P(EveryProblem, NoRecordsAreRefused) {
  EXPECT_THROW(make(0), InputError);
  EXPECT_NO_THROW(make(1));
}

std::vector<std::string> all_problems() {
  std::vector<std::string> names;
  for (const auto& e : problem_registry()) names.push_back(e.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         EveryProblem,
                         testing::ValuesIn(all_problems()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace dpsosp
