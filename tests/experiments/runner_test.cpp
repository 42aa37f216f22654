// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/run.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace dpsosp::runner_test {
namespace {

using nlohmann::json;

Job job(json description) { return Job(std::move(description)); }

std::vector<Job> seeds(int count) {
  std::vector<Job> jobs;
  for (int k = 0; k < count; ++k) jobs.push_back(job({{"seed", k}}));
  return jobs;
}

json seed_of(const Job& job) { return job.description().at("seed"); }

/// The square of the seed; fails for multiples of 10. Counts its calls.
struct Square {
  std::atomic<int> calls{0};

  Compute compute() {
    return [this](const Job& job) -> json {
      ++calls;
      const int seed = seed_of(job);
      if (seed % 10 == 0) throw RunFailed("seed is a multiple of ten");
      return {{"square", seed * seed}};
    };
  }
};

TEST(RunJobs, ReturnsRunsInJobOrder) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  std::vector<Job> jobs = seeds(50);
  std::ranges::reverse(jobs);
  const std::vector<StoredRun> runs = run_jobs(store, jobs, square.compute(), {.threads = 4});
  ASSERT_EQ(runs.size(), jobs.size());
  for (std::size_t k = 0; k < jobs.size(); ++k) EXPECT_EQ(runs[k].key, jobs[k].key());
  EXPECT_EQ(runs[2].result["square"], 47 * 47);
  EXPECT_EQ(square.calls, 50);
}

TEST(RunJobs, StoresSameBytesForAnyThreadCount) {
  const TemporaryFolder folder;
  Square square;
  std::string one;
  for (const int threads : {1, 2, 5}) {
    Store store(folder.path() / std::to_string(threads));
    run_jobs(store, seeds(60), square.compute(), {.threads = threads});
    if (threads == 1) one = exported_json(store);
    EXPECT_EQ(exported_json(store), one);
  }
}

TEST(RunJobs, RunsAsManyJobsAtOnceAsThreads) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  std::latch all_here(4);  // with fewer than four threads nobody would get past it
  run_jobs(store, seeds(4),
           [&](const Job&) -> json {
             all_here.arrive_and_wait();
             return 1;
           },
           {.threads = 4});

  std::atomic<int> running{0};
  std::atomic<int> most{0};
  Store second(folder / "t.sqlite");
  run_jobs(second, seeds(40),
           [&](const Job&) -> json {
             most = std::max<int>(most, ++running);
             std::this_thread::sleep_for(std::chrono::milliseconds(1));
             --running;
             return 1;
           },
           {.threads = 2});
  EXPECT_LE(most, 2);
}

TEST(RunJobs, SkipsStoredRunsAndRetriesFailuresOnRequest) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  const std::vector<StoredRun> fresh = run_jobs(store, seeds(25), square.compute());
  EXPECT_EQ(square.calls, 25);
  const std::vector<StoredRun> resumed = run_jobs(store, seeds(30), square.compute());
  EXPECT_EQ(square.calls, 30);
  for (std::size_t k = 0; k < fresh.size(); ++k) EXPECT_EQ(fresh[k].result, resumed[k].result);
  run_jobs(store, seeds(30), square.compute(), {.retry_failed = true});
  EXPECT_EQ(square.calls, 33);  // 0, 10, 20
  const std::vector<StoredRun> cured = run_jobs(
      store, seeds(30), [](const Job&) -> json { return "cured"; }, {.retry_failed = true});
  EXPECT_EQ(cured[10].status, RunStatus::finished);
  EXPECT_EQ(cured[11].result["square"], 121);
}

TEST(RunJobs, ComputesEqualJobsOnce) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  const std::vector<StoredRun> runs = run_jobs(
      store, {job({{"seed", 3}}), job({{"seed", 4}}), job({{"seed", 3.0}})}, square.compute());
  EXPECT_EQ(square.calls, 2);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].result, runs[2].result);
}

TEST(RunJobs, PassesCanonicalNumbersToJobs) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const auto is_negative = [](const json& d) { return std::signbit(d["x"].get<double>()); };
  const auto sign_of_zero = [&](const Job& job) -> json { return is_negative(job.description()); };
  // −0 and 0 have one key, so a job must not be able to tell them apart
  EXPECT_EQ(run_jobs(store, {job({{"x", -0.0}})}, sign_of_zero)[0].result, false);
  EXPECT_TRUE(is_negative({{"x", -0.0}}));
}

TEST(RunJobs, StoresFailureReasonAndContinues) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const std::vector<StoredRun> runs = run_jobs(store, seeds(3), [](const Job& job) -> json {
    if (seed_of(job) == 0) throw RunFailed("iterate 3 is not finite");
    if (seed_of(job) == 1) throw std::bad_alloc();
    return 1;
  });
  EXPECT_EQ(runs[0].reason, "iterate 3 is not finite");
  EXPECT_EQ(runs[1].reason, "exception: std::bad_alloc");
  EXPECT_EQ(runs[2].status, RunStatus::finished);
  EXPECT_EQ(store.counts().failed, 2U);
}

TEST(RunJobs, StopsOnBadInputAndKeepsFinishedRuns) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  std::atomic<int> calls{0};
  const auto compute = [&](const Job& job) -> json {
    ++calls;
    if (seed_of(job) == 20) throw InputError("spider: step_batch = 0, expected >= 1");
    return 1;
  };
  EXPECT_EQ(refusal_of([&] { run_jobs(store, seeds(500), compute, {.threads = 2}); }),
            "spider: step_batch = 0, expected >= 1");
  EXPECT_EQ(store.counts().finished, static_cast<std::size_t>(calls) - 1);  // all but the bad one
  EXPECT_GE(calls, 21);
  EXPECT_LT(calls, 500);
}

TEST(RunJobs, RejectsBadThreadsBeforeWork) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  EXPECT_NE(refusal_of([&] { run_jobs(store, seeds(5), square.compute(), {.threads = 0}); }), "");
  EXPECT_EQ(square.calls, 0);
}

TEST(RunJobs, RecordsProvenanceOfEachRun) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  run_jobs(store, {job({{"seed", 7}, {"numbers_version", {{"spider", 2}}}})},
           [](const Job&) -> json {
             std::this_thread::sleep_for(std::chrono::milliseconds(20));
             return 1;
           });
  store.each([](const StoredRun&, const Provenance& p) {
    EXPECT_EQ(p.seed, "7");
    EXPECT_EQ(p.numbers_version, R"({"spider":2})");
    EXPECT_EQ(p.started.size(), 20U);
    EXPECT_GE(p.wall_seconds, 0.02);
    EXPECT_GE(p.wall_seconds, p.cpu_seconds);
    EXPECT_GT(p.cpu_seconds, 0);
    EXPECT_EQ(p.build, provenance().build);
  });
}

TEST(RunJobs, CtrlCStoresRunsInProgressAndExplainsResuming) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  const Compute plain = square.compute();
  const auto compute = [&](const Job& job) -> json {
    if (seed_of(job) == 7) std::raise(SIGINT);
    return plain(job);
  };
  std::string line;
  try {
    run_jobs(store, seeds(40), compute);
  } catch (const Interrupted& e) {
    line = e.what();
  }
  EXPECT_EQ(line, "interrupted: 8 of 40 runs are stored in " + store.file().string() +
                      "; the same command goes on from there");
  EXPECT_EQ(run_jobs(store, seeds(40), plain).size(), 40U);  // and the flag does not linger
  EXPECT_EQ(square.calls, 40);
}

TEST(RunJobs, EverySignalThatAsksForTheEndIsNamedByTheInterruption) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const TemporaryFolder folder;
    Store store(folder / "s.sqlite");
    Square square;
    const Compute plain = square.compute();
    const auto compute = [&](const Job& d) -> json {
      if (seed_of(d) == 2) std::raise(signal);
      return plain(d);
    };
    int ended_by = 0;
    try {
      run_jobs(store, seeds(40), compute);
    } catch (const Interrupted& e) {
      ended_by = e.signal();
    }
    EXPECT_EQ(ended_by, signal);
  }
}

TEST(RunJobs, LeavesIgnoredSignalsIgnored) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  const Compute plain = square.compute();
  const auto before = std::signal(SIGHUP, SIG_IGN);  // as under nohup
  const auto compute = [&](const Job& d) -> json {
    if (seed_of(d) == 2) std::raise(SIGHUP);
    return plain(d);
  };
  EXPECT_EQ(run_jobs(store, seeds(5), compute).size(), 5U);
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

TEST(RunJobs, ProgressCountsStoredFailedAndDoneRuns) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  Square square;
  run_jobs(store, seeds(15), square.compute());
  std::vector<std::string> lines;
  Progress progress(
      ProgressStyle::lines, [&](std::string_view text) { lines.emplace_back(text); },
      [] { return 0; });
  run_jobs(store, seeds(30), square.compute(), {.threads = 2, .progress = &progress});
  EXPECT_EQ(lines.front(), "15/30 runs, 15 stored before, 2 failed, 0s elapsed\n");
  EXPECT_EQ(lines.back(), "30/30 runs, 15 stored before, 3 failed, 0s elapsed\n");
}

}  // namespace
}  // namespace dpsosp::runner_test
