// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/plots/table.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "markup_text.hpp"
#include "sample_report.hpp"

namespace dpsosp::plots::table_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Table one_cell(Cell cell) {
  return {.id = "t",
          .title = "T.",
          .row_header = "Method",
          .column_groups = {{.label = "Φ", .columns = {"ours"}}},
          .row_groups = {{.rows = {{.label = "m", .cells = {std::move(cell)}}}}}};
}

std::vector<std::string> all_back_ends(const Table& table) {
  return {to_markdown(table), to_latex(table), to_csv(table)};
}

TEST(Table, AddsARowToTheLastGroupOfItsLabel) {
  Table t;
  t.add({.label = "1"});
  t.add({.label = "2"});
  for (const char* group : {"a", "a", "b", "a"}) t.add({.label = "row"}, group);
  std::vector<std::pair<std::string, std::size_t>> groups;
  for (const RowGroup& g : t.row_groups) groups.emplace_back(g.label, g.rows.size());
  EXPECT_EQ(groups, (decltype(groups){{"", 2}, {"a", 2}, {"b", 1}, {"a", 1}}));
}

TEST(Table, SpreadUsesFinishedRunsOnly) {
  const std::vector<double> odd{3, 1, 2};
  const Spread three = spread_of(odd, 2, "not_finite");
  EXPECT_EQ(three.median, 2);
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_EQ(three.count, 5);
  EXPECT_EQ(three.failed, 2);
  EXPECT_EQ(spread_of(std::vector<double>{4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread_of({}, 20, "not_finite").count, 20);
  EXPECT_THROW(spread_of(std::vector<double>{1, nan}), InputError);
}

TEST(Table, CellsWithoutAValueShowADash) {
  for (const Cell& cell : {number_cell(nan), spread_cell({})})
    EXPECT_EQ(std::get<std::string>(cell.content), "–");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(std::get<std::string>(number_cell(infinity).content), "∞");
  EXPECT_EQ(std::get<std::string>(number_cell(-infinity).content), "−∞");
  EXPECT_EQ(std::get<Number>(number_cell(0.5, 2).content).value, 0.5);
  EXPECT_EQ(std::get<Spread>(spread_cell({}, 2, "not_finite").content).failed, 2);
  EXPECT_EQ(std::get<std::string>(count_cell(12U).content), "12");
}

TEST(Table, MedianSplitsRunsInHalf) {
  EXPECT_TRUE(rc::check([](const std::vector<int>& draws) {
    if (draws.empty()) return;
    const std::vector<double> values(draws.begin(), draws.end());
    const Spread s = spread_of(values);
    const auto below = std::ranges::count_if(values, [&](double v) { return v < s.median; });
    const auto above = std::ranges::count_if(values, [&](double v) { return v > s.median; });
    const auto n = static_cast<std::ptrdiff_t>(values.size());
    RC_ASSERT(2 * below <= n);
    RC_ASSERT(2 * above <= n);
    RC_ASSERT(s.low <= s.median);
    RC_ASSERT(s.median <= s.high);
  }));
}

TEST(Table, ShowsMedianRangeAndFailures) {
  const Table table = one_cell({.content = Spread{.median = 1.31,
                                                  .low = 0.7,
                                                  .high = 2.4,
                                                  .count = 20,
                                                  .failed = 2,
                                                  .failure = "not_finite",
                                                  .format = {.digits = 3}}});
  EXPECT_NE(to_markdown(table).find("| 1.31 [0.700, 2.40]; 2 of 20 failed: not\\_finite |"),
            std::string::npos);
  EXPECT_NE(
      to_latex(table).find("$1.31$\\\\{\\scriptsize $[0.700, 2.40]$}\\\\{\\scriptsize 2 of 20 "
                           "failed: not\\_finite}"),
      std::string::npos);
  EXPECT_EQ(read_csv(to_csv(table))[1],
            (std::vector<std::string>{"m", "1.3100000000000001", "0.69999999999999996",
                                      "2.3999999999999999", "20", "2", "not_finite"}));
  for (const std::string& text : {to_markdown(table), to_latex(table)})
    EXPECT_EQ(count_of(text, "favourable selection"), 1U);
}

TEST(Table, ShowsNoNumberIfEveryRunFailed) {
  // The statistics of a cell without a finished run are undefined; a back end that showed them
  // would print 777.
  Spread failed{
      .median = 777, .low = 777, .high = 777, .count = 20, .failed = 20, .failure = "not_finite"};
  for (const std::string& text : all_back_ends(one_cell({.content = failed})))
    EXPECT_EQ(count_of(text, "777"), 0U) << text;
  EXPECT_EQ(
      count_of(to_markdown(one_cell({.content = failed})), "| 20 of 20 failed: not\\_finite |"),
      1U);
  failed.failed = 19;
  for (const std::string& text : all_back_ends(one_cell({.content = failed})))
    EXPECT_GE(count_of(text, "777"), 3U) << text;
}

TEST(Table, RejectsFailureWithoutStatus) {
  EXPECT_EQ(message_of([] { check(one_cell({.content = Spread{.count = 3, .failed = 1}})); }),
            "table 't', row 'm', column 'Φ: ours': failure = '', expected the status of the runs "
            "that failed");
}

TEST(Table, RejectsNonFiniteAndInconsistentCells) {
  EXPECT_EQ(message_of([] { check(one_cell({.content = Number{nan}})); }),
            "table 't', row 'm', column 'Φ: ours': value = nan, expected a finite number");
  const auto refused = [](Cell cell) {
    return !message_of([&] { check(one_cell(std::move(cell))); }).empty();
  };
  EXPECT_TRUE(refused({.content = Spread{.median = nan, .count = 1}}));
  EXPECT_TRUE(refused({.content = Spread{.median = 3, .low = 1, .high = 2, .count = 1}}));
  EXPECT_TRUE(refused({.content = Spread{.count = 0}}));
  EXPECT_TRUE(refused({.content = Spread{.count = 2, .failed = 3, .failure = "budget"}}));
  EXPECT_TRUE(refused({.content = Number{1, {.digits = 18}}}));
  EXPECT_TRUE(refused({.footnotes = {0}}));
  EXPECT_FALSE(refused({.content = Spread{.median = 1.5, .low = 1, .high = 2, .count = 1}}));
  Table table = one_cell({});
  table.row_groups[0].rows[0].cells.clear();
  EXPECT_THROW(check(table), InputError);
}

TEST(Table, CsvRoundTripsTextsAndNumbers) {
  EXPECT_TRUE(rc::check([](const std::string& text, double value) {
    Table table = one_cell({.content = text});
    table.column_groups[0].columns.emplace_back("value");
    table.row_groups[0].rows[0].cells.emplace_back().content =
        Number{std::isfinite(value) ? value : 0.1};
    const auto rows = read_csv(to_csv(table));
    RC_ASSERT(rows.size() == 2U);
    RC_ASSERT(rows[1].size() == 3U);
    if (text.find("_{") == std::string::npos && text.find("^{") == std::string::npos)
      RC_ASSERT(rows[1][1] == text);
    RC_ASSERT(std::stod(rows[1][2]) == (std::isfinite(value) ? value : 0.1));
  }));
}

TEST(Table, CsvRowsMatchHeaderLength) {
  const auto rows = read_csv(to_csv(sample_table()));
  ASSERT_EQ(rows.size(), 10U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[0][0], "group");
  EXPECT_EQ(rows[0][3], "Φ: as-published median");
  EXPECT_EQ(rows[2][1], "Sto-SPIDER");
  EXPECT_EQ(rows[1].back(), "outside-theory");
}

TEST(Table, CsvPutsLabelsInTheirOwnColumn) {
  const auto rows = read_csv(
      to_csv(one_cell({.content = Number{2}, .labels = {{"conditional", Tone::caution}, {"x"}}})));
  EXPECT_EQ(rows[0], (std::vector<std::string>{"Method", "Φ: ours", "Φ: ours labels"}));
  EXPECT_EQ(rows[1], (std::vector<std::string>{"m", "2", "conditional; x"}));
}

TEST(Table, MarkdownRowsHaveEqualCellCounts) {
  Table table = sample_table();
  table.row_groups[0].rows[0].label = "a|b\nc";
  std::string rest = to_markdown(table);
  std::size_t rows = 0;
  while (!rest.empty()) {
    const std::string line = rest.substr(0, rest.find('\n'));
    rest.erase(0, std::min(rest.size(), line.size() + 1));
    if (!line.starts_with('|')) continue;
    ++rows;
    EXPECT_EQ(count_of(line, "|") - count_of(line, "\\|"), 16U) << line;
  }
  EXPECT_EQ(rows, 13U);
}

TEST(Table, LatexRowsSpanAllColumns) {
  Table table = sample_table();
  table.caption += " a_b & 5 % {x} #1 $ ~ ^ \\ < | \"";
  table.row_groups[0].rows[0].label = "[bracketed] & \\";
  const std::string latex = to_latex(table);
  EXPECT_EQ(latex_fault(latex), "");
  EXPECT_EQ(count_of(latex, "{[}bracketed] \\& \\textbackslash{}"), 1U);
  std::size_t rows = 0;
  for (auto end = latex.find(" \\\\\n"); end != std::string::npos;
       end = latex.find(" \\\\\n", end + 1)) {
    const std::string line =
        latex.substr(latex.rfind('\n', end) + 1, end - latex.rfind('\n', end) - 1);
    const std::size_t separators = count_of(line, " & ");
    const bool heading = line.starts_with("\\multicolumn{15}");
    const bool groups = line.starts_with(" & \\multicolumn{4}");
    EXPECT_EQ(separators, heading ? 0U : groups ? 4U : 14U) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 13U);
  EXPECT_EQ(count_of(latex, "$\\lambda_{\\min}$"), 2U);
}

TEST(Table, KeepsOrderOfRowsColumnsAndLabels) {
  for (const std::string& text : all_back_ends(sample_table())) {
    std::size_t last = 0;
    for (const char* name : {"as-published", "ledgered", "where-it-works", "privacy", "utility"}) {
      const std::size_t at = text.find(name, last);
      ASSERT_NE(at, std::string::npos) << name;
      last = at;
    }
    for (const char* name :
         {"DP-RGDA", "Sto-SPIDER", "Ada-DP-SPIDER", "PrivateDiff", "DP-SGDA", "noise only"}) {
      const std::size_t at = text.find(name, last);
      ASSERT_NE(at, std::string::npos) << name;
      last = at;
    }
    EXPECT_LT(text.rfind("enforced"), text.rfind("outside-theory"));
  }
}

TEST(Table, WritesSameBytesForSameTable) {
  EXPECT_EQ(all_back_ends(sample_table()), all_back_ends(sample_table()));
  Table other = sample_table();
  std::get<Number>(other.row_groups[0].rows[0].cells[0].content).value += 0.01;
  const auto a = all_back_ends(sample_table());
  const auto b = all_back_ends(other);
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NE(a[k], b[k]);
}

}  // namespace
}  // namespace dpsosp::plots::table_test
