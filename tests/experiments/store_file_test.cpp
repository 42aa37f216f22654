// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "dpsosp/experiments/store.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::store_file_test {
namespace {

namespace fs = std::filesystem;

/// While it lives, file permissions count, for root too.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (geteuid() == 0) root_ = seteuid(65534) == 0;
  }
  ~OrdinaryUser() {
    if (root_ && seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool root_ = false;
};

constexpr fs::perms everyone_reads{0444};
constexpr fs::perms everyone_reads_and_enters{0555};

TEST(StoreFile, CreatesParentFolders) {
  const TemporaryFolder folder;
  { const Store store(folder.path() / "out" / "deep" / "s.sqlite"); }
  EXPECT_TRUE(fs::exists(folder.path() / "out" / "deep" / "s.sqlite"));
}

TEST(StoreFile, RejectsOtherVersionNamingBoth) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  { const Store store(file); }
  SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 5");
  for (const auto access : {Store::Access::read_write, Store::Access::read_only})
    EXPECT_EQ(
        refusal_of([&] { Store(file, access); }),
        "store: " + file.string() +
            " has version 5, this program writes version 4; use the program that wrote it, or "
            "start a new store");
  SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4");
  EXPECT_EQ(refusal_of([&] { Store{file}; }), "");
}

TEST(StoreFile, ReadsAndUpgradesStoreWithoutDigests) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  const StoredRun run = finished_run({{"seed", 1}}, {{"value", 0.5}});
  Store(file).put(run, provenance());
  SQLite::Database(file, SQLite::OPEN_READWRITE)
      .exec(
          "ALTER TABLE runs DROP COLUMN digest; ALTER TABLE provenance DROP COLUMN cpu_seconds; "
          "ALTER TABLE provenance DROP COLUMN digest; "
          "PRAGMA user_version = 1");
  EXPECT_EQ(Store(file, Store::Access::read_only).find(run.key).value().result, run.result);
  Store(file).put(finished_run({{"seed", 2}}, 2), provenance());
  SQLite::Database db(file, SQLite::OPEN_READWRITE);
  EXPECT_EQ(db.execAndGet("PRAGMA user_version").getInt(), 4);
  EXPECT_EQ(Store(file).find(run.key).value().result, run.result);
  db.exec("UPDATE runs SET result = replace(result, '0.5', '0.4')");
  EXPECT_NE(refusal_of([&] { Store(file).find(run.key); }).find("is damaged"), std::string::npos);
}

TEST(StoreFile, TakesWallSecondsForCpuSecondsOfOlderStore) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  Store(file).put(finished_run({{"seed", 1}}, 1), Provenance{.wall_seconds = 7, .cpu_seconds = 5});
  const auto cpu_seconds = [&](Store::Access access) {
    double seen = 0;
    Store(file, access).each([&](const StoredRun&, const Provenance& p) { seen = p.cpu_seconds; });
    return seen;
  };
  EXPECT_EQ(cpu_seconds(Store::Access::read_only), 5);
  SQLite::Database(file, SQLite::OPEN_READWRITE)
      .exec(
          "ALTER TABLE provenance DROP COLUMN cpu_seconds; "
          "ALTER TABLE provenance DROP COLUMN digest; PRAGMA user_version = 2");
  EXPECT_EQ(cpu_seconds(Store::Access::read_only), 7);
  EXPECT_EQ(cpu_seconds(Store::Access::read_write), 7);
  EXPECT_EQ(SQLite::Database(file).execAndGet("PRAGMA user_version").getInt(), 4);
}

nlohmann::json labelled(const char* label) {
  return {{"best", 0.1}, {"privacy", {{"label", label}, {"spent", 0.5}}}};
}

// Up to version 3 runs on simulated records said `enforced`.
TEST(StoreFile, ReadsAndUpgradesTheLabelOfRunsOnSimulatedRecords) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  const auto run = [](const char* name, const char* sampling, const char* label) {
    return finished_run({{"problem_settings", {{name, sampling}}}}, labelled(label));
  };
  const std::vector<StoredRun> before{run("sampling", "whole", "enforced"),
                                      run("sampling", "stream", "enforced"),
                                      run("simulate", "stream", "enforced"),
                                      run("sampling", "balanced", "enforced"),
                                      run("start", "whole", "enforced"),
                                      run("simulate", "whole", "violated"),
                                      finished_run({{"probe", "whole"}}, labelled("enforced")),
                                      finished_run({{"text", "stream"}}, 3)};
  const std::vector<nlohmann::json> after{
      labelled("simulated"), labelled("simulated"), labelled("simulated"), labelled("enforced"),
      labelled("enforced"),  labelled("violated"),  labelled("enforced"),  3};
  {
    Store store(file);
    for (const StoredRun& each : before) store.put(each, provenance());
  }
  SQLite::Database(file, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 3");
  for (const auto access :
       {Store::Access::read_only, Store::Access::read_write, Store::Access::read_only}) {
    const Store store(file, access);
    for (std::size_t k = 0; k < before.size(); ++k)
      EXPECT_EQ(store.find(before[k].key).value().result, after[k]) << k;
  }
  SQLite::Database db(file, SQLite::OPEN_READWRITE);
  EXPECT_EQ(db.execAndGet("PRAGMA user_version").getInt(), 4);
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM runs WHERE result LIKE '%simulated%'").getInt(), 3);
  // A run that is damaged is not made whole by the upgrade.
  db.exec("UPDATE runs SET result = replace(result, '0.5', '0.4'); PRAGMA user_version = 3");
  EXPECT_NE(refusal_of([&] { Store{file}; }).find("is damaged"), std::string::npos);
}

TEST(StoreFile, RejectsForeignFileAndLeavesItUntouched) {
  const TemporaryFolder folder;
  const fs::path text = folder / "notes.txt";
  std::ofstream(text) << std::string(5000, 'x');
  const fs::path database = folder / "other.db";
  SQLite::Database(database, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t(x)");
  for (const fs::path& file : {text, database}) {
    const std::string before = contents(file);
    for (const auto access : {Store::Access::read_write, Store::Access::read_only}) {
      const std::string line = refusal_of([&] { Store(file, access); });
      EXPECT_NE(line.find("is not a store of dpsosp"), std::string::npos) << line;
      EXPECT_NE(line.find(file.string()), std::string::npos) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    }
    EXPECT_EQ(contents(file), before);
  }
}

TEST(StoreFile, TurnsEmptyFileIntoStore) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  std::ofstream(file).close();
  EXPECT_NE(refusal_of([&] { Store(file, Store::Access::read_only); }), "");
  Store(file).put(finished_run({{"seed", 1}}, 1), provenance());
  EXPECT_EQ(Store(file, Store::Access::read_only).counts().finished, 1U);
}

TEST(StoreFile, RejectsUnwritableFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file").close();
  EXPECT_NE(refusal_of([&] { Store(folder.path() / "file" / "s.sqlite"); }).find("cannot make"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { Store{folder.path()}; }), "");  // a folder is no file
  EXPECT_EQ(refusal_of([&] { Store(folder / "s.sqlite"); }), "");

  fs::permissions(folder.path(), everyone_reads_and_enters);
  const OrdinaryUser user;
  EXPECT_NE(refusal_of([&] { Store(folder / "new.sqlite"); }), "");
  EXPECT_NE(refusal_of([&] { Store(folder / "s.sqlite"); }), "");
}

TEST(StoreFile, RejectsUnwritableFileInWritableFolder) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  { const Store store(file); }
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(file, everyone_reads);
  const OrdinaryUser user;
  EXPECT_NE(refusal_of([&] { Store{file}; }), "");
  EXPECT_EQ(refusal_of([&] { Store(file, Store::Access::read_only); }), "");
}

TEST(StoreFile, ReadsStoreInUnwritableFolder) {
  const TemporaryFolder folder;
  const fs::path file = folder / "100%?#.sqlite";
  const StoredRun run = finished_run({{"seed", 1}}, 7);
  Store(file).put(run, provenance());
  ASSERT_FALSE(fs::exists(file.string() + "-wal"));
  fs::permissions(folder.path(), everyone_reads_and_enters);
  const OrdinaryUser user;
  EXPECT_EQ(Store(file, Store::Access::read_only).find(run.key).value().result, 7);
}

TEST(StoreFile, SaysThatRunsBesideItCannotBeTakenInWhereNothingMayBeWritten) {
  const TemporaryFolder folder;
  const fs::path file = folder / "s.sqlite";
  Store(file).put(finished_run({{"seed", 1}}, 7), provenance());
  std::ofstream(file.string() + "-wal") << "runs";
  fs::permissions(folder.path(), everyone_reads_and_enters);
  const OrdinaryUser user;
  EXPECT_NE(refusal_of([&] {
              Store(file, Store::Access::read_only);
            }).find("copy both files to a folder of your own"),
            std::string::npos);
}

TEST(StoreFile, PathIsNoAddress) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const StoredRun run = finished_run({{"seed", 1}}, 7);
  for (const char* name : {":memory:", "file:a%41.sqlite", "file:b.sqlite?mode=memory", "c#d"}) {
    Store(name).put(run, provenance());
    EXPECT_EQ(Store(name, Store::Access::read_only).counts().finished, 1U) << name;
    EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
  }
  fs::current_path(before);
}

TEST(StoreFile, ReadOnlyAccessCreatesAndChangesNothing) {
  const TemporaryFolder folder;
  EXPECT_NE(refusal_of([&] {
              Store(folder / "none.sqlite", Store::Access::read_only);
            }).find("there is no file"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "none.sqlite"));

  const fs::path file = folder / "s.sqlite";
  Store(file).put(finished_run({{"seed", 1}}, 1), provenance());
  const std::string before = contents(file);
  Store store(file, Store::Access::read_only);
  EXPECT_NE(refusal_of([&] { store.put(finished_run({{"seed", 2}}, 1), provenance()); }), "");
  EXPECT_EQ(store.counts().finished, 1U);
  EXPECT_EQ(contents(file), before);
}

TEST(StoreFile, ReaderSeesStoredRunsAtOnce) {
  const TemporaryFolder folder;
  Store writer(folder / "s.sqlite");
  const Store reader(folder / "s.sqlite", Store::Access::read_only);
  for (std::size_t k = 1; k <= 5; ++k) {
    writer.put(finished_run({{"seed", k}}, 1), provenance());
    EXPECT_EQ(reader.counts().finished, k);
  }
}

}  // namespace
}  // namespace dpsosp::store_file_test
