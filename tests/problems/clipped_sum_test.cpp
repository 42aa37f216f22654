// SPDX-License-Identifier: Apache-2.0
// The sum over a batch is that of its records' vectors, each clipped, whatever closed forms, chunks
// and blocks of rows it goes by.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/problems/sampling.hpp"

namespace dpsosp::clipped_sum_test {
namespace {

constexpr Index records = 1100;  // several chunks
constexpr double unlimited = 1e12;

std::optional<Problem> made(const std::string& name) {
  try {
    return find_problem(name)->make({.records = records, .data_seed = 5});
  } catch (const InputError&) {
    return {};  // its data are not here
  }
}

class ClippedSums : public testing::TestWithParam<std::string> {};

TEST_P(ClippedSums, AreSumsOfClippedRecords) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const PublicFacts& facts = problem->facts;
  Stream stream({.seed = 6});
  Vector x(facts.dimension), y(facts.dual_dimension);
  stream.fill_normal(0.3, x);
  stream.fill_normal(0.3, y);
  facts.domain.project(x);
  const bool minimax = y.size() > 0;
  const Point point = minimax ? Point(x, y) : Point(x);
  const Block block = minimax ? Block::joint : Block::x;
  const Index entries = x.size() + y.size();

  std::vector<Index> members;
  stream.bernoulli_subset(facts.records, 0.9, members);
  Matrix each = Matrix::Zero(entries, std::ssize(members));
  for (Index k = 0; k < each.cols(); ++k) {
    const Index i = members[static_cast<std::size_t>(k)];
    problem->records->add_gradients(point, block, BatchView(i, i + 1), unlimited, each.col(k));
  }
  Vector norms = each.colwise().norm();
  std::ranges::sort(norms);
  const double limit =
      norms[norms.size() / 2] * 1.0000001;  // clips a half, or none if all are equal

  Vector expected = Vector::Zero(entries);
  Index clipped = 0;
  for (const auto& v : each.colwise()) {
    expected += std::min(1.0, limit / std::max(v.norm(), 1e-300)) * v;
    clipped += v.norm() > limit ? 1 : 0;
  }
  Vector sum = Vector::Zero(entries);
  const ClipReport report =
      problem->records->add_gradients(point, block, BatchView(members), limit, sum);
  EXPECT_LE((sum - expected).norm(), 1e-10 * limit * static_cast<double>(members.size()));
  EXPECT_EQ(report.clipped, clipped);
}

/// Sums of every kind at a random point, a second one near it, and a random direction.
struct Sums {
  explicit Sums(const Problem& problem, double apart) : of(*problem.records) {
    const PublicFacts& facts = problem.facts;
    Stream stream({.seed = 6});
    x.resize(facts.dimension);
    y.resize(facts.dual_dimension);
    stream.fill_normal(0.3, x);
    stream.fill_normal(0.3, y);
    facts.domain.project(x);
    x_before = x;
    y_before = y;
    stream.add_normal(apart, x_before);
    stream.add_normal(apart, y_before);
    facts.domain.project(x_before);
    v.resize(x.size());
    stream.fill_normal(1.0, v);
    v.normalize();
  }

  bool minimax() const { return y.size() > 0; }
  Point here() const { return at(x, y); }
  Index entries() const { return x.size() + y.size(); }
  Vector gradient(const BatchView& batch, double limit) const {
    Vector out = Vector::Zero(entries());
    of.add_gradients(at(x, y), block(), batch, limit, out);
    return out;
  }
  Vector difference(const BatchView& batch, double limit) const {
    Vector out = Vector::Zero(entries());
    of.add_gradient_differences(at(x, y), at(x_before, y_before), block(), batch, limit, out);
    return out;
  }
  Vector product(const BatchView& batch, double limit) const {
    Vector out = Vector::Zero(x.size());
    of.add_hessian_products(Point(x), v, batch, limit, out);
    return out;
  }
  Vector product_difference(const BatchView& batch, double limit) const {
    Vector out = Vector::Zero(x.size());
    of.add_hessian_difference_products(Point(x), Point(x_before), v, batch, limit, out);
    return out;
  }
  using Kind = Vector (Sums::*)(const BatchView&, double) const;
  std::vector<Kind> kinds() const {
    std::vector<Kind> all{&Sums::gradient, &Sums::difference};
    if (of.has_second_order()) all.insert(all.end(), {&Sums::product, &Sums::product_difference});
    return all;
  }

  const Records& of;
  Vector x, y, x_before, y_before, v;

 private:
  Point at(const Vector& primal, const Vector& dual) const {
    return minimax() ? Point(primal, dual) : Point(primal);
  }
  Block block() const { return minimax() ? Block::joint : Block::x; }
};

/// What a record adds depends on nothing but itself: neither on the others of a batch nor on where
/// blocks and chunks end.
TEST_P(ClippedSums, OfEveryKindAndBatchAddUpSingleRecords) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const Sums sums(*problem, 0.1);
  const Index n = problem->facts.records;
  std::vector<Index> list;
  Stream({.seed = 7}).bernoulli_subset(n, 0.3, list);
  const std::vector<Index> few{list[0], list[1], list[2]};
  const std::vector<BatchView> batches{BatchView(0, n),
                                       BatchView(3, 4),
                                       BatchView(1, 12),
                                       BatchView(5, n - 2),
                                       BatchView(list),
                                       BatchView(few)};
  for (std::size_t kind = 0; kind < sums.kinds().size(); ++kind) {
    const auto sum = [&](const BatchView& batch, double limit) {
      return (sums.*sums.kinds()[kind])(batch, limit);
    };
    Vector norms(n);
    for (Index i = 0; i < n; ++i) norms[i] = sum(BatchView(i, i + 1), unlimited).norm();
    std::ranges::sort(norms);
    const double limit = norms[n / 2] * 1.0000001;
    if (limit == 0) continue;
    Matrix each(sum(BatchView(0, 1), limit).size(), n);
    for (Index i = 0; i < n; ++i) each.col(i) = sum(BatchView(i, i + 1), limit);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      Vector expected = Vector::Zero(each.rows());
      for (Index k = 0; k < batches[b].size(); ++k) expected += each.col(batches[b][k]);
      EXPECT_LE((sum(batches[b], limit) - expected).norm(),
                1e-10 * limit * static_cast<double>(batches[b].size()))
          << "kind " << kind << ", batch " << b;
    }
  }
}

/// Whatever the point and the record, however far and however unbalanced.
TEST_P(ClippedSums, HaveHessiansOfNoHigherRankThanStated) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const Records& records = *problem->records;
  const Index rank = records.has_second_order() ? records.hessian_rank() : 0;
  if (rank == 0) GTEST_SKIP() << "states no rank";
  const Index d = problem->facts.dimension;
  Stream stream({.seed = 9});
  for (int trial = 0; trial < 60; ++trial) {
    Vector x = Vector::Zero(d);
    const Index from = stream.below(d), entries = 1 + stream.below(d - from);
    for (Index j = from; j < from + entries; ++j) x[j] = 2.0 * stream.normal();
    problem->facts.domain.project(x);
    const Index i = stream.below(records.size());
    Matrix hessian = Matrix::Zero(d, d);
    for (Index j = 0; j < d; ++j)
      records.add_hessian_products(
          Point(x), Vector::Unit(d, j), BatchView(i, i + 1), unlimited, hessian.col(j));
    const Vector values = singular_values(hessian);
    EXPECT_LE(rank < d ? values[rank] : 0.0, 1e-10 * (values[0] + 1e-300)) << "record " << i;
  }
}

/// Where a difference is rounding alone, it is still clipped: no two records differ by more than
/// twice the limit. One entry is tiny and moves by a part of itself, and the direction is long
/// there.
TEST_P(ClippedSums, AtNearlyEqualPointsMoveByNoMoreThanTheLimit) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  Sums sums(*problem, 0);
  Stream stream({.seed = 8});
  const auto power = [&](double least, double most) {
    return std::pow(10.0, least + (most - least) * stream.uniform());
  };
  const auto sign = [&] { return stream.bernoulli(0.5) ? 1.0 : -1.0; };
  constexpr double limit = 1e-60;
  std::vector<double> farthest(4, 0.0);
  for (int trial = 0; trial < 4000; ++trial) {
    stream.fill_normal(0.2, sums.x);
    stream.fill_normal(1.0, sums.v);
    const Index j = stream.below(sums.x.size());
    if (trial % 2 == 0) sums.x[j] = sign() * power(-17, -14);
    sums.v[j] *= power(0, 18);
    sums.x_before = sums.x;
    sums.x_before[j] *= 1 + sign() * power(-16, -1);
    const Index one = stream.below(problem->facts.records);
    const Index other = stream.below(problem->facts.records);
    for (std::size_t kind = 1; kind < sums.kinds().size(); kind += 2) {
      const auto of = [&](Index i) {
        return (sums.*sums.kinds()[kind])(BatchView(i, i + 1), limit);
      };
      const double allowed = 2 * limit * (kind == 1 ? 1.0 : sums.v.stableNorm());
      farthest[kind] = std::max(farthest[kind], (of(one) - of(other)).stableNorm() / allowed);
    }
  }
  EXPECT_LE(farthest[1], 1 + 1e-9) << "gradient differences";
  EXPECT_LE(farthest[3], 1 + 1e-9) << "differences of Hessian products";
}

/// In each block of variables, and of joint ones.
TEST_P(ClippedSums, CountRecordsWithLongerGradients) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const Sums at(*problem, 0.1);
  const Point point = at.here();
  for (const Block block : {Block::x, Block::y, Block::joint}) {
    if (!at.minimax() && block != Block::x) continue;
    const Index entries =
        (block == Block::y ? 0 : at.x.size()) + (block == Block::x ? 0 : at.y.size());
    std::vector<double> norms;
    for (Index i = 0; i < 60; ++i) {
      Vector one = Vector::Zero(entries);
      problem->records->add_gradients(point, block, BatchView(i, i + 1), unlimited, one);
      norms.push_back(one.norm());
    }
    std::vector<double> sorted = norms;
    std::ranges::sort(sorted);
    const double limit = sorted[20] * 1.0000001;
    EXPECT_EQ(problem->records->longer_gradients(point, block, BatchView(0, 60), limit),
              std::ranges::count_if(norms, [&](double norm) { return norm > limit; }));
  }
}

TEST_P(ClippedSums, HessianDifferencesAreDifferencesOfProducts) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records->has_second_order()) GTEST_SKIP() << "no second order";
  const Index d = problem->facts.dimension;
  Stream stream({.seed = 8});
  Vector x(d), y(d), v(d);
  stream.fill_normal(0.3, x);
  stream.fill_normal(0.3, y);
  stream.fill_normal(1.0, v);
  problem->facts.domain.project(x);
  problem->facts.domain.project(y);
  const BatchView all(0, records);
  Vector at_x = Vector::Zero(d), at_y = at_x, between = at_x;
  problem->records->add_hessian_products(Point(x), v, all, unlimited, at_x);
  problem->records->add_hessian_products(Point(y), v, all, unlimited, at_y);
  problem->records->add_hessian_difference_products(Point(x), Point(y), v, all, unlimited, between);
  EXPECT_LE((at_x - at_y - between).norm(), 1e-10 * (at_x.norm() + at_y.norm()));
}

TEST_P(ClippedSums, RefuseADualBlockWhereThereIsNone) {
  const auto problem = made(GetParam());
  if (!problem || problem->facts.dual_dimension > 0) GTEST_SKIP() << "a minimax problem";
  const Point point(problem->facts.initial_point);
  const BatchView all(0, problem->facts.records);
  Vector out = Vector::Zero(problem->facts.dimension);
  for (const Block block : {Block::y, Block::joint}) {
    EXPECT_THROW(problem->records->add_gradients(point, block, all, 1.0, out), InputError);
    EXPECT_THROW(problem->records->add_gradient_differences(point, point, block, all, 1.0, out),
                 InputError);
  }
}

/// 64 units in the last place of what cancelled, and no more; the sum is scaled to the limit.
TEST(SimulatedLimit, LetsRoundingOfCancelledNumbersPass) {
  const double slack = 64 * std::numeric_limits<double>::epsilon() * 1e10;
  for (const double cancelled : {0.0, 1e10}) {
    EXPECT_EQ(check_simulated_limit("p", 1.0, 2.0, cancelled), 1.0);
    EXPECT_EQ(check_simulated_limit("p", 1.0, 1.0, cancelled), 1.0);
    const double within = 1 - (cancelled > 0 ? 0.9 * slack : 1e-10);
    EXPECT_EQ(check_simulated_limit("p", 1.0, within, cancelled), within);
    const double beyond = 1 - (cancelled > 0 ? 1.1 * slack : 1e-8);
    EXPECT_THROW(check_simulated_limit("p", 1.0, beyond, cancelled), InputError);
  }
}

TEST(TiltedSums, ExceedNoLimitWhereTiltsCancelGradient) {
  const Problem problem = find_problem("double-well")->make({.records = 64, .dimension = 2});
  const Records& all = *problem.records;
  const auto sum_of = [&](const Vector& x, const BatchView& batch, double limit) {
    Vector sum = Vector::Zero(2);
    all.add_gradients(Point(x), Block::x, batch, limit, sum);
    return sum;
  };
  // The point where the first record's gradient is zero, but for rounding.
  Vector x = problem.facts.initial_point + Vector::Constant(2, 0.9);
  for (int step = 0; step < 60; ++step) {
    Matrix h(2, 2);
    problem.empirical->hessian(x, h);
    x -= least_squares(h, sum_of(x, BatchView(0, 1), unlimited));
  }
  ASSERT_LT(sum_of(x, BatchView(0, 1), unlimited).norm(), 1e-16);

  const double limit = 1e-17;
  Vector expected = Vector::Zero(2);
  for (Index i = 0; i < all.size(); ++i) {
    const Vector g = sum_of(x, BatchView(i, i + 1), unlimited);
    expected += std::min(1.0, limit / std::max(g.norm(), 1e-300)) * g;
  }
  EXPECT_LE((sum_of(x, BatchView(0, all.size()), limit) - expected).norm(), 1e-6 * limit);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : problem_registry()) all.push_back(entry.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Problems, ClippedSums, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace dpsosp::clipped_sum_test
