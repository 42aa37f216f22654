// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/experiments/store.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "paths.hpp"
#include "program.hpp"

// `dpsosp list claims`; with verdicts it is tested in reproduce_test.cpp.
namespace dpsosp::claims_test {
namespace {

Result list(const std::string& options) {
  return run_program(built_program("dpsosp"), words("list claims " + options));
}

TEST(ListClaims, PrintsOneLinePerClaimBelowCounts) {
  const Result text = list(""), as_json = list("--json");
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  const auto rows = nlohmann::json::parse(as_json.out);
  ASSERT_EQ(lines(text.out).size(), rows.size() + 1);
  EXPECT_TRUE(lines(text.out)[0].starts_with(std::to_string(rows.size()) + " claims: "));
  std::set<std::string> ids;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string id = rows[k].at("id");
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_TRUE(lines(text.out)[k + 1].starts_with(id + " ")) << id;
    EXPECT_FALSE(rows[k].contains("verdict")) << id;
  }
}

TEST(ListClaims, JsonNamesMetricAndRivalsOfEverySlope) {
  const auto rows = nlohmann::json::parse(list("--json").out);
  int slopes = 0;
  for (const auto& row : rows)
    for (const auto& slope : row.value("slopes", nlohmann::json::array())) {
      ++slopes;
      EXPECT_NE(slope.at("metric"), "") << row.at("id");
      EXPECT_TRUE(slope.at("rivals").is_array()) << row.at("id");
    }
  EXPECT_GT(slopes, 10);
}

TEST(ListSweeps, NamesEachWithItsTitle) {
  const auto rows =
      nlohmann::json::parse(run_program(built_program("dpsosp"), {"list", "sweeps", "--json"}).out);
  EXPECT_GT(rows.size(), 10U);
  for (const auto& row : rows) EXPECT_NE(row.at("title"), "") << row.at("name");
}

TEST(ListClaims, ListsClaimsAndReportsMissingRuns) {
  if (claim_jobs(reproductions().claims, {reproductions().catalogue, Scale::smoke}).empty())
    GTEST_SKIP() << "no claim needs a run at this scale";
  const ScratchFolder folder;
  { const Store store(folder / "store.sqlite"); }
  const Result r = list("--scale smoke --out " + folder.path().string());
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, list("").out);
  ASSERT_EQ(lines(r.err).size(), 1U) << r.err;
  EXPECT_NE(r.err.find("at scale smoke; dpsosp reproduce claims computes them"), std::string::npos)
      << r.err;
}

TEST(ListClaims, RejectsMissingStoreAndIgnoredOptions) {
  const ScratchFolder folder;
  expect_one_error_line(list("--out " + folder.path().string()), 2, "store.sqlite");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  expect_one_error_line(list("--scale smokee"), 2, "did you mean 'smoke'");
  for (const char* options : {"problems --out x", "algorithms --scale smoke"})
    expect_one_error_line(
        run_program(built_program("dpsosp"), words(std::string("list ") + options)), 2,
        "--out and --scale go with claims");
}

}  // namespace
}  // namespace dpsosp::claims_test
