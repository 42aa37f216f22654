// SPDX-License-Identifier: Apache-2.0
// What the sums of trusted/ are told of a problem: the rank of a record's Hessian.
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

namespace dpsosp::hessian_rank_test {
namespace {

std::optional<Problem> made(const std::string& name) {
  try {
    return find_problem(name)->make({.records = 1100, .data_seed = 5});
  } catch (const InputError&) {
    return {};  // its data are not here
  }
}

class ClippedSums : public testing::TestWithParam<std::string> {};

/// Whatever the point and the record, however far and however unbalanced.
TEST_P(ClippedSums, HaveHessiansOfNoHigherRankThanStated) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const AnyRecords& records = *problem->records;
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
      records.add_hessian_products(Point(x), Vector::Unit(d, j), BatchView(i, i + 1), 1e12,
                                   hessian.col(j));
    const Vector values = singular_values(hessian);
    EXPECT_LE(rank < d ? values[rank] : 0.0, 1e-10 * (values[0] + 1e-300)) << "record " << i;
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
}  // namespace dpsosp::hessian_rank_test
