// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program.hpp"

// From an empty folder to a report at smoke scale. One program for all cases, so that they
// share the folder that the first one fills.
namespace dpsosp::reproduce_test {
namespace {

namespace fs = std::filesystem;

/// Whether every exhibit is computed, and not three alone.
bool all_exhibits() { return std::getenv("DPSOSP_ALL_EXHIBITS") != nullptr; }

/// The cases' exhibits, for a call that names none.
std::string exhibits() {
  return all_exhibits() ? "" : " xu-2026/table-2 xu-2026/figure-1 avdiukhin-2024/rates";
}

std::vector<std::string> reproduce_into(const fs::path& out, const std::string& rest) {
  std::vector<std::string> arguments = words("reproduce --scale smoke " + rest + " --out");
  arguments.push_back(out.string());
  return arguments;
}

Result reproduce(const fs::path& out, const std::string& rest = exhibits()) {
  return run_program(built_program("dpsosp"), reproduce_into(out, rest));
}

/// Every file of the report by relative path, but for those with seconds.
std::map<std::string, std::string> report_files(const fs::path& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(out / "report"))
    if (entry.is_regular_file() && entry.path().filename() != "timings.csv" &&
        entry.path().stem() != "speed")
      files[fs::relative(entry.path(), out).string()] = contents(entry.path());
  return files;
}

void expect_same_report(const fs::path& out, const std::map<std::string, std::string>& expected) {
  const auto files = report_files(out);
  for (const auto& [name, content] : expected) {
    ASSERT_TRUE(files.contains(name)) << name;
    EXPECT_TRUE(files.at(name) == content) << name << " differs";
  }
  EXPECT_EQ(files.size(), expected.size());
}

/// When each run but that of the key `without` was computed, and how long it took.
std::string computations(const fs::path& out, const std::string& without = "") {
  SQLite::Database db((out / "store.sqlite").string(), SQLite::OPEN_READWRITE);
  return db
      .execAndGet(
          "SELECT group_concat(key || started || wall_seconds) FROM "
          "(SELECT * FROM provenance WHERE key <> '" +
          without + "' ORDER BY key)")
      .getString();
}

int stored_runs(const fs::path& out) {
  SQLite::Database db((out / "store.sqlite").string(), SQLite::OPEN_READWRITE);
  return db.execAndGet("SELECT count(*) FROM runs").getInt();
}

class Reproduce : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<ScratchFolder>();
    first_ = reproduce(out(), "--threads 1" + exhibits());
    report_ = report_files(out());
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static fs::path out() { return *folder_ / "one thread"; }
  static fs::path other(const std::string& name) { return *folder_ / name; }
  static const Result& first() { return first_; }
  static const std::map<std::string, std::string>& report() { return report_; }

 private:
  static inline std::unique_ptr<ScratchFolder> folder_;
  static inline Result first_;
  static inline std::map<std::string, std::string> report_;
};

TEST_F(Reproduce, PrintsReportPathOnStdoutAndProgressOnStderr) {
  ASSERT_EQ(first().code, 0) << first().err;
  const fs::path page = out() / "report" / "index.html";
  EXPECT_EQ(first().out, "report: " + page.string() + "\n");
  EXPECT_TRUE(fs::exists(page));
  EXPECT_NE(first().err.find(" runs"), std::string::npos) << first().err;
  for (const char* ending : {".csv", ".md", ".tex", ".html", ".svg", ".json"})
    EXPECT_TRUE(std::any_of(report().begin(), report().end(), [&](const auto& file) {
      return file.first.ends_with(ending) && !file.second.empty();
    })) << ending;
}

TEST_F(Reproduce, SecondCallComputesTheLostRunAloneAndWritesSameBytes) {
  const fs::path place = other("lost");
  fs::copy(out(), place, fs::copy_options::recursive);
  std::string lost;
  {
    SQLite::Database db((place / "store.sqlite").string(), SQLite::OPEN_READWRITE);
    lost = db.execAndGet("SELECT min(key) FROM runs").getString();
    db.exec("DELETE FROM provenance WHERE key = '" + lost + "'");
    db.exec("DELETE FROM runs WHERE key = '" + lost + "'");
  }
  const std::string kept = computations(place, lost);
  const Result again = reproduce(place);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(stored_runs(place), stored_runs(out()));
  EXPECT_EQ(computations(place, lost), kept);
  EXPECT_NE(computations(place), computations(out()));
  expect_same_report(place, report());
}

TEST_F(Reproduce, ReportRebuildsDeletedFilesFromStoreAlone) {
  const std::string before = computations(out());
  fs::remove_all(out() / "report");
  std::vector<std::string> arguments = words("report --scale smoke" + exhibits() + " --out");
  arguments.push_back(out().string());
  const Result r = run_program(built_program("dpsosp"), arguments);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out, first().out);
  EXPECT_EQ(computations(out()), before);
  expect_same_report(out(), report());
}

TEST_F(Reproduce, AcceptsExhibitNamedTwice) {
  const fs::path place = other("figure");
  fs::create_directory(place);
  fs::copy(out() / "store.sqlite", place / "store.sqlite");
  const Result r = reproduce(place, "xu-2026/figure-1 xu-2026/figure-1");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::exists(place / "report" / "xu-2026-figure-1" / "index.html"));
  EXPECT_FALSE(fs::exists(place / "report" / "xu-2026-table-2"));
}

/// `reproduce --check` of the table, against what the first call wrote.
Result checked(const fs::path& out, const fs::path& reference) {
  return run_program(built_program("dpsosp"),
                     {"reproduce", "xu-2026/table-2", "--scale", "smoke", "--quiet", "--out",
                      out.string(), "--check", reference.string()});
}

TEST_F(Reproduce, CheckReportsPlantedMedianOnly) {
  const fs::path reference = other("reference");
  fs::copy(out() / "report", reference, fs::copy_options::recursive);
  const fs::path place = other("checked");
  fs::create_directory(place);
  fs::copy(out() / "store.sqlite", place / "store.sqlite");
  const Result same = checked(place, reference);
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_TRUE(same.out.starts_with("0 differences from " + reference.string() + " in "))
      << same.out;

  const fs::path file = reference / "xu-2026-table-2" / "table-2.csv";
  std::string text = contents(file);
  const auto rows = lines(text);
  // The first median: after the group and the method, which are quoted, and three published
  // numbers.
  const std::size_t group = text.find("\",", text.find(rows[1])) + 1;
  std::size_t median = text.find("\",", group) + 1;
  for (int k = 0; k < 4; ++k) median = text.find(',', median) + 1;
  text.insert(median, 1, '9');
  std::ofstream(file, std::ios::binary) << text;
  const Result other = checked(place, reference);
  EXPECT_EQ(other.code, 1) << other.err;
  ASSERT_EQ(lines(other.out).size(), 3U) << other.out;
  EXPECT_TRUE(lines(other.out)[0].starts_with("xu-2026-table-2/table-2.csv: row '")) << other.out;
  EXPECT_NE(other.out.find("Φ median': "), std::string::npos) << other.out;
  EXPECT_TRUE(lines(other.out)[1].starts_with("1 difference from")) << other.out;
}

TEST_F(Reproduce, RejectsCheckWithoutReferenceBeforeAnyRun) {
  const fs::path place = other("unchecked");
  expect_one_error_line(checked(place, other("no reference")), 2, "no reference");
  fs::create_directories(other("half a reference") / "claims");
  std::ofstream(other("half a reference") / "claims/claims.csv") << "a\r\n";
  expect_one_error_line(checked(place, other("half a reference")), 2,
                        "holds no tables of xu-2026-table-2");
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(Reproduce, ListsClaimsWithVerdictsOfStore) {
  if (!all_exhibits()) GTEST_SKIP() << "of all exhibits' runs";
  const std::vector<std::string> arguments{"list",  "claims", "--scale",
                                           "smoke", "--out",  out().string()};
  const Result text = run_program(built_program("dpsosp"), arguments);
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  auto with_json = arguments;
  with_json.emplace_back("--json");
  const auto rows = nlohmann::json::parse(run_program(built_program("dpsosp"), with_json).out);
  ASSERT_EQ(lines(text.out).size(), rows.size() + 1);
  std::map<std::string, int> counts;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string id = rows[k].at("id"), verdict = rows[k].at("headline");
    EXPECT_TRUE(lines(text.out)[k + 1].starts_with(id + " ")) << id;
    EXPECT_NE(lines(text.out)[k + 1].find(verdict), std::string::npos) << id;
    ++counts[verdict];
  }
  for (const auto& [verdict, count] : counts)
    EXPECT_NE(lines(text.out)[0].find(std::to_string(count) + " " + verdict), std::string::npos)
        << lines(text.out)[0];
}

TEST_F(Reproduce, VerdictsNameTheirStoredRuns) {
  if (!all_exhibits()) GTEST_SKIP() << "of all exhibits' runs";
  std::set<std::string> stored;
  SQLite::Database db((out() / "store.sqlite").string(), SQLite::OPEN_READWRITE);
  for (SQLite::Statement keys(db, "SELECT key FROM runs"); keys.executeStep();)
    stored.insert(keys.getColumn(0).getString());
  const auto rows = nlohmann::json::parse(
      run_program(built_program("dpsosp"),
                  {"list", "claims", "--json", "--scale", "smoke", "--out", out().string()})
          .out);
  int by_formulas = 0, by_runs = 0;
  for (const auto& row : rows) {
    const std::string id = row.at("id"), rests_on = row.value("rests_on", "");
    for (const std::string key : row.value("runs", nlohmann::json::array()))
      EXPECT_TRUE(stored.contains(key)) << id << " " << key;
    // Runs on request that the store lacks are committed rows, or none.
    const bool elsewhere = rests_on.ends_with("computed before") || rests_on == "no run";
    EXPECT_EQ(rests_on == "formulas" || rests_on.empty() || elsewhere, !row.contains("runs")) << id;
    if (row.at("kind") == "predicate") {
      EXPECT_NE(rests_on, "") << id;
    }
    by_formulas += rests_on == "formulas";
    by_runs += row.contains("runs");
  }
  EXPECT_GT(by_formulas, 0);
  EXPECT_GT(by_runs, by_formulas);
}

/// The options of `dpsosp report` into another folder, with what comes before them.
Result report_into(const fs::path& place, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "report");
  arguments.insert(arguments.end(), {"--out", place.string()});
  return run_program(built_program("dpsosp"), arguments);
}

TEST_F(Reproduce, ReportsWhatIsStoredAndNamesTheCommandForTheRest) {
  // At quick only those runs are stored that smoke shares with it.
  const fs::path place = other("a part");
  const std::string store = (out() / "store.sqlite").string();
  const Result r = report_into(place, {store, "--scale", "quick"});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string index = contents(place / "report" / "index.html");
  EXPECT_NE(index.find("./run reproduce xu-2026/table-1"), std::string::npos);
  EXPECT_FALSE(fs::exists(place / "report" / "xu-2026-table-1"));
  EXPECT_FALSE(fs::exists(place / "store.sqlite"));
}

TEST_F(Reproduce, ComparesStores) {
  const fs::path place = other("compared"), store = out() / "store.sqlite",
                 copy = other("copy of the store.sqlite");
  fs::copy_file(store, copy);
  const Result same = report_into(place, {store.string(), copy.string(), "--scale", "smoke"});
  EXPECT_EQ(same.code, 0) << same.err;
  const std::string page = contents(place / "report" / "moved.html");
  for (const char* nothing :
       {"No claim has another word.", "No exponent differs.", "No verdict differs."})
    EXPECT_NE(page.find(nothing), std::string::npos) << nothing;
}

TEST_F(Reproduce, WritesAPaper) {
  const fs::path place = other("for a paper");
  const Result r = report_into(place, {(out() / "store.sqlite").string(), "xu-2026/figure-1",
                                       "--scale", "smoke", "--paper", (place / "paper").string()});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "report: " + (place / "paper" / "paper.tex").string() + "\n");
  const std::string paper = contents(place / "paper" / "paper.tex");
  EXPECT_NE(paper.find("\\includegraphics[width=\\textwidth]{xu-2026-figure-1/"),
            std::string::npos);
}

TEST_F(Reproduce, WritesSameBytesWithTwoThreadsAndNothingToStderrIfQuiet) {
  const fs::path place = other("two threads");
  const Result r = reproduce(place, "--threads 2 --quiet" + exhibits());
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  expect_same_report(place, report());
}

TEST_F(Reproduce, ResumesAfterKillToSameBytes) {
  const std::string few = "--threads 2 liu-talwar-2025/rates avdiukhin-2024/rates";
  const fs::path whole = other("not killed"), place = other("killed");
  ASSERT_EQ(reproduce(whole, few).code, 0);
  Process process(built_program("dpsosp"), reproduce_into(place, few));
  const auto kept_so_far = [&] {
    try {
      return stored_runs(place);
    } catch (const SQLite::Exception&) {  // no store yet, or it is being written
      return 0;
    }
  };
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (kept_so_far() < 10 && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().code, 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(place / "report" / "index.html"));
  const int kept = stored_runs(place);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, stored_runs(whole));
  EXPECT_EQ(reproduce(place, few).code, 0);
  EXPECT_EQ(stored_runs(place), stored_runs(whole));
  expect_same_report(place, report_files(whole));
}

TEST_F(Reproduce, KilledOneLeavesAReportThatCanBeRead) {
  // Some six seconds of runs, so that the first report is written among them.
  const std::string few =
      "--threads 1 --refresh 1 liu-talwar-2025/rates avdiukhin-2024/rates lowy-2024/figure-1";
  const fs::path place = other("read after a kill"), index = place / "report" / "index.html";
  Process process(built_program("dpsosp"), reproduce_into(place, few));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!fs::exists(index) && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.send(SIGKILL);
  ASSERT_EQ(process.wait().code, 128 + SIGKILL) << "the runs were done before the first report";
  const std::string page = contents(index);
  EXPECT_TRUE(page.ends_with("</html>\n")) << page.substr(page.size() - 100);
  EXPECT_NE(page.find("written while its runs were being computed"), std::string::npos);
  for (const char* exhibit : {"liu-talwar-2025-rates", "avdiukhin-2024-rates"})
    EXPECT_EQ(page.find(std::string("href=\"") + exhibit) != std::string::npos,
              fs::exists(place / "report" / exhibit / "index.html"))
        << exhibit;
  EXPECT_NE(page.find("./run reproduce"), std::string::npos);
  EXPECT_EQ(reproduce(place, few).code, 0);
  EXPECT_EQ(contents(index).find("written while its runs were being computed"), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::reproduce_test
