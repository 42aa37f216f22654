// SPDX-License-Identifier: Apache-2.0
// The example of tracked descent in Python is the one of the suite.
#include <gtest/gtest.h>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/experiments/programs.hpp"
#include "dpsosp/problems/registry.hpp"
#include "paths.hpp"
#include "python.hpp"

namespace dpsosp::tracked_test {
namespace {

class Nobody final : public Observer {
  void iterate(Index, ConstVectorRef) override {}
};

struct Ran {
  Outcome outcome;
  Ledger ledger;
};

Ran run(Algorithm& algorithm, const Problem& p) {
  const FilterRule rule =
      algorithm.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks).rule;
  Curator curator(p.facts, *p.records, rule, {.seed = 5});
  Nobody nobody;
  Outcome outcome =
      algorithm.run(curator, Stream::sealed({.seed = 4, .purpose = Purpose::algorithm}), nobody);
  return {std::move(outcome), curator.ledger()};
}

TEST(TrackedDescentInPython, IsTheOneOfTheSuite) {
  if (!test::python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  const auto python =
      find_algorithm(register_program(in_checkout("examples/program/tracked.toml")));
  const auto here = find_algorithm("tracked-descent/tracked-descent");
  Fields fields = here->fields();
  set_field(fields, "tracked", "scale", "scalar");
  for (const Index n : {300, 3000}) {
    const Problem p = find_problem("cosine-saddle")->make({.records = n, .dimension = 10});
    const Ran a = run(*here, p), b = run(*python, p);
    EXPECT_EQ(a.outcome.status, n == 300 ? Status::budget : Status::steps_done);
    EXPECT_EQ(b.outcome.status, a.outcome.status);
    EXPECT_EQ(b.outcome.steps, a.outcome.steps);
    EXPECT_EQ(b.outcome.counts.contains("out_of_reach"), n == 300);
    EXPECT_EQ(b.ledger.queries(), a.ledger.queries());
    EXPECT_NEAR(b.ledger.spent(1e-6).epsilon, a.ledger.spent(1e-6).epsilon, 1e-9);
    EXPECT_LT((b.outcome.point - a.outcome.point).norm(), 1e-6);
    if (n == 3000) {
      EXPECT_GT((a.outcome.point - p.facts.initial_point).norm(), 1);
    }
  }
}

}  // namespace
}  // namespace dpsosp::tracked_test
