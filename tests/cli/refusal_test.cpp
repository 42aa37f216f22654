// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "program.hpp"

// Bad input is one line that says what is wrong, exit code 2, nothing on stdout, nothing written.
namespace dpsosp::refusal_test {
namespace {

namespace fs = std::filesystem;

const std::string on_minimax = "run --algorithm xu-2026/dp-rgda --problem cosine-minimax ";
const std::string in_budget = on_minimax + "--epsilon 1 --delta 1e-6 ";
const std::string good = in_budget + "--records 60 ";

/// What `expect_refusals` takes, of commands that begin with `start`.
void expect_refused(const std::string& start, const std::string& table) {
  EXPECT_EQ(dpsosp(start).code, 0) << start;
  expect_refusals("$ " + start + "\n" + table);
}

TEST(CommandLine, SuggestsNearestNamesOrPointsToLists) {
  expect_refusals(R"(
acount | did you mean 'account'
Run | did you mean 'run'
xyzzy | dpsosp --help lists all
list algoritms | did you mean 'algorithms'
list exhibits --jsn | '--json'
list --n | unknown option '--n'
list algorithms -j | unknown option '-j'
list algorithms xyzzy | see dpsosp list algorithms
list algorithms problems | unknown algorithm 'problems'; see dpsosp list algorithms
list claims xyzzy | expected no second word
list claims --scale smokee | did you mean 'smoke'
list {problems algorithms} --out x | --out and --scale go with claims
list algorithms --scale smoke | --out and --scale go with claims
list exhibits lowy-2024 | several exhibits
list exhibits --document docs | goes with algorithms, problems, protocol or findings
list problems double-well auc | at most a name
list | expected one of algorithms, problems, exhibits
certify --problem cosine-sadle | did you mean 'cosine-saddle'
certify --problem xyzzy | see dpsosp list problems
certify --problem cosine-saddle --dimension 2 --point pont.json | pont.json, which does not exist
certify | --problem is missing
certify --problem cosine-saddle --records 60 --set steps=3 | expected problem.name=value
info --jsn | did you mean '--json'
info extra | expected --name value
check | expected names of problems
check xyzzy | see dpsosp list problems, dpsosp list algorithms
check dp-gd | may be wang-chen-xu-2019/dp-gd, wang-ye-xu-2017/dp-gd; expected one of them
check double-wel | did you mean 'double-well'
check double-well coin | did you mean 'coins'
check double-well --set wels=1 | did you mean 'wells'
check double-well --set wells=11 | in [1, 10]
check double-well --dimension 0 | an integer >= 1
check double-well --set sampling=whole | leave `sampling`
check own-glm --set {data=nope.csv problem.data=nope.csv data=.} | check: own-glm: 
reproduce xu-2026/tabel-2 | did you mean 'xu-2026/table-2'
reproduce --scale smokee | did you mean 'smoke'
reproduce --trheads 2 | did you mean '--threads'
reproduce xu-2027 | did you mean 'xu-2026'
reproduce table-2 | exhibit 'table-2' may be 
reproduce xyzzy-xyzzy | see dpsosp list exhibits
reproduce --threads {0 -1 two 1.5} | threads = 
report xu-2026/figure-2 | did you mean 'xu-2026/figure-1'
report --scale quik | did you mean 'quick'
sweep xyzzy-xyzzy | see dpsosp list sweeps
merge | expected stores, journals or plans to take in
help rnu | did you mean 'run'
help xyzzy | dpsosp --help lists all
help run --man | expected one command
help --man --markdown | expected one command
help --completions tcsh | unknown shell 'tcsh'
audit | expected --algorithm KEY
audit --all --algorithm abadi-2016/dp-sgd | expected --algorithm KEY
audit --all --runs 10 | --runs needs --algorithm
audit --all --plant half-range | --plant needs --algorithm
audit --algorithm dp-sgd | may be avdiukhin-2024/dp-sgd, zhou-2020/dp-sgd, abadi-2016/dp-sgd
audit --algorithm xyzzy | see dpsosp list algorithms
audit --algorithm abadi-2016/dp-sgd --set data=x.csv | --set is of the problem
audit --algorithm abadi-2016/dp-sgd --problem own-glm --set datum=x.csv | did you mean 'data'
audit --algorithm abadi-2016/dpsgd | did you mean 'abadi-2016/dp-sgd'
audit --algorithm reference/sgd | claims no privacy
audit --algorithm wang-ye-xu-2017/dp-gd --plant half-rang | did you mean 'half-range'
audit --algorithm wang-ye-xu-2017/dp-gd --scale smoke --runs 7 | runs
audit --algorithm wang-ye-xu-2017/dp-gd --scale huge | huge
audit --algorithm wang-ye-xu-2017/dp-gd --seed 4294967296 | >= 0 and <= 4294967295
)");
}

TEST(CommandLine, RejectsRunsInOneLine) {
  expect_refusals(R"(
run | --algorithm is missing
run --algorithm xu-2026/dp-rgda | --problem is missing
$ run --epsilon 1 --delta 1e-6
--algorithm xu-2026/dp-rgba --problem cosine-minimax | did you mean 'xu-2026/dp-rgda'
--algorithm xu-2026/dp-rgda --problem cosine-minmax | did you mean 'cosine-minimax'
--algorithm dp-spider --problem xyzzy | unknown problem 'xyzzy'; see dpsosp list problems
--problem double-well --algorithm dp-sgd | 'dp-sgd' may be avdiukhin-2024/dp-sgd, zhou-2020/dp-sgd, abadi-2016/dp-sgd
--problem double-well --algorithm xyzzy | unknown algorithm 'xyzzy'; see dpsosp list algorithms
--algorithm xu-2026/dp-rgda --problem matrix-sensing --records 60 --dimension 7 | problem.rows
$ run --algorithm xu-2026/dp-rgda --problem cosine-minimax --records 60
--delta 1e-6 | --epsilon is missing
--epsilon 1 | --delta is missing
--delta 1e-6 --epsilon {0 -1 nan inf -inf} | epsilon = 
--epsilon 1 --delta {0 1 -1e-6 2 nan inf} | delta = 
--delta 1e-6 --epsilon one | --epsilon = 'one'
--delta 1e-6 --epsilon 1e400 | --epsilon = '1e400'
--delta 1e-6 --epsilon 1,5 | --epsilon = '1,5'
--delta 1e-6 --epsilon= | --epsilon
)");
  expect_refused(in_budget, R"(
--records {0 -5 1.5 many 99999999999999999999 1.5e0 1e17} | expected an integer >= 1
--dimension {0 -5 1.5 many 99999999999999999999} | expected an integer >= 1
--set steps=2.5 | steps = 2.5, expected an integer
)");
  expect_refused(good, R"(
--recrods 3 | unknown option '--recrods'; did you mean '--records'
--variant printd | did you mean 'printed'
--schedule papr | did you mean 'paper'
--calibrator ckss | did you mean 'cks'
--set descent_stp=1 | did you mean 'descent_step'
--set problem.gama=1 | did you mean 'gamma'
{--n -n} 3 | did you mean '--records'?
--d 3 | did you mean '--dimension'?
--eps 3 | did you mean '--epsilon'?
--steps 3 | did you mean '--set steps=N'?
{--xyzzyxyzzy --verbose} | `dpsosp run --help` shows all
--step_size 0.1 | a setting is given as --set NAME=VALUE
--dimension 7 | dimension = 7
--seed -1 | --seed = -1
--data-seed x | --data-seed = 'x'
--seed 18446744073709551615 | an integer >= 0 and <= 9223372036854775807
--threads 4097 | <= 4096
--threads 0 | --threads = 0
--observations 1 | observations = 1
--observations -1 | --observations = -1
--set sampling={sample fresh} --set refresh_batch=61 --set increment_batch=10 | records = 60
--set {steps =3} | expected name=value
--set | --set
--set steps=many | steps = many
--set steps=0 | steps = 0
--set descent_step=nan | descent_step = nan
--set descent_step=-1 | descent_step = -1
--set sampling=some | one of
--set problem.gamma=nan | gamma = nan
--set problem.gamma=-1 | gamma = -1
--set problem.coupled=0 | coupled = 0
extra | 'extra' has no option name before it, expected --name value
--epsilon 2 | more than once
--trace | --trace needs
--trace --json | --trace needs
)");
  expect_refusals(
      "run --release --watch --algorithm wang-ye-xu-2017/dp-gd --problem cosine-saddle "
      "--records 500 --epsilon 1 --delta 1e-6 | not private");
}

TEST(CommandLine, RejectsUnreadablePointAndFailsOnOverflow) {
  const std::string saddle = "certify --problem cosine-saddle --records 60 --dimension 2 ";
  EXPECT_EQ(dpsosp(saddle + "--point [0.5,1]").code, 0);
  expect_refused(saddle, R"(
--point {[1,2 somewhere ["a",1] [1e400,1] [null,1]} | JSON array
--point {[] [1,2,3]} | 2 numbers
)");
  expect_one_error_line(dpsosp(saddle, {"--point", "{\"a\":1}"}), 2, "JSON array");
  expect_one_error_line(dpsosp("certify --problem cosine-minimax --records 60 --set "
                               "problem.coupled=1 --set problem.free=1 --point [1e300,1e300]"),
                        1, "not finite");
  expect_one_error_line(dpsosp("certify --problem cosine-saddle", {"--point", "a\nb"}), 2,
                        "point = a\\nb");
  expect_one_error_line(dpsosp("", {"ru\nn"}), 2, "unknown command");
}

TEST(CommandLine, TakesLastPartsAndTitlesWithoutRegardToCase) {
  const std::string rest = " --records 1e3 --epsilon 1 --delta 1e-6 --json";
  const std::string full =
      answer("run --algorithm arora-2023/dp-spider --problem ripple-location" + rest);
  for (const char* names : {"--algorithm dp-spider --problem ripple-location",
                            "--algorithm DP-SPIDER --problem Ripple-Location"})
    EXPECT_EQ(dpsosp(std::string("run ") + names + rest).out, full) << names;
  EXPECT_EQ(dpsosp("check Double-Well").out, dpsosp("check double-well").out);
}

TEST(CommandLine, ReadsWholeNumbersInDecimalFormEverywhere) {
  EXPECT_EQ(answer(in_budget + "--records 6e1 --set steps=1e1 --observations 5e0 --json"),
            answer(in_budget + "--records 60 --set steps=10 --observations 5 --json"));
  const std::string gaussian = "account --mechanism gaussian --noise-multiplier 2 --delta 1e-5 ";
  EXPECT_EQ(answer(gaussian + "--steps 1e2"), answer(gaussian + "--steps 100"));
}

TEST(CommandLine, RunsAtEpsilonsWhoseExponentialIsInfinite) {
  for (const char* epsilon : {"700", "1000", "1e6"})
    EXPECT_TRUE(
        lacks(answer(on_minimax + "--records 60 --delta 1e-6 --epsilon " + epsilon), "nan"));
}

TEST(CommandLine, WarnsInOneLineOfLargeDeltasAndOfThreadsThatGainNothing) {
  for (const auto& [command, part] :
       {std::pair{on_minimax + "--records 60 --epsilon 1 --delta 0.02",
                  "delta = 0.02 is above 1/n = 0.0166667"},
        {good + "--threads 4096", "run: --threads 4096: this machine has "}}) {
    const Result r = dpsosp(command);
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(lines(r.err).size(), 1U);
    EXPECT_TRUE(has(r.err, part));
  }
  answer(on_minimax + "--records 60 --epsilon 1 --delta 0.016");
}

TEST(CommandLine, ListsOneByItsName) {
  const std::string one = answer("list algorithms wang-ye-xu-2017/dp-gd --settings");
  EXPECT_TRUE(one.starts_with("wang-ye-xu-2017/dp-gd ")) << one;
  EXPECT_TRUE(has(one, "step_size"));
  EXPECT_TRUE(lacks(one, "dp-svrg"));
}

TEST(CommandLine, ReportsOutOfMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends the program instead";
#endif
  expect_refusals(R"(
1 run --algorithm xu-2026/dp-rgda --problem matrix-sensing --epsilon 1 --delta 1e-6 --records 1000000000000 | out of memory: 1000000000000 records of matrix-sensing take about 
1 run --algorithm wang-ye-xu-2017/dp-gd --problem double-well --epsilon 1 --delta 1e-14 --records 1e13 | --set problem.sampling=whole simulates them
1 run --algorithm wang-ye-xu-2017/dp-gd --problem double-well --records 1e5 --dimension 1e7 --epsilon 1 --delta 1e-6 | in dimension 10000000 take about 
)");
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

TEST(CommandLine, LeavesWhatIsNoStoreOfThisVersionUntouched) {
  const std::string open = "PRAGMA application_id = 1685091184; PRAGMA user_version = 999; ";
  struct Case {
    std::string database, file, out, part;  // a database of this text, or a file with that name
  };
  for (const auto& [database, file, out, part] :
       {Case{open + "CREATE TABLE t(a)", "", "", "has version 999"},
        {"CREATE TABLE t(a)", "", "", "is not a store of dpsosp"},
        {"", "store.sqlite", "", "is not a store of dpsosp"},
        {"", "out", "out", "/out"}}) {
    const ScratchFolder folder;
    if (!database.empty())
      SQLite::Database(folder / "store.sqlite", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
          .exec(database);
    else
      folder.write(file, std::string(5000, 'x'));
    const auto before = tree(folder.path());
    for (const char* command : {"reproduce", "report"}) {
      SCOPED_TRACE(command + part);
      expect_one_error_line(dpsosp(command, {"--scale", "smoke", "--out", folder / out}), 2, part);
      EXPECT_EQ(tree(folder.path()), before);
    }
  }
}

TEST(CommandLine, NeedsAFolderThatItCanFill) {
  const ScratchFolder folder;
  for (const char* command : {"report", "list claims"})
    expect_one_error_line(dpsosp(command, {"--out", folder / "none"}), 2, "store.sqlite");
  EXPECT_TRUE(tree(folder.path()).empty());
  folder.write("report", "mine");
  expect_one_error_line(dpsosp("reproduce --scale smoke --out", {folder.path()}), 2,
                        "cannot make this folder");
  EXPECT_EQ(contents(folder / "report"), "mine");
  for (const char* command : {"reproduce", "report"})
    expect_one_error_line(dpsosp(command, {"--out", ""}), 2, "--out");
}

/// Of a program of one's own, which may lie anywhere, dpsosp-guest is looked for at two places.
TEST(CommandLine, SaysWhereTheGuestIsLookedFor) {
  const ScratchFolder folder;
  fs::copy_file(built_program("dpsosp"), folder / "my-dpsosp");
  std::vector<std::string> all{"PATH=/nowhere", folder / "my-dpsosp"};
  for (const auto& word : words("run --isolated --algorithm abadi-2016/dp-sgd --problem "
                                "double-well --epsilon 1 --delta 1e-6"))
    all.push_back(word);
  expect_one_error_line(run_program("/usr/bin/env", all), 2,
                        "dpsosp-guest lies neither beside this program, as " +
                            (folder / "dpsosp-guest").string() + ", nor in a folder of PATH; ");
}

}  // namespace
}  // namespace dpsosp::refusal_test
