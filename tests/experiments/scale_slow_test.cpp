// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/experiments/plan.hpp"
#include "dpsosp/experiments/plan_status.hpp"
#include "temporary_folder.hpp"

// A million runs in ten thousand journals. SCALE_RUNS=10000 makes it smaller.
namespace dpsosp::scale_test {
namespace {

using nlohmann::json;

constexpr std::size_t runs_a_shard = 100;

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Does it in a process of its own. \return the most memory that this had, in MiB
double memory_of(const auto& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Scale, AMillionRunsAreMergedAndCounted) {
  const char* wanted = std::getenv("SCALE_RUNS");
  const std::size_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1000000;
  const std::size_t shards = count / runs_a_shard;
  const TemporaryFolder folder;
  Provenance origin;
  origin.seed = "1";
  origin.numbers_version = R"({"algorithm":1,"library":3,"problem":1})";
  origin.started = "2026-01-31T23:59:59Z";
  double planned_megabytes = 0, merged_megabytes = 0;
  const double planning = seconds_of([&] {
    planned_megabytes = memory_of([&] {
      std::vector<PlannedRun> runs;
      for (std::size_t k = 0; k < count; ++k)
        runs.push_back(
            {Job(json{{"seed", k}, {"records", 100000}, {"text", std::string(300, 'x')}}),
             0.001 * static_cast<double>(1 + k % 3600000)});
      write_plan(folder.path(), {}, share_out(std::move(runs), shards));
    });
  });
  const std::filesystem::path plan_folder = plans_in(folder.path()).at(0);
  const Plan plan = read_plan(plan_folder);
  const json result{{"trace", std::string(300, 'y')}, {"output", {0.25, 1.5}}};
  const double writing = seconds_of([&] {
    for (std::size_t shard = 1; shard <= shards; ++shard) {
      const auto runs = read_shard(plan_folder, plan, shard);
      const auto journal = start_attempt(plan_folder, plan, shard, runs, "job", {});
      for (const PlannedRun& run : runs)
        journal->put({.key = run.job.key(), .result = result}, origin);
    }
  });
  PlanStatus status;
  const double counting = seconds_of([&] { status = plan_status(plan_folder, plan); });
  EXPECT_EQ(status.all.done, count);
  const double merging = seconds_of([&] {
    merged_megabytes = memory_of([&] {
      Store into(folder / "store.sqlite");
      EXPECT_EQ(into.merge(journals_in(journal_folder(plan_folder)), {}).added, count);
    });
  });
  MergeReport report;
  const double again = seconds_of([&] {
    Store into(folder / "store.sqlite");
    report = into.merge(journals_in(journal_folder(plan_folder)), {});
  });
  EXPECT_EQ(report.identical, count);
  std::uintmax_t bytes = 0;
  for (const auto& journal : journals_in(journal_folder(plan_folder)))
    bytes += std::filesystem::file_size(journal);
  std::cout << fmt::format(
      "{} runs in {} journals of {:.0f} MB in all: planned in {:.1f} s with {:.0f} MB, written in "
      "{:.1f} s, counted in {:.2f} s, merged in {:.1f} s with {:.0f} MB, again in {:.1f} s; store "
      "{:.0f} MB\n",
      count, shards, 1e-6 * static_cast<double>(bytes), planning, planned_megabytes, writing,
      counting, merging, merged_megabytes, again,
      1e-6 * static_cast<double>(std::filesystem::file_size(folder / "store.sqlite")));
  EXPECT_LT(counting, 2);
  EXPECT_LT(merging, 60);
  EXPECT_LT(merged_megabytes, 1024);
}

}  // namespace
}  // namespace dpsosp::scale_test
