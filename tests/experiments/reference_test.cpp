// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/reference.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/plots/table.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::reference_test {
namespace {

namespace fs = std::filesystem;
using plots::Number;
using plots::Spread;

/// A table with a column of every kind.
plots::Table table() {
  plots::Table t;
  t.id = "t";
  t.title = "T";
  t.row_header = "method";
  t.column_groups = {
      {"", {"level", "alpha", "measured", "95 % interval", "drift", "verdict", "cells", "note"}}};
  const auto text = [](const char* s) { return plots::Cell{.content = std::string(s)}; };
  plots::Cell verdict = text("");
  verdict.labels = {{"as claimed", plots::Tone::good}};
  t.row_groups = {{"n",
                   {{"a, \"b\" at d = 1e+06",
                     {plots::Cell{.content = Spread{.median = 2,
                                                    .low = 1,
                                                    .high = 4,
                                                    .count = 20,
                                                    .failed = 1,
                                                    .failure = "not_finite"}},
                      plots::Cell{.content = Number{0.125}}, text("+0.333"),
                      text("[+0.300, +0.366]"), text("+0.010"), verdict, text("5 of 5"),
                      text("slope +0.333 [+0.300, +0.366], 0.25 times, all of them")}},
                    {"c",
                     {text("–"), plots::Cell{.content = Number{0}}, text("–"), text("–"), text("–"),
                      text("none"), text("0 of 5"), text("")}}}}};
  return t;
}

class Reference : public testing::Test {
 protected:
  Reference() {
    fs::create_directories(reference() / "exhibit");
    fs::create_directories(report() / "exhibit");
    write(reference(), plots::to_csv(table()));
  }
  fs::path reference() const { return folder_ / "reference"; }
  fs::path report() const { return folder_ / "report"; }

  static void write(const fs::path& place, const std::string& csv) {
    std::ofstream(place / "exhibit/t.csv", std::ios::binary) << csv;
  }
  std::vector<std::string> differences(const std::string& csv) const {
    write(report(), csv);
    const ReferenceCheck check = check_reference(reference(), report(), {"exhibit"});
    EXPECT_EQ(check.compared, std::vector<std::string>{"exhibit/t.csv"});
    return check.differences;
  }
  /// The differences where the first row of the fresh table has other cells.
  std::vector<std::string> after(
      const std::function<void(std::vector<plots::Cell>&)>& change) const {
    plots::Table t = table();
    change(t.row_groups[0].rows[0].cells);
    return differences(plots::to_csv(t));
  }

 private:
  TemporaryFolder folder_;
};

const std::string row = "exhibit/t.csv: row 'n, a, \"b\" at d = 1e+06', ";

TEST_F(Reference, FindsNoDifferenceInSameTable) {
  EXPECT_EQ(differences(plots::to_csv(table())), std::vector<std::string>{});
}

TEST_F(Reference, AllowsMedianShiftUpToReferenceRange) {
  const auto moved_to = [&](double median) {
    return after([&](auto& cells) {
      auto& spread = std::get<Spread>(cells[0].content);
      spread.median = median;
      spread.low = std::min(median, 1.5);
      spread.high = 9;
    });
  };
  EXPECT_TRUE(moved_to(4.99).empty());
  EXPECT_TRUE(moved_to(-0.99).empty());
  EXPECT_EQ(moved_to(5.01),
            std::vector<std::string>{row + "column 'level median': 5.01 here, 2 in the reference, "
                                           "whose runs lie in [1, 4]"});
  EXPECT_EQ(moved_to(-1.01).size(), 1U);
}

TEST_F(Reference, RequiresEqualRunAndFailureCounts) {
  EXPECT_EQ(after([](auto& cells) { std::get<Spread>(cells[0].content).failed = 2; }),
            std::vector<std::string>{row + "column 'level failed': 2 here, 1 in the reference"});
  EXPECT_EQ(after([](auto& cells) { std::get<Spread>(cells[0].content).count = 19; }).size(), 1U);
  EXPECT_EQ(
      after([](auto& cells) { std::get<Spread>(cells[0].content).failure = "exception"; }).size(),
      1U);
}

TEST_F(Reference, ComparesPlainNumbersToOneMillionth) {
  const auto alpha = [&](double value) {
    return after([&](auto& cells) { std::get<Number>(cells[1].content).value = value; });
  };
  EXPECT_TRUE(alpha(0.125 * (1 + 0.9e-6)).empty());
  EXPECT_EQ(alpha(0.125 * (1 + 1.1e-6)).size(), 1U);
  EXPECT_EQ(alpha(-0.125).size(), 1U);
  plots::Table t = table();
  std::get<Number>(t.row_groups[0].rows[1].cells[1].content).value = 1e-300;
  EXPECT_EQ(differences(plots::to_csv(t)).size(), 1U) << "a zero is exact";
}

TEST_F(Reference, AllowsSlopeShiftUpToBothHalfWidths) {
  const auto slope = [&](const std::string& text, const std::string& interval) {
    return after([&](auto& cells) {
      cells[2].content = text;
      cells[3].content = interval;
      cells[4].content = std::string("+0.300");
    });
  };
  EXPECT_TRUE(slope("+0.375", "[+0.365, +0.385]").empty());  // 0.042 for 0.033 + 0.010
  EXPECT_EQ(slope("+0.378", "[+0.368, +0.388]"),
            std::vector<std::string>{row + "column 'measured': 0.378 here, 0.333 in the reference, "
                                           "whose intervals have half-widths 0.01 and 0.033"});
  EXPECT_EQ(slope("–", "–").size(), 1U);
}

TEST_F(Reference, RequiresEqualVerdictsAndTexts) {
  const auto text = [&](std::size_t column, const std::string& words) {
    return after([&](auto& cells) { cells[column].content = words; }).size();
  };
  EXPECT_EQ(after([](auto& cells) { cells[5].labels[0].text = "worse than claimed"; }),
            std::vector<std::string>{row + "column 'verdict labels': 'worse than claimed' here, "
                                           "'as claimed' in the reference"});
  EXPECT_EQ(text(6, "4 of 5"), 1U);
  EXPECT_EQ(text(7, "slope +0.390 [+0.350, +0.430], 0.26 times, all of them"), 0U);
  EXPECT_EQ(text(7, "slope +0.333 [+0.300, +0.366], 0.27 times, all of them"), 1U);
  EXPECT_EQ(text(7, "slope +0.410 [+0.370, +0.450], 0.25 times, all of them"), 1U);
  EXPECT_EQ(text(7, "slope +0.333 [+0.300, +0.366], 0.25 times, none of them"), 1U);
}

TEST_F(Reference, NamesUnmatchedRowsColumnsAndTables) {
  plots::Table t = table();
  t.row_groups[0].rows[1].label = "d";
  t.column_groups[0].columns[7] = "remark";
  EXPECT_EQ(differences(plots::to_csv(t)),
            (std::vector<std::string>{"exhibit/t.csv: column 'note' is only in the reference",
                                      "exhibit/t.csv: column 'remark' is only here",
                                      "exhibit/t.csv: row 'n, c' is only in the reference",
                                      "exhibit/t.csv: row 'n, d' is only here"}));
  fs::rename(report() / "exhibit/t.csv", report() / "exhibit/u.csv");
  EXPECT_EQ(check_reference(reference(), report(), {"exhibit"}).differences,
            (std::vector<std::string>{"exhibit/u.csv: the reference has no such table",
                                      "exhibit/t.csv: the report has no such table"}));
}

TEST_F(Reference, ComparesRowsOfSameNameInOrder) {
  plots::Table t = table();
  t.row_groups[0].rows.push_back(t.row_groups[0].rows[1]);
  write(reference(), plots::to_csv(t));
  EXPECT_TRUE(differences(plots::to_csv(t)).empty());
  std::get<Number>(t.row_groups[0].rows[2].cells[1].content).value = 3;
  EXPECT_EQ(differences(plots::to_csv(t)),
            std::vector<std::string>{
                "exhibit/t.csv: row 'n, c #2', column 'alpha': 3 here, 0 in the reference"});
}

TEST_F(Reference, LeavesOutRowsOfFiguresAndTheirProvenance) {
  for (const char* name : {"curves.csv", "provenance.csv"})
    std::ofstream(reference() / "exhibit" / name) << "not,a\ntable\n";
  std::ofstream(report() / "exhibit/curves.csv") << "another\n";
  EXPECT_TRUE(differences(plots::to_csv(table())).empty());
  fs::remove(reference() / "exhibit/t.csv");
  EXPECT_NE(refusal_of([&] { reference_exhibits(reference()); }), "");
}

TEST_F(Reference, RejectsMissingReferenceAndMalformedTable) {
  EXPECT_EQ(reference_exhibits(reference()), std::vector<std::string>{"exhibit"});
  for (const fs::path& place : {report(), report() / "none"})
    EXPECT_NE(refusal_of([&] { reference_exhibits(place); }).find(place.string()),
              std::string::npos);
  EXPECT_NE(refusal_of([&] { differences("a,b\r\n1\r\n"); }).find("row 2 has 1 fields, expected 2"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { differences(""); }), "");
}

}  // namespace
}  // namespace dpsosp::reference_test
