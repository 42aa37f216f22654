// SPDX-License-Identifier: Apache-2.0
#include "sweep_crash.hpp"
#include "text.hpp"

// A sweep that tunes first, by the command line.
namespace dpsosp::tuning_test {
namespace {

const std::string tuned_sweep = R"(
title = "A sweep that tunes"
metric = "output.gradient_norm"
seeds = 2
dimension = 3
noise = "calibrated"
observations = 50
problem_settings = { start = "random" }

[tune]
budget = 4
seeds = 4
space = { steps = [5, 20, 80], step_size = { from = 0.03, to = 1, points = 3 } }

[[arm]]
name = "gradient descent"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "cosine-saddle"
settings = { clip = 2 }

[[arm]]
name = "sgd"
algorithm = "abadi-2016/dp-sgd"
problem = "cosine-saddle"
settings = { clip = 2 }

[[part]]
name = "n"
axes = [{ records = [1000, 4000, 16000] }]
fit = [{ axis = "records" }]
)";
constexpr int tuning_runs = 2 * 3 * 4 * 4, result_runs = 2 * 3 * 2;

class TunedSweep : public SweepCrash {
 protected:
  TunedSweep() : SweepCrash("quick", tuned_sweep) {}
};

TEST_F(TunedSweep, ChoosesTheSameAfterKillsAndByAnyNumberOfThreads) {
  const SweepRun killed = sweep("killed");
  kill_and_resume(killed, 3, 2);
  const auto whole = finished("whole", 1).tables();
  expect_same_tables(killed.tables(), whole);
  EXPECT_TRUE(has(whole.at("tuning-n.csv"), "of 4"));
  EXPECT_EQ(killed.stored(), tuning_runs + result_runs);
}

TEST_F(TunedSweep, ShardsTuneAndThenComputeWhatCounts) {
  const SweepRun s = sweep("shards");
  const std::string tunes = "these runs tune; after `dpsosp merge`";
  for (const int stored : {tuning_runs, tuning_runs + result_runs}) {
    for (const char* shard : {"1/2", "2/2"}) {
      const Result r = s.run("sweep", std::string("--quiet --shard ") + shard);
      EXPECT_EQ(r.code, 0) << r.err;
      EXPECT_EQ(r.out.find(tunes) != std::string::npos, stored == tuning_runs) << r.out;
    }
    const Result merged = dpsosp("merge", {(s.out() / "shards-of-2").string(), "--into",
                                           (s.out() / "store.sqlite").string()});
    EXPECT_EQ(merged.code, 0) << merged.err;
    EXPECT_EQ(s.stored(), stored);
  }
  EXPECT_EQ(s.run("fit").code, 0);
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  expect_same_tables(s.tables(), finished("whole", 2).tables());
}

TEST_F(TunedSweep, ProcessesOfThisMachineWriteTheTablesOfOne) {
  const SweepRun s = sweep("local");
  const Result r = s.run("sweep", "--local 2 --quiet");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(std::filesystem::exists(s.out() / "plans/0002")) << "tuning, then results";
  expect_same_tables(s.tables(), finished("whole", 1).tables());
}

TEST_F(TunedSweep, ScriptsPlanWhatCountsAfterTheTuning) {
  const SweepRun s = sweep("scripts");
  for (const char* plan : {"plans/0001", "plans/0002"}) {
    const Result r = s.run("sweep", "--script-only --tasks 1 --quiet");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out.find("which tune") != std::string::npos, std::string(plan) == "plans/0001")
        << r.out;
    EXPECT_EQ(dpsosp("shard", {(s.out() / plan).string(), "1"}).code, 0);
  }
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  expect_same_tables(s.tables(), finished("whole", 1).tables());
}

TEST_F(TunedSweep, DryRunAndFitSayWhatTuningNeeds) {
  const SweepRun s = sweep("dry");
  const Result before = s.run("sweep", "--dry-run");
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_TRUE(lines(before.out)
                  .back()
                  .starts_with("6 cells, 108 runs, 96 of them to tune, 0 of them stored; the time "
                               "of 108 others is unknown"))
      << before.out;
  EXPECT_FALSE(std::filesystem::exists(s.out()));
  EXPECT_EQ(s.run("sweep", "--shard 1/2 --quiet").code, 0);
  EXPECT_EQ(dpsosp("merge", {(s.out() / "shards-of-2").string(), "--into",
                             (s.out() / "store.sqlite").string()})
                .code,
            0);
  expect_one_error_line(s.run("fit"), 2, "lacks 48 of the 96 runs");
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  EXPECT_EQ(lines(s.run("sweep", "--dry-run").out).back(),
            "6 cells, 108 runs, 96 of them to tune, 108 of them stored");
}

TEST_F(TunedSweep, LeavesItsSettingsAsCommandsThatRun) {
  const SweepRun s = finished("whole", 2);
  const auto commands = lines(contents(s.out() / "sweep/tuned.sh"));
  ASSERT_EQ(commands.size(), 2U * 6) << "a comment and a command each";
  const std::string start = "dpsosp ";
  ASSERT_TRUE(commands[1].starts_with(start + "run --algorithm wang-ye-xu-2017/dp-gd"))
      << commands[1];
  const Result r = dpsosp(commands[1].substr(start.size()) + " --json");
  EXPECT_EQ(r.code, 0) << r.err;
  // It is the first of the results: the same description, and so the same numbers.
  SQLite::Database db(s.out() / "store.sqlite", SQLite::OPEN_READONLY);
  const std::string key =
      lines(contents(s.out() / "sweep/runs.csv")).at(1 + tuning_runs).substr(0, 64);
  SQLite::Statement stored(
      db, "SELECT json_extract(result, '$.output.gradient_norm') FROM runs WHERE key = ?");
  stored.bind(1, key);
  ASSERT_TRUE(stored.executeStep());
  const std::string name = "\"gradient_norm\": ";
  EXPECT_TRUE(has(r.out, fmt::format("{}{}", name, stored.getColumn(0).getDouble())))
      << stored.getColumn(0).getDouble() << " in " << r.out.substr(0, 3000);
}

class SweepThatFails : public SweepCrash {
 protected:
  /// A sweep on a problem whose least value is unknown; `wild` diverges.
  static std::string toml(const std::string& metric, const std::string& tune) {
    return "title = \"t\"\nmetric = \"" + metric + R"("
seeds = 2
dimension = 3
noise = "calibrated"
observations = 20
)" + tune + R"(
[[arm]]
name = "gd"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "glm-logistic"
settings = { steps = 20, step_size = 0.1 }
[[arm]]
name = "wild"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "glm-logistic"
settings = { steps = 30, step_size = 1e300 }
[[part]]
name = "n"
axes = [{ records = [500, 1000] }]
)";
  }
};

TEST_F(SweepThatFails, NamesFailedArmsAndAMissingMetric) {
  const ScratchFolder folder;
  const auto sweep = [&](const std::string& metric, const std::string& tune) {
    folder.write("sweep.toml", toml(metric, tune));
    return SweepRun(folder / "sweep.toml", folder / (tune.empty() ? "out" : "tuned"), "quick");
  };
  const SweepRun s = sweep("output.gradient_norm", "");
  const Result plan = s.run("sweep", "--dry-run");
  EXPECT_TRUE(has(plan.out, "n: gd, records = 500: 2 runs of 20 steps\n"));
  const Result failed = s.run("sweep", "--quiet");
  EXPECT_EQ(failed.code, 0) << failed.err;
  EXPECT_TRUE(lacks(failed.err, "part n: gd: "));
  EXPECT_TRUE(
      has(failed.err, "sweep: part n: wild: 4 of 4 runs failed, the first by certificate: "));
  const Result missing = sweep("output.excess_risk", "").run("sweep", "--quiet");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(lines(missing.err).size(), 2U) << missing.err;
  EXPECT_TRUE(has(missing.err,
                  "sweep sweep: no run has output.excess_risk, expected a metric that "
                  "they have, as "));
  const SweepRun tuned =
      sweep("output.excess_risk", "[tune]\nbudget = 2\nseeds = 1\nspace = { clip = [1, 2] }\n");
  expect_one_error_line(tuned.run("sweep", "--quiet"), 2,
                        "part n, arm gd: no run has output.excess_risk");
  EXPECT_EQ(tuned.stored(), 2 * 2 * 2) << "tuning alone";
}

}  // namespace
}  // namespace dpsosp::tuning_test
