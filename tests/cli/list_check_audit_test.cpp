// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/experiments/store.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "program.hpp"

// `dpsosp list`, `check` and `audit`; claims with verdicts are tested in reproduce_test.cpp.
namespace dpsosp::list_check_audit_test {
namespace {

using nlohmann::json;

json json_of(const std::string& command) { return json::parse(answer(command + " --json")); }

TEST(ListProblems, ShowsFamilyConstantsAndOrigins) {
  const std::string text = answer("list problems");
  const json rows = json_of("list problems");
  ASSERT_GE(rows.size(), 25U);
  const std::set<std::string> origins{"proved", "clipped", "estimated"};
  for (const json& row : rows) {
    const std::string name = row.at("name"), family = row.at("family");
    EXPECT_TRUE(has(text, name, family));
    const json& constants = row.at("constants_at_100_records");
    EXPECT_FALSE(constants.empty()) << name;
    for (const auto& [constant, c] : constants.items()) {
      EXPECT_TRUE(origins.contains(c.at("origin"))) << name;
      EXPECT_EQ(c.contains("proof"), c.at("origin") == "proved") << name << ' ' << constant;
      EXPECT_TRUE(has(text, constant)) << name;
    }
  }
}

TEST(ListClaims, PrintsOneLinePerClaimBelowCounts) {
  const auto text = lines(answer("list claims"));
  const json rows = json_of("list claims");
  ASSERT_EQ(text.size(), rows.size() + 1);
  EXPECT_TRUE(text[0].starts_with(std::to_string(rows.size()) + " claims: "));
  std::set<std::string> ids;
  int slopes = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string id = rows[k].at("id");
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_TRUE(text[k + 1].starts_with(id + " ")) << id;
    EXPECT_FALSE(rows[k].contains("verdict")) << id;
    for (const auto& slope : rows[k].value("slopes", json::array())) {
      ++slopes;
      EXPECT_NE(slope.at("metric"), "") << id;
      EXPECT_TRUE(slope.at("rivals").is_array()) << id;
    }
  }
  EXPECT_GT(slopes, 10);
}

TEST(ListClaims, ReportsMissingRuns) {
  if (claim_jobs(reproductions().claims, {reproductions().catalogue, Scale::smoke}).empty())
    GTEST_SKIP() << "no claim needs a run at this scale";
  const ScratchFolder folder;
  { const Store store(folder / "store.sqlite"); }
  const Result r = dpsosp("list claims --scale smoke --out", {folder.path()});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, answer("list claims"));
  EXPECT_EQ(lines(r.err).size(), 1U);
  EXPECT_TRUE(has(r.err, "at scale smoke; dpsosp reproduce claims computes them"));
}

TEST(ListSweeps, NamesEachWithItsTitle) {
  const json rows = json_of("list sweeps");
  EXPECT_GT(rows.size(), 10U);
  for (const auto& row : rows) EXPECT_NE(row.at("title"), "") << row.at("name");
}

TEST(CheckCommand, PassesSoundProblemAndReportsMeasurements) {
  EXPECT_TRUE(has(dpsosp("check double-well cosine-saddle").out, "double-well: passed",
                  "a bound 5 % smaller is refuted"));
  const json checks = json_of("check double-well cosine-saddle");
  ASSERT_EQ(checks.size(), 2U);
  for (const json& check : checks) {
    EXPECT_EQ(check.at("passed"), true);
    EXPECT_GE(check.at("checks").size(), 15U);
    for (const json& c : check.at("constants")) {
      EXPECT_LE(c.at("share").get<double>(), 1 + 1e-6);
      EXPECT_GT(c.at("share").get<double>(), 0);
    }
  }
  EXPECT_EQ(dpsosp("check double-well --dimension 3 --set wells=2 --seed 5").code, 0);
}

TEST(CheckCommand, SkipsProblemAndNamesMissingData) {
  const ScratchFolder nothing;
  ::setenv("DPSOSP_DATA", nothing.path().c_str(), 1);
  const Result r = dpsosp("check mnist-glm");
  ::unsetenv("DPSOSP_DATA");
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "mnist-glm: skipped: ", "./run data"));
}

const std::string dp_gd = "audit --algorithm wang-ye-xu-2017/dp-gd --scale smoke ";

TEST(AuditCommand, PrintsSameBytesForAnyThreadCount) {
  EXPECT_TRUE(has(answer(dp_gd + "--runs 500"), "claimed accounted  audited", "stands",
                  "confidence 0.999"));
  const std::string one = answer(dp_gd + "--runs 100 --json --threads 1");
  EXPECT_EQ(one, dpsosp(dp_gd + "--runs 100 --json --threads 3").out);
  EXPECT_EQ(json::parse(one).at("statistics").at("claimed"), 8);
  EXPECT_TRUE(json::parse(one).at("replay").at("passed").get<bool>());
}

TEST(AuditCommand, CatchesPlantedBugOrFails) {
  const Result caught = dpsosp(dp_gd + "--plant noise-over-sqrt2 --runs 100");
  EXPECT_EQ(caught.code, 0);
  EXPECT_TRUE(has(caught.out, "planted bug caught"));
  const Result missed = dpsosp(dp_gd + "--plant tree-noise-reused --runs 100");  // it has no tree
  EXPECT_EQ(missed.code, 1);
  EXPECT_TRUE(has(missed.out, "planted bug missed"));
}

TEST(AuditCommand, TakesSettingsOfTheProblem) {
  const std::string formula =
      "audit --algorithm abadi-2016/dp-sgd --problem own-glm --set problem.data=" +
      in_checkout("examples/data/visits.csv") + " --set problem.loss=sigmoid(-3*t*(2*y-1))";
  EXPECT_TRUE(has(dpsosp(formula).out, "abadi-2016/dp-sgd on own-glm: replay passed"));
  EXPECT_EQ(dpsosp(formula + " --plant noise-over-sqrt2").code, 0);
}

}  // namespace
}  // namespace dpsosp::list_check_audit_test
