// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// docs/sweeps.md says what the program does.
namespace dpsosp::sweep_page_test {
namespace {

const std::string& page() {
  static const std::string text =
      contents(std::filesystem::path(in_checkout("docs")) / "sweeps.md");
  return text;
}

std::string example() {
  const auto begin = page().find("```toml\n") + 8;
  return page().substr(begin, page().find("```", begin) - begin);
}

TEST(SweepPage, ExampleRunsAndFits) {
  const ScratchFolder folder;
  std::ofstream(folder / "example.toml") << example();
  const std::vector<std::string> rest{folder / "example.toml", "--scale", "smoke", "--out",
                                      folder / "out"};
  const auto with = [&](const std::string& command, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{command};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(built_program("dpsosp"), arguments);
  };
  const Result sweep = with("sweep", {"--quiet"});
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  for (const char* file : {"cells-n.csv", "cells-n.md", "slopes.csv", "slopes.md", "exponents.tex",
                           "figure-n.svg", "figure-n.pdf", "timings.csv", "index.html"}) {
    EXPECT_NE(sweep.out.find(std::string("out/example/") + file), std::string::npos) << file;
    EXPECT_TRUE(std::filesystem::exists(folder / "out" / "example" / file)) << file;
  }
  const std::string html = contents(folder / "out" / "example" / "index.html");
  EXPECT_NE(html.find("./run dpsosp sweep"), std::string::npos);
  EXPECT_EQ(html.find("provenance.html"), std::string::npos) << "a page alone links to no other";
  const Result fit = with("fit", {"--json"});
  EXPECT_EQ(fit.code, 0) << fit.err;
  const auto slopes = nlohmann::json::parse(fit.out);
  ASSERT_EQ(slopes.size(), 2U);
  EXPECT_EQ(slopes[0]["arm"], "DP-SPIDER");
  EXPECT_EQ(slopes[1]["claimed"], -0.5);
}

TEST(SweepPage, ExampleIsValidAtEveryScale) {
  const ScratchFolder folder;
  std::ofstream(folder / "example.toml") << example();
  for (const char* scale : {"quick", "full"}) {
    const Result r = run_program(
        built_program("dpsosp"),
        {"sweep", folder / "example.toml", "--scale", scale, "--out", folder / "out", "--dry-run"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("epsilon: DP-SPIDER, epsilon = 0.5, dimension = 4"), std::string::npos);
  }
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
  std::ofstream(folder / "saddle.toml") << at_a_saddle;
  const auto with = [&](const std::string& command) {
    return run_program(built_program("dpsosp"),
                       {command, folder / "saddle.toml", "--out", folder / "out"});
  };
  ASSERT_EQ(with("sweep").code, 0);
  const Result fit = with("fit");
  ASSERT_EQ(fit.code, 0) << fit.err;
  ASSERT_EQ(lines(fit.out).size(), 2U) << fit.out;
  EXPECT_NE(lines(fit.out)[0].find(" of 3 cells count"), std::string::npos) << fit.out;
  const std::string hint = lines(fit.out)[1], start = "  with metric = \"";
  ASSERT_TRUE(hint.starts_with(start)) << hint;
  const std::string metric = hint.substr(start.size(), hint.find('"', start.size()) - start.size());
  // And it is so.
  std::string mended = at_a_saddle;
  mended.replace(mended.find("output.gradient_norm"), 20, metric);
  std::ofstream(folder / "saddle.toml") << mended;
  EXPECT_EQ(lines(with("fit").out).size(), 1U) << with("fit").out;
  EXPECT_EQ(with("fit").out.find("cells count"), std::string::npos) << with("fit").out;
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
  std::ofstream(folder / "s.toml") << toml;
  return run_program("/usr/bin/env", {"PYTHONPATH=" + modules, built_program("dpsosp"), "sweep",
                                      folder / "s.toml", "--out", folder / out, "--quiet"});
}

TEST(SweepCommand, LosesNothingToAMatplotlibThatIsAbsentOrBroken) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "modules/matplotlib");
  int place = 0;
  for (const char* module : {"raise ImportError('No module named matplotlib')",
                             "raise RuntimeError('module compiled against ABI version 9')",
                             "import sys; sys.exit(0)", "import os; os.kill(os.getpid(), 9)"}) {
    SCOPED_TRACE(module);
    std::ofstream(folder / "modules/matplotlib/__init__.py") << module << '\n';
    const std::string out = "out-" + std::to_string(place++);
    const Result r = swept(folder, at_a_saddle, (folder / "modules").string(), out);
    EXPECT_EQ(r.code, 0) << r.err;
    ASSERT_EQ(lines(r.err).size(), 1U) << r.err;
    EXPECT_TRUE(lines(r.err)[0].starts_with("sweep: figures: ")) << r.err;
    EXPECT_NE(lines(r.err)[0].find("install python3-matplotlib"), std::string::npos) << r.err;
    const std::filesystem::path tables = folder.path() / out / "s";
    for (const char* file : {"index.html", "index.json", "cells-n.csv"})
      EXPECT_TRUE(std::filesystem::exists(tables / file)) << file;
    EXPECT_FALSE(std::filesystem::exists(tables / "figure-n.pdf"));
    EXPECT_EQ(contents(tables / "index.html").find("figure-n.pdf"), std::string::npos);
  }
}

TEST(SweepCommand, DrawsAnyNumberOfCurves) {
  const ScratchFolder folder;
  const Result r = swept(folder, of_many_curves);
  EXPECT_EQ(r.code, 0) << r.err;
  const std::filesystem::path tables = folder.path() / "out/s";
  const std::string drawing = contents(tables / "figure-n.svg");
  for (const char* label : {"(set.steps = 1)", "(set.steps = 14)"})
    EXPECT_NE(drawing.find(label), std::string::npos) << label;
}

TEST(SweepCommand, WritesCellsForPrograms) {
  const ScratchFolder folder;
  ASSERT_EQ(swept(folder, of_many_curves).code, 0);
  for (const char* file :
       {"out/s/cells-n.csv", "out/s/slopes.csv", "out/s/exponents.csv", "out/s/used-n.csv"}) {
    const auto rows = lines(contents(folder / file));
    ASSERT_TRUE(rows.at(0).ends_with('\r')) << "RFC 4180";
    for (const char c : rows[0].substr(0, rows[0].size() - 1))
      EXPECT_TRUE(c > ' ' && c < 0x7f) << "a name with " << c << " in " << rows[0];
    for (const std::string& row : rows)
      EXPECT_EQ(row.find("–"), std::string::npos) << "what is missing is empty: " << row;
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
    std::filesystem::remove_all(folder.path() / "out");
    const std::string toml = fmt::format(
        "title = \"T\"\nmetric = \"{}\"\nseeds = {}\ndimension = 4\nsettings = {{ {} }}\n"
        "[[arm]]\nname = \"A\"\nalgorithm = \"abadi-2016/dp-sgd\"\nproblem = \"double-well\"\n"
        "[[part]]\nname = \"n\"\naxes = [{{ records = {} }}]\nfit = [{{ axis = \"records\" }}]\n",
        c.metric, c.seeds, c.settings, c.sizes);
    const Result r = swept(folder, toml);
    EXPECT_EQ(r.code, c.code) << r.err;
    EXPECT_NE(r.err.find(c.notice), std::string::npos) << r.err;
    if (c.code != 0) {
      EXPECT_NE(r.err.find("run failed: all 6 runs of the sweep, the first with: certificate"),
                std::string::npos)
          << r.err;
    }
    const std::string page = contents(folder / "out/s/index.html");
    EXPECT_EQ(page.find("There is no figure") != std::string::npos, !c.notice.empty());
    const Result fit =
        run_program(built_program("dpsosp"), {"fit", folder / "s.toml", "--out", folder / "out"});
    EXPECT_NE(fit.out.find(c.slope), std::string::npos) << fit.out;
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
    EXPECT_NE(table.find("lipschitz from 2 to 8, exponent +0.500"), std::string::npos) << table;
    EXPECT_NE(table.find("a smaller exponent than claimed is worse"), std::string::npos) << table;
  }
  const Result fit =
      run_program(built_program("dpsosp"), {"fit", folder / "s.toml", "--out", folder / "out"});
  EXPECT_NE(fit.out.find("  constants of cosine-saddle move along dimension: "), std::string::npos)
      << fit.out;
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
    folder_.write("study/own.toml",
                  "title = \"Own\"\nmetric = \"output.gradient_norm\"\nseeds = 2\ndelta = 1e-3\n"
                  "settings = { steps = 5 }\n[[arm]]\nname = \"A\"\n"
                  "algorithm = \"abadi-2016/dp-sgd\"\nproblem = \"own-glm\"\n"
                  "problem_settings = { data = \"" +
                      data +
                      "\", label = \"y\", loss = \"logistic\", longest = 2 }\n"
                      "[[part]]\nname = \"e\"\naxes = [{ epsilon = [0.5, 1, 2] }]\n"
                      "fit = [{ axis = \"epsilon\" }]\n");
  }
  Result with(const std::string& command, const std::string& option = "--scale=quick",
              const std::string& out = "out") const {
    return run_program(built_program("dpsosp"),
                       {command, folder_ / "study/own.toml", "--out", folder_ / out, option});
  }
  void expect_stored() const {
    const Result r = with("sweep", "--dry-run");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("6 runs, 6 of them stored"), std::string::npos) << r.out;
  }

  ScratchFolder folder_;
};

TEST_F(OwnTable, IsKnownByItsContentWhereverItLies) {
  ASSERT_EQ(with("sweep").code, 0) << "beside the sweep, which is called from elsewhere";
  std::filesystem::copy(folder_ / "study/plain.csv", folder_ / "study/renamed.csv");
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
  std::filesystem::remove(folder_ / "study/plain.csv");
  const auto expect_all_there = [&](const std::string& out) {
    const Result again = with("fit", "--scale=quick", out);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.out, fit.out);
    EXPECT_EQ(lines(again.err).size(), 1U) << again.err;
    EXPECT_NE(again.err.find("the runs are those of the file with SHA-256 "), std::string::npos);
  };
  expect_all_there("out");
  expect_stored();
  std::filesystem::remove_all(folder_ / "out/own");
  EXPECT_EQ(with("sweep").code, 0);
  EXPECT_EQ(contents(folder_ / "out/own/cells-e.csv"), cells);
  folder_.write("travelled/empty", "");
  std::filesystem::copy(folder_ / "out/store.sqlite", folder_ / "travelled/store.sqlite");
  expect_all_there("travelled");
  expect_one_error_line(with("fit", "--scale=quick", "nowhere"), 2, "plain.csv");
}

TEST_F(OwnTable, IsNotGuessedForANameThatNobodyGave) {
  ASSERT_EQ(with("sweep").code, 0);
  std::filesystem::remove(folder_ / "study/plain.csv");
  write_sweep("../elsewhere/plain.csv");
  EXPECT_EQ(with("fit").code, 0) << "the same name in another folder";
  EXPECT_EQ(with("sweep").code, 0);
  EXPECT_NE(contents(folder_ / "out/own/index.html").find("the file with SHA-256"),
            std::string::npos)
      << "the page says whose runs it shows";
  write_sweep("hospital.csv");
  for (const char* command : {"fit", "sweep"})
    expect_one_error_line(with(command), 2, "runs of files of other names are stored");
  EXPECT_NE(with("fit").err.find(" (plain.csv, 5 records)"), std::string::npos);
}

TEST_F(OwnTable, IsAskedForNoMoreRecordsThanItHasBeforeAnythingIsWritten) {
  const std::string sweep = contents(folder_ / "study/own.toml");
  folder_.write("study/own.toml",
                sweep.substr(0, sweep.find("axes = ")) +
                    "axes = [{ records = [2, 4, 8] }]\nfit = [{ axis = \"records\" }]\n");
  for (const char* option : {"--dry-run", "--scale=quick"}) {
    expect_one_error_line(with("sweep", option), 2, "records = 8, expected at most 5");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/own"));
  }
}

TEST_F(OwnTable, IsNeededForRunsThatAreNotStored) {
  ASSERT_EQ(with("sweep").code, 0);
  std::filesystem::remove(folder_ / "study/plain.csv");
  std::filesystem::remove_all(folder_ / "out/own");
  std::string more = contents(folder_ / "study/own.toml");
  more.replace(more.find("seeds = 2"), 9, "seeds = 3");
  folder_.write("study/own.toml", more);
  for (const char* option : {"--dry-run", "--scale=quick", "--script-only", "--shard=1/2"}) {
    expect_one_error_line(with("sweep", option), 2, "3 of 9 runs are not stored");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/own")) << option;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/plans")) << option;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/shards-of-2")) << option;
  }
}

TEST_F(OwnTable, IsNotGuessedAmongSeveral) {
  ASSERT_EQ(with("sweep").code, 0);
  const Result first = with("fit");
  write_table("0.5,0,0");
  ASSERT_EQ(with("sweep").code, 0);
  EXPECT_NE(with("fit").out, first.out);
  std::filesystem::remove(folder_ / "study/plain.csv");
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

TEST(SweepCommand, DryRunTellsHowFarSeedsMayGrow) {
  const ScratchFolder folder;
  std::string growing = at_a_saddle;
  growing.replace(growing.find("name = \"n\""), 10, "name = \"n\"\nmost_seeds = 12");
  std::ofstream(folder / "growing.toml") << growing;
  const auto plan = [&](const std::string& file) {
    return run_program(built_program("dpsosp"),
                       {"sweep", folder / file, "--out", folder / "out", "--dry-run"})
        .out;
  };
  EXPECT_NE(plan("growing.toml").find("9 runs"), std::string::npos) << plan("growing.toml");
  EXPECT_NE(plan("growing.toml").find("up to 36 runs in all"), std::string::npos)
      << plan("growing.toml");
  std::ofstream(folder / "fixed.toml") << at_a_saddle;
  EXPECT_EQ(plan("fixed.toml").find("up to"), std::string::npos);
}

TEST(SweepCommand, SaysBeforeItComputesThatTwoValuesGiveNoSlope) {
  const ScratchFolder folder;
  std::string few = at_a_saddle;
  const auto at = few.find("records = [");
  few.replace(at, few.find(']', at) - at, "records = [1e6, 1e7");
  std::ofstream(folder / "few.toml") << few;
  const Result r = run_program(built_program("dpsosp"), {"sweep", folder / "few.toml", "--out",
                                                         folder / "out", "--dry-run"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "sweep: part n: records has 2 values, and a slope needs 3\n");
}

TEST(SweepCommand, WarnsOnceOfADeltaAboveOneOverN) {
  const ScratchFolder folder;
  std::string large = at_a_saddle;
  large.replace(large.find("1e-9"), 4, "1e-5");
  std::ofstream(folder / "large.toml") << large;
  const Result r = run_program(built_program("dpsosp"), {"sweep", folder / "large.toml", "--out",
                                                         folder / "out", "--quiet"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err.find("delta = "), r.err.rfind("delta = ")) << r.err;
  EXPECT_NE(r.err.find("delta = 1e-05 is above 1/n at n = 1e+06 (and 1 more)"), std::string::npos)
      << r.err;
}

}  // namespace
}  // namespace dpsosp::sweep_page_test
