// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/used.hpp"

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dpsosp/experiments/runs.hpp"
#include "dpsosp/experiments/sweep.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "dpsosp/plots/table.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::used_test {
namespace {

RunResult result_of(std::map<std::string, std::string> parameters, std::int64_t clipped = 0) {
  RunResult r;
  r.algorithm.parameters = std::move(parameters);
  r.algorithm.steps = 5;
  r.evaluation_log.contributions = 100;
  r.evaluation_log.clipped = clipped;
  return r;
}

std::string text_of(const UsedNumbers& numbers) { return to_text({&numbers, 1}); }

TEST(Used, IsFoundByTheNamesOfSettings) {
  const Used u = used_by("arora-2023/dp-spider", result_of({{"clip_refresh", "3.1623"},
                                                            {"clip_increment", "1"},
                                                            {"increment_clip", "proportional"},
                                                            {"first.clip", "2"},
                                                            {"hessian_clip", "7"},
                                                            {"clipping", "9"},
                                                            {"step_size", "0.5"},
                                                            {"ascent_step", "0.25"},
                                                            {"second.step_size", "0.125"},
                                                            {"step_divisor", "4"},
                                                            {"lemma_step", "true"},
                                                            {"output", "last"}}));
  EXPECT_EQ(text_of(u.clips), "first 2, hessian 7, increment 1, refresh 3.16");
  EXPECT_EQ(text_of(u.step_sizes), "0.5, ascent 0.25, second 0.125");
  EXPECT_EQ(u.output, "last iterate");
  EXPECT_EQ(text_of({}), "–");
}

TEST(Used, OutputRuleIsTheOneInForce) {
  const auto rule = [](std::map<std::string, std::string> parameters) {
    return used_by("abadi-2016/dp-sgd", result_of(std::move(parameters))).output;
  };
  EXPECT_EQ(rule({{"output", "uniform"}, {"tail_average", "0"}}), "uniform iterate");
  EXPECT_EQ(rule({{"output", "last"}, {"tail_average", "0.2"}}), "mean of the last 20 %");
  EXPECT_EQ(rule({}), "last iterate, a uniform one, or the mean of the last ones");
  const Used selected = used_by("avdiukhin-2024/dp-sgd",
                                result_of({{"output", "last"}, {"selection_epsilon", "0.3"}}));
  EXPECT_EQ(selected.output, "one selected privately among iterates drawn before the run");
}

TEST(Used, OutputRuleIsTheOneInForceWhereOtherSettingsDecide) {
  const auto rule = [](const char* key, std::map<std::string, std::string> parameters) {
    return used_by(key, result_of(std::move(parameters))).output;
  };
  EXPECT_EQ(rule("yang-2022/dp-sgda", {{"average", "true"}}), "mean of all iterates");
  EXPECT_EQ(rule("yang-2022/dp-sgda", {{"average", "false"}}), "last iterate");
  EXPECT_EQ(rule("zhang-2025/private-diff", {{"random_output", "true"}}), "uniform iterate");
  EXPECT_EQ(rule("zhang-2025/private-diff", {{"random_output", "false"}}), "last iterate");
  EXPECT_EQ(rule("xu-2026/dp-rgda", {{"horizon_rule", "anchor"}, {"selection", "last"}}),
            "anchor of the certified escape; at the horizon the last anchor");
  EXPECT_EQ(rule("xu-2026/dp-rgda", {{"horizon_rule", "last"}}),
            "anchor of the certified escape; at the horizon the last iterate");
  const auto quasar = [&](const char* boosted) {
    return rule("lowy-2024/quasar-dp-sgd",
                {{"output", "last"}, {"selection_epsilon", "0.5"}, {"boosted", boosted}});
  };
  EXPECT_EQ(quasar("false"), "last iterate");
  EXPECT_EQ(quasar("true"), "one of several runs, selected privately");
}

TEST(Used, OutputRuleOfAProgramIsThatOfItsCard) {
  const TemporaryFolder folder;
  std::ofstream(folder / "card.toml") << R"(key = "me-2026/program"
title = "A program"
program = "/bin/true"
output_rule = "the mean of the last ten"
settings = { output = { default = "last" } }
)";
  const Sweep sweep = parse_sweep(fmt::format(R"(title = "t"
seeds = 1
[[arm]]
name = "mine"
program = "{}"
problem = "cosine-saddle"
[[part]]
name = "p"
axes = []
)",
                                              std::string(folder / "card.toml")),
                                  "test", Scale::quick);
  EXPECT_EQ(used_by(sweep.arms[0].spec.algorithm, result_of({{"output", "last"}})).output,
            "the mean of the last ten");
}

TEST(Used, ShareIsOfContributionsAndOfNoneWhereNothingIsClipped) {
  RunResult r = result_of({}, 30);
  EXPECT_EQ(clipped_share(r), 0.3);
  r.evaluation_log.unclipped = UnclippedLog{};
  EXPECT_FALSE(clipped_share(r));
  r = result_of({});
  r.evaluation_log.contributions = 0;
  EXPECT_FALSE(clipped_share(r));
}

/// Two arms at two sizes; `second` has another output and another share of clipped contributions.
class Compared {
 public:
  /// \param terms  more of the second arm
  /// \param change  of its runs
  Compared(
      std::string metric, std::string output, std::int64_t clipped, const std::string& terms = "",
      const std::function<void(RunResult&)>& change = [](RunResult&) {})
      : sweep_(parse_sweep("title = \"t\"\nmetric = \"" + metric + R"("
seeds = 2
noise = "calibrated"
[[arm]]
name = "first"
algorithm = "abadi-2016/dp-sgd"
problem = "cosine-saddle"
[[arm]]
name = "second"
algorithm = "abadi-2016/dp-sgd"
problem = "cosine-saddle"
settings = { clip = 0.25 }
)" + terms + R"([[part]]
name = "p"
axes = [{ records = [100, 200] }]
)",
                           "test", Scale::quick)) {
    for (const Job& job : jobs_of(sweep_)) {
      const bool second = job.run()->settings.contains("clip");
      const auto n = job.run()->records;
      RunResult r = result_of({{"clip", second     ? "0.25"
                                        : n == 100 ? "1"
                                                   : "2"},
                               {"step_size", "0.1"},
                               {"output", second ? output : "last"}},
                              second && n == 200 ? clipped : 3);
      r.privacy.label = PrivacyLabel::enforced;
      if (second)
        change(r);
      else if (n == 100)
        r.privacy.guarantee = 2, r.privacy.spent = 1.6;
      stored_.push_back(
          {.key = job.key(), .status = RunStatus::finished, .reason = "", .result = r});
    }
  }
  plots::Table table() const { return used_table(Runs(stored_), sweep_, sweep_.parts[0], "used"); }
  /// Of a row and a column.
  std::string text(std::size_t row, std::size_t column) const {
    return std::get<std::string>(table().row_groups[0].rows[row].cells[column].content);
  }

 private:
  Sweep sweep_;
  std::vector<StoredRun> stored_;
};

TEST(UsedTable, HasARowAnArmWithRangesOverCells) {
  const Compared c("output.sosp_level", "last", 3);
  const plots::Table t = c.table();
  EXPECT_TRUE(t.footnotes.empty());
  ASSERT_EQ(t.row_groups[0].rows.size(), 2U);
  const std::vector<std::string> expected{
      "schedule practical, noise calibrated", "1 to 2", "0.1", "5", "last iterate", "3 %"};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(c.text(0, k), expected[k]);
  EXPECT_EQ(c.text(1, 1), "0.25");
}

TEST(UsedTable, WarnsAboveAFifthClippedAndNotBelow) {
  EXPECT_TRUE(Compared("output.sosp_level", "last", 20).table().footnotes.empty());
  const Compared c("output.sosp_level", "last", 21);
  EXPECT_EQ(c.table().footnotes,
            (std::vector<std::string>{"second: 3 to 21 % of the contributions are clipped, more "
                                      "than 20 % in 1 of 2 cells; its clip is 0.25."}));
  EXPECT_EQ(c.text(1, 5), "3 to 21 %");
}

TEST(UsedTable, WarnsWhereOutputRulesDifferUnderAMetricOfTheOutput) {
  EXPECT_EQ(Compared("output.gradient_norm", "uniform", 0).table().footnotes,
            (std::vector<std::string>{
                "the output rules differ: last iterate (first); uniform iterate (second)."}));
}

// What a comparison would have to say, however it came about.
TEST(UsedTable, WarnsWhereArmsHaveOtherTerms) {
  const auto notes = [](const std::string& terms) {
    return Compared("output.sosp_level", "last", 3, terms).table().footnotes;
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes("epsilon = 8\n"),
            (Notes{"the budgets differ: ε = 1, δ = 1e-06 (first); ε = 8, δ = 1e-06 (second)."}));
  EXPECT_EQ(notes("dimension = 3\n").size(), 1U);
  EXPECT_EQ(notes("calibrator = \"rdp\"\n"),
            (Notes{"the calibrators differ: cks (first); rdp (second)."}));
  EXPECT_EQ(notes("problem_settings = { start = \"random\" }\n"),
            (Notes{"the problems differ: cosine-saddle (first); cosine-saddle start = random "
                   "(second)."}));
}

TEST(UsedTable, WarnsOfControlsOfRunsCutShortAndOfBudgetsLeft) {
  const auto notes = [](const std::function<void(RunResult&)>& change) {
    return Compared("output.sosp_level", "last", 3, "", change).table().footnotes;
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes([](RunResult& r) { r.privacy.label = PrivacyLabel::none; }),
            (Notes{"the privacy labels differ: enforced (first); none (second)."}));
  EXPECT_EQ(notes([](RunResult& r) { r.algorithm.status = Status::budget; }),
            (Notes{"second: the budget ended 4 of 4 runs, after 5 steps."}));
  const auto spent = [](double epsilon) {
    return [epsilon](RunResult& r) {
      r.privacy.guarantee = 2;
      r.privacy.spent = epsilon;
    };
  };
  EXPECT_EQ(notes(spent(0.3)),
            (Notes{"second: its runs spend 15 % of ε, those of another arm 80 %."}));
  EXPECT_TRUE(notes(spent(1)).empty()) << "more than half of the other's";
}

TEST(UsedTable, WarnsOfAClipThatNothingComesNear) {
  const auto notes = [](double longest) {
    return Compared("output.sosp_level", "last", 0, "",
                    [=](RunResult& r) { r.evaluation_log.largest_norm_over_limit = longest; })
        .table()
        .footnotes;
  };
  EXPECT_EQ(notes(0.03),
            (std::vector<std::string>{"second: no contribution is longer than 3 % of its clip, by "
                                      "which the noise goes; its clip is 0.25."}));
  EXPECT_TRUE(notes(0.2).empty());
  EXPECT_TRUE(notes(0).empty()) << "unknown";
}

}  // namespace
}  // namespace dpsosp::used_test
