// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/exhibit.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/files.hpp"
#include "dpsosp/experiments/costs.hpp"
#include "dpsosp/experiments/study.hpp"
#include "temporary_folder.hpp"

// Exhibits whose runs are computed where they are named, and names that stand for several exhibits.
namespace dpsosp::exhibit_test {
namespace {

using nlohmann::json;

std::atomic<int>& computed() {
  static std::atomic<int> count = 0;
  return count;
}

json count(const json&, std::uint64_t seed) {
  ++computed();
  return seed;
}

std::vector<Job> two_jobs(const Study& study, const char* probe) {
  return {study.probe(probe, json::object(), 0), study.probe(probe, json::object(), 1)};
}

/// Shows how many of its runs it was handed.
ExhibitEntry entry(std::string id, const char* probe, bool on_request) {
  return {.id = id,
          .title = "",
          .paper = "",
          .jobs = [probe](const Study& study) { return two_jobs(study, probe); },
          .render =
              [id, probe](const Runs& runs, const Study& study) {
                int there = 0;
                for (const Job& job : two_jobs(study, probe)) there += runs.contains(job);
                plots::Exhibit e{.id = id.substr(id.find('/') + 1), .paper = "P", .title = "T"};
                e.verdict = {std::to_string(there) + " runs", plots::Tone::neutral};
                return e;
              },
          .on_request = on_request};
}

/// Two exhibits of one paper, of which the second is computed on request by `code`, and one of
/// another.
Catalogue catalogue(ProbeCompute code = count) {
  Catalogue c;
  c.probes = {{"quick", 1, count}, {"long", 1, code}, {"other", 1, count}};
  c.exhibits = {entry("smith-2027/table", "quick", false), entry("smith-2027/figure", "long", true),
                entry("smith-2027-appendix/table-a", "other", false)};
  return c;
}

ReproduceOptions options(const TemporaryFolder& folder, std::vector<std::string> exhibits = {}) {
  return {.exhibits = std::move(exhibits), .out = folder.path(), .quiet = true};
}

/// A report of one line an exhibit: its verdict.
std::filesystem::path write_verdicts(const Reproduced& reproduced) {
  for (const plots::Exhibit& e : reproduced.exhibits)
    write_file(reproduced.out / "report" / e.id, e.verdict.text);
  return reproduced.out / "report";
}

/// How many runs a call computed.
int runs_of(const Catalogue& c, const ReproduceOptions& o) {
  const int before = computed();
  reproduce(c, o, write_verdicts);
  return computed() - before;
}

std::string page(const TemporaryFolder& folder, const char* exhibit) {
  return contents(folder.path() / "report" / exhibit);
}

TEST(OnRequest, IsComputedWhereNamedAndShownFromStoreAfterwards) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  EXPECT_EQ(runs_of(c, options(folder)), 4);
  EXPECT_NE(page(folder, "figure").find("0 runs"), std::string::npos);
  EXPECT_EQ(runs_of(c, options(folder, {"smith-2027/figure"})), 2);
  EXPECT_NE(page(folder, "figure").find("2 runs"), std::string::npos);
  EXPECT_EQ(runs_of(c, options(folder)), 0);
  EXPECT_NE(page(folder, "figure").find("2 runs"), std::string::npos);
}

TEST(OnRequest, ListsNoRunsWhileTheStoreLacksTheFirst) {
  const TemporaryFolder folder;
  Catalogue c = catalogue();
  int listed = 0;
  c.exhibits[1].jobs = [&listed](const Study& study) {
    ++listed;
    return two_jobs(study, "long");
  };
  c.exhibits[1].first_job = [](const Study& study) { return two_jobs(study, "long").front(); };
  EXPECT_EQ(runs_of(c, options(folder)), 4);
  EXPECT_EQ(listed, 0);
  EXPECT_NE(page(folder, "figure").find("0 runs"), std::string::npos);
  EXPECT_EQ(runs_of(c, options(folder, {"smith-2027/figure"})), 2);
  EXPECT_EQ(runs_of(c, options(folder)), 0);
  EXPECT_NE(page(folder, "figure").find("2 runs"), std::string::npos);
}

TEST(OnRequest, IsNotShownByHalves) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  {
    Store store(folder / "store.sqlite");
    store.put(finished_run(two_jobs({c}, "long").front().description(), 0), {});
  }
  EXPECT_EQ(runs_of(c, options(folder)), 4);
  EXPECT_NE(page(folder, "figure").find("0 runs"), std::string::npos);
}

TEST(OnRequest, OfProgramWithoutItsCodeIsRefusedWithCommand) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue(nullptr);
  EXPECT_EQ(
      refusal_of([&] { reproduce(c, options(folder, {"smith-2027/figure"}), write_verdicts); }),
      "reproduce: this program is built without the code for the runs of smith-2027/figure; "
      "./run reproduce smith-2027/figure builds one with it");
  EXPECT_EQ(refusal_of([&] { reproduce(c, options(folder), write_verdicts); }), "");
  {
    Store store(folder / "store.sqlite");
    for (const Job& job : two_jobs({c}, "long")) store.put(finished_run(job.description(), 0), {});
  }
  EXPECT_EQ(
      refusal_of([&] { reproduce(c, options(folder, {"smith-2027/figure"}), write_verdicts); }),
      "");
  EXPECT_NE(page(folder, "figure").find("2 runs"), std::string::npos);
}

TEST(OnRequest, IsNeverComputedByReport) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  reproduce(c, options(folder), write_verdicts);
  ReproduceOptions report = options(folder, {"smith-2027/figure"});
  report.from_store = true;
  EXPECT_EQ(runs_of(c, report), 0);
  EXPECT_NE(page(folder, "figure").find("0 runs"), std::string::npos);
}

/// What a report from the store shows, and what it says is missing: "ID 1/2".
std::vector<std::string> shown_and_missing(const Catalogue& c, ReproduceOptions o) {
  std::vector<std::string> lines;
  o.from_store = true;
  reproduce(c, o, [&](const Reproduced& r) {
    for (const ExhibitEntry* e : r.entries) lines.push_back(e->id);
    for (const Unfinished& u : r.unfinished)
      lines.push_back(u.entry->id + " " + std::to_string(u.stored) + "/" + std::to_string(u.runs));
    EXPECT_EQ(r.entries.size(), r.exhibits.size());
    EXPECT_FALSE(r.running);
    return r.out;
  });
  return lines;
}

TEST(Report, ShowsWhatIsStoredAndSaysWhatIsMissing) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  {
    Store store(folder / "store.sqlite");
    for (const Job& job : two_jobs({c}, "quick")) store.put(finished_run(job.description(), 0), {});
    store.put(finished_run(two_jobs({c}, "other").front().description(), 0), {});
  }
  EXPECT_EQ(shown_and_missing(c, options(folder)),
            (std::vector<std::string>{"smith-2027/table", "smith-2027/figure",
                                      "smith-2027-appendix/table-a 1/2"}));
  EXPECT_EQ(shown_and_missing(c, options(folder, {"smith-2027-appendix"})),
            (std::vector<std::string>{"smith-2027-appendix/table-a 1/2"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "costs.csv"))
      << "costs of a part are not those of all";
}

TEST(Report, OfAnotherStoreFileLeavesTheOwnAlone) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  {
    Store store(folder / "other.sqlite");
    for (const Job& job : two_jobs({c}, "quick")) store.put(finished_run(job.description(), 0), {});
  }
  ReproduceOptions o = options(folder, {"smith-2027/table"});
  o.store = folder / "other.sqlite";
  EXPECT_EQ(shown_and_missing(c, o), (std::vector<std::string>{"smith-2027/table"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "store.sqlite"));
}

TEST(Report, OfAStoreWithoutAnyOfTheRunsIsRefused) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  { const Store store(folder / "store.sqlite"); }
  EXPECT_NE(refusal_of([&] {
              shown_and_missing(c, options(folder));
            }).find("holds none of the 4 runs at scale quick; dpsosp reproduce computes them"),
            std::string::npos);
}

TEST(Report, IsWrittenWhileRunsAreComputed) {
  const TemporaryFolder folder;
  Catalogue c = catalogue();
  std::atomic<int> while_running = 0;
  ReproduceOptions o = options(folder);
  o.refresh_seconds = 0.001;
  static std::atomic<bool> seen;
  seen = false;
  // Its runs wait until a report was written without them.
  c.probes[2].compute = [](const json&, std::uint64_t seed) -> json {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!seen && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return seed;
  };
  bool last_was_running = true;
  reproduce(c, o, [&](const Reproduced& r) {
    last_was_running = r.running;
    if (r.running) {
      // A later one may come when the last run has just been stored.
      if (while_running++ == 0) {
        EXPECT_FALSE(r.unfinished.empty());
      }
      seen = true;
    } else {
      EXPECT_TRUE(r.unfinished.empty());
      EXPECT_EQ(r.entries.size(), 3U);
    }
    return r.out;
  });
  EXPECT_GT(while_running, 0);
  EXPECT_FALSE(last_was_running);
}

TEST(OnRequest, CostsAreKeptApartFromThoseOfAll) {
  const TemporaryFolder folder;
  const Catalogue c = catalogue();
  reproduce(c, options(folder), write_verdicts);
  reproduce(c, options(folder, {"smith-2027/figure"}), write_verdicts);
  const Store store(folder / "store.sqlite", Store::Access::read_only);
  const Study study{.catalogue = c, .store = &store};
  const auto costs = measured_costs(store, study);
  ASSERT_EQ(costs.size(), 4U);
  EXPECT_EQ(costs[1].exhibit, "smith-2027/figure");
  EXPECT_EQ(costs[1].stored, 2U);
  EXPECT_EQ(costs[3].exhibit, "all");
  EXPECT_EQ(costs[3].runs, 4U);
  EXPECT_EQ(measured_costs(store, Study{c}).size(), 3U);  // of no store the figure has no runs
}

TEST(OnRequest, IsPlannedWhereNamedAtItsOwnCost) {
  Catalogue c = catalogue();
  c.costs = "smith-2027/table,quick,2,4,1\nsmith-2027/figure,quick,2,200,1\nall,quick,4,8,1\n";
  const auto unnamed = planned_costs(c, {}, nullptr);
  EXPECT_EQ(unnamed[1].runs, 0U);
  EXPECT_EQ(unnamed.back().runs, 4U);
  EXPECT_DOUBLE_EQ(unnamed.back().cpu_seconds, 8);
  const auto named = planned_costs(c, {.exhibits = {"smith-2027"}}, nullptr);
  ASSERT_EQ(named.size(), 3U);
  EXPECT_EQ(named[1].runs, 2U);
  EXPECT_EQ(named.back().runs, 4U);
  EXPECT_DOUBLE_EQ(named.back().cpu_seconds, 2 * 2.0 + 2 * 100.0);
}

TEST(Catalogue, KnowsWhatItCanCompute) {
  const Catalogue c = catalogue(nullptr);
  const Study study{c};
  EXPECT_TRUE(c.can_compute(study.probe("quick", json::object())));
  EXPECT_TRUE(c.can_compute(RunDescription()));
  const Job job = study.probe("long", json::object());
  EXPECT_FALSE(c.can_compute(job));
  EXPECT_EQ(refusal_of([&] { c.compute(job); }),
            "probe long: this program is built without the code for it");
  EXPECT_NE(
      refusal_of([&] { c.can_compute(ProbeCall{.probe = "lnog"}); }).find("did you mean 'long'"),
      std::string::npos);
}

std::vector<std::string> ids(const std::vector<std::string>& names) {
  const Catalogue c = catalogue();
  std::vector<std::string> found;
  for (const ExhibitEntry* e : chosen_exhibits(c, names)) found.push_back(e->id);
  return found;
}

TEST(ChosenExhibits, KeyOfPaperStandsForAllOfItsOwn) {
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids({"smith-2027"}), (Ids{"smith-2027/table", "smith-2027/figure"}));
  EXPECT_EQ(ids({"smith-2027/figure", "smith-2027"}),
            (Ids{"smith-2027/figure", "smith-2027/table"}));
  EXPECT_EQ(ids({}).size(), 3U);
  EXPECT_EQ(refusal_of([] { ids({"smith-2072"}); }),
            "unknown exhibit 'smith-2072'; did you mean 'smith-2027'?");
}

}  // namespace
}  // namespace dpsosp::exhibit_test
