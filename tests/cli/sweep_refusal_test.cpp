// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paths.hpp"
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

/// `good` with one piece of text replaced by another.
std::string with(const std::string& piece, const std::string& by) {
  std::string text = good;
  const auto place = text.find(piece);
  EXPECT_NE(place, std::string::npos) << piece;
  return text.replace(place, piece.size(), by);
}

struct Case {
  std::string toml;
  std::string place;  ///< the wrong line begins with this; empty: no line
  std::string part;   ///< of the message
};

/// The number of the first line that begins with `start`.
std::size_t line_of(const std::string& text, const std::string& start) {
  const auto all = lines(text);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.starts_with(start); });
  EXPECT_NE(found, all.end()) << start;
  return static_cast<std::size_t>(found - all.begin()) + 1;
}

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.toml);
    const ScratchFolder folder;
    const std::string file = folder / "bad.toml", out = folder / "out";
    std::ofstream(file) << c.toml;
    const std::string start =
        c.place.empty() ? "" : fmt::format("{}:{}: ", file, line_of(c.toml, c.place));
    for (const char* command : {"sweep", "fit"}) {
      const Result r = run_program(built_program("dpsosp"), {command, file, "--out", out});
      expect_one_error_line(r, 2, c.part);
      EXPECT_TRUE(r.err.starts_with(start)) << r.err << "expected " << start;
    }
    EXPECT_FALSE(fs::exists(out));
  }
}

TEST(SweepInput, AcceptsBaseFile) {
  const ScratchFolder folder;
  std::ofstream(folder / "good.toml") << good;
  const Result r = run_program(built_program("dpsosp"),
                               {"sweep", folder / "good.toml", "--out", folder / "out", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  for (const std::string& written : lines(r.out)) EXPECT_TRUE(fs::exists(written)) << written;
}

TEST(SweepInput, RejectsUnknownAndMissingKeys) {
  expect_refused({
      {with("metric", "metrc"), "metrc", "unknown key 'metrc'; did you mean 'metric'?"},
      {with("settings", "setings"), "setings", "did you mean 'settings'?"},
      {with("axes", "axis"), "axis", "did you mean 'axes'?"},
      {with("claimed", "clamed"), "fit", "did you mean 'claimed'?"},
      {with("title = \"A sweep\"", ""), "", ":1: title is missing at the top of the file"},
      {with("seeds = 2", ""), "", ":1: seeds is missing at the top of the file"},
      {with("algorithm = \"arora-2023/dp-spider\"", ""), "[[arm]]",
       "algorithm is missing in entry 1 of arm"},
      {with("problem = \"ripple-location\"", ""), "[[arm]]",
       "problem is missing in entry 1 of arm"},
      {with("axes = [{ records = [1000, 2000, 4000] }]", ""), "[[part]]",
       "axes is missing in entry 1 of part"},
      {with("axis = \"records\", ", ""), "fit", "axis is missing in entry 1 of fit"},
      {with("ripple-location", "xyzzyx"), "[[arm]]",
       "unknown problem 'xyzzyx'; see dpsosp list problems"},
      {with("arora-2023/dp-spider", "xyzzyx"), "[[arm]]", "'xyzzyx'; see dpsosp list algorithms"},
      {with("metric = \"output.sosp_level\"", ""), "fit",
       "metric is missing, here and at the top of the file"},
      {good.substr(0, good.find("[[part]]")), "", ":1: part is missing at the top of the file"},
      {with("[1000, 2000, 4000]", "{ from = 10, to = 20 }"), "axes", "points is missing"},
  });
}

TEST(SweepInput, RejectsWrongTypes) {
  expect_refused({
      {with("\"A sweep\"", "3"), "title", "title = 3, expected text in quotes"},
      {with("seeds = 2", "seeds = \"2\""), "seeds", "seeds = '2', expected an integer >= 1"},
      {with("seeds = 2", "seeds = nan"), "seeds", "seeds = nan, expected an integer >= 1"},
      {with("seeds = 2", "seeds = inf"), "seeds", "seeds = inf, expected an integer <= 100000"},
      {with("seeds = 2", "seeds = 0"), "seeds", "seeds = 0, expected an integer >= 1"},
      {with("seeds = 2", "seeds = 1.5"), "seeds", "seeds = 1.5, expected an integer >= 1"},
      {with("seeds = 2", "seeds = 1e9"), "seeds", "expected an integer <= 100000"},
      {with("records = 1000\n", "records = 1.5\n"), "records",
       "records = 1.5, expected an integer >= 1"},
      {with("[1000, 2000, 4000]", "[1000, 1.5, 4000]"), "axes", "= 1.5, expected an integer >= 1"},
      {with("[1000, 2000, 4000]", "1000"), "axes", "records = 1000, expected an array"},
      {with("{ steps = 3 }", "3"), "settings", "settings = 3, expected a table"},
      {with("steps = 3", "steps = [3]"), "settings", "expected text, a number or a boolean"},
      {with("claimed = -0.5", "claimed = nan"), "fit", "claimed = nan, expected a finite number"},
      {with("claimed = -0.5", "claimed = [-1, -2]"), "fit", "expected at least the low end, -1"},
      {with("claimed = -0.5", "claimed = [-1]"), "fit",
       "claimed is an array of 1, expected a number or [low, high]"},
      {with("claimed = -0.5", "claim = \"lowy-2024/c4-exces\""), "fit",
       "unknown slope claim 'lowy-2024/c4-exces'; did you mean 'lowy-2024/c4-excess'?"},
      {with("claimed = -0.5", "claim = \"lowy-2024/c14-dimension\""), "fit",
       "claim lowy-2024/c14-dimension states no exponent on records, only on dimension"},
      {with("claimed = -0.5", "ends_at_alpha = 1"), "fit",
       "ends_at_alpha = 1, expected true or false"},
      {with("[[arm]]", "[arm]"), "[arm]", "[arm] is one table, expected [[arm]]"},
      {with("[{ records = [1000, 2000, 4000] }]", "{ records = [1000] }"), "axes",
       "expected an array"},
  });
}

TEST(SweepInput, RejectsValuesOutOfRange) {
  const std::string values = "records = [1000, 2000, 4000]";
  expect_refused({
      {with("records = 1000\n", "epsilon = 0\n"), "epsilon", "epsilon = 0, expected a number > 0"},
      {with("records = 1000\n", "epsilon = inf\n"), "epsilon", "expected a finite number"},
      {with("records = 1000\n", "delta = 1\n"), "delta", "delta = 1, expected a number in (0, 1)"},
      {with(values, "epsilon = [1, 0]"), "axes", "expected a number > 0"},
      {with(values, "records = [0]"), "axes", "expected an integer >= 1"},
      {with("name = \"spider\"", "name = \"spider\"\nobservations = -1"), "observations",
       "expected an integer >= 0"},
      {with("name = \"spider\"", "name = \"spider\"\nobservations = 1"), "[[arm]]",
       "observations = 1"},
      {with("steps = 3", "steps = 0"), "axes",
       "part n, arm spider at records = 1000: arora-2023/dp-spider: steps = 0"},
      {with("axes = [{ records = [1000, 2000, 4000] }]", "axes = [{ \"set.steps\" = [1, 0] }]"),
       "axes", "part n, arm spider at set.steps = 0: arora-2023/dp-spider: steps = 0"},
      {with("seeds = 2", "seeds = { smoke = 1, full = 3 }"), "seeds", "quick is missing in seeds"},
      {with("seeds = 2", "seeds = { smok = 1 }"), "seeds", "did you mean 'smoke'"},
      {with("claimed = -0.5", "claimed = -0.5, unit = \"noise\""), "fit",
       "unit = \"noise\" with axis = \"records\", expected axis = \"epsilon\""},
      {with("seeds = 2", "seeds = { smoke = 1, quik = 3 }"), "seeds",
       "unknown key 'quik'; did you mean 'quick'?"},
      {with("name = \"n\"", "name = \"n\"\nscales = [\"quik\"]"), "scales",
       "unknown scale 'quik'; did you mean 'quick'?"},
      {with("name = \"n\"", "name = \"n\"\nscales = []"), "scales", "some of smoke, quick, full"},
      {with("name = \"n\"", "name = \"n\"\nscales = [\"full\"]"), "", "has no part at scale quick"},
      {with("name = \"n\"", "name = \"a/b\""), "name = \"a/b\"", "a/b"},
      {with("name = \"n\"", "name = \"\""), "name = \"\"", "expected a name"},
  });
}

TEST(SweepInput, RejectsInvalidAxes) {
  const std::string grid = "[1000, 2000, 4000]";
  expect_refused({
      {with(grid, "[]"), "axes", "records = [], expected at least one value"},
      {with(grid, "[1000, 1000]"), "axes", "records = 1000 occurs twice"},
      {with(grid, "[1000, 1e3]"), "axes", "records = 1000 occurs twice"},
      {with(grid, "{ from = 10, to = 20, points = 1 }"), "axes",
       "points = 1, expected an integer >= 2"},
      {with(grid, "{ from = 10, to = 20, points = 1001 }"), "axes", "an integer <= 1000"},
      {with(grid, "{ from = 10, to = 10, points = 3 }"), "axes",
       "records from 10 to 10, expected different ends"},
      {with(grid, "{ from = 10, to = 20, points = 3, spacing = \"cubic\" }"), "axes",
       "spacing = 'cubic', expected \"log\" or \"linear\""},
      {with("records = " + grid, "epsilon = { from = 0, to = 1, points = 3 }"), "axes",
       "from = 0, expected a number > 0"},
      {with("records = " + grid, "\"set.kappa\" = { from = 0, to = 1, points = 3 }"), "axes",
       "set.kappa from 0 to 1, expected ends > 0, or spacing = \"linear\""},
      {with("records = " + grid, "record = " + grid), "axes", "record is no coordinate"},
      {with("records = " + grid, "set.steps = " + grid), "axes", "\"set.NAME\""},
      {with(grid + " }", grid + ", dimension = [2, 3] }"), "axes", "equally many"},
      {with(grid + " }]", grid + " }, { records = [5] }]"), "axes", "records is on two axes"},
      {with("[{ records = " + grid + " }]", "[{}]"), "axes", "a coordinate and its values"},
      {with(grid,
            "{ from = 1, to = 1e9, points = 1000 }, dimension = { from = 1, to = 1e9, "
            "points = 1000 } }, { epsilon = { from = 1, to = 9, points = 1000 }"),
       "axes", "expected at most 1e+06"},
  });
}

TEST(SweepInput, RejectsUnknownNames) {
  expect_refused({
      {with("dp-spider", "dp-spidr"), "[[arm]]", "did you mean 'arora-2023/dp-spider'?"},
      {with("ripple-location", "ripple-locaton"), "[[arm]]", "did you mean 'ripple-location'?"},
      {with("steps = 3", "stps = 3"), "[[arm]]", "did you mean 'steps'?"},
      {with("settings =", "problem_settings ="), "[[arm]]", "unknown"},
      {with("{ records =", "{ \"set.stps\" ="), "axes", "did you mean 'steps'?"},
      {with("{ records =", "{ \"problem.radus\" ="), "axes", "part n, arm spider at problem.radus"},
      {with("sosp_level", "sosp_levl"), "metric", "did you mean 'output.sosp_level'?"},
      {with("output.sosp_level", "xyzzyx"), "metric", "docs/sweeps.md lists them"},
      {with("claimed", "metric = \"outptu.value\", claimed"), "fit",
       "did you mean 'output.value'?"},
      {with("axis = \"records\"", "axis = \"epsilon\""), "fit",
       "axis = 'epsilon', expected a coordinate of part n: records"},
      {with("claimed", "arm = \"spder\", claimed"), "fit",
       "arm = 'spder', expected an arm of part n"},
      {with("name = \"n\"", "name = \"n\"\narms = [\"spder\"]"), "arms",
       "unknown arm 'spder'; did you mean 'spider'?"},
      {with("name = \"n\"", "name = \"n\"\narms = []"), "arms", "at least one arm"},
      {with("settings", "calibrator = \"ckss\"\nsettings"), "calibrator", "did you mean 'cks'?"},
      {with("settings", "variant = \"printd\"\nsettings"), "variant", "did you mean 'printed'?"},
      {with("settings", "schedule = \"papr\"\nsettings"), "schedule", "did you mean 'paper'?"},
      {with("settings", "door = \"no_nois\"\nsettings"), "door", "did you mean 'no_noise'?"},
      {with("{ records = [1000, 2000, 4000] }", "{ \"set.sampling\" = [\"a\", \"b\"] }"), "axes",
       "sampling"},
      {with("[1000, 2000, 4000]", "[1000, 2000, 4000], \"set.reset\" = [true, false, true]"),
       "axes", "occurs twice"},
  });
}

TEST(SweepInput, RejectsDuplicateNames) {
  const std::string arm =
      good.substr(good.find("[[arm]]"), good.find("[[part]]") - good.find("[[arm]]"));
  const std::string part = good.substr(good.find("[[part]]"));
  const ScratchFolder folder;
  const auto refused_at = [&](const std::string& toml, std::size_t line, const std::string& what) {
    std::ofstream(folder / "bad.toml") << toml;
    const Result r = run_program(built_program("dpsosp"),
                                 {"sweep", folder / "bad.toml", "--out", folder / "out"});
    expect_one_error_line(r, 2, fmt::format("bad.toml:{}: {}", line, what));
    EXPECT_FALSE(fs::exists(folder / "out"));
  };
  const std::size_t end = lines(good).size();
  refused_at(good + arm, end + 1, "two arms are called 'spider'");
  refused_at(good + part, end + 1, "two parts are called 'n'");
  refused_at(with("name = \"n\"", "name = \"n\"\narms = [\"spider\",\n\"spider\"]"),
             line_of(good, "name = \"n\"") + 2, "arm 'spider' occurs twice in one part");
  refused_at("title = \"again\"\n" + good, 2, "not TOML");
}

TEST(SweepInput, RejectsInvalidToml) {
  expect_refused({
      {with("seeds = 2", "seeds = "), "seeds", "not TOML"},
      {with("[[arm]]", "[[arm]"), "[[arm]", "not TOML"},
      {with("\"A sweep\"", "\"\xff\xfe\""), "title", "not TOML"},
      {with("seeds = 2", "seeds 2"), "seeds 2", "not TOML"},
      {with("seeds = 2", "seeds é = 2"), "seeds é", "not ASCII outside of quotes"},
      {with("\"A sweep\"", "\"A \\é sweep\""), "title", "not ASCII after a backslash"},
      {"", "", ":1: title is missing"},
  });
}

TEST(SweepInput, TakesAnyLetterInQuotesAndCommentsAndAByteOrderMark) {
  const ScratchFolder folder;
  for (const char* title : {"'é \\' # é \"", "\"é \\\" é\" # é '", "\"\"\"é \\\n  é\"\"\" # é"}) {
    std::ofstream(folder / "good.toml") << "\xEF\xBB\xBF" << with("\"A sweep\"", title);
    const Result r = run_program(built_program("dpsosp"), {"sweep", folder / "good.toml", "--out",
                                                           folder / "out", "--dry-run"});
    EXPECT_EQ(r.code, 0) << title << r.err;
  }
}

TEST(SweepInput, RejectsMissingFilesAndUnknownSweeps) {
  const ScratchFolder folder;
  fs::create_directory(folder / "a.toml");
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
    for (const char* command : {"sweep", "fit"}) {
      std::vector<std::string> words{command, "--out", folder / "out"};
      words.insert(words.end(), arguments.begin(), arguments.end());
      expect_one_error_line(run_program(built_program("dpsosp"), words), 2, part);
      EXPECT_FALSE(fs::exists(folder / "out"));
    }
  };
  refused({folder / "none.toml"}, "none.toml does not exist, expected a TOML file");
  refused({folder / "a.toml"}, "a.toml is a folder, expected a TOML file");
  refused({"arora-2023-dp-spidr"}, "did you mean 'arora-2023-dp-spider'?");
  refused({}, "expected one sweep, a TOML file or a built-in name");
  refused({"a.toml", "b.toml"}, "expected one sweep");
  refused({"arora-2023-dp-spider", "--scale", "quik"}, "did you mean 'quick'?");
  refused({"arora-2023-dp-spider", "--ou", "x"}, "did you mean '--out'");
}

TEST(SweepInput, RejectsOptionsOutOfRange) {
  const ScratchFolder folder;
  std::ofstream(folder / "good.toml") << good;
  const auto refused = [&](const std::string& options, const std::string& part) {
    SCOPED_TRACE(options);
    std::vector<std::string> arguments{"sweep", folder / "good.toml", "--out", folder / "out"};
    for (const std::string& word : words(options)) arguments.push_back(word);
    expect_one_error_line(run_program(built_program("dpsosp"), arguments), 2, part);
    EXPECT_FALSE(fs::exists(folder / "out"));
  };
  for (const char* shard : {"0/2", "3/2", "2", "1/0", "a/b", "1/2/3", "-1/2", "/"})
    refused(std::string("--shard ") + shard, "expected i/k with 1 <= i <= k");
  for (const char* threads : {"0", "-1", "two", "1.5"})
    refused(std::string("--threads ") + threads, "expected an integer >= 1");
  for (const char* command : {"sweep", "fit"})
    expect_one_error_line(
        run_program(built_program("dpsosp"), {command, folder / "good.toml", "--out", ""}), 2,
        "--out");
}

TEST(SweepInput, FitOrMergeWithoutStoresCreatesNothing) {
  const ScratchFolder folder;
  std::ofstream(folder / "good.toml") << good;
  expect_one_error_line(
      run_program(built_program("dpsosp"), {"fit", folder / "good.toml", "--out", folder / "out"}),
      2, "store.sqlite");
  expect_one_error_line(
      run_program(built_program("dpsosp"),
                  {"merge", folder / "none.sqlite", "--into", folder / "out" / "store.sqlite"}),
      2, "none.sqlite");
  expect_one_error_line(
      run_program(built_program("dpsosp"), {"merge", "--into", folder / "out" / "store.sqlite"}), 2,
      "expected stores, journals or plans");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(SweepInput, ReportsCellOfErrorFoundOnlyByLargeRun) {
  const ScratchFolder folder;
  std::ofstream(folder / "large.toml")
      << "delta = 1e-9\n"
      << with("{ records = [1000, 2000, 4000] }", "{ records = [1e7] }, { \"set.steps\" = [0] }");
  expect_one_error_line(
      run_program(built_program("dpsosp"),
                  {"sweep", folder / "large.toml", "--out", folder / "out", "--quiet"}),
      2,
      "sweep large: part n, arm spider at records = 1e+07, set.steps = 0: arora-2023/dp-spider: "
      "steps = 0");
}

TEST(SweepInput, RejectsFileInPlaceOfTableFolderBeforeAnyRun) {
  const ScratchFolder folder;
  std::ofstream(folder / "good.toml") << good;
  fs::create_directory(folder / "out");
  std::ofstream(folder / "out/good") << "mine";
  expect_one_error_line(run_program(built_program("dpsosp"),
                                    {"sweep", folder / "good.toml", "--out", folder / "out"}),
                        2, "cannot make this folder");
  EXPECT_EQ(contents(folder / "out/good"), "mine");
  EXPECT_FALSE(fs::exists(folder / "out/store.sqlite"));
}

}  // namespace
}  // namespace dpsosp::sweep_refusal_test
