// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/json_members.hpp"
#include "dpsosp/experiments/plan_status.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::plan_test {
namespace {

using nlohmann::json;

Job job_of(int seed) { return Job(json{{"seed", seed}}); }

std::vector<PlannedRun> runs_of(const std::vector<double>& seconds) {
  std::vector<PlannedRun> runs;
  for (std::size_t k = 0; k < seconds.size(); ++k)
    runs.push_back({job_of(static_cast<int>(k)), seconds[k]});
  return runs;
}

double work_of(const std::vector<PlannedRun>& runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const PlannedRun& run) { return sum + run.cpu_seconds; });
}

Provenance origin() {
  Provenance p;
  p.cpu_seconds = 2;
  return p;
}

// Graham's bound: the longest first to the least loaded is at most 4/3 of the best there is, which
// is at least the mean and at least the longest run.
RC_GTEST_PROP(ShareOut, GivesEachRunOnceAndEqualWork, ()) {
  const auto seconds = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(1, 5000), [](int ms) { return 0.001 * ms; })));
  const auto shards = *rc::gen::inRange<std::size_t>(1, 40);
  const auto shared = share_out(runs_of(seconds), shards);
  RC_ASSERT(shared.size() == std::min(shards, seconds.size()));
  std::multiset<std::string> hashes;
  double most = 0;
  for (const auto& runs : shared) {
    RC_ASSERT(!runs.empty());
    RC_ASSERT(std::ranges::is_sorted(runs, std::greater{}, &PlannedRun::cpu_seconds));
    most = std::max(most, work_of(runs));
    for (const PlannedRun& run : runs) hashes.insert(run.job.hash());
  }
  RC_ASSERT(hashes.size() == seconds.size());
  RC_ASSERT(std::set<std::string>(hashes.begin(), hashes.end()).size() == seconds.size());
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(shared.size());
  RC_ASSERT(most <= mean + std::ranges::max(seconds) + 1e-9);
}

class Plans : public testing::Test {
 protected:
  std::filesystem::path planned(std::size_t shards) {
    return write_plan(folder_.path(), {.words = {"sweep", "x.toml"}},
                      share_out(runs_of({1, 2, 3, 4, 5, 6, 7}), shards));
  }
  TemporaryFolder folder_;
};

TEST_F(Plans, AreReadBack) {
  const auto folder = planned(3);
  EXPECT_EQ(folder.filename(), "0001");
  EXPECT_EQ(planned(2).filename(), "0002");
  EXPECT_EQ(plans_in(folder_.path()).size(), 2U);
  const Plan plan = read_plan(folder);
  EXPECT_EQ(plan.runs, 7U);
  EXPECT_EQ(plan.words, (std::vector<std::string>{"sweep", "x.toml"}));
  std::set<std::string> hashes;
  for (std::size_t shard = 1; shard <= 3; ++shard)
    for (const PlannedRun& run : read_shard(folder, plan, shard)) hashes.insert(run.job.hash());
  EXPECT_EQ(hashes.size(), 7U);
  EXPECT_DOUBLE_EQ(work_of(read_shard(folder, plan, 1)), plan.shards[0].cpu_seconds);
  require_same_program(folder, plan);
  EXPECT_TRUE(refusal_of([&] { read_shard(folder, plan, 4); }).ends_with("expected 1 to 3"));
}

TEST_F(Plans, RefuseADamagedLineAndAnotherBinary) {
  const auto folder = planned(3);
  Plan plan = read_plan(folder);
  std::string runs = contents(folder / "runs.jsonl");
  const std::size_t middle = plan.shards[1].offset + 20;
  runs[middle] = static_cast<char>(runs[middle] ^ 1);
  write_file(folder / "runs.jsonl", runs);
  EXPECT_NE(
      refusal_of([&] { read_shard(folder, plan, 2); }).find("is damaged (the lines of shard 2)"),
      std::string::npos);
  EXPECT_EQ(read_shard(folder, plan, 1).size(), plan.shards[0].runs);
  plan.binary = std::string(64, '0');
  const std::string refusal = refusal_of([&] { require_same_program(folder, plan); });
  EXPECT_NE(refusal.find("was planned by another binary"), std::string::npos) << refusal;
  EXPECT_TRUE(refusal.ends_with("dpsosp sweep x.toml")) << refusal;
  plan.runs += 1;
  write_file(folder / "plan.json", write_json(plan).dump());
  EXPECT_NE(refusal_of([&] { read_plan(folder); }).find("runs in its shards"), std::string::npos);
  write_file(folder / "plan.json", "{\"plan\": 1");
  EXPECT_NE(refusal_of([&] { read_plan(folder); }).find("is damaged"), std::string::npos);
}

TEST_F(Plans, CountRunsOfAllAttemptsOnce) {
  const auto folder = planned(2);
  const Plan plan = read_plan(folder);
  const auto runs = read_shard(folder, plan, 1);
  const auto put = [&](Journal& journal, std::size_t k, bool fails = false) {
    journal.put(fails ? failed_run(runs[k].job.description(), "planned")
                      : finished_run(runs[k].job.description(), 1),
                origin());
  };
  PlanStatus status = plan_status(folder, plan);
  EXPECT_EQ(status.all.done, 0U);
  EXPECT_DOUBLE_EQ(status.all.left_seconds, 28);
  {
    const auto first = start_attempt(folder, plan, 1, runs, "first", {});
    put(*first, 0);
    put(*first, 1, true);
  }
  status = plan_status(folder, plan);
  EXPECT_EQ(status.all.done, 2U);
  EXPECT_EQ(status.all.failed, 1U);
  EXPECT_DOUBLE_EQ(status.all.left_seconds, 28 - runs[0].cpu_seconds - runs[1].cpu_seconds);
  // Two copies that know of the first attempt, and not of each other.
  const auto second = start_attempt(folder, plan, 1, runs, "second", {});
  const auto copy = start_attempt(folder, plan, 1, runs, "second", {});
  EXPECT_EQ(second->status(runs[1].job.key()), RunStatus::failed);
  EXPECT_FALSE(second->status(runs[2].job.key()));
  put(*second, 2);
  put(*copy, 2);
  status = plan_status(folder, plan);
  EXPECT_EQ(status.all.done, 3U);
  EXPECT_EQ(status.all.repeated, 1U);
  EXPECT_EQ(status.all.attempts, 3U);
  EXPECT_DOUBLE_EQ(status.all.cpu_seconds, 8);
  const std::string refusal = refusal_of([&] { require_complete(folder, status); });
  EXPECT_NE(refusal.find("shard 2 of 2 lacks 4 of its 4 runs"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("all shards 4 of 7"), std::string::npos) << refusal;
}

TEST_F(Plans, CountOnlyWhatTheirOwnJournalsHold) {
  const auto folder = planned(2);
  const Plan plan = read_plan(folder);
  const auto runs = read_shard(folder, plan, 1);
  const auto put = [&](Journal& journal, std::size_t k) {
    journal.put(finished_run(runs[k].job.description(), 1), origin());
  };
  put(*start_attempt(folder, plan, 1, runs, "first", {}), 0);
  put(*start_attempt(folder, plan, 1, runs, "second", {}), 1);
  EXPECT_EQ(plan_status(folder, plan).all.done, 2U);
  // A damaged journal is moved away: its runs are missing again.
  std::filesystem::remove(journals_of(folder, 1).front());
  EXPECT_EQ(plan_status(folder, plan).all.done, 1U);
  // The other journal comes into the folder of another plan.
  const auto other = planned(3);
  ASSERT_NE(other, folder);
  const std::filesystem::path journal = journals_of(folder, 1).front();
  const auto there = other / std::filesystem::relative(journal, folder);
  std::filesystem::create_directories(there.parent_path());
  std::filesystem::copy_file(journal, there);
  const std::string refusal = refusal_of([&] { plan_status(other, read_plan(other)); });
  EXPECT_NE(refusal.find("is a journal of another plan"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace dpsosp::plan_test
