// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"
#include "sweep_crash.hpp"

// A sweep that is killed, cut into shards or run by more threads leaves the same tables, byte by
// byte.
namespace dpsosp::sweep_kill_test {
namespace {

TEST_F(SweepCrash, WritesSameTablesAfterThreeKills) {
  const SweepRun killed = sweep("killed");
  kill_and_resume(killed, 3, 2);
  expect_same_tables(killed.tables(), finished("whole", 1).tables());
}

TEST_F(SweepCrash, MergedShardsWriteSameTables) {
  expect_same_tables(sharded(2).tables(), finished("whole", 2).tables());
}

TEST_F(SweepCrash, DryRunCountsAndEstimatesWithoutComputing) {
  const SweepRun s = sweep("dry");
  const Result before = s.run("sweep", "--dry-run");
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(lines(before.out).back(),
            "26 cells, 78 runs, 0 of them stored; the time of 78 others is unknown, because no run "
            "of the same algorithm and problem is stored");
  EXPECT_EQ(lines(before.out).front(),
            "n: spider, records = 1000, dimension = 2: 3 runs of 100 steps");
  EXPECT_EQ(lines(before.out).size(), 27U);
  EXPECT_FALSE(std::filesystem::exists(s.out()));

  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  const auto tables = s.tables();
  EXPECT_EQ(lines(s.run("sweep", "--dry-run").out).back(), "26 cells, 78 runs, 78 of them stored");
  const Result larger = run_program(
      built_program("dpsosp"), {"sweep", s.arguments("sweep")[1], "--out", s.out(), "--dry-run"});
  EXPECT_TRUE(lines(larger.out).back().starts_with("26 cells, 312 runs, 78 of them stored; about "))
      << larger.out;
  EXPECT_TRUE(larger.out.ends_with(" on one core for 234 others\n")) << larger.out;
  EXPECT_EQ(s.stored(), 78);
  expect_same_tables(s.tables(), tables);
}

}  // namespace
}  // namespace dpsosp::sweep_kill_test
