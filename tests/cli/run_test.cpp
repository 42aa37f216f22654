// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/experiments/store.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dpsosp::run_test {
namespace {

using nlohmann::json;

json json_of(const std::string& command) { return json::parse(answer(command + " --json")); }

const std::string small_sensing =
    " --problem matrix-sensing --set problem.rows=4 --set problem.cols=4 --set problem.rank=1";
const std::string rgda = "run --algorithm xu-2026/dp-rgda --epsilon 2 --delta 1e-6" + small_sensing;

/// The first words of lines, up to the column where the rest begins.
std::set<std::string> labels(const std::string& text) {
  std::set<std::string> seen;
  for (const std::string& line : lines(text))
    if (line.size() > 13 && line[0] != ' ')
      seen.insert(line.substr(0, std::min<std::size_t>(13, line.find("  "))));
  return seen;
}

TEST(RunCommand, PrintsOutputCertificateGuaranteeAndLedger) {
  const std::string said = answer(rgda + " --records 60 --set steps=20 --observations 5");
  const auto seen = labels(said);
  for (const char* name :
       {"value", "gradient norm", "run", "utility", "privacy", "ledger", "not private", "next"})
    EXPECT_TRUE(seen.contains(name)) << name;
  EXPECT_TRUE(has(said, "best iterate", "least eigenvalue of the Hessian",
                  "enforced: epsilon 2 at delta 1e-06, replace_one"));
}

TEST(RunCommand, ReleasePrintsOnlyPrivateResults) {
  const std::string release =
      "run --release --algorithm wang-ye-xu-2017/dp-gd --problem cosine-saddle --records 500 "
      "--dimension 2 --epsilon 1 --delta 1e-6";
  auto seen = labels(answer(release));
  seen.erase("wang-ye-xu-20");  // the title
  EXPECT_EQ(seen,
            (std::set<std::string>{"output", "run", "utility", "privacy", "ledger", "noise"}));
  const json j = json_of(release);
  EXPECT_EQ(j.size(), 5U);  // with the description
  EXPECT_EQ(j.at("point").size(), 2U);
  expect_refusals(release + " --observations 5 | ");
  const Result selected = dpsosp(
      "run --release --algorithm ganesh-2023/discrete-exponential --problem multi-well --records "
      "1000 --dimension 2 --epsilon 1 --delta 1e-6");
  EXPECT_NE(selected.code, 0);
  EXPECT_EQ(selected.out, "");
  EXPECT_TRUE(has(selected.err, "exact noise only for Gaussian queries"));
}

TEST(RunCommand, ReleaseHasNoDigestOfTheRecords) {
  const ScratchFolder folder;
  const auto table = folder.write("table.csv", "a,b,y\n0.5,0.1,1\n-0.25,0.4,0\n0.3,-0.2,1\n");
  const std::string run =
      "run --algorithm wang-ye-xu-2017/dp-gd --problem own-glm --epsilon 1 "
      "--delta 1e-3 --set problem.data=" +
      table.string() + " --set problem.label=y";
  EXPECT_TRUE(json_of(run).at("description").contains("data"));
  EXPECT_FALSE(json_of(run + " --release").at("description").contains("data"));
}

/// Nothing but the point, which has noise, depends on the records: neither on how many of them are
/// clipped nor on their lengths and labels.
TEST(RunCommand, ReleaseSaysTheSameOfAnyRecordsButThePoint) {
  const ScratchFolder folder;
  std::vector<std::string> tables(2, "a,b,y\n");
  for (int i = 0; i < 40; ++i) {
    const char* label = i % 3 == 0 ? "1\n" : "0\n";
    tables[0] += fmt::format("{},{},{}", i % 2 == 0 ? 1 : -1, i % 4 < 2 ? 1 : -1, label);
    tables[1] += fmt::format("{},{},{}", i == 0 ? 1 : 0.001 * i, i == 0 ? -1 : 0.001, label);
  }
  for (const char* algorithm :
       {"wang-ye-xu-2017/dp-gd", "avdiukhin-2024/dp-sgd", "wang-xu-2020/dp-trust-region"}) {
    std::vector<json> said;
    for (const std::string& text : tables) {
      const auto table = folder.write("table.csv", text);
      said.push_back(
          json_of("run --release --algorithm " + std::string(algorithm) +
                  " --problem own-glm --epsilon 0.001 --delta 1e-3 --set problem.label=y" +
                  " --set problem.told.lipschitz=0.7 --set problem.data=" + table.string()));
      said.back().erase("point");
      said.back().at("own_data").erase("score");  // the point in other words
      EXPECT_EQ(said.back(), said.front()) << algorithm << '\n' << text;
    }
  }
}

const std::string own_run = "--problem own-glm --set problem.loss=logistic --set problem.data=";
const std::string own_gd =
    "run --algorithm wang-ye-xu-2017/dp-gd --epsilon 1 --delta 1e-3 " + own_run;

/// Labels follow the sign of a; every tenth is wrong.
std::string labelled_table(const std::string& head, int rows, double scale) {
  std::string table = head + "\n";
  for (int i = 0; i < rows; ++i) {
    const double a = (i * 37 % 100 - 49.5) / 50;
    table += fmt::format("{},{},{}\n", scale * a, i % 7, (a > 0) != (i % 10 == 0) ? 1 : 0);
  }
  return table;
}

TEST(RunCommand, OwnDataSayWhatWasTakenAndWhatItIsWorth) {
  const ScratchFolder folder;
  const auto file = folder.write("t.csv", labelled_table("a;b;y", 400, 1));
  EXPECT_TRUE(has(dpsosp(own_gd + file.string()).err, "1 cell, expected 3"))
      << "the separator is told by line 1";
  const auto table = folder.write("t.csv", labelled_table("a,b,y", 400, 1));
  const Result r = dpsosp(own_gd + table.string() + " --records 300 --set problem.longest=3");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(
      has(r.out, "CSV, separated by ','; 400 records, 300 of them here, drawn by the data seed",
          "x: a, b; y: y", "x is divided by longest = 3; what is longer then is shortened to 1",
          "score        ", "of 300 records shortened: their median was ",
          "on the 300 records of the run: accuracy 0.", "on the 100 records left out: accuracy 0.",
          "not private", "warning      "));
  const json j =
      json_of(own_gd + table.string() + " --records 300 --set problem.longest=3").at("own_data");
  EXPECT_EQ(j.at("x"), (json{"a", "b"}));
  EXPECT_EQ(j.at("y"), "y");
  EXPECT_EQ(j.at("rows"), 400);
  for (const char* part : {"judged", "held_out", "shortened"})
    EXPECT_EQ(j.at(part).at("private"), false);
  EXPECT_EQ(j.at("held_out").at("records"), 100);
  EXPECT_EQ(j.at("score").at("weights").size(), 2U);
}

TEST(RunCommand, CertifyJudgesAPointOfARunOnAnotherFile) {
  const ScratchFolder folder;
  const auto train = folder.write("train.csv", labelled_table("a,b,y", 400, 1)),
             test = folder.write("test.csv", labelled_table("a,b,y", 50, 1)),
             turned = folder.write("turned.csv", labelled_table("b,a,y", 50, 1));
  for (const char* kind : {"", " --release"}) {
    const auto run =
        folder.write("run.json", dpsosp(own_gd + train.string() + " --json" + kind).out);
    const std::string point = " --point " + run.string();
    const json j = json_of("certify " + own_run + test.string() + point).at("own_data");
    EXPECT_EQ(j.at("judged").at("records"), 50);
    EXPECT_TRUE(j.at("judged").contains("auc"));
    expect_one_error_line(
        dpsosp("certify " + own_run + turned.string() + point), 2,
        "certify: the point was found with x = [\"a\",\"b\"], here it is [\"b\",\"a\"]");
    expect_one_error_line(
        dpsosp("certify " + own_run + test.string() + " --set problem.loss=welsch" + point), 2,
        "certify: the point was found with loss = \"logistic\", here it is \"welsch\"");
    expect_one_error_line(dpsosp("certify --problem cosine-saddle --dimension 3" + point), 2,
                          "certify: the point is of a run on own-glm, expected --problem own-glm");
  }
}

/// Neither whether a release happens nor what it prints depends on a column being constant, and a
/// refusal shows no cell.
TEST(RunCommand, ReleasesOfOwnDataShowNoCell) {
  const ScratchFolder folder;
  const std::string release = own_gd + (folder / "t.csv").string() + " --release";
  for (const char* records : {"1,2,0\n1,3,1\n", "1,2,0\n4,3,1\n"}) {
    folder.write("t.csv", std::string("a,b,y\n") + records);
    const Result r = dpsosp(release);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(lacks(r.out, "accuracy", "shortened:", "of 2 records", "not private"));
  }
  for (const char* records : {"1,2,0\n1,secret,1\n", "1,2,0\n1,2,7775777\n"}) {
    folder.write("t.csv", std::string("a,b,y\n") + records);
    const Result r = dpsosp(release);
    expect_one_error_line(r, 2, "t.csv, line 3, column ");
    EXPECT_TRUE(has(r.err, "a release does not show what stands there"));
    EXPECT_TRUE(lacks(r.err, "secret", "7775777"));
  }
}

TEST(RunCommand, ReleaseThatFailsSaysThatItSpent) {
  const Result r = dpsosp(
      "run --release --algorithm avdiukhin-2024/dp-sgd --problem double-well --records 500 "
      "--epsilon 1 --delta 1e-6 --set steps=1 --set selection_share=0.5");
  EXPECT_NE(r.code, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_TRUE(has(r.err, "after 1 query, whose privacy cost is spent"));
}

TEST(RunCommand, JsonHasEveryKeyAndSpendsWithinGuarantee) {
  for (const char* epsilon : {"0.1", "1", "8"}) {
    const json r = json_of("run --algorithm xu-2026/dp-rgda --delta 1e-6 --records 300 --epsilon " +
                           std::string(epsilon) + small_sensing);
    for (const char* key : {"algorithm", "schedule", "privacy", "start", "origin", "output",
                            "point", "evaluation_log", "description"})
      EXPECT_TRUE(r.contains(key)) << key;
    for (const char* key : {"value", "gradient_norm", "lambda_min", "lambda_min_lower",
                            "failure_probability", "sosp_level"})
      EXPECT_TRUE(r["output"].contains(key)) << key;
    const json& p = r["privacy"];
    EXPECT_EQ(p["label"], "enforced");
    EXPECT_EQ(p["guarantee"], r["description"]["epsilon"]);
    EXPECT_LE(p["spent"].get<double>(), p["guarantee"].get<double>());
    EXPECT_GT(p["spent"].get<double>(), 0.0);
    std::int64_t queries = 0;
    for (const json& entry : p["ledger"]["entries"]) queries += entry["count"].get<std::int64_t>();
    EXPECT_EQ(queries, p["queries"].get<std::int64_t>());
    EXPECT_FALSE(r.contains("trace"));
  }
}

TEST(RunCommand, PrintsTraceOnRequest) {
  const json r = json_of(rgda + " --records 60 --observations 4 --trace");
  ASSERT_TRUE(r.contains("trace"));
  EXPECT_GE(r["trace"].size(), 2U);
  EXPECT_EQ(r["trace_columns"].size(), 5U);
  for (const json& row : r["trace"]) EXPECT_EQ(row.size(), 5U);
}

TEST(RunCommand, DependsOnSeedsButNotOnThreadCount) {
  // 1000 records: four chunks, so that two threads have something to share
  const std::vector<std::string> pairs{
      "--algorithm yang-2022/dp-sgda --set steps=5" + small_sensing,
      "--algorithm ganesh-2023/stochastic-spider --problem cosine-saddle --dimension 8",
      "--algorithm xu-2026/dp-rgda --problem cosine-minimax"};
  for (const std::string& pair : pairs) {
    const std::string command = "run --epsilon 2 --delta 1e-6 --records 1000 " + pair;
    SCOPED_TRACE(command);
    const std::string rest = " --observations 4 --json --trace";
    const Result one = dpsosp(command + rest + " --threads 1");
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(dpsosp(command + rest + " --threads 2").out, one.out);
    EXPECT_EQ(dpsosp(command + rest + " --threads 1").out, one.out);
    const json base = json::parse(one.out);
    EXPECT_NE(json_of(command + " --seed 1 --observations 4")["point"], base["point"]);
    EXPECT_NE(json_of(command + " --data-seed 1 --observations 4")["point"], base["point"]);
  }
}

// Those that ask for gradients of the objective run where every record has its own dual as well;
// all others are minimax algorithms.
bool supported(const json& algorithm, const std::string& dual) {
  if (dual == "per_record") return true;
  return algorithm["needs_dual"].get<bool>() == (dual != "none");
}

TEST(RunCommand, RunsEveryAlgorithmOrRejectsInOneLine) {
  int runs = 0, refusals = 0;
  // one of every kind that algorithms tell apart; radial-ripple has no Hessian bound, which not all
  // of them need
  const std::set<std::string> kinds{"matrix-sensing", "cosine-minimax", "cosine-saddle",
                                    "double-well", "radial-ripple"};
  for (const json& algorithm : json_of("list algorithms"))
    for (const json& problem : json_of("list problems")) {
      const std::string a = algorithm["name"], p = problem["name"];
      if (!kinds.contains(p)) continue;
      const bool iterates = std::ranges::any_of(algorithm["settings"],
                                                [](const json& s) { return s["name"] == "steps"; });
      const std::string command = "run --algorithm " + a + " --problem " + p +
                                  " --epsilon 2 --delta 1e-6 --records 60" +
                                  (iterates ? " --set steps=10" : "");
      SCOPED_TRACE(command);
      const Result ran = dpsosp(command);
      const bool fits = supported(algorithm, problem["dual"]);
      if (!fits || ran.code != 0) {
        // a problem of another kind, a constant that is not stated, too few records, too large a
        // net
        expect_one_error_line(ran, 2, ": ");
        EXPECT_TRUE(ran.err.find("choose a") != std::string::npos ||
                    ran.err.find("too few") != std::string::npos ||
                    ran.err.find("expected") != std::string::npos)
            << ran.err;
        ++refusals;
        continue;
      }
      const json result = json_of(command);
      ++runs;
      for (const json& x : result["point"]) EXPECT_TRUE(std::isfinite(x.get<double>()));
      EXPECT_EQ(result["point"].size(), problem["dimension"].get<std::size_t>());
      if (!algorithm["private"].get<bool>()) {
        EXPECT_EQ(result["privacy"]["label"], "none");
        EXPECT_EQ(result["privacy"]["guarantee"], "inf");
        continue;
      }
      if (algorithm["privacy"] == "conditional") {
        EXPECT_NE(result["privacy"]["label"], "enforced");
        EXPECT_EQ(result["privacy"]["guarantee"], "inf");
        continue;
      }
      EXPECT_EQ(result["privacy"]["label"], "enforced");
      EXPECT_EQ(result["privacy"]["guarantee"], 2.0);
      EXPECT_LE(result["privacy"]["spent"].get<double>(), 2.0);
    }
  EXPECT_GE(runs, 80);
  EXPECT_GE(refusals, 40);
}

TEST(RunCommand, RunsEveryVariantAndScheduleOrRejectsInOneLine) {
  for (const json& algorithm : json_of("list algorithms"))
    for (const char* variant : {"printed", "repaired"})
      for (const char* schedule : {"paper", "practical"}) {
        const std::string command = "run --algorithm " + algorithm["name"].get<std::string>() +
                                    " --variant " + variant + " --schedule " + schedule +
                                    " --epsilon 1 --delta 1e-6 --records 300" + small_sensing;
        SCOPED_TRACE(command);
        const Result r = dpsosp(command);
        if (r.code == 0) {
          EXPECT_EQ(r.err, "");
          continue;
        }
        EXPECT_TRUE(r.code == 2 || r.code == 3) << r.code;
        expect_one_error_line(r, r.code, "");
      }
}

TEST(CertifyCommand, MatchesRunAtStartOriginAndOutput) {
  const json run = json_of(rgda + " --records 60");
  const std::string instance = "certify --records 60" + small_sensing;
  EXPECT_EQ(json_of(instance)["value"], run["start"]["value"]);
  EXPECT_EQ(json_of(instance + " --point origin")["value"], run["origin"]["value"]);
  EXPECT_EQ(json_of(instance + " --point " + run["point"].dump())["value"], run["output"]["value"]);
}

const std::string diverging =
    "run --algorithm reference/gradient-descent-ascent --epsilon 1 --delta 1e-6 --records 60 "
    "--set step_size=1e200" +
    small_sensing;

TEST(RunCommand, FailsInOneLineOnOverflowAndStoresFailure) {
  expect_one_error_line(dpsosp(diverging), 1, "is not finite");
  expect_one_error_line(dpsosp(diverging + " --json"), 1, "is not finite");

  const ScratchFolder folder;
  Store store(folder / "store.sqlite");
  RunSpec spec;
  spec.algorithm = "reference/gradient-descent-ascent";
  spec.problem = "matrix-sensing";
  spec.problem_settings = {{"rows", "4"}, {"cols", "4"}, {"rank", "1"}};
  spec.settings = {{"step_size", "1e200"}};
  spec.records = 60;
  spec.observations = 0;
  const auto runs = run_jobs(store, {describe(spec)}, [](const Job& job) {
    return nlohmann::json(compute_run(*job.run()));
  });
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].status, RunStatus::failed);
  EXPECT_TRUE(has(runs[0].reason, "is not finite"));
  EXPECT_TRUE(runs[0].result.is_null());
}

TEST(Program, FailsIfStdoutCannotBeWritten) {
  const std::string run =
      "run --algorithm arora-2023/dp-spider --problem ripple-location --records 1000 --epsilon 1 "
      "--delta 1e-6 --set steps=3";
  for (const std::string& command :
       {std::string("list problems"), std::string("list problems --json"), std::string("info"), run,
        run + " --json"}) {
    const Result r = run_program(
        "/bin/sh", {"-c", fmt::format("'{}' {} >/dev/full", built_program("dpsosp"), command)});
    expect_one_error_line(r, 1, "standard output cannot be written");
  }
}

}  // namespace
}  // namespace dpsosp::run_test
