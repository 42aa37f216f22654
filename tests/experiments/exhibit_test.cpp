// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/exhibit.hpp"

#include <atomic>
#include <string>
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
  c.exhibits = {entry("smith-2027/table", "quick", false),
                entry("smith-2027/figure", "long", true),
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
  EXPECT_EQ(refusal_of([&] { reproduce(c, options(folder, {"smith-2027/figure"}), write_verdicts); }),
            "reproduce: this program is built without the code for the runs of smith-2027/figure; "
            "./run reproduce smith-2027/figure builds one with it");
  EXPECT_EQ(refusal_of([&] { reproduce(c, options(folder), write_verdicts); }), "");
  {
    Store store(folder / "store.sqlite");
    for (const Job& job : two_jobs({c}, "long")) store.put(finished_run(job.description(), 0), {});
  }
  EXPECT_EQ(refusal_of([&] { reproduce(c, options(folder, {"smith-2027/figure"}), write_verdicts); }), "");
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
