// SPDX-License-Identifier: Apache-2.0
#include "sweep_crash.hpp"

// Many kills and many shards of a sweep that is larger than that of sweep_kill_test.cpp.
namespace dpsosp::sweep_kill_slow_test {
namespace {

class SweepCrashSlow : public SweepCrash {
 protected:
  SweepCrashSlow() : SweepCrash("quick") {}
};

TEST_F(SweepCrashSlow, WritesSameTablesForKillsShardsAndThreads) {
  const auto expected = finished("whole", 1).tables();
  for (const int threads : {1, 2}) {
    const SweepRun killed = sweep(fmt::format("killed {}", threads));
    kill_and_resume(killed, 20, threads);
    expect_same_tables(killed.tables(), expected);
  }
  expect_same_tables(finished("two threads", 2).tables(), expected);
  for (const int count : {2, 8}) expect_same_tables(sharded(count).tables(), expected);
}

}  // namespace
}  // namespace dpsosp::sweep_kill_slow_test
