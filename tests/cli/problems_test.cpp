// SPDX-License-Identifier: Apache-2.0
// The zoo from the command line: list problems, check.
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

namespace dpsosp::problems_test {
namespace {

using nlohmann::json;

Result dpsosp(const std::string& command) {
  return run_program(built_program("dpsosp"), words(command));
}

TEST(ListProblems, ShowsFamilyConstantsAndOrigins) {
  const Result text = dpsosp("list problems");
  ASSERT_EQ(text.code, 0);
  const json rows = json::parse(dpsosp("list problems --json").out);
  ASSERT_GE(rows.size(), 25U);
  const std::set<std::string> origins{"proved", "clipped", "estimated"};
  for (const json& row : rows) {
    const std::string name = row.at("name");
    EXPECT_NE(text.out.find(name), std::string::npos);
    EXPECT_NE(text.out.find(row.at("family").get<std::string>()), std::string::npos) << name;
    const json& constants = row.at("constants_at_100_records");
    EXPECT_FALSE(constants.empty()) << name;
    for (const auto& [constant, c] : constants.items()) {
      EXPECT_TRUE(origins.contains(c.at("origin"))) << name;
      EXPECT_EQ(c.contains("proof"), c.at("origin") == "proved") << name << ' ' << constant;
      EXPECT_NE(text.out.find(constant), std::string::npos) << name;
    }
  }
}

TEST(CheckCommand, PassesSoundProblemAndReportsMeasurements) {
  const Result text = dpsosp("check double-well cosine-saddle");
  EXPECT_EQ(text.code, 0) << text.out;
  EXPECT_NE(text.out.find("double-well: passed"), std::string::npos);
  EXPECT_NE(text.out.find("a bound 5 % smaller is refuted"), std::string::npos);
  const json checks = json::parse(dpsosp("check double-well cosine-saddle --json").out);
  ASSERT_EQ(checks.size(), 2U);
  for (const json& check : checks) {
    EXPECT_EQ(check.at("passed"), true);
    EXPECT_GE(check.at("checks").size(), 15U);
    for (const json& c : check.at("constants")) {
      EXPECT_LE(c.at("share").get<double>(), 1 + 1e-6);
      EXPECT_GT(c.at("share").get<double>(), 0);
    }
  }
}

TEST(CheckCommand, AcceptsSettingsAndDimension) {
  const Result r = dpsosp("check double-well --dimension 3 --set wells=2 --seed 5");
  EXPECT_EQ(r.code, 0) << r.out;
}

TEST(CheckCommand, SkipsProblemAndNamesMissingData) {
  const ScratchFolder nothing;
  ::setenv("DPSOSP_DATA", nothing.path().c_str(), 1);
  const Result r = dpsosp("check mnist-glm");
  ::unsetenv("DPSOSP_DATA");
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("mnist-glm: skipped: "), std::string::npos);
  EXPECT_NE(r.out.find("./run data"), std::string::npos);
}

TEST(CheckCommand, RefusesATableThatIsNotThere) {
  for (const char* set : {"data=nope.csv", "problem.data=nope.csv", "data=."})
    expect_one_error_line(dpsosp(std::string("check own-glm --set ") + set), 2, "check: own-glm: ");
}

TEST(CheckCommand, RejectsBadArgumentsInOneLine) {
  expect_one_error_line(dpsosp("check"), 2, "expected names of problems");
  expect_one_error_line(dpsosp("check double-wel"), 2, "did you mean 'double-well'");
  expect_one_error_line(dpsosp("check double-well coin"), 2, "did you mean 'coins'");
  expect_one_error_line(dpsosp("check double-well --set wels=1"), 2, "did you mean 'wells'");
  expect_one_error_line(dpsosp("check double-well --set wells=11"), 2, "in [1, 10]");
  expect_one_error_line(dpsosp("check double-well --dimension 0"), 2, "an integer >= 1");
  expect_one_error_line(dpsosp("check double-well --set sampling=whole"), 2, "leave `sampling`");
  expect_one_error_line(dpsosp("list exhibits --document docs"), 2,
                        "goes with algorithms, problems, protocol or findings");
}

}  // namespace
}  // namespace dpsosp::problems_test
