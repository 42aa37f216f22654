// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>

#include "paths.hpp"
#include "sweep_crash.hpp"

// A full disk ends a command with one line, and nothing that was stored is lost. The disk is
// simulated by a limit on the size of files, which needs no privileges, and by a small mounted disk
// where the system allows it.
namespace dpsosp::full_disk_test {
namespace {

namespace fs = std::filesystem;

/// Runs the program where no file may grow beyond so many KiB.
Result with_files_up_to(int kibibytes, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"-c",
                               fmt::format("ulimit -f {}; trap '' XFSZ; exec \"$@\"", kibibytes),
                               "bash", built_program("dpsosp")};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program("/bin/bash", all);
}

/// Below `folder`, but for the store, its side files and the wall times.
std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.is_regular_file() && !name.starts_with("store.sqlite") && name != "timings.csv")
      files[fs::relative(entry.path(), folder)] = contents(entry.path());
  }
  return files;
}

TEST_F(SweepCrash, KeepsStoredRunsIfFilesCannotGrow) {
  const auto whole = finished("whole", 1).tables();
  int most = 0;
  for (const int kibibytes : {1, 40, 100, 250}) {
    SCOPED_TRACE(kibibytes);
    const SweepRun s = sweep(fmt::format("{} KiB", kibibytes));
    const Result full = with_files_up_to(kibibytes, s.arguments("sweep", "--quiet --threads 2"));
    expect_one_error_line(full, 2,
                          "store.sqlite: disk I/O error; it cannot grow: is the disk full");
    EXPECT_EQ(files_below(s.out()).size(), 0U) << "a table of half the runs";
    const int before = s.stored();
    EXPECT_GE(before, most);
    most = before;
    const Result fit = s.run("fit");
    if (before > 0)
      expect_one_error_line(fit, 2, fmt::format("lacks {} of the 78 runs", 78 - before));
    EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
    expect_same_tables(s.tables(), whole);
  }
  EXPECT_GT(most, 0);
  EXPECT_LT(most, 78);
}

/// Runs the sweep on a disk of so many KiB with a copy of its folder, and copies the folder back.
/// None if no disk can be mounted.
std::optional<Result> on_a_disk_of(std::uintmax_t kibibytes, const SweepRun& sweep) {
  // The disk is unmounted with its namespace.
  const std::string script = fmt::format(
      "mkdir -p disk && mount -t tmpfs -o size={0}k tmpfs disk || exit 1; touch mounted; "
      "test ! -d {1} || cp -a {1} disk; \"$@\" --out disk/{1}; code=$?; "
      "rm -rf {1}; cp -a disk/{1} .; exit $code",
      kibibytes, sweep.out().filename().string());
  const fs::path folder = sweep.out().parent_path();
  std::vector<std::string> all{"--user", "--map-root-user", "--mount", "/bin/sh", "-c"};
  all.push_back("cd \"$1\" && shift && " + script);
  for (const std::string& word : {std::string("sh"), folder.string(), built_program("dpsosp")})
    all.push_back(word);
  for (const std::string& word : words("sweep sweep.toml --scale smoke --quiet --threads 1"))
    all.push_back(word);
  const Result result = run_program("/usr/bin/unshare", all);
  if (!fs::exists(folder / "mounted")) return {};
  return result;
}

/// What the files of a folder take on a disk with blocks of 4 KiB.
std::uintmax_t kibibytes_of(const fs::path& folder) {
  std::uintmax_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) sum += (entry.file_size() + 4095) / 4096 * 4;
  return sum;
}

TEST_F(SweepCrash, KeepsStoredRunsOnFullDisk) {
  const SweepRun s = sweep("out");
  const auto full = on_a_disk_of(300, s);
  if (!full) GTEST_SKIP() << "no disk may be mounted here";
  expect_one_error_line(*full, 2, "out/store.sqlite: database or disk is full; it cannot grow");
  EXPECT_GT(s.stored(), 0);
  EXPECT_LT(s.stored(), 78);
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  expect_same_tables(s.tables(), finished("whole", 1).tables());
}

TEST_F(SweepCrash, LeavesNoPartialTableOnFullDisk) {
  const SweepRun s = finished("out", 1);
  const auto whole = files_below(s.out());
  constexpr std::uintmax_t side_file = 32;  // of SQLite, while the store is open
  for (const bool old_tables : {true, false}) {
    if (!old_tables) fs::remove_all(s.out() / "sweep");
    const auto full = on_a_disk_of(kibibytes_of(s.out()) + side_file + (old_tables ? 4 : 12), s);
    if (!full) GTEST_SKIP() << "no disk may be mounted here";
    expect_one_error_line(*full, 2, "cannot write this file (No space left on device)");
    const auto left = files_below(s.out());
    EXPECT_TRUE(old_tables ? left.size() == whole.size() : left.size() < whole.size());
    for (const auto& [name, text] : left)
      EXPECT_TRUE(whole.contains(name) && whole.at(name) == text) << name << " is no whole table";
  }
  EXPECT_EQ(s.run("sweep", "--quiet").code, 0);
  EXPECT_EQ(files_below(s.out()), whole);
}

/// One exhibit of some seconds with a figure. The last limit lets all files pass but the largest.
TEST(FullDisk, LeavesNoPartialReport) {
  const ScratchFolder folder;
  std::vector<std::string> reproduce =
      words("reproduce --scale smoke --quiet lowy-2024/contour --out");
  reproduce.push_back(folder / "out");
  expect_one_error_line(with_files_up_to(40, reproduce), 2, "store.sqlite: disk I/O error");
  EXPECT_EQ(run_program(built_program("dpsosp"), reproduce).code, 0);
  const auto whole = files_below(folder.path());
  EXPECT_GT(whole.size(), 10U);
  std::size_t largest = 0;
  for (const auto& [name, text] : files_below(folder / "out/report"))
    largest = std::max(largest, text.size());
  for (const int kibibytes : {1, 40, static_cast<int>(largest / 1024)}) {
    for (const bool anew : {false, true}) {
      SCOPED_TRACE(fmt::format("{} KiB, {}", kibibytes, anew));
      if (anew) fs::remove_all(folder / "out/report");
      const Result full = with_files_up_to(kibibytes, reproduce);
      EXPECT_EQ(full.code, 2);
      EXPECT_EQ(full.out, "");
      EXPECT_EQ(lines(full.err).size(), 1U) << full.err;
      for (const auto& [name, text] : files_below(folder.path()))
        EXPECT_TRUE(whole.contains(name) && whole.at(name) == text) << name;
      EXPECT_FALSE(anew && fs::exists(folder / "out/report/index.html"));
    }
    EXPECT_EQ(run_program(built_program("dpsosp"), reproduce).code, 0);
    EXPECT_EQ(files_below(folder.path()), whole);
  }
}

}  // namespace
}  // namespace dpsosp::full_disk_test
