// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/checks/algorithm_check.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/reproductions/algorithm_page.hpp"
#include "dpsosp/reproductions/reproductions.hpp"
#include "paths.hpp"

namespace dpsosp::algorithm_page_test {
namespace {

const std::filesystem::path docs = in_checkout("docs");

TEST(AlgorithmPage, CommittedTableMatchesGeneratedTable) {
  EXPECT_EQ(read_file(docs / "algorithms.md"), algorithm_table())
      << "write it again: dpsosp list algorithms --document docs";
}

TEST(AlgorithmPage, HasACardOfEveryAlgorithm) {
  const std::string page = algorithm_page();
  for (const AlgorithmEntry& entry : algorithm_registry())
    EXPECT_NE(page.find("\n### `" + entry.key + "`\n"), std::string::npos) << entry.key;
}

TEST(AlgorithmPage, TableEntriesNameAlgorithmsOrGiveReason) {
  std::map<std::string, int> entries;
  for (const PrintedTable& table : reproductions().tables)
    for (const TableEntry& entry : table.entries) {
      ++entries[table.title()];
      if (entry.algorithms.empty()) {
        EXPECT_TRUE(entry.remark.starts_with("bound only: ")) << entry.row << ' ' << entry.column;
        EXPECT_TRUE(entry.settings.empty());
      }
      for (const std::string& key : entry.algorithms) {
        const auto algorithm = find_algorithm(key);  // throws for a key that is not registered
        Fields fields = algorithm->fields();
        for (const auto& [name, value] : entry.settings) set_field(fields, key, name, value);
      }
    }
  // rows × columns as printed
  EXPECT_EQ(entries.at("ganesh-2023, Table 1"), 4 * 3);
  EXPECT_EQ(entries.at("ganesh-2023, Table 2"), 6 * 2);
  EXPECT_EQ(entries.at("ganesh-2023, Table 3"), 4 * 2);
  EXPECT_EQ(entries.at("lowy-2024, Figure 1"), 5 * 3);
  EXPECT_EQ(entries.at("xu-2026, Table 1"), 7 + 1);  // and a row of this suite
  EXPECT_EQ(entries.at("liu-talwar-2025, introduction"), 7);
  EXPECT_EQ(entries.size(), 6);
}

TEST(PrintedTables, MeasureEachEntryFirstByAnAlgorithmItNames) {
  const Study study{reproductions().catalogue, Scale::smoke};
  for (const PrintedTable& table : reproductions().tables)
    for (const TableEntry& entry : table.entries) {
      if (entry.measured.empty()) continue;
      const Sweep sweep = study.sweep(entry.measured.front().sweep);
      const auto arm = std::ranges::find(sweep.arms, entry.measured.front().arm, &Arm::name);
      ASSERT_NE(arm, sweep.arms.end()) << entry.measured.front().arm;
      EXPECT_NE(std::ranges::find(entry.algorithms, arm->spec.algorithm), entry.algorithms.end())
          << table.title() << ", " << entry.row << ", " << entry.column << ": "
          << arm->spec.algorithm;
    }
}

TEST(QuickRuns, CoverEveryAlgorithmOnce) {
  std::set<std::string> keys;
  for (const QuickRun& run : quick_runs()) {
    EXPECT_TRUE(keys.insert(run.spec.algorithm).second) << run.spec.algorithm;
    EXPECT_GT(run.spec.records, 0);
    EXPECT_NO_THROW(describe(run.spec)) << run.spec.algorithm;
  }
  for (const AlgorithmEntry& entry : algorithm_registry())
    EXPECT_TRUE(keys.contains(entry.key)) << entry.key;
  EXPECT_EQ(keys.size(), algorithm_registry().size());
}

// A card says what a run on records has.
TEST(AlgorithmCheck, TakesTheLabelOfSimulatedRecordsForThatOfTheCard) {
  const AlgorithmCheck check = check_algorithm("wang-ye-xu-2017/dp-gd");
  ASSERT_NE(check.command.find("problem.sampling=whole"), std::string::npos);
  EXPECT_TRUE(check.passed());
  EXPECT_EQ(check.guarantee, 1);
  std::map<std::string, std::string> details;
  for (const CheckLine& line : check.lines) details[line.property] = line.detail;
  EXPECT_EQ(details.at("its label is that of its card"), "simulated, enforced on records");
  EXPECT_TRUE(details.contains("spends no more than it guarantees"));
}

TEST(QuickRuns, PrintTheirCommands) {
  RunSpec spec;
  spec.algorithm = "a/b";
  spec.problem = "p";
  spec.records = 10;
  spec.dimension = 3;
  spec.epsilon = 0.5;
  spec.schedule = Schedule::paper;
  spec.settings = {{"steps", "7"}};
  spec.problem_settings = {{"start", "random"}};
  EXPECT_EQ(command_of(spec),
            "dpsosp run --algorithm a/b --problem p --records 10 --dimension 3 --epsilon 0.5 "
            "--delta 1e-06 --schedule paper --set problem.start=random --set steps=7");
}

}  // namespace
}  // namespace dpsosp::algorithm_page_test
