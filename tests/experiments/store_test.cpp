// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/store.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/experiments/json_number.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::store_test {
namespace {

using nlohmann::json;

const Provenance& here() {
  static const Provenance p = provenance();
  return p;
}

TEST(Store, FindsRunByItsKeyOnly) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const StoredRun run = finished_run({{"seed", 1}}, {{"alpha", 0.25}});
  EXPECT_FALSE(store.find(run.key));
  store.put(run, here());
  const std::optional<StoredRun> found = store.find(RunKey(json{{"seed", 1.0}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, RunStatus::finished);
  EXPECT_EQ(found->result, run.result);
  EXPECT_FALSE(store.find(RunKey(json{{"seed", 2}})));
}

TEST(Store, KnowsWhereRunCameFrom) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const StoredRun run = finished_run({{"seed", 1}}, 1);
  EXPECT_FALSE(store.provenance_of(run.key));
  const Provenance origin{.started = "2026-01-31T23:59:59Z", .cpu_seconds = 2.5};
  store.put(run, origin);
  store.put(finished_run({{"seed", 2}}, 1), {.started = "2027-01-31T23:59:59Z"});
  ASSERT_TRUE(store.provenance_of(run.key));
  EXPECT_EQ(json(*store.provenance_of(run.key)), json(origin));
}

TEST(Store, RoundTripsResultsBitForBit) {
  const TemporaryFolder folder;
  Store writer(folder / "s.sqlite");
  const Store reader(folder / "s.sqlite", Store::Access::read_only);
  std::uint64_t next = 0;
  EXPECT_TRUE(rc::check([&](std::vector<std::uint64_t> bits) {
    json values = json::array();
    for (const std::uint64_t b : bits) values.push_back(std::bit_cast<double>(b));
    for (const double x : {-0.0, 1e300, std::nan(""), HUGE_VAL, -HUGE_VAL}) values.push_back(x);
    const StoredRun run = finished_run({{"case", next++}}, {{"values", values}});
    writer.put(run, here());
    const json found = reader.find(run.key).value().result["values"];
    RC_ASSERT(found.size() == values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double from = values[k].get<double>();
      const double to = from_json_number(found[k]);
      RC_ASSERT(std::isnan(from) == std::isnan(to));
      if (!std::isnan(from))
        RC_ASSERT(std::bit_cast<std::uint64_t>(from) == std::bit_cast<std::uint64_t>(to));
    }
  }));
}

TEST(Store, FailedRunKeepsReasonAndHasNoNumbers) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const StoredRun run = failed_run({{"seed", 1}}, "iterate 17 is not finite");
  store.put(run, here());
  const StoredRun found = store.find(run.key).value();
  EXPECT_EQ(found.status, RunStatus::failed);
  EXPECT_EQ(found.reason, "iterate 17 is not finite");
  EXPECT_TRUE(found.result.is_null());
  EXPECT_EQ(store.counts().failed, 1U);
  EXPECT_EQ(store.counts().finished, 0U);
}

TEST(Store, ReplacesFailedRunAndKeepsFinishedOne) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const StoredRun run = finished_run({{"seed", 1}}, {{"alpha", 1}});
  store.put(failed_run({{"seed", 1}}, "out of memory"), here());
  store.put(run, here());
  EXPECT_EQ(store.find(run.key).value().status, RunStatus::finished);

  Provenance later = here();
  later.wall_seconds = 1234;
  store.put(run, later);  // the same outcome again: nothing changes, its provenance neither
  EXPECT_EQ(exported_json(store, Detail::results_and_provenance).find("1234"), std::string::npos);
  EXPECT_NE(refusal_of([&] {
              store.put(finished_run({{"seed", 1}}, {{"alpha", 2}}), here());
            }).find("another outcome"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { store.put(failed_run({{"seed", 1}}, "no"), here()); }), "");
  EXPECT_EQ(store.find(run.key).value().result, run.result);
}

TEST(Store, ExportIgnoresOrderAndProvenance) {
  const TemporaryFolder folder;
  Store forward(folder / "a.sqlite");
  Store backward(folder / "b.sqlite");
  Provenance elsewhere = here();
  elsewhere.cpu = "another";
  elsewhere.wall_seconds = 9;
  for (int k = 0; k < 20; ++k) {
    forward.put(finished_run({{"seed", k}}, {{"alpha", 0.1 * k}}), here());
    backward.put(finished_run({{"seed", 19 - k}}, {{"alpha", 0.1 * (19 - k)}}), elsewhere);
  }
  EXPECT_EQ(exported_json(forward), exported_json(backward));
  EXPECT_NE(exported_json(forward, Detail::results_and_provenance),
            exported_json(backward, Detail::results_and_provenance));
}

TEST(Store, ExportsJsonWithOneRunPerLine) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  EXPECT_EQ(json::parse(exported_json(store))["runs"], json::array());
  store.put(finished_run({{"seed", 1}}, {{"alpha", std::nan("")}}), here());
  store.put(failed_run({{"seed", 2}}, "diverged \xff"), here());  // a reason that is not UTF-8
  const std::string text = exported_json(store);
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  const json runs = json::parse(text)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_LT(runs[0]["key"], runs[1]["key"]);
  for (const json& run : runs) {
    EXPECT_EQ(RunKey(run["description"]).hash(), run["key"].get<std::string>());
    EXPECT_EQ(run["result"].is_null(), run["status"] == "failed");
  }
}

TEST(Store, MergedShardsEqualTheWhole) {
  const TemporaryFolder folder;
  Store whole(folder / "whole.sqlite");
  Store merged(folder / "merged.sqlite");
  for (int shard = 0; shard < 3; ++shard) {
    Store part(folder.path() / ("part" + std::to_string(shard)));
    for (int k = shard; k < 30; k += 3) {
      const StoredRun run = k % 7 == 0 ? failed_run({{"seed", k}}, "diverged")
                                       : finished_run({{"seed", k}}, {{"alpha", 1.0 / k}});
      part.put(run, here());
      whole.put(run, here());
    }
    EXPECT_EQ(merged.merge(part).added, 10U);
    EXPECT_EQ(merged.merge(part).identical, 10U);  // safe to repeat
  }
  EXPECT_EQ(exported_json(merged), exported_json(whole));
  EXPECT_EQ(exported_json(merged, Detail::results_and_provenance),
            exported_json(whole, Detail::results_and_provenance));
}

TEST(Store, RejectsMergeWithDifferentOutcome) {
  const TemporaryFolder folder;
  const StoredRun shared = finished_run({{"seed", 0}}, {{"alpha", 0.1}});
  const std::vector<StoredRun> conflicts{
      finished_run({{"seed", 0}}, {{"alpha", std::nextafter(0.1, 1)}}),
      failed_run({{"seed", 0}}, "diverged")};
  for (std::size_t k = 0; k < conflicts.size(); ++k) {
    Store mine(folder.path() / ("mine" + std::to_string(k)));
    Store other(folder.path() / ("other" + std::to_string(k)));
    mine.put(shared, here());
    for (int seed = 1; seed < 20; ++seed) other.put(finished_run({{"seed", seed}}, 1), here());
    other.put(conflicts[k], here());
    const std::string line = refusal_of([&] { mine.merge(other); });
    EXPECT_NE(line.find(shared.key.hash()), std::string::npos) << line;
    EXPECT_NE(line.find("one build computed both"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(mine.counts().finished, 1U);  // all or nothing
    EXPECT_EQ(mine.find(shared.key).value().result, shared.result);
  }
}

TEST(Store, MergeReportsDifferentBuilds) {
  const TemporaryFolder folder;
  Store mine(folder / "a.sqlite");
  Store other(folder / "b.sqlite");
  mine.put(finished_run({{"seed", 0}}, 1), here());
  other.put(finished_run({{"seed", 1}}, 1), here());
  EXPECT_EQ(mine.merge(other).origins.builds.size(), 1U);
  Provenance wide = here();
  wide.build.instruction_set = "x86-64 avx512f";
  other.put(finished_run({{"seed", 2}}, 1), wide);
  const std::vector<Build> builds = mine.merge(other).origins.builds;
  ASSERT_EQ(builds.size(), 2U);
  EXPECT_NE(builds[0], builds[1]);
}

TEST(Store, MergeConflictNamesBothBuilds) {
  const TemporaryFolder folder;
  Store mine(folder / "a.sqlite");
  Store other(folder / "b.sqlite");
  Provenance wide = here();
  wide.build.instruction_set = "x86-64 avx512f";
  mine.put(finished_run({{"seed", 0}}, 1), here());
  other.put(finished_run({{"seed", 0}}, 2), wide);
  const std::string line = refusal_of([&] { mine.merge(other); });
  EXPECT_NE(line.find(to_string(here().build)), std::string::npos) << line;
  EXPECT_NE(line.find(to_string(wide.build)), std::string::npos) << line;
}

TEST(Store, RejectsMergeWithItself) {
  const TemporaryFolder folder;
  Store store(folder / "s.sqlite");
  const Store again(folder.path() / "." / "s.sqlite");
  EXPECT_NE(refusal_of([&] { store.merge(store); }), "");
  EXPECT_NE(refusal_of([&] { store.merge(again); }), "");
}

TEST(Store, RejectsDamagedRows) {
  const std::vector<std::string> damages{R"(UPDATE runs SET description = '{"seed":2}')",
                                         R"(UPDATE runs SET description = '{"se')",
                                         R"(UPDATE runs SET description = '[]')",
                                         R"(UPDATE runs SET result = '{"alpha":')",
                                         R"(UPDATE runs SET result = '{"alpha":2}')",
                                         "UPDATE runs SET status = 'failed'",
                                         "UPDATE runs SET reason = 'x'",
                                         "UPDATE runs SET digest = ''"};
  for (const std::string& damage : damages) {
    const TemporaryFolder folder;
    const StoredRun run = finished_run({{"seed", 1}}, {{"alpha", 1}});
    Store store(folder / "s.sqlite");
    store.put(run, here());
    EXPECT_EQ(refusal_of([&] { store.find(run.key); }), "");
    SQLite::Database(folder / "s.sqlite", SQLite::OPEN_READWRITE).exec(damage);
    EXPECT_NE(refusal_of([&] { store.find(run.key); }).find("is damaged"), std::string::npos);
    EXPECT_NE(refusal_of([&] { exported_json(store); }).find("is damaged"), std::string::npos);
  }
}

TEST(Store, RejectsChangedProvenance) {
  for (const std::string column : {"binary", "flags", "cpu", "seed", "started", "digest"}) {
    const TemporaryFolder folder;
    Store store(folder / "s.sqlite");
    store.put(finished_run({{"seed", 1}}, {{"alpha", 1}}), here());
    EXPECT_EQ(refusal_of([&] { exported_json(store); }), "");
    SQLite::Database(folder / "s.sqlite", SQLite::OPEN_READWRITE)
        .exec("UPDATE provenance SET " + column + " = 'x'");
    EXPECT_NE(refusal_of([&] { exported_json(store); }).find("is damaged"), std::string::npos);
    EXPECT_NE(refusal_of([&] { (void)store.builds(); }).find("is damaged"), std::string::npos);
  }
}

}  // namespace
}  // namespace dpsosp::store_test
