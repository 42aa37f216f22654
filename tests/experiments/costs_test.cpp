// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/costs.hpp"

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace dpsosp::costs_test {
namespace {

using nlohmann::json;

/// Two exhibits of three runs each, one of them common.
Catalogue catalogue() {
  const auto jobs = [](int first) {
    return [first](const Study&) {
      std::vector<Job> three;
      for (int k = first; k < first + 3; ++k) three.emplace_back(json{{"seed", k}});
      return three;
    };
  };
  Catalogue c;
  c.exhibits = {{.id = "first", .title = "", .paper = "", .jobs = jobs(1), .render = {}},
                {.id = "second", .title = "", .paper = "", .jobs = jobs(3), .render = {}}};
  return c;
}

void put(Store& store, int seed, double cpu_seconds) {
  store.put({.key = RunKey(json{{"seed", seed}}), .result = 0},
            Provenance{.wall_seconds = 9, .cpu_seconds = cpu_seconds});
}

TEST(Costs, AreThoseOfStoredRunsAndCountCommonRunsOnceInAll) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  for (const int seed : {1, 2, 3, 4}) put(store, seed, seed);
  const Catalogue c = catalogue();
  const auto costs = measured_costs(store, Study{c, Scale::quick});
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_EQ(costs[0].runs, 3U);
  EXPECT_EQ(costs[0].stored, 3U);
  EXPECT_EQ(costs[0].cpu_seconds, 1 + 2 + 3);
  EXPECT_EQ(costs[1].stored, 2U);
  EXPECT_EQ(costs[1].cpu_seconds, 3 + 4);
  EXPECT_EQ(costs[2].exhibit, "all");
  EXPECT_EQ(costs[2].runs, 5U);
  EXPECT_EQ(costs[2].cpu_seconds, 1 + 2 + 3 + 4);
  EXPECT_GT(costs[2].megabytes, 0);
}

TEST(Costs, OfRunsToComeAreMeansOfWhatWasMeasured) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  put(store, 1, 1);
  Catalogue c = catalogue();
  c.costs = "first,quick,10,50,2\nall,quick,20,60,4\nfirst,smoke,1,0.5,0.1\n";
  const auto plan = planned_costs(c, {.exhibits = {"first"}, .scale = Scale::full}, &store);
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[0].stored, 1U);
  EXPECT_DOUBLE_EQ(plan[0].cpu_seconds, 2 * 5.0);  // two runs left, as at quick
  EXPECT_DOUBLE_EQ(plan[0].megabytes, 2 * 0.2);
  EXPECT_EQ(plan[1].exhibit, "all");
  EXPECT_EQ(plan[1].runs, 3U);
  EXPECT_DOUBLE_EQ(plan[1].cpu_seconds, 2 * 5.0);  // of what is named, not of a mean run
  EXPECT_DOUBLE_EQ(
      planned_costs(c, {.exhibits = {"first"}, .scale = Scale::smoke}, nullptr)[0].cpu_seconds,
      3 * 0.5);
  EXPECT_EQ(planned_costs(c, {.exhibits = {"second"}}, nullptr)[0].cpu_seconds, 0);  // not measured
  EXPECT_NE(refusal_of([&] { planned_costs(c, {.exhibits = {"third"}}, nullptr); }), "");
}

TEST(Costs, AreReadBackFromTheirTable) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  for (const int seed : {1, 2, 3, 4, 5}) put(store, seed, 2);
  Catalogue c = catalogue();
  const std::string table = costs_csv(measured_costs(store, Study{c, Scale::quick}), Scale::quick);
  c.costs = table;
  const auto plan = planned_costs(c, {.scale = Scale::quick}, nullptr);
  EXPECT_DOUBLE_EQ(plan.back().cpu_seconds, 10);
}

}  // namespace
}  // namespace dpsosp::costs_test
