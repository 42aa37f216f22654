// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

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
  const std::vector<std::string> rest{
      folder / "example.toml", "--scale", "smoke", "--out", folder / "out"};
  const auto with = [&](const std::string& command, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{command};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(built_program("dpsosp"), arguments);
  };
  const Result sweep = with("sweep", {"--quiet"});
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  for (const char* file : {"cells-n.csv",
                           "cells-n.md",
                           "slopes.csv",
                           "slopes.md",
                           "exponents.tex",
                           "figure-n.svg",
                           "figure-n.pdf",
                           "timings.csv",
                           "index.html"}) {
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

TEST(SweepCommand, WarnsOnceOfADeltaAboveOneOverN) {
  const ScratchFolder folder;
  std::string large = at_a_saddle;
  large.replace(large.find("1e-9"), 4, "1e-5");
  std::ofstream(folder / "large.toml") << large;
  const Result r =
      run_program(built_program("dpsosp"),
                  {"sweep", folder / "large.toml", "--out", folder / "out", "--quiet"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err.find("delta = "), r.err.rfind("delta = ")) << r.err;
  EXPECT_NE(r.err.find("delta = 1e-05 is above 1/n at n = 1e+06 (and 1 more)"), std::string::npos)
      << r.err;
}

}  // namespace
}  // namespace dpsosp::sweep_page_test
