// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "sweep_texts.hpp"

namespace dpsosp::sweep_test {
namespace {

using nlohmann::json;

/// The values of one coordinate along the first axis of the only part.
std::vector<double> grid(const std::string& name, const std::string& values) {
  const Sweep sweep = parsed(part_with("[{ " + name + " = " + values + " }]"));
  std::vector<double> numbers;
  for (const Coordinates& p : sweep.parts.at(0).axes.at(0)) {
    EXPECT_EQ(p.at(0).first, name);
    numbers.push_back(p.at(0).second.get<double>());
  }
  return numbers;
}

TEST(SweepGrid, LogarithmicRangeHasExactEndsAndEqualRatios) {
  const auto v = grid("epsilon", "{ from = 0.1, to = 0.7, points = 6 }");
  ASSERT_EQ(v.size(), 6U);
  EXPECT_EQ(v.front(), 0.1);
  EXPECT_EQ(v.back(), 0.7);
  for (std::size_t k = 0; k + 1 < v.size(); ++k)
    EXPECT_NEAR(v[k + 1] / v[k], std::pow(7.0, 0.2), 1e-14);
}

TEST(SweepGrid, LinearRangeHasExactEndsAndEqualDifferences) {
  const auto v = grid("epsilon", "{ from = 0.7, to = 0.1, points = 5, spacing = \"linear\" }");
  ASSERT_EQ(v.size(), 5U);
  EXPECT_EQ(v.front(), 0.7);
  EXPECT_EQ(v.back(), 0.1);
  for (std::size_t k = 0; k + 1 < v.size(); ++k) EXPECT_NEAR(v[k + 1] - v[k], -0.15, 1e-15);
}

TEST(SweepGrid, SizesAreDistinctIntegers) {
  EXPECT_EQ(grid("records", "{ from = 1000, to = 1e6, points = 4 }"),
            (std::vector<double>{1000, 10000, 100000, 1000000}));
  EXPECT_EQ(grid("dimension", "{ from = 2, to = 4, points = 20 }"), (std::vector<double>{2, 3, 4}));
  const Sweep sweep = parsed(part_with("[{ records = [1e3, 2e3] }]"));
  for (const Coordinates& p : sweep.parts[0].axes[0]) EXPECT_TRUE(p[0].second.is_number_integer());
}

TEST(SweepGrid, MultipliesAxesWithLastAxisFastest) {
  const Sweep sweep =
      parsed(second_arm +
             part_with("[{ records = [100, 200], epsilon = [1, 2] }, { dimension = [2, 3, 4] }]"));
  const auto cells = cells_of(sweep, sweep.parts[0]);
  std::vector<std::string> seen;
  for (const Cell& c : cells) seen.push_back(sweep.arms[c.arm].name + ": " + to_text(c.at));
  std::vector<std::string> expected;
  for (const char* arm : {"first: ", "second: "})
    for (const char* moved : {"epsilon = 1, records = 100", "epsilon = 2, records = 200"})
      for (const char* d : {"2", "3", "4"})
        expected.push_back(std::string(arm) + moved + ", dimension = " + d);
  EXPECT_EQ(seen, expected);
}

TEST(SweepGrid, HasOneCellPerArmWithoutAxes) {
  const Sweep sweep = parsed(second_arm + part_with("[]"));
  EXPECT_EQ(cells_of(sweep, sweep.parts[0]).size(), 2U);
  EXPECT_EQ(jobs_of(sweep).size(), 6U);
}

TEST(SweepGrid, ScaleSelectsValuesPointsSeedsAndParts) {
  const std::string rest = R"(
[[part]]
name = "n"
seeds = { smoke = 1, quick = 2, full = 5 }
axes = [{ records = { from = { smoke = 10, quick = 100, full = 1000 }, to = 1e6, points = { smoke = 2, quick = 3, full = 4 } } },
        { dimension = { smoke = [2], quick = [2, 3], full = [2, 3, 4] } }]
[[part]]
name = "d"
scales = ["quick", "full"]
axes = [{ dimension = [5] }]
)";
  struct Expected {
    Scale scale;
    double from;
    std::size_t points, dimensions, seeds, parts;
  };
  for (const Expected& e :
       {Expected{Scale::smoke, 10, 2, 1, 1, 1}, Expected{Scale::quick, 100, 3, 2, 2, 2},
        Expected{Scale::full, 1000, 4, 3, 5, 2}}) {
    const Sweep sweep = parsed(rest, e.scale);
    ASSERT_EQ(sweep.parts.size(), e.parts);
    const Part& n = sweep.parts[0];
    EXPECT_EQ(coordinate(n.axes[0].front(), "records"), e.from);
    EXPECT_EQ(n.axes[0].size(), e.points);
    EXPECT_EQ(n.axes[1].size(), e.dimensions);
    EXPECT_EQ(n.seeds, e.seeds);
    for (const Cell& c : cells_of(sweep, n)) EXPECT_EQ(c.runs.size(), e.seeds);
  }
}

TEST(SweepCells, DescribeCoordinatesArmAndBothSeeds) {
  const Sweep sweep = parsed(second_arm + R"(
[[part]]
name = "p"
arms = ["second"]
axes = [{ records = [500] }, { dimension = [3] }, { epsilon = [0.5] },
        { "set.step_size" = [0.25] }, { "problem.sampling" = ["whole"] }]
[[part]]
name = "delta"
arms = ["first"]
axes = [{ delta = [1e-7] }]
)");
  const auto cells = cells_of(sweep, sweep.parts[0]);
  ASSERT_EQ(cells.size(), 1U);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    const json d = cells[0].runs.at(seed).description();
    EXPECT_EQ(d["algorithm"], "wang-ye-xu-2017/dp-gd");
    EXPECT_EQ(d["problem"], "ripple-location");
    EXPECT_EQ(d["records"], 500);
    EXPECT_EQ(d["dimension"], 3);
    EXPECT_EQ(d["epsilon"], 0.5);
    EXPECT_EQ(d["delta"], 1e-4);
    EXPECT_EQ(d["settings"], (json{{"step_size", "0.25"}, {"steps", "7"}}));
    EXPECT_EQ(d["problem_settings"]["sampling"], "whole");
    EXPECT_EQ(d["seed"], seed);
    EXPECT_EQ(d["data_seed"], seed);
  }
  EXPECT_EQ(cells_of(sweep, sweep.parts[1])[0].first_run().delta, 1e-7);
}

TEST(SweepJobs, ListRunsSharedByTwoPartsOnce) {
  const Sweep sweep = parsed(R"(
records = 300
[[part]]
name = "a"
axes = [{ records = [100, 200, 300] }]
[[part]]
name = "b"
axes = [{ records = [300, 400] }]
)");
  const auto jobs = jobs_of(sweep);
  EXPECT_EQ(jobs.size(), 12U);
  std::set<std::string> keys;
  for (const Job& job : jobs) keys.insert(job.hash());
  EXPECT_EQ(keys.size(), jobs.size());
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part))
      for (const Job& run : cell.runs) EXPECT_TRUE(keys.contains(run.hash()));
}

TEST(SweepJobs, SplitEvenlyIntoAnyNumberOfShards) {
  const auto jobs = jobs_of(parsed(part_with("[{ records = [100, 200, 300, 400] }]")));
  ASSERT_EQ(jobs.size(), 12U);
  for (std::size_t count = 1; count <= jobs.size() + 2; ++count) {
    std::vector<Job> joined;
    std::size_t least = jobs.size(), most = 0;
    for (std::size_t index = 1; index <= count; ++index) {
      const auto mine = of_shard(jobs, index, count);
      least = std::min(least, mine.size());
      most = std::max(most, mine.size());
      joined.insert(joined.end(), mine.begin(), mine.end());
    }
    EXPECT_LE(most - least, 1U);
    EXPECT_TRUE(std::is_permutation(jobs.begin(), jobs.end(), joined.begin(), joined.end()));
  }
}

TEST(SweepCells, FollowEveryChangeOfASweepThatWasAskedBefore) {
  const Sweep first = parsed(part_with("[{ records = [100, 400] }]"));
  const std::vector<Cell> before = cells_of(first, first.parts[0]);
  Sweep other = first;
  other.parts[0].seeds += 1;
  EXPECT_EQ(cells_of(other, other.parts[0])[0].runs.size(), before[0].runs.size() + 1);
  other = first;
  other.parts[0].axes[0].pop_back();
  EXPECT_LT(cells_of(other, other.parts[0]).size(), before.size());
  other = first;
  other.arms[other.parts[0].arms[0]].spec.epsilon = 7;
  EXPECT_EQ(cells_of(other, other.parts[0])[0].first_run().epsilon, 7);
  const std::vector<Cell> after = cells_of(first, first.parts[0]);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t k = 0; k < after.size(); ++k) EXPECT_EQ(after[k].runs, before[k].runs);
}

TEST(SweepCells, SeedsHaveInstancesOfTheirOwn) {
  const Sweep sweep = parsed(part_with("[{ records = [100, 400] }]") +
                             "by_seed = [{ epsilon = [1, 2], delta = [1e-5, 1e-6] }]\nseeds = 5\n");
  for (const Cell& cell : cells_of(sweep, sweep.parts.at(0))) {
    ASSERT_EQ(cell.runs.size(), 5U);
    for (const Job& job : cell.runs) {
      const RunDescription& run = *job.run();
      EXPECT_EQ(run.epsilon, run.seed % 2 == 0 ? 1 : 2);
      EXPECT_EQ(run.delta, run.seed % 2 == 0 ? 1e-5 : 1e-6);
      EXPECT_EQ(run.data_seed, run.seed);
    }
    EXPECT_FALSE(coordinate(cell.at, "epsilon")) << "no axis";
  }
  EXPECT_THROW(
      parsed(part_with("[{ records = [100, 400] }]") + "by_seed = [{ records = [1, 2] }]\n"),
      InputError);
  EXPECT_THROW(parsed(part_with("[]") + "by_seed = [{ epsilon = [1, -1] }]\n"), InputError);
}

}  // namespace
}  // namespace dpsosp::sweep_test
