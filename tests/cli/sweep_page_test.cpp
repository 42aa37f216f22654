// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

// docs/sweeps.md says what the program does.
namespace dpsosp::sweep_page_test {
namespace {

namespace fs = std::filesystem;

std::string example() {
  const std::string page = contents(in_checkout("docs/sweeps.md"));
  const auto begin = page.find("```toml\n") + 8;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(SweepPage, ExampleRunsAndFits) {
  const ScratchFolder folder;
  const std::vector<std::string> rest{folder.write("example.toml", example()), "--out",
                                      folder / "out"};
  const std::string said = answer("sweep --quiet --scale smoke", rest);
  for (const char* file : {"cells-n.csv", "cells-n.md", "slopes.csv", "slopes.md", "exponents.tex",
                           "figure-n.svg", "figure-n.pdf", "timings.csv", "index.html"}) {
    EXPECT_TRUE(has(said, std::string("out/example/") + file));
    EXPECT_TRUE(fs::exists(folder / "out/example" / file)) << file;
  }
  const std::string html = contents(folder / "out/example/index.html");
  EXPECT_TRUE(has(html, "./run dpsosp sweep"));
  EXPECT_TRUE(lacks(html, "provenance.html")) << "a page alone links to no other";
  const auto slopes = nlohmann::json::parse(answer("fit --json --scale smoke", rest));
  ASSERT_EQ(slopes.size(), 2U);
  EXPECT_EQ(slopes[0]["arm"], "DP-SPIDER");
  EXPECT_EQ(slopes[1]["claimed"], -0.5);
  for (const char* scale : {"quick", "full"})
    EXPECT_TRUE(has(dpsosp(std::string("sweep --dry-run --scale ") + scale, rest).out,
                    "epsilon: DP-SPIDER, epsilon = 0.5, dimension = 4"));
}

const std::string at_a_saddle = R"(title = "From a saddle"
metric = "output.gradient_norm"
seeds = 3
delta = 1e-9
dimension = 4

[[arm]]
name = "DP-GD"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "double-well"
problem_settings = { sampling = "whole" }
settings = { steps = 2e2 }

[[part]]
name = "n"
axes = [{ records = [1e5, 1e6, 1e7] }]
fit = [{ axis = "records" }]
)";

TEST(FitCommand, NamesAMetricByWhichCellsCountWhereTooFewDo) {
  const ScratchFolder folder;
  const auto with = [&](const std::string& command, const std::string& toml) {
    return dpsosp(command, {folder.write("saddle.toml", toml), "--out", folder / "out"});
  };
  ASSERT_EQ(with("sweep", at_a_saddle).code, 0);
  const auto fit = lines(with("fit", at_a_saddle).out);
  ASSERT_EQ(fit.size(), 2U);
  EXPECT_TRUE(has(fit[0], " of 3 cells count"));
  const std::string start = "  with metric = \"";
  ASSERT_TRUE(fit[1].starts_with(start)) << fit[1];
  const std::string metric =
      fit[1].substr(start.size(), fit[1].find('"', start.size()) - start.size());
  // And it is so.
  const Result mended = with("fit", replaced(at_a_saddle, "output.gradient_norm", metric));
  EXPECT_EQ(lines(mended.out).size(), 1U) << mended.out;
  EXPECT_TRUE(lacks(mended.out, "cells count"));
}

/// Many curves of little work: 14 numbers of steps at three sizes.
const std::string of_many_curves = R"(title = "Many curves"
metric = "output.gradient_norm"
seeds = 2
dimension = 3
[[arm]]
name = "A"
algorithm = "abadi-2016/dp-sgd"
problem = "cosine-saddle"
problem_settings = { start = "random" }
[[part]]
name = "n"
axes = [{ "set.steps" = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] }, { records = [500, 1000, 2000] }]
fit = [{ axis = "records", claimed = -0.5 }]
)";

/// `dpsosp sweep` of a text, with a folder before all others of PATH.
Result swept(const ScratchFolder& folder, const std::string& toml, const std::string& modules = "",
             const std::string& out = "out") {
  folder.write("s.toml", toml);
  return run_program("/usr/bin/env", {"PYTHONPATH=" + modules, built_program("dpsosp"), "sweep",
                                      folder / "s.toml", "--out", folder / out, "--quiet"});
}

TEST(SweepCommand, LosesNothingToAMatplotlibThatIsAbsentOrBroken) {
  const ScratchFolder folder;
  int place = 0;
  for (const char* module : {"raise ImportError('No module named matplotlib')",
                             "raise RuntimeError('module compiled against ABI version 9')",
                             "import sys; sys.exit(0)", "import os; os.kill(os.getpid(), 9)"}) {
    SCOPED_TRACE(module);
    folder.write("modules/matplotlib/__init__.py", module);
    const std::string out = "out-" + std::to_string(place++);
    const Result r = swept(folder, at_a_saddle, (folder / "modules").string(), out);
    EXPECT_EQ(r.code, 0) << r.err;
    ASSERT_EQ(lines(r.err).size(), 1U) << r.err;
    EXPECT_TRUE(has(r.err, "sweep: figures: ", "install python3-matplotlib"));
    const fs::path tables = folder.path() / out / "s";
    for (const char* file : {"index.html", "index.json", "cells-n.csv"})
      EXPECT_TRUE(fs::exists(tables / file)) << file;
    EXPECT_FALSE(fs::exists(tables / "figure-n.pdf"));
    EXPECT_TRUE(lacks(contents(tables / "index.html"), "figure-n.pdf"));
  }
}

TEST(SweepCommand, DrawsAnyNumberOfCurvesAndWritesCellsForPrograms) {
  const ScratchFolder folder;
  ASSERT_EQ(swept(folder, of_many_curves).code, 0);
  EXPECT_TRUE(has(contents(folder / "out/s/figure-n.svg"), "(set.steps = 1)", "(set.steps = 14)"));
  for (const char* file :
       {"out/s/cells-n.csv", "out/s/slopes.csv", "out/s/exponents.csv", "out/s/used-n.csv"}) {
    const auto rows = lines(contents(folder / file));
    ASSERT_TRUE(rows.at(0).ends_with('\r')) << "RFC 4180";
    for (const char c : rows[0].substr(0, rows[0].size() - 1))
      EXPECT_TRUE(c > ' ' && c < 0x7f) << "a name with " << c << " in " << rows[0];
    for (const std::string& row : rows) EXPECT_TRUE(lacks(row, "–")) << "what is missing is empty";
  }
  const auto cells = lines(contents(folder / "out/s/cells-n.csv"));
  ASSERT_EQ(cells.size(), 43U);
  EXPECT_TRUE(cells[0].starts_with(
      "arm,set.steps,records,output.gradient_norm.median,output.gradient_norm.low,"))
      << cells[0];
  for (const auto& [row, start] :
       {std::pair<std::size_t, std::string>{1, "A,1,500,"}, {42, "A,14,2000,"}}) {
    ASSERT_TRUE(cells[row].starts_with(start)) << cells[row];
    EXPECT_GT(std::stod(cells[row].substr(start.size())), 0) << cells[row];
  }
}

TEST(SweepCommand, SaysInItsOwnWordsWhyThereIsNoSlopeAndNoFigure) {
  const ScratchFolder folder;
  struct Case {
    std::string metric, seeds, sizes, settings, slope, notice;
    int code;
  };
  for (const Case& c : std::vector<Case>{
           {"output.gradient_norm", "2", "[500, 1000]", "steps = 5",
            "no slope (two cells along records, and a slope needs three)", "", 0},
           {"output.gradient_norm", "1", "[500, 1000, 2000]", "steps = 5",
            "records = 500: it has one seed; an interval needs two", "", 0},
           {"output.lambda_min", "2", "[500, 1000, 2000]", "steps = 1",
            "records = 500: a value is -", "There is no figure of part n. 3 of 3 cells: the median",
            0},
           {"output.gradient_norm", "2", "[500, 1000, 2000]", "steps = 5, step_size = 1e300",
            "records = 500: all 2 runs failed (certificate: the value is not finite)",
            "There is no figure of part n. 3 of 3 cells: all runs failed", 1}}) {
    SCOPED_TRACE(c.slope);
    fs::remove_all(folder.path() / "out");
    const std::string toml = fmt::format(
        "title = \"T\"\nmetric = \"{}\"\nseeds = {}\ndimension = 4\nsettings = {{ {} }}\n"
        "[[arm]]\nname = \"A\"\nalgorithm = \"abadi-2016/dp-sgd\"\nproblem = \"double-well\"\n"
        "[[part]]\nname = \"n\"\naxes = [{{ records = {} }}]\nfit = [{{ axis = \"records\" }}]\n",
        c.metric, c.seeds, c.settings, c.sizes);
    const Result r = swept(folder, toml);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_TRUE(has(r.err, c.notice));
    if (c.code != 0) {
      EXPECT_TRUE(has(r.err, "run failed: all 6 runs of the sweep, the first with: certificate"));
    }
    const std::string page = contents(folder / "out/s/index.html");
    EXPECT_EQ(page.find("There is no figure") != std::string::npos, !c.notice.empty());
    const Result fit = dpsosp("fit", {folder / "s.toml", "--out", folder / "out"});
    EXPECT_TRUE(has(fit.out, c.slope));
  }
}

TEST(SweepCommand, NamesConstantsThatMoveAlongAnAxisAndTellsDirectionsApart) {
  const ScratchFolder folder;
  const std::string toml = R"(title = "Rates"
metric = "output.gradient_norm"
seeds = 2
records = 20000
[[arm]]
name = "A"
algorithm = "abadi-2016/dp-sgd"
problem = "cosine-saddle"
problem_settings = { start = "random" }
settings = { steps = 20 }
[[part]]
name = "d"
axes = [{ dimension = [4, 16, 64] }]
fit = [{ axis = "dimension", claimed = 0.5 }]
[[part]]
name = "e"
axes = [{ epsilon = [0.5, 1, 2] }]
fit = [{ axis = "epsilon", claimed = -0.5 }]
)";
  ASSERT_EQ(swept(folder, toml).code, 0);
  for (const char* file : {"exponents.md", "exponents.tex"}) {
    const std::string table = contents(folder / (std::string("out/s/") + file));
    EXPECT_TRUE(has(table, "lipschitz from 2 to 8, exponent +0.500",
                    "a smaller exponent than claimed is worse"));
  }
  const Result fit = dpsosp("fit", {folder / "s.toml", "--out", folder / "out"});
  EXPECT_TRUE(has(fit.out, "  constants of cosine-saddle move along dimension: "));
}

/// A sweep on a table of one's own, and what becomes of it where the table is not.
class OwnTable : public testing::Test {
 protected:
  OwnTable() {
    write_table("0.5,0,1");
    write_sweep("plain.csv");
  }
  void write_table(const std::string& last) const {
    folder_.write("study/plain.csv", "a,b,y\n1,0,0\n0,1,1\n1,1,0\n0.2,0.3,1\n" + last + "\n");
  }
  void write_sweep(const std::string& data) const {
    folder_.write("study/own.toml", fmt::format(R"(title = "Own"
metric = "output.gradient_norm"
seeds = 2
delta = 1e-3
settings = {{ steps = 5 }}
[[arm]]
name = "A"
algorithm = "abadi-2016/dp-sgd"
problem = "own-glm"
problem_settings = {{ data = "{}", label = "y", loss = "logistic", longest = 2 }}
[[part]]
name = "e"
axes = [{{ epsilon = [0.5, 1, 2] }}]
fit = [{{ axis = "epsilon" }}]
)",
                                                data));
  }
  Result with(const std::string& command, const std::string& option = "--scale=quick",
              const std::string& out = "out") const {
    return dpsosp(command, {folder_ / "study/own.toml", "--out", folder_ / out, option});
  }
  void expect_stored() const {
    const Result r = with("sweep", "--dry-run");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(has(r.out, "6 runs, 6 of them stored"));
  }

  ScratchFolder folder_;
};

TEST_F(OwnTable, IsKnownByItsContentWhereverItLies) {
  ASSERT_EQ(with("sweep").code, 0) << "beside the sweep, which is called from elsewhere";
  fs::copy(folder_ / "study/plain.csv", folder_ / "study/renamed.csv");
  for (const std::string name :
       {"plain.csv", "./plain.csv", "../study/renamed.csv", "ABSOLUTE/renamed.csv"}) {
    SCOPED_TRACE(name);
    write_sweep(name.starts_with("ABSOLUTE") ? (folder_ / "study/renamed.csv").string() : name);
    expect_stored();
  }
}

TEST_F(OwnTable, IsNotNeededForStoredRuns) {
  ASSERT_EQ(with("sweep").code, 0);
  const Result fit = with("fit");
  ASSERT_EQ(fit.code, 0) << fit.err;
  const std::string cells = contents(folder_ / "out/own/cells-e.csv");
  fs::remove(folder_ / "study/plain.csv");
  const auto expect_all_there = [&](const std::string& out) {
    const Result again = with("fit", "--scale=quick", out);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, fit.out);
    EXPECT_EQ(lines(again.err).size(), 1U) << again.err;
    EXPECT_TRUE(has(again.err, "the runs are those of the file with SHA-256 "));
  };
  expect_all_there("out");
  expect_stored();
  fs::remove_all(folder_ / "out/own");
  EXPECT_EQ(with("sweep").code, 0);
  EXPECT_EQ(contents(folder_ / "out/own/cells-e.csv"), cells);
  folder_.write("travelled/empty", "");
  fs::copy(folder_ / "out/store.sqlite", folder_ / "travelled/store.sqlite");
  expect_all_there("travelled");
  expect_one_error_line(with("fit", "--scale=quick", "nowhere"), 2, "plain.csv");
}

TEST_F(OwnTable, IsNotGuessedForANameThatNobodyGave) {
  ASSERT_EQ(with("sweep").code, 0);
  fs::remove(folder_ / "study/plain.csv");
  write_sweep("../elsewhere/plain.csv");
  EXPECT_EQ(with("fit").code, 0) << "the same name in another folder";
  EXPECT_EQ(with("sweep").code, 0);
  EXPECT_TRUE(has(contents(folder_ / "out/own/index.html"), "the file with SHA-256"))
      << "the page says whose runs it shows";
  write_sweep("hospital.csv");
  for (const char* command : {"fit", "sweep"})
    expect_one_error_line(with(command), 2, "runs of files of other names are stored");
  EXPECT_TRUE(has(with("fit").err, " (plain.csv, 5 records)"));
}

TEST_F(OwnTable, IsAskedForNoMoreRecordsThanItHasBeforeAnythingIsWritten) {
  std::string sweep = replaced(contents(folder_ / "study/own.toml"), "epsilon = [0.5, 1, 2]",
                               "records = [2, 4, 8]");
  folder_.write("study/own.toml", replaced(sweep, "axis = \"epsilon\"", "axis = \"records\""));
  for (const char* option : {"--dry-run", "--scale=quick"}) {
    expect_one_error_line(with("sweep", option), 2, "records = 8, expected at most 5");
    EXPECT_FALSE(fs::exists(folder_ / "out/own"));
  }
}

TEST_F(OwnTable, IsNeededForRunsThatAreNotStored) {
  ASSERT_EQ(with("sweep").code, 0);
  fs::remove(folder_ / "study/plain.csv");
  fs::remove_all(folder_ / "out/own");
  folder_.write("study/own.toml",
                replaced(contents(folder_ / "study/own.toml"), "seeds = 2", "seeds = 3"));
  for (const char* option : {"--dry-run", "--scale=quick", "--script-only", "--shard=1/2"}) {
    expect_one_error_line(with("sweep", option), 2, "3 of 9 runs are not stored");
    for (const char* written : {"out/own", "out/plans", "out/shards-of-2"})
      EXPECT_FALSE(fs::exists(folder_ / written)) << option;
  }
}

TEST_F(OwnTable, IsNotGuessedAmongSeveral) {
  ASSERT_EQ(with("sweep").code, 0);
  const Result first = with("fit");
  write_table("0.5,0,0");
  ASSERT_EQ(with("sweep").code, 0);
  EXPECT_NE(with("fit").out, first.out);
  fs::remove(folder_ / "study/plain.csv");
  const Result refused = with("fit");
  expect_one_error_line(refused, 2, "runs of several files are stored");
  int found = 0;
  for (std::size_t at = 0; (at = refused.err.find("sha256:", at)) != std::string::npos; ++at) {
    write_sweep(refused.err.substr(at, 19));
    const Result named = with("fit");
    EXPECT_EQ(named.code, 0) << named.err;
    found += named.out == first.out;
  }
  EXPECT_EQ(found, 1);
}

TEST(SweepCommand, SaysBeforeItComputesHowFarSeedsGrowAndThatTwoValuesGiveNoSlope) {
  const ScratchFolder folder;
  const auto plan = [&](const std::string& piece, const std::string& by) {
    const auto file = folder.write("s.toml", replaced(at_a_saddle, piece, by));
    return dpsosp("sweep --dry-run", {file, "--out", folder / "out"});
  };
  EXPECT_TRUE(has(plan("name = \"n\"", "name = \"n\"\nmost_seeds = 12").out, "9 runs",
                  "up to 36 runs in all"));
  EXPECT_TRUE(lacks(plan("", "").out, "up to"));
  const Result few = plan("1e5, 1e6, 1e7", "1e6, 1e7");
  EXPECT_EQ(few.code, 0);
  EXPECT_EQ(few.err, "sweep: part n: records has 2 values, and a slope needs 3\n");
}

TEST(SweepCommand, WarnsOnceOfADeltaAboveOneOverN) {
  const ScratchFolder folder;
  const Result r = swept(folder, replaced(at_a_saddle, "1e-9", "1e-5"));
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err.find("delta = "), r.err.rfind("delta = ")) << r.err;
  EXPECT_TRUE(has(r.err, "delta = 1e-05 is above 1/n at n = 1e+06 (and 1 more)"));
}

}  // namespace
}  // namespace dpsosp::sweep_page_test
