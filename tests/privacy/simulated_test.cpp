// SPDX-License-Identifier: Apache-2.0
// Simulated records: batches that would contradict each other are refused.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "support.hpp"

namespace dpsosp::simulated_test {
namespace {

using namespace testing;

/// A curator over a simulated stream of any length.
struct SimulatedHouse {
  explicit SimulatedHouse(Index n, const std::string& sampling = "stream")
      : problem(make(n, sampling)),
        curator(problem.facts, *problem.records, zcdp_rule(1e9), {.seed = 1}) {}
  static Problem make(Index n, const std::string& sampling) {
    const auto family = find_problem("cosine-saddle");
    Fields fields = family->fields();
    set_field(fields, "cosine-saddle", "sampling", sampling);
    return family->make({.records = n, .dimension = 3});
  }
  Vector ask(Curator& of, const Batch& batch, double limit = 10) {
    Vector out(3);
    of.gradient(
        Point(problem.facts.initial_point), batch, {limit, Noise::sensitivity_ratio(1.0)}, out);
    return out;
  }

  Problem problem;
  Curator curator;
};

constexpr Index huge = 10'000'000'000'000'000;

TEST(SimulatedRecords, AnswerFreshBatchesUntilDataEnd) {
  SimulatedHouse house(huge);
  for (int k = 0; k < 4; ++k)
    EXPECT_TRUE(
        house.ask(house.curator, house.curator.draw(BatchPolicy::fresh(huge / 4))).allFinite());
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(1)), DataExhausted);
}

TEST(SimulatedRecords, AnswerFullBatchesRepeatedly) {
  SimulatedHouse house(huge, "whole");
  house.ask(house.curator, house.curator.draw(BatchPolicy::all()));
  house.ask(house.curator, house.curator.draw(BatchPolicy::all()));
  EXPECT_EQ(house.curator.ledger().entries().size(), 1U);  // one kind of query, counted twice
}

TEST(SimulatedRecords, RejectMixingFullAndFreshBatches) {
  SimulatedHouse fresh_first(1000);
  fresh_first.curator.draw(BatchPolicy::fresh(10));
  EXPECT_THROW(fresh_first.curator.draw(BatchPolicy::all()), InputError);
  EXPECT_NO_THROW(fresh_first.curator.draw(BatchPolicy::fresh(10)));
  SimulatedHouse all_first(1000);
  all_first.curator.draw(BatchPolicy::all());
  EXPECT_THROW(all_first.curator.draw(BatchPolicy::fresh(10)), InputError);
  EXPECT_NO_THROW(all_first.curator.draw(BatchPolicy::all()));
}

TEST(SimulatedRecords, RejectDifferentCutsByCuratorAndChild) {
  SimulatedHouse house(1000);
  Curator child = house.curator.child({"all", 0.1});
  child.draw(BatchPolicy::fresh(100));
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(30)), InputError);
  // a later child cannot inherit the place of one that is gone
  {
    Curator gone = house.curator.child({"gone", 0.1, RecordRange{500, 600}});
    gone.draw(BatchPolicy::fresh(50));
  }
  for (int k = 0; k < 20; ++k) {
    Curator next = house.curator.child({"next " + std::to_string(k), 0.01, RecordRange{500, 600}});
    EXPECT_THROW(next.draw(BatchPolicy::fresh(7)), InputError);
  }
}

TEST(SimulatedRecords, AllowDifferentReadsOfDisjointHalves) {
  SimulatedHouse house(1000);
  Curator first = house.curator.child({"first", 0.5, RecordRange{0, 500}});
  Curator second = house.curator.child({"second", 0.5, RecordRange{500, 1000}});
  for (int k = 0; k < 3; ++k) house.ask(first, first.draw(BatchPolicy::all()));
  for (int k = 0; k < 3; ++k) house.ask(second, second.draw(BatchPolicy::fresh(100)));
}

TEST(SimulatedRecords, RejectSampledBatches) {
  SimulatedHouse house(huge);
  EXPECT_THROW(house.curator.draw(BatchPolicy::sample(10)), InputError);
  EXPECT_THROW(house.curator.draw(BatchPolicy::poisson(1e-15)), InputError);
}

TEST(SimulatedRecords, RejectLimitsThatWouldClip) {
  SimulatedHouse house(1000);
  const Batch batch = house.curator.draw(BatchPolicy::fresh(10), BatchUse::several_queries);
  EXPECT_THROW(house.ask(house.curator, batch, 0.01), InputError);
  EXPECT_NO_THROW(house.ask(house.curator, batch, std::sqrt(3.0)));
}

}  // namespace
}  // namespace dpsosp::simulated_test
