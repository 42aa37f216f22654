// SPDX-License-Identifier: Apache-2.0
// Sums of records, and of simulated ones within their limits.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/problems/sampling.hpp"

namespace dpsosp::record_alone_test {
namespace {

std::optional<Problem> made(const std::string& name) {
  try {
    return find_problem(name)->make({.records = 1100, .data_seed = 5});
  } catch (const InputError&) {
    return {};  // its data are not here
  }
}

class EveryProblem : public testing::TestWithParam<std::string> {};

/// What a record adds to a sum does not depend on the one that was read before it.
TEST_P(EveryProblem, AddsUpRecordsOfWhichNoneKnowsAnother) {
  const auto problem = made(GetParam());
  if (!problem || !problem->records) GTEST_SKIP() << "no records in memory";
  const AnyRecords& records = *problem->records;
  const PublicFacts& facts = problem->facts;
  Stream stream({.seed = 9});
  Vector x(facts.dimension), before(facts.dimension), v(facts.dimension);
  const Vector y = Vector::Constant(facts.dual_dimension, 0.1);
  const auto point = [&](const Vector& at) { return y.size() > 0 ? Point(at, y) : Point(at); };
  for (int trial = 0; trial < 40; ++trial) {
    for (Vector* at : {&x, &before, &v}) {
      stream.fill_normal(1.0, *at);
      if (at != &v) facts.domain.project(*at);
    }
    const Index i = stream.below(records.size() - 1);
    const Index j = i + 1 + stream.below(records.size() - 1 - i);
    const std::vector<Index> both{i, j};
    const Point at = point(x), from = point(before);
    std::vector<Summand> summands{Summand::gradient(at, Block::x),
                                  Summand::gradient(at, Block::x, &from)};
    if (records.has_second_order()) {
      summands.push_back(Summand::hessian_product(at, v));
      summands.push_back(Summand::hessian_product(at, v, &from));
    }
    for (const Summand& summand : summands)
      for (const double limit : {0.1, 1e12}) {
        Vector pair = Vector::Zero(x.size()), first = pair, second = pair;
        records.add(summand, BatchView(both), limit, pair);
        records.add(summand, BatchView(i, i + 1), limit, first);
        records.add(summand, BatchView(j, j + 1), limit, second);
        EXPECT_LE((pair - first - second).norm(), 1e-12 * (first.norm() + second.norm()))
            << "records " << i << " and " << j << ", limit " << limit;
      }
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

INSTANTIATE_TEST_SUITE_P(Problems, EveryProblem, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace dpsosp::record_alone_test
