// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "paths.hpp"
#include "program.hpp"

// Bad input is one line that says what is wrong, exit code 2, nothing on stdout, nothing written.
namespace dpsosp::refusal_test {
namespace {

namespace fs = std::filesystem;

Result dpsosp(const std::vector<std::string>& arguments) {
  return run_program(built_program("dpsosp"), arguments);
}

using Case = std::pair<std::string, std::string>;  // arguments, part of the line

void expect_refused(const std::string& prefix, const std::vector<Case>& cases) {
  for (const auto& [arguments, part] : cases) {
    SCOPED_TRACE(prefix + " " + arguments);
    expect_one_error_line(dpsosp(words(prefix + " " + arguments)), 2, part);
  }
}

const std::string on_minimax = "run --algorithm xu-2026/dp-rgda --problem cosine-minimax ";
const std::string in_budget = on_minimax + "--epsilon 1 --delta 1e-6 ";
const std::string good = in_budget + "--records 60 ";

TEST(CommandLine, AcceptsBaseCommand) { EXPECT_EQ(dpsosp(words(good)).code, 0); }

TEST(CommandLine, SuggestsNearestNameForUnknownName) {
  expect_refused("", {{"acount", "did you mean 'account'"}, {"Run", "did you mean 'run'"}});
  expect_refused(
      "run --epsilon 1 --delta 1e-6",
      {{"--algorithm xu-2026/dp-rgba --problem cosine-minimax", "did you mean 'xu-2026/dp-rgda'"},
       {"--algorithm xu-2026/dp-rgda --problem cosine-minmax", "did you mean 'cosine-minimax'"}});
  expect_refused(good, {{"--recrods 3", "unknown option '--recrods'; did you mean '--records'"},
                        {"--variant printd", "did you mean 'printed'"},
                        {"--schedule papr", "did you mean 'paper'"},
                        {"--calibrator ckss", "did you mean 'cks'"},
                        {"--set descent_stp=1", "did you mean 'descent_step'"},
                        {"--set problem.gama=1", "did you mean 'gamma'"}});
  expect_refused("list",
                 {{"algoritms", "did you mean 'algorithms'"}, {"exhibits --jsn", "'--json'"}});
  expect_refused("certify", {{"--problem cosine-sadle", "did you mean 'cosine-saddle'"}});
  expect_refused("reproduce", {{"xu-2026/tabel-2", "did you mean 'xu-2026/table-2'"},
                               {"--scale smokee", "did you mean 'smoke'"},
                               {"--trheads 2", "did you mean '--threads'"}});
  expect_refused("reproduce", {{"xu-2027", "did you mean 'xu-2026'"}});
  expect_refused("report", {{"xu-2026/figure-2", "did you mean 'xu-2026/figure-1'"},
                            {"--scale quik", "did you mean 'quick'"}});
}

TEST(CommandLine, ListsAllThatAWordMayMeanAndPointsToListsWhereNothingIsNear) {
  expect_refused(
      "run --problem double-well --epsilon 1 --delta 1e-6",
      {{"--algorithm dp-sgd",
        "algorithm 'dp-sgd' may be avdiukhin-2024/dp-sgd, zhou-2020/dp-sgd, abadi-2016/dp-sgd"},
       {"--algorithm xyzzy", "unknown algorithm 'xyzzy'; see dpsosp list algorithms"}});
  expect_refused("run --algorithm dp-spider --epsilon 1 --delta 1e-6",
                 {{"--problem xyzzy", "unknown problem 'xyzzy'; see dpsosp list problems"}});
  expect_refused("audit --algorithm", {{"xyzzy", "see dpsosp list algorithms"}});
  expect_refused("certify --problem", {{"xyzzy", "see dpsosp list problems"}});
  expect_refused("check", {{"xyzzy", "see dpsosp list problems, dpsosp list algorithms"}});
  expect_refused("reproduce", {{"table-2", "exhibit 'table-2' may be "},
                               {"xyzzy-xyzzy", "see dpsosp list exhibits"}});
  expect_refused("sweep", {{"xyzzy-xyzzy", "see dpsosp list sweeps"}});
}

TEST(CommandLine, TakesLastPartsAndTitlesWithoutRegardToCase) {
  const std::string rest = " --records 1e3 --epsilon 1 --delta 1e-6 --json";
  const Result full =
      dpsosp(words("run --algorithm arora-2023/dp-spider --problem ripple-location" + rest));
  ASSERT_EQ(full.code, 0) << full.err;
  for (const char* names : {"--algorithm dp-spider --problem ripple-location",
                            "--algorithm DP-SPIDER --problem Ripple-Location"})
    EXPECT_EQ(dpsosp(words(std::string("run ") + names + rest)).out, full.out) << names;
  EXPECT_EQ(dpsosp(words("check Double-Well")).out, dpsosp(words("check double-well")).out);
}

TEST(CommandLine, PointsFromCommonWordsToItsOwnOptions) {
  expect_refused(good, {{"--n 3", "unknown option '--n'; did you mean '--records'?"},
                        {"-n 3", "unknown option '-n'; did you mean '--records'?"},
                        {"--d 3", "did you mean '--dimension'?"},
                        {"--eps 3", "did you mean '--epsilon'?"},
                        {"--steps 3", "did you mean '--set steps=N'?"},
                        {"--xyzzyxyzzy", "`dpsosp run --help` shows all"},
                        {"--verbose", "`dpsosp run --help` shows all"},
                        {"--step_size 0.1", "a setting is given as --set NAME=VALUE"}});
  expect_refused("list algorithms", {{"-j", "unknown option '-j'"}});
}

TEST(CommandLine, ReadsWholeNumbersInDecimalFormEverywhere) {
  const auto same = [](const std::string& command, const std::string& plain) {
    const Result one = dpsosp(words(command)), two = dpsosp(words(plain));
    EXPECT_EQ(one.code, 0) << command << one.err;
    EXPECT_EQ(one.out, two.out) << command;
  };
  same(in_budget + "--records 6e1 --set steps=1e1 --observations 5e0 --json",
       in_budget + "--records 60 --set steps=10 --observations 5 --json");
  same("account --mechanism gaussian --noise-multiplier 2 --steps 1e2 --delta 1e-5",
       "account --mechanism gaussian --noise-multiplier 2 --steps 100 --delta 1e-5");
  expect_refused(in_budget, {{"--records 1.5e0", "expected an integer >= 1"},
                             {"--records 1e17", "expected an integer >= 1"},
                             {"--set steps=2.5", "steps = 2.5, expected an integer"}});
}

TEST(CommandLine, RunsAtEpsilonsWhoseExponentialIsInfinite) {
  for (const char* epsilon : {"700", "1000", "1e6"}) {
    const Result r = dpsosp(words(on_minimax + "--records 60 --delta 1e-6 --epsilon " + epsilon));
    EXPECT_EQ(r.code, 0) << epsilon << r.err;
    EXPECT_EQ(r.out.find("nan"), std::string::npos) << r.out;
  }
}

TEST(CommandLine, WarnsInOneLineOfADeltaAboveOneOverN) {
  const Result large = dpsosp(words(on_minimax + "--records 60 --epsilon 1 --delta 0.02"));
  EXPECT_EQ(large.code, 0);
  ASSERT_EQ(lines(large.err).size(), 1U) << large.err;
  EXPECT_NE(large.err.find("delta = 0.02 is above 1/n = 0.0166667"), std::string::npos)
      << large.err;
  EXPECT_EQ(dpsosp(words(on_minimax + "--records 60 --epsilon 1 --delta 0.016")).err, "");
}

TEST(CommandLine, RejectsEpsilonAndDeltaOutOfRange) {
  for (const char* epsilon : {"0", "-1", "nan", "inf", "-inf"})
    expect_refused(on_minimax + "--records 60 --delta 1e-6",
                   {{std::string("--epsilon ") + epsilon, "epsilon = "}});
  for (const char* delta : {"0", "1", "-1e-6", "2", "nan", "inf"})
    expect_refused(on_minimax + "--records 60 --epsilon 1",
                   {{std::string("--delta ") + delta, "delta = "}});
  expect_refused(on_minimax + "--records 60 --delta 1e-6",
                 {{"--epsilon one", "--epsilon = 'one'"},
                  {"--epsilon 1e400", "--epsilon = '1e400'"},
                  {"--epsilon 1,5", "--epsilon = '1,5'"},
                  {"--epsilon=", "--epsilon"}});
}

TEST(CommandLine, RejectsSizesOutOfRange) {
  for (const char* name : {"--records", "--dimension"})
    for (const char* value : {"0", "-5", "1.5", "many", "99999999999999999999"})
      expect_refused(in_budget, {{std::string(name) + " " + value, "expected an integer >= 1"}});
  expect_refused(good,
                 {{"--dimension 7", "dimension = 7"},
                  {"--seed -1", "--seed = -1"},
                  {"--data-seed x", "--data-seed = 'x'"},
                  {"--seed 18446744073709551615", "an integer >= 0 and <= 9223372036854775807"},
                  {"--threads 4097", "<= 4096"},
                  {"--threads 0", "--threads = 0"},
                  {"--observations 1", "observations = 1"},
                  {"--observations -1", "--observations = -1"}});
  expect_refused(
      "run --algorithm xu-2026/dp-rgda --problem matrix-sensing --epsilon 1 "
      "--delta 1e-6 --records 60",
      {{"--dimension 7", "problem.rows"}});
}

TEST(CommandLine, RejectsSeedsThatItCannotKeep) {
  expect_refused("audit --algorithm wang-ye-xu-2017/dp-gd",
                 {{"--seed 4294967296", "expected an integer >= 0 and <= 4294967295"}});
}

TEST(CommandLine, RemarksOnThreadsThatGainNothing) {
  const Result r = dpsosp(words(good + "--threads 4096"));
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("run: --threads 4096: this machine has "), std::string::npos) << r.err;
}

TEST(CommandLine, ListsOneByItsName) {
  const Result one = dpsosp(words("list algorithms wang-ye-xu-2017/dp-gd --settings"));
  EXPECT_TRUE(one.out.starts_with("wang-ye-xu-2017/dp-gd ")) << one.out << one.err;
  EXPECT_NE(one.out.find("step_size"), std::string::npos);
  EXPECT_EQ(one.out.find("dp-svrg"), std::string::npos) << one.out;
  expect_refused("list", {{"algorithms xyzzy", "see dpsosp list algorithms"},
                          {"claims xyzzy", "expected no second word"},
                          {"exhibits lowy-2024", "several exhibits"},
                          {"problems double-well auc", "at most a name"}});
}

TEST(CommandLine, RejectsBatchLargerThanData) {
  for (const char* sampling : {"sample", "fresh"})
    expect_refused(good + "--set sampling=" + sampling,
                   {{"--set refresh_batch=61 --set increment_batch=10", "records = 60"}});
}

TEST(CommandLine, NamesMissingOptions) {
  expect_refused("run", {{"", "--algorithm is missing"},
                         {"--algorithm xu-2026/dp-rgda", "--problem is missing"}});
  expect_refused(on_minimax,
                 {{"--delta 1e-6", "--epsilon is missing"}, {"--epsilon 1", "--delta is missing"}});
  expect_refused("certify", {{"", "--problem is missing"}});
  expect_refused("list", {{"", "expected one of algorithms, problems, exhibits"},
                          {"algorithms problems",
                           "unknown algorithm 'problems'; see dpsosp list algorithms"}});
}

TEST(CommandLine, RejectsBadSettings) {
  expect_refused(good, {{"--set steps", "expected name=value"},
                        {"--set =3", "expected name=value"},
                        {"--set", "--set"},
                        {"--set steps=many", "steps = many"},
                        {"--set steps=0", "steps = 0"},
                        {"--set descent_step=nan", "descent_step = nan"},
                        {"--set descent_step=-1", "descent_step = -1"},
                        {"--set sampling=some", "one of"},
                        {"--set problem.gamma=nan", "gamma = nan"},
                        {"--set problem.gamma=-1", "gamma = -1"},
                        {"--set problem.coupled=0", "coupled = 0"}});
}

TEST(CommandLine, RejectsIgnoredArguments) {
  expect_refused(good, {{"extra", "expected --name value"},
                        {"--epsilon 2", "more than once"},
                        {"--trace", "--trace needs"},
                        {"--trace --json", "--trace needs"}});
  expect_refused("certify --problem cosine-saddle --records 60",
                 {{"--set steps=3", "expected problem.name=value"}});
  expect_refused("info", {{"extra", "expected --name value"}});
}

TEST(CommandLine, RejectsUnreadablePointAndFailsOnOverflow) {
  const std::string saddle = "certify --problem cosine-saddle --records 60 --dimension 2 ";
  EXPECT_EQ(dpsosp(words(saddle + "--point [0.5,1]")).code, 0);
  expect_refused(saddle, {{"--point [1,2", "JSON array"},
                          {"--point somewhere", "JSON array"},
                          {"--point {\"a\":1}", "JSON array"},
                          {"--point [\"a\",1]", "JSON array"},
                          {"--point [1e400,1]", "JSON array"},
                          {"--point [null,1]", "JSON array"},
                          {"--point []", "2 numbers"},
                          {"--point [1,2,3]", "2 numbers"}});
  expect_one_error_line(dpsosp(words("certify --problem cosine-minimax --records 60 --set "
                                     "problem.coupled=1 --set problem.free=1 --point "
                                     "[1e300,1e300]")),
                        1, "not finite");
}

TEST(CommandLine, EscapesLineBreaksInMessages) {
  expect_one_error_line(dpsosp({"certify", "--problem", "cosine-saddle", "--point", "a\nb"}), 2,
                        "point = a\\nb");
  expect_one_error_line(dpsosp({"ru\nn"}), 2, "unknown command");
}

TEST(CommandLine, ReportsOutOfMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends the program instead";
#endif
  expect_one_error_line(
      dpsosp(words("run --algorithm xu-2026/dp-rgda --problem matrix-sensing --epsilon 1 "
                   "--delta 1e-6 --records 1000000000000")),
      1, "out of memory: 1000000000000 records of matrix-sensing take about ");
  expect_one_error_line(
      dpsosp(words("run --algorithm wang-ye-xu-2017/dp-gd --problem double-well --epsilon 1 "
                   "--delta 1e-14 --records 1e13")),
      1, "--set problem.sampling=whole simulates them");
}

/// Everything below a folder, by relative path; files with their contents.
std::vector<std::pair<std::string, std::string>> tree(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    all.emplace_back(fs::relative(entry.path(), folder).string(),
                     entry.is_regular_file() ? contents(entry.path()) : "");
  std::sort(all.begin(), all.end());
  return all;
}

/// `reproduce` and `report` into OUT are refused and leave everything below `folder` as it was.
void expect_untouched(const ScratchFolder& folder, const fs::path& out, const std::string& part) {
  const auto before = tree(folder.path());
  for (const char* command : {"reproduce", "report"}) {
    SCOPED_TRACE(command);
    expect_one_error_line(dpsosp({command, "--scale", "smoke", "--out", out.string()}), 2, part);
    EXPECT_EQ(tree(folder.path()), before);
  }
}

TEST(CommandLine, LeavesStoreOfOtherVersionUntouched) {
  const ScratchFolder folder;
  {
    SQLite::Database db((folder / "store.sqlite").string(),
                        SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("PRAGMA application_id = 1685091184; PRAGMA user_version = 999; CREATE TABLE t(a)");
  }
  expect_untouched(folder, folder.path(), "has version 999");
}

TEST(CommandLine, LeavesNonStoreFileUntouched) {
  const ScratchFolder folder;
  std::ofstream(folder / "store.sqlite") << std::string(5000, 'x');
  expect_untouched(folder, folder.path(), "is not a store of dpsosp");
}

TEST(CommandLine, LeavesForeignDatabaseUntouched) {
  const ScratchFolder folder;
  SQLite::Database((folder / "store.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t(a)");
  expect_untouched(folder, folder.path(), "is not a store of dpsosp");
}

TEST(CommandLine, LeavesFileInPlaceOfOutputFolderUntouched) {
  const ScratchFolder folder;
  std::ofstream(folder / "out") << "mine";
  expect_untouched(folder, folder / "out", (folder / "out").string());
}

TEST(CommandLine, RejectsFileInPlaceOfReportFolder) {
  const ScratchFolder folder;
  std::ofstream(folder / "report") << "mine";
  expect_one_error_line(dpsosp({"reproduce", "--scale", "smoke", "--out", folder.path().string()}),
                        2, "cannot make this folder");
  EXPECT_EQ(contents(folder / "report"), "mine");
}

TEST(CommandLine, ReportWithoutStoreCreatesNothing) {
  const ScratchFolder folder;
  expect_one_error_line(dpsosp({"report", "--out", (folder / "none").string()}), 2, "store.sqlite");
  EXPECT_TRUE(tree(folder.path()).empty());
}

TEST(CommandLine, RejectsEmptyOutputFolderName) {
  for (const char* command : {"reproduce", "report"})
    expect_one_error_line(dpsosp({command, "--out", ""}), 2, "--out");
}

TEST(CommandLine, RejectsBadThreadCountOfReproduce) {
  for (const char* threads : {"0", "-1", "two", "1.5"})
    expect_refused("reproduce", {{std::string("--threads ") + threads, "threads = "}});
}

/// Of a program of one's own, which may lie anywhere, dpsosp-guest is looked for at two places.
TEST(CommandLine, SaysWhereTheGuestIsLookedFor) {
  const ScratchFolder folder;
  fs::copy_file(built_program("dpsosp"), folder / "my-dpsosp");
  const Result r =
      run_program("/usr/bin/env", {"PATH=/nowhere", folder / "my-dpsosp", "run", "--isolated",
                                   "--algorithm", "abadi-2016/dp-sgd", "--problem", "double-well",
                                   "--epsilon", "1", "--delta", "1e-6"});
  expect_one_error_line(r, 2,
                        "dpsosp-guest lies neither beside this program, as " +
                            (folder / "dpsosp-guest").string() + ", nor in a folder of PATH; ");
}

}  // namespace
}  // namespace dpsosp::refusal_test
