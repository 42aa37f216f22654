// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "program.hpp"

// A bad sweep is one line on stderr, with the file and the line where there is one; exit code 2 and
// nothing is written.
namespace dpsosp::sweep_refusal_test {
namespace {

namespace fs = std::filesystem;

const std::string good = R"(title = "A sweep"
metric = "output.sosp_level"
seeds = 2
records = 1000

[[arm]]
name = "spider"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
settings = { steps = 3 }

[[part]]
name = "n"
axes = [{ records = [1000, 2000, 4000] }]
fit = [{ axis = "records", claimed = -0.5 }]
)";

/// The number of the first line that begins with `start`.
std::size_t line_of(const std::string& text, const std::string& start) {
  const auto all = lines(text);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.starts_with(start); });
  EXPECT_NE(found, all.end()) << start;
  return static_cast<std::size_t>(found - all.begin()) + 1;
}

/// `sweep` and `fit` refuse the file, the former with a line that begins with `start`.
void expect_refused(const std::string& toml, const std::string& place, const std::string& part) {
  SCOPED_TRACE(toml);
  const ScratchFolder folder;
  const std::string file = folder.write("bad.toml", toml);
  const std::string start = place.empty() ? "" : fmt::format("{}:{}: ", file, line_of(toml, place));
  for (const char* command : {"sweep", "fit"}) {
    const Result r = dpsosp(command, {file, "--out", folder / "out"});
    expect_one_error_line(r, 2, part);
    EXPECT_TRUE(r.err.starts_with(start)) << r.err << "expected " << start;
  }
  EXPECT_FALSE(fs::exists(folder / "out"));
}

/// The good sweep with a piece replaced, a case a line: `piece => by | place | part of the line`.
/// The wrong line begins with `place`; without one the message has no line. `~` is a line end, and
/// VALUES is [1000, 2000, 4000].
void expect_each_refused(const std::string& table) {
  for (const std::string& line : lines(table)) {
    if (line.empty()) continue;
    std::string text = line;
    std::replace(text.begin(), text.end(), '~', '\n');
    while (text.find("VALUES") != std::string::npos)
      text = replaced(text, "VALUES", "[1000, 2000, 4000]");
    const auto arrow = text.find(" =>"), bar = text.find(" | "), last = text.find(" | ", bar + 3);
    const std::string by = arrow + 4 < bar ? text.substr(arrow + 4, bar - arrow - 4) : "";
    const std::string place = bar + 3 < last ? text.substr(bar + 3, last - bar - 3) : "";
    expect_refused(replaced(good, text.substr(0, arrow), by), place, text.substr(last + 3));
  }
}

TEST(SweepInput, AcceptsBaseFile) {
  const ScratchFolder folder;
  const std::string said =
      answer("sweep --quiet", {folder.write("good.toml", good), "--out", folder / "out"});
  for (const std::string& written : lines(said)) EXPECT_TRUE(fs::exists(written)) << written;
}

TEST(SweepInput, RejectsUnknownAndMissingKeysAndNames) {
  expect_each_refused(R"(
metric => metrc | metrc | unknown key 'metrc'; did you mean 'metric'?
settings => setings | setings | did you mean 'settings'?
axes => axis | axis | did you mean 'axes'?
claimed => clamed | fit | did you mean 'claimed'?
title = "A sweep" => |  | :1: title is missing at the top of the file
seeds = 2 => |  | :1: seeds is missing at the top of the file
algorithm = "arora-2023/dp-spider" => | [[arm]] | algorithm is missing in entry 1 of arm
problem = "ripple-location" => | [[arm]] | problem is missing in entry 1 of arm
axes = [{ records = VALUES }] => | [[part]] | axes is missing in entry 1 of part
axis = "records",  => | fit | axis is missing in entry 1 of fit
ripple-location => xyzzyx | [[arm]] | unknown problem 'xyzzyx'; see dpsosp list problems
arora-2023/dp-spider => xyzzyx | [[arm]] | 'xyzzyx'; see dpsosp list algorithms
metric = "output.sosp_level" => | fit | metric is missing, here and at the top of the file
VALUES => { from = 10, to = 20 } | axes | points is missing
dp-spider => dp-spidr | [[arm]] | did you mean 'arora-2023/dp-spider'?
ripple-location => ripple-locaton | [[arm]] | did you mean 'ripple-location'?
steps = 3 => stps = 3 | [[arm]] | did you mean 'steps'?
settings = => problem_settings = | [[arm]] | unknown
{ records = => { "set.stps" = | axes | did you mean 'steps'?
{ records = => { "problem.radus" = | axes | part n, arm spider at problem.radus
sosp_level => sosp_levl | metric | did you mean 'output.sosp_level'?
output.sosp_level => xyzzyx | metric | docs/sweeps.md lists them
claimed => metric = "outptu.value", claimed | fit | did you mean 'output.value'?
axis = "records" => axis = "epsilon" | fit | axis = 'epsilon', expected a coordinate of part n: records
claimed => arm = "spder", claimed | fit | arm = 'spder', expected an arm of part n
name = "n" => name = "n"~arms = ["spder"] | arms | unknown arm 'spder'; did you mean 'spider'?
name = "n" => name = "n"~arms = [] | arms | at least one arm
settings => calibrator = "ckss"~settings | calibrator | did you mean 'cks'?
settings => variant = "printd"~settings | variant | did you mean 'printed'?
settings => schedule = "papr"~settings | schedule | did you mean 'paper'?
settings => door = "no_nois"~settings | door | did you mean 'no_noise'?
{ records = VALUES } => { "set.sampling" = ["a", "b"] } | axes | sampling
VALUES => VALUES, "set.reset" = [true, false, true] | axes | occurs twice
)");
  expect_refused(good.substr(0, good.find("[[part]]")), "",
                 ":1: part is missing at the top of the file");
}

TEST(SweepInput, RejectsWrongTypes) {
  expect_each_refused(R"(
"A sweep" => 3 | title | title = 3, expected text in quotes
seeds = 2 => seeds = "2" | seeds | seeds = '2', expected an integer >= 1
seeds = 2 => seeds = nan | seeds | seeds = nan, expected an integer >= 1
seeds = 2 => seeds = inf | seeds | seeds = inf, expected an integer <= 100000
seeds = 2 => seeds = 0 | seeds | seeds = 0, expected an integer >= 1
seeds = 2 => seeds = 1.5 | seeds | seeds = 1.5, expected an integer >= 1
seeds = 2 => seeds = 1e9 | seeds | expected an integer <= 100000
records = 1000~ => records = 1.5~ | records | records = 1.5, expected an integer >= 1
VALUES => [1000, 1.5, 4000] | axes | = 1.5, expected an integer >= 1
VALUES => 1000 | axes | records = 1000, expected an array
{ steps = 3 } => 3 | settings | settings = 3, expected a table
steps = 3 => steps = [3] | settings | expected text, a number or a boolean
claimed = -0.5 => claimed = nan | fit | claimed = nan, expected a finite number
claimed = -0.5 => claimed = [-1, -2] | fit | expected at least the low end, -1
claimed = -0.5 => claimed = [-1] | fit | claimed is an array of 1, expected a number or [low, high]
claimed = -0.5 => claim = "lowy-2024/c4-exces" | fit | unknown slope claim 'lowy-2024/c4-exces'; did you mean 'lowy-2024/c4-excess'?
claimed = -0.5 => claim = "lowy-2024/c14-dimension" | fit | claim lowy-2024/c14-dimension states no exponent on records, only on dimension
claimed = -0.5 => ends_at_alpha = 1 | fit | ends_at_alpha = 1, expected true or false
[[arm]] => [arm] | [arm] | [arm] is one table, expected [[arm]]
[{ records = VALUES }] => { records = [1000] } | axes | expected an array
)");
}

TEST(SweepInput, RejectsValuesOutOfRange) {
  expect_each_refused(R"(
records = 1000~ => epsilon = 0~ | epsilon | epsilon = 0, expected a number > 0
records = 1000~ => epsilon = inf~ | epsilon | expected a finite number
records = 1000~ => delta = 1~ | delta | delta = 1, expected a number in (0, 1)
records = VALUES => epsilon = [1, 0] | axes | expected a number > 0
records = VALUES => records = [0] | axes | expected an integer >= 1
name = "spider" => name = "spider"~observations = -1 | observations | expected an integer >= 0
name = "spider" => name = "spider"~observations = 1 | [[arm]] | observations = 1
steps = 3 => steps = 0 | axes | part n, arm spider at records = 1000: arora-2023/dp-spider: steps = 0
axes = [{ records = VALUES }] => axes = [{ "set.steps" = [1, 0] }] | axes | part n, arm spider at set.steps = 0: arora-2023/dp-spider: steps = 0
seeds = 2 => seeds = { smoke = 1, full = 3 } | seeds | quick is missing in seeds
seeds = 2 => seeds = { smok = 1 } | seeds | did you mean 'smoke'
claimed = -0.5 => claimed = -0.5, unit = "noise" | fit | unit = "noise" with axis = "records", expected axis = "epsilon"
seeds = 2 => seeds = { smoke = 1, quik = 3 } | seeds | unknown key 'quik'; did you mean 'quick'?
name = "n" => name = "n"~scales = ["quik"] | scales | unknown scale 'quik'; did you mean 'quick'?
name = "n" => name = "n"~scales = [] | scales | some of smoke, quick, full
name = "n" => name = "n"~scales = ["full"] |  | has no part at scale quick
name = "n" => name = "a/b" | name = "a/b" | a/b
name = "n" => name = "" | name = "" | expected a name
VALUES => [] | axes | records = [], expected at least one value
VALUES => [1000, 1000] | axes | records = 1000 occurs twice
VALUES => [1000, 1e3] | axes | records = 1000 occurs twice
VALUES => { from = 10, to = 20, points = 1 } | axes | points = 1, expected an integer >= 2
VALUES => { from = 10, to = 20, points = 1001 } | axes | an integer <= 1000
VALUES => { from = 10, to = 10, points = 3 } | axes | records from 10 to 10, expected different ends
VALUES => { from = 10, to = 20, points = 3, spacing = "cubic" } | axes | spacing = 'cubic', expected "log" or "linear"
records = VALUES => epsilon = { from = 0, to = 1, points = 3 } | axes | from = 0, expected a number > 0
records = VALUES => "set.kappa" = { from = 0, to = 1, points = 3 } | axes | set.kappa from 0 to 1, expected ends > 0, or spacing = "linear"
records = VALUES => record = VALUES | axes | record is no coordinate
records = VALUES => set.steps = VALUES | axes | "set.NAME"
VALUES } => VALUES, dimension = [2, 3] } | axes | equally many
VALUES }] => VALUES }, { records = [5] }] | axes | records is on two axes
[{ records = VALUES }] => [{}] | axes | a coordinate and its values
VALUES => { from = 1, to = 1e9, points = 1000 }, dimension = { from = 1, to = 1e9, points = 1000 } }, { epsilon = { from = 1, to = 9, points = 1000 } | axes | expected at most 1e+06
)");
}

TEST(SweepInput, RejectsInvalidToml) {
  expect_each_refused(R"(
seeds = 2 => seeds =  | seeds | not TOML
[[arm]] => [[arm] | [[arm] | not TOML
seeds = 2 => seeds 2 | seeds 2 | not TOML
seeds = 2 => seeds é = 2 | seeds é | not ASCII outside of quotes
"A sweep" => "A \é sweep" | title | not ASCII after a backslash
title = "A sweep" => title = "A sweep"~title = "again" | title = "again" | not TOML
)");
  expect_refused(replaced(good, "A sweep", "\xff\xfe"), "title", "not TOML");
  expect_refused("", "", ":1: title is missing");
}

TEST(SweepInput, RejectsDuplicateNames) {
  const auto arm = good.find("[[arm]]"), part = good.find("[[part]]");
  const std::size_t end = lines(good).size();
  const std::string twice =
      replaced(good, "name = \"n\"", "name = \"n\"\narms = [\"spider\",\n\"spider\"]");
  expect_refused(good + good.substr(arm, part - arm), "",
                 fmt::format("bad.toml:{}: two arms are called 'spider'", end + 1));
  expect_refused(good + good.substr(part), "",
                 fmt::format("bad.toml:{}: two parts are called 'n'", end + 1));
  expect_refused(twice, "",
                 fmt::format("bad.toml:{}: arm 'spider' occurs twice in one part",
                             line_of(good, "name = \"n\"") + 2));
}

TEST(SweepInput, TakesAnyLetterInQuotesAndCommentsAndAByteOrderMark) {
  const ScratchFolder folder;
  for (const char* title : {"'é \\' # é \"", "\"é \\\" é\" # é '", "\"\"\"é \\\n  é\"\"\" # é"}) {
    const auto file =
        folder.write("good.toml", "\xEF\xBB\xBF" + replaced(good, "\"A sweep\"", title));
    EXPECT_EQ(dpsosp("sweep --dry-run", {file, "--out", folder / "out"}).code, 0) << title;
  }
}

TEST(SweepInput, RejectsMissingFilesAndWrongOptions) {
  const ScratchFolder folder;
  fs::create_directory(folder / "a.toml");
  const std::string file = folder.write("good.toml", good),
                    out = " --out " + (folder / "out").string();
  const std::string here = folder.path().string() + "/";
  for (const std::string command : {"sweep", "fit"})
    expect_refusals("$ " + command + out + "\n" + here +
                    "none.toml | none.toml does not exist, expected a TOML file\n" + here +
                    "a.toml | a.toml is a folder, expected a TOML file\n" + R"(
arora-2023-dp-spidr | did you mean 'arora-2023-dp-spider'?
 | expected one sweep, a TOML file or a built-in name
a.toml b.toml | expected one sweep
arora-2023-dp-spider --scale quik | did you mean 'quick'?
arora-2023-dp-spider --ou x | did you mean '--out'
)");
  expect_refusals("$ sweep " + file + out + R"(
--shard {0/2 3/2 2 1/0 a/b 1/2/3 -1/2 /} | expected i/k with 1 <= i <= k
--threads {0 -1 two 1.5} | expected an integer >= 1
)");
  for (const char* command : {"sweep", "fit"})
    expect_one_error_line(dpsosp(command, {file, "--out", ""}), 2, "--out");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(SweepInput, FitOrMergeWithoutStoresCreatesNothing) {
  const ScratchFolder folder;
  const std::string file = folder.write("good.toml", good), into = folder / "out/store.sqlite";
  expect_one_error_line(dpsosp("fit", {file, "--out", folder / "out"}), 2, "store.sqlite");
  expect_one_error_line(dpsosp("merge", {folder / "none.sqlite", "--into", into}), 2,
                        "none.sqlite");
  expect_one_error_line(dpsosp("merge --into", {into}), 2, "expected stores, journals or plans");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(SweepInput, ReportsCellOfErrorFoundOnlyByLargeRun) {
  const ScratchFolder folder;
  const auto file = folder.write(
      "large.toml", "delta = 1e-9\n" + replaced(good, "{ records = [1000, 2000, 4000] }",
                                                "{ records = [1e7] }, "
                                                "{ \"set.steps\" = [0] }"));
  expect_one_error_line(dpsosp("sweep --quiet", {file, "--out", folder / "out"}), 2,
                        "sweep large: part n, arm spider at records = 1e+07, set.steps = 0: "
                        "arora-2023/dp-spider: steps = 0");
}

TEST(SweepInput, RejectsFileInPlaceOfTableFolderBeforeAnyRun) {
  const ScratchFolder folder;
  folder.write("out/good", "mine");
  const auto file = folder.write("good.toml", good);
  expect_one_error_line(dpsosp("sweep", {file, "--out", folder / "out"}), 2,
                        "cannot make this folder");
  EXPECT_EQ(contents(folder / "out/good"), "mine");
  EXPECT_FALSE(fs::exists(folder / "out/store.sqlite"));
}

}  // namespace
}  // namespace dpsosp::sweep_refusal_test
