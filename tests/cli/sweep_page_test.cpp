// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

// docs/sweeps.md says what the program does.
namespace dpsosp::sweep_page_test {
namespace {

const std::string& page() {
  static const std::string text = contents(std::filesystem::path(DPSOSP_DOCS) / "sweeps.md");
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
    return run_program(DPSOSP_PROGRAM, arguments);
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
        DPSOSP_PROGRAM,
        {"sweep", folder / "example.toml", "--scale", scale, "--out", folder / "out", "--dry-run"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("epsilon: DP-SPIDER, epsilon = 0.5, dimension = 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace dpsosp::sweep_page_test
