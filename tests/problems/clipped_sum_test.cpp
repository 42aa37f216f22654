// SPDX-License-Identifier: Apache-2.0
// The sum over a batch is that of its records' vectors, each clipped, whatever closed forms, chunks
// and blocks of rows it goes by.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

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
  if (!problem || problem->records->simulated()) GTEST_SKIP() << "no records in memory";
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
