// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/journal.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::journal_test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

StoredRun run_of(int seed) {
  const json description{{"seed", seed}, {"text", "a \"quoted\" }, {name\n"}};
  if (seed % 5 == 3) return failed_run(description, "planned: \"failure\"\nof two lines");
  return finished_run(description,
                      {{"trace", {seed, 0.1 * seed, "nan", nullptr, "}]\\\""}}, {"done", 7}});
}

Provenance origin(double cpu_seconds = 0.5, const std::string& binary = "b") {
  return {.build = {.program_version = "1",
                    .binary = binary,
                    .compiler = "c",
                    .flags = "-O3 \"x\"",
                    .instruction_set = "i"},
          .cpu = "processor",
          .numbers_version = R"({"library":1})",
          .seed = "1",
          .started = "2026-01-31T23:59:59Z",
          .wall_seconds = 0.1,
          .cpu_seconds = cpu_seconds};
}

class Journals : public testing::Test {
 protected:
  /// A journal with the runs of these seeds. \return its file
  fs::path written(const std::vector<int>& seeds, const std::string& binary = "b") {
    Journal journal(folder(), {.runs = 100}, "test");
    for (const int seed : seeds) journal.put(run_of(seed), origin(0.5, binary));
    return journal.file();
  }
  fs::path folder() const { return folder_ / "journals"; }
  fs::path store() const { return folder_ / "store.sqlite"; }

  /// What a merge of these journals into a new store exports.
  std::string merged(const std::vector<fs::path>& files) {
    fs::remove(store());
    Store into(store());
    into.merge(files, [&](const std::string& notice) { notices_.push_back(notice); });
    return exported_json(into, Detail::results_and_provenance);
  }
  static std::string stored(const fs::path& file, const std::vector<int>& seeds) {
    Store direct(file);
    for (const int seed : seeds) direct.put(run_of(seed), origin());
    return exported_json(direct, Detail::results_and_provenance);
  }

  TemporaryFolder folder_;
  std::vector<std::string> notices_;
};

std::vector<int> first_seeds(int count) {
  std::vector<int> seeds;
  for (int k = 0; k < count; ++k) seeds.push_back(k);
  return seeds;
}

// Earlier programs wrote journals that say `enforced` of runs on simulated records.
TEST_F(Journals, OfEarlierProgramsGiveTheLabelsOfThisOne) {
  const auto written_with = [&](const char* label) {
    Journal journal(folder(), {.runs = 100}, "test");
    for (const char* sampling : {"whole", "balanced"})
      journal.put(
          finished_run(
              {{"problem_settings", {{"sampling", sampling}}}},
              {{"privacy", {{"label", std::string(sampling) == "balanced" ? "enforced" : label}}}}),
          origin());
    return journal.file();
  };
  const fs::path earlier = written_with("enforced"), now = written_with("simulated");
  EXPECT_EQ(merged({earlier}), merged({now}));
  EXPECT_EQ(merged({earlier, now}), merged({now}));
  EXPECT_NE(merged({earlier}).find("simulated"), std::string::npos);
  EXPECT_NE(merged({earlier}).find("enforced"), std::string::npos);
}

TEST_F(Journals, GiveAStoreTheSameBytesAsPuttingEachRun) {
  const std::string direct = stored(folder_ / "direct.sqlite", first_seeds(20));
  const fs::path a = written({7, 3, 11, 0, 19, 5}), b = written({1, 2, 4, 6, 8, 9, 10});
  const fs::path c = written({18, 17, 16, 15, 14, 13, 12});
  EXPECT_EQ(merged({a, b, c}), direct);
  EXPECT_EQ(merged({c, a, b}), direct);
  EXPECT_EQ(notices_, std::vector<std::string>{});
}

TEST_F(Journals, AppendedToOneAnotherAreAJournal) {
  const fs::path a = written({0, 1, 2}), b = written({2, 3, 4});
  std::ofstream(folder() / "all.jsonl") << contents(a) << contents(b);
  EXPECT_EQ(merged({folder() / "all.jsonl"}), merged({a, b}));
}

TEST_F(Journals, MergeTwiceAddsNothing) {
  const fs::path a = written({0, 1, 2, 3}), copy = written({2, 3, 4});
  Store into(store());
  const MergeReport first = into.merge({a, copy}, {});
  EXPECT_EQ(first.added, 5U);
  EXPECT_EQ(first.identical, 2U);
  const std::string all = exported_json(into, Detail::results_and_provenance);
  const MergeReport again = into.merge({copy, a}, {});
  EXPECT_EQ(again.added, 0U);
  EXPECT_EQ(again.identical, 7U);
  EXPECT_EQ(exported_json(into, Detail::results_and_provenance), all);
}

TEST_F(Journals, HoldTheWholeRunsBeforeATornEnd) {
  const fs::path file = written(first_seeds(6));
  const std::string whole = contents(file);
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; (at = whole.find('\n', at)) != std::string::npos; ++at)
    ends.push_back(at + 1);
  ASSERT_EQ(ends.size(), 8U);  // the program's header, the header of the runs' build, six runs
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto lines = static_cast<std::size_t>(
        std::ranges::count_if(ends, [&](std::size_t end) { return end <= size; }));
    notices_.clear();
    fs::remove(store());
    Store into(store());
    const MergeReport report =
        into.merge({file}, [&](const std::string& n) { notices_.push_back(n); });
    const std::size_t runs = lines < 2 ? 0 : lines - 2;
    EXPECT_EQ(report.added, runs) << size;
    const bool torn = size > 0 && !std::ranges::count(ends, size);
    EXPECT_EQ(notices_.size(), torn ? 1U : 0U) << size;
    if (torn) {
      EXPECT_EQ(notices_[0], fmt::format("{}: its torn end, from line {}, is left out",
                                         file.string(), lines + 1));
    }
    const auto state = journal_state(file);
    EXPECT_EQ(state.has_value(), lines > 0) << size;
    EXPECT_EQ(state.value_or(JournalState{}).done, runs) << size;
  }
}

TEST_F(Journals, LeaveOutAnEndOfZeros) {
  const fs::path file = written({0, 1, 2});
  std::ofstream(file, std::ios::binary | std::ios::app) << std::string(5000, '\0') << '\n';
  EXPECT_EQ(merged({file}), stored(folder_ / "direct.sqlite", {0, 1, 2}));
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(journal_state(file)->done, 3U);
}

TEST_F(Journals, RefuseEachLineThatWasWrittenToItsEndAndDoesNotCheck) {
  const fs::path file = written({0, 1, 2});
  const std::string whole = contents(file);
  for (std::size_t place = whole.rfind('\n', whole.size() - 2) + 1; place < whole.size() - 1;
       ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_NE(refusal_of([&] { merged({file}); }).find(" is damaged: line 5 "), std::string::npos)
        << place;
  }
  EXPECT_EQ(notices_, std::vector<std::string>{});
}

TEST_F(Journals, AreReadWithEndsOfLinesFromElsewhere) {
  const fs::path file = written({0, 1, 2});
  const std::string direct = stored(folder_ / "direct.sqlite", {0, 1, 2});
  std::string text = contents(file);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  EXPECT_EQ(merged({file}), direct);
  EXPECT_EQ(notices_, std::vector<std::string>{});
  EXPECT_EQ(journal_state(file)->done, 3U);
}

TEST_F(Journals, RefuseAFlippedByteInTheMiddleByName) {
  const fs::path file = written(first_seeds(4));
  const std::string whole = contents(file);
  const std::size_t last = whole.rfind('\n', whole.size() - 2);
  Stream places({.seed = 1, .purpose = Purpose::test});
  for (int k = 0; k < 200; ++k) {
    std::string damaged = whole;
    const auto place = static_cast<std::size_t>(places.below(static_cast<Index>(last)));
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << places.below(8)));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    fs::remove(store());
    Store into(store());
    const std::string refusal = refusal_of([&] { into.merge({file}, {}); });
    EXPECT_TRUE(refusal.starts_with("journal: " + file.string() + " is damaged: line "))
        << place << ": " << refusal;
    EXPECT_EQ(into.counts().finished, 0U);
  }
}

TEST_F(Journals, RefuseTwoOutcomesOfARunByName) {
  const fs::path a = written({0, 1, 2});
  Journal other(folder(), {}, "other");
  other.put(finished_run(run_of(1).key.description(), 5), origin(0.5, "another"));
  Store into(store());
  const std::string refusal = refusal_of([&] { into.merge({a, other.file()}, {}); });
  EXPECT_TRUE(refusal.starts_with("merge: run " + run_of(1).key.hash() + " is finished in "))
      << refusal;
  for (const char* part : {"different builds computed them", "other.", "test."})
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  EXPECT_EQ(into.counts().finished, 0U);
  // The same where the store has one of them.
  into.merge({a}, {});
  EXPECT_TRUE(refusal_of([&] { into.merge({other.file()}, {}); }).starts_with("merge: run "));
}

TEST_F(Journals, LetAnyOutcomeReplaceAFailureByException) {
  const RunKey key = run_of(1).key;
  const StoredRun want_of_memory{
      .key = key, .status = RunStatus::failed, .reason = "exception: std::bad_alloc"};
  Journal small(folder(), {}, "small");
  small.put(want_of_memory, origin());
  const fs::path large = written({1});
  for (const auto& order : {std::vector{small.file(), large}, std::vector{large, small.file()}}) {
    fs::remove(store());
    Store into(store());
    for (const fs::path& journal : order) into.merge({journal}, {});
    EXPECT_EQ(into.find(key)->status, RunStatus::finished);
    EXPECT_EQ(into.merge(order, {}).added, 0U);
  }
}

TEST_F(Journals, SayHowFarTheyAreByTheLastLine) {
  Journal::Seconds seconds;
  for (const int seed : first_seeds(10)) seconds[run_of(seed).key.hash()] = 2;
  const Journal::Known known{{run_of(9).key.hash(), RunStatus::finished}};
  Journal journal(folder(), {.shard = 3, .shards = 4, .runs = 10, .found = 1}, "x", known, seconds);
  EXPECT_EQ(journal.status(run_of(9).key), RunStatus::finished);
  EXPECT_FALSE(journal.status(run_of(0).key));
  for (const int seed : first_seeds(4)) journal.put(run_of(seed), origin(1.25));
  EXPECT_EQ(journal.status(run_of(3).key), RunStatus::failed);
  const auto state = journal_state(journal.file());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->header.shard, 3U);
  EXPECT_EQ(state->header.found, 1U);
  EXPECT_EQ(state->done, 4U);
  EXPECT_EQ(state->failed, 1U);
  EXPECT_DOUBLE_EQ(state->cpu_seconds, 5);
  EXPECT_DOUBLE_EQ(state->left_seconds, 10);
  EXPECT_EQ(journals_in(folder()), std::vector{journal.file()});
}

TEST_F(Journals, OfTwoCopiesAreTwoFiles) {
  std::set<std::string> names;
  for (int k = 0; k < 50; ++k) names.insert(Journal(folder(), {}, "job-1.r0").file());
  EXPECT_EQ(names.size(), 50U);
}

// A limit on the size of files stands for a full disk.
TEST_F(Journals, StayWholeOnAFullDisk) {
  Journal journal(folder(), {}, "full");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  struct sigaction ignore {};
  struct sigaction old {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &old);
  const rlimit small{.rlim_cur = 2000, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string refusal;
  int done = 0;
  for (; refusal.empty() && done < 100; ++done)
    refusal = refusal_of([&] { journal.put(run_of(done), origin()); });
  --done;
  setrlimit(RLIMIT_FSIZE, &before);
  sigaction(SIGXFSZ, &old, nullptr);
  EXPECT_GT(done, 0);
  EXPECT_NE(refusal.find(fmt::format("cannot be written (File too large); the {} runs in it are "
                                     "kept",
                                     done)),
            std::string::npos)
      << refusal;
  Store into(store());
  EXPECT_EQ(into.merge({journal.file()}, [](const std::string& n) { ADD_FAILURE() << n; }).added,
            static_cast<std::size_t>(done));
  // There is room again: the journal goes on.
  journal.put(run_of(99), origin());
  EXPECT_EQ(into.merge({journal.file()}, {}).added, 1U);
}

TEST_F(Journals, TakeComputedRunsAndLeaveOutKnownOnes) {
  const auto compute = [](const Job& job) -> json {
    const int seed = job.description().at("seed");
    if (seed == 4) throw RunFailed("four");
    return {{"square", seed * seed}};
  };
  std::vector<Job> jobs;
  for (int seed = 0; seed < 30; ++seed) jobs.emplace_back(json{{"seed", seed}});
  Journal first(folder(), {}, "first");
  compute_missing(first, {jobs.begin(), jobs.begin() + 10}, compute, {.threads = 3});
  Journal::Known known;
  read_journal(first.file(), {},
               [&](const JournalRow& row) {
                 known[std::string(row.key)] = from_word<RunStatus>(std::string(row.status));
               },
               {});
  EXPECT_EQ(known.size(), 10U);
  Journal second(folder(), {}, "second", known);
  compute_missing(second, jobs, compute, {.threads = 3});
  EXPECT_EQ(journal_state(second.file())->done, 20U);
  Store direct(folder_ / "direct.sqlite");
  run_jobs(direct, jobs, compute);
  Store into(store());
  into.merge(journals_in(folder()), {});
  EXPECT_EQ(exported_json(into), exported_json(direct));
}

}  // namespace
}  // namespace dpsosp::journal_test
