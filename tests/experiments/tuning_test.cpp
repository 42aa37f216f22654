// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/counting_metric.hpp"
#include "dpsosp/plots/table.hpp"
#include "dpsosp/privacy/accounting/repetition.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::tuning_test {
namespace {

using nlohmann::json;

Axis axis(const std::string& name, int points) {
  Axis a;
  for (int k = 0; k < points; ++k) a.push_back({{name, k}});
  return a;
}

const std::vector<Axis> three{axis("set.a", 5), axis("set.b", 7), axis("set.c", 3)};
const std::vector<std::size_t> places{0, 1, 2};

TEST(TuningOrder, SmallerBudgetsArePrefixes) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const auto all = trials_of(three, places, 106, seed);
    EXPECT_TRUE(all.front().empty()) << "the arm as written";
    for (const std::size_t budget : {1U, 2U, 5U, 17U, 60U}) {
      const auto some = trials_of(three, places, budget, seed);
      ASSERT_EQ(some.size(), budget);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    }
  }
}

TEST(TuningOrder, HasEveryPointOfTheSpaceOnceAndOtherOrdersForOtherSeeds) {
  const auto all = trials_of(three, places, 106, 0);
  std::set<Coordinates> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), 106U);
  EXPECT_NE(all, trials_of(three, places, 106, 1));
  EXPECT_THROW(trials_of(three, places, 107, 0), InputError);
  EXPECT_THROW(trials_of({}, {}, 2, 0), InputError);
}

// A dozen settings already have every value of each axis about equally often.
TEST(TuningOrder, CoversEachAxisEarly) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto trials = trials_of(three, places, 16, seed);
    for (std::size_t a = 0; a < three.size(); ++a)
      for (const Coordinates& value : three[a]) {
        const auto count = std::ranges::count_if(
            trials, [&](const Coordinates& t) { return !t.empty() && t[a] == value.front(); });
        EXPECT_GE(count, 1) << "seed " << seed << ", " << to_text(value);
        EXPECT_LE(count, 3 * 15 / std::ssize(three[a]))
            << "seed " << seed << ", " << to_text(value);
      }
  }
}

// An arm that tunes less, or more besides, tries the same values of what it shares.
TEST(TuningOrder, IsSharedByArmsAxisByAxis) {
  const std::vector<Axis> more{axis("set.other", 5), axis("set.b", 1000), axis("set.extra", 9)};
  const auto some = trials_of({three[0]}, {0}, 5, 3);
  const auto all = trials_of({axis("set.a", 5), axis("set.b", 1000)}, {0, 1}, 5, 3);
  const auto other = trials_of(more, {0, 1, 2}, 5, 3);
  for (std::size_t k = 1; k < 5; ++k) {
    EXPECT_EQ(all[k][0].second, other[k][0].second);
    EXPECT_EQ(all[k][1].second, other[k][1].second);
  }
  EXPECT_EQ(some[1][0], all[1][0]);
}

const std::string head = R"(
title = "Tuned"
metric = "output.sosp_level"
seeds = 3
delta = 1e-5
problem_settings = { sampling = "whole" }
[tune]
budget = 6
seeds = 3
space = { steps = { from = 10, to = 300, points = 4 }, step_size = [0.01, 0.1, 1] }
)";
const std::string arms = R"(
[[arm]]
name = "gd"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "ripple-location"
[[arm]]
name = "spider"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
)";
const std::string part = R"(
[[part]]
name = "n"
axes = [{ records = [1000, 4000] }]
)";

Sweep parsed(const std::string& toml) { return parse_sweep(toml, "test", Scale::quick); }

std::string replaced(std::string text, const std::string& piece, const std::string& by) {
  const auto at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), by);
}

/// Level by steps and step_size of a description, where it has them.
using Level = std::function<double(double steps, double step_size, const json& d)>;

double setting(const json& d, const char* name, double otherwise) {
  const json& settings = d.at("settings");
  return settings.contains(name) ? std::stod(settings.at(name).get<std::string>()) : otherwise;
}

std::vector<StoredRun> made_up(const Sweep& sweep, const Level& level) {
  std::vector<StoredRun> runs;
  for (const Job& job : jobs_of(sweep)) {
    const json d = job.description();
    const double value = level(setting(d, "steps", 0), setting(d, "step_size", 0), d);
    RunResult r;
    r.output.sosp_level = value;
    r.start.sosp_level = 1e9;
    r.privacy.label = PrivacyLabel::simulated;
    r.privacy.filter.emplace().capacity = 0.03;
    runs.push_back(std::isfinite(value)
                       ? finished_run(d, r)
                       : StoredRun{.key = RunKey(d), .status = RunStatus::failed, .reason = "far"});
  }
  return runs;
}

/// Least at 97 steps of 0.1: an inner point of both axes.
double bowl(double steps, double step_size, const json& d) {
  if (steps == 0) return 5;  // as written
  return 1 + std::abs(std::log(steps / 97)) + std::abs(std::log(step_size / 0.1)) +
         0.01 * static_cast<double>(d.at("seed").get<std::uint64_t>() % 7);
}

Sweep chosen_by(Sweep sweep, const Level& level) {
  const auto runs = made_up(search_of(sweep), level);
  choose(Runs(runs), sweep);
  return sweep;
}

TEST(Tuning, TriesTheSameNumberOfSettingsOfEveryArmOnItsOwnSeeds) {
  const Sweep sweep = parsed(head + arms + part);
  const Sweep search = search_of(sweep);
  ASSERT_EQ(search.parts.size(), 2U) << "an arm each";
  for (const Part& p : search.parts) {
    const auto cells = cells_of(search, p);
    EXPECT_EQ(cells.size(), 2 * 6U);
    for (const Cell& cell : cells) {
      EXPECT_EQ(cell.runs.size(), 3U);
      for (const Job& run : cell.runs) {
        EXPECT_GE(run.run()->seed, 1'000'000U);
        EXPECT_EQ(run.run()->data_seed, run.run()->seed);
      }
    }
  }
  EXPECT_THROW(jobs_of(sweep), InputError) << "nothing is chosen yet";
  const Sweep chosen = chosen_by(sweep, bowl);
  for (const Job& run : jobs_of(chosen)) EXPECT_LT(run.run()->seed, 3U);
  EXPECT_EQ(jobs_of(chosen).size(), 2 * 2 * 3U);
}

// What is tried, and what goes into the results, has the key of a run that was written by hand.
TEST(Tuning, RunsAreThoseOfTheSettingsWrittenByHand) {
  const Sweep chosen =
      chosen_by(parsed(replaced(head, "budget = 6", "budget = 13") + arms + part), bowl);
  const Cell cell = cells_of(chosen, chosen.parts[0]).front();
  const auto& settings = cell.first_run().settings;
  ASSERT_EQ(settings.at("steps"), "97");
  ASSERT_EQ(settings.at("step_size"), "0.1");
  const Sweep plain = parsed(replaced(head.substr(0, head.find("[tune]")), "delta",
                                      "settings = { steps = 97, step_size = 0.1 }\ndelta") +
                             arms + part);
  EXPECT_EQ(cells_of(plain, plain.parts[0]).front().runs, cell.runs);
}

TEST(Tuning, TakesTheLeastMedianAndTheFirstOfEqualOnes) {
  const Sweep sweep = parsed(head + arms + part);
  const auto place = [&](const Level& level) {
    const Sweep chosen = chosen_by(sweep, level);
    return chosen.parts[0].chosen.begin()->second;
  };
  EXPECT_EQ(place([](double, double, const json&) { return 1.0; }), 0U);
  const auto& trials = sweep.arms[0].trials;
  for (std::size_t best = 0; best < trials.size(); ++best) {
    // A single wild seed decides nothing.
    const auto level = [&](double steps, double step_size, const json& d) {
      const bool it = best == 0 ? steps == 0
                                : steps == trials[best][1].second.get<double>() &&
                                      step_size == trials[best][0].second.get<double>();
      const bool wild = d.at("seed").get<std::uint64_t>() == 1'000'001;
      return wild ? (it ? 1e6 : 0.0) : (it ? 1.0 : 2.0);
    };
    EXPECT_EQ(place(level), best);
  }
}

TEST(Tuning, ADivergedRunIsWorseThanAnyNumber) {
  const auto fails = [](double steps, double, const json& d) {
    if (steps == 0) return 1e300;
    // Two of three seeds diverge, and the third is the best of all.
    return d.at("seed").get<std::uint64_t>() == 1'000'000 ? 0.0
                                                          : std::numeric_limits<double>::infinity();
  };
  const Sweep chosen = chosen_by(parsed(head + arms + part), fails);
  for (const auto& [cell, trial] : chosen.parts[0].chosen) EXPECT_EQ(trial, 0U);
}

// Cells choose for themselves, and an order of the runs decides nothing.
TEST(Tuning, IsByCellAndByWhatIsStoredAlone) {
  const Sweep sweep = parsed(head + arms + part);
  const auto by_records = [](double steps, double step_size, const json& d) {
    return d.at("records") == 1000 ? bowl(steps, step_size, d) : 10 - bowl(steps, step_size, d);
  };
  auto runs = made_up(search_of(sweep), by_records);
  Sweep one = sweep, other = sweep;
  choose(Runs(runs), one);
  std::ranges::reverse(runs);
  choose(Runs(runs), other);
  EXPECT_EQ(one.parts[0].chosen, other.parts[0].chosen);
  EXPECT_NE(one.parts[0].chosen.begin()->second, std::next(one.parts[0].chosen.begin())->second);
}

/// Runs that end at 1, of which those with `lacks` have no sosp_level.
std::vector<StoredRun> lacking(const Sweep& sweep,
                               const std::function<bool(const RunDescription&)>& lacks) {
  std::vector<StoredRun> runs;
  for (const Job& job : jobs_of(sweep)) {
    RunResult r;
    r.output.gradient_norm = 1;
    if (!lacks(*job.run())) r.output.sosp_level = 1;
    runs.push_back(finished_run(job.description(), r));
  }
  return runs;
}

TEST(Tuning, RefusesAnArmOfWhichNoRunHasTheMetric) {
  Sweep sweep = parsed(head + arms + part);
  const auto refusal = [&](const std::function<bool(const RunDescription&)>& lacks) {
    const auto runs = lacking(search_of(sweep), lacks);
    return refusal_of([&] { choose(Runs(runs), sweep); });
  };
  const auto of_spider = [](const RunDescription& d) { return d.algorithm.ends_with("spider"); };
  EXPECT_EQ(refusal(of_spider),
            "sweep test: part n, arm spider: no run has output.sosp_level, expected a metric that "
            "they have, as output.gradient_norm");
  EXPECT_EQ(refusal([&](const RunDescription& d) { return of_spider(d) && d.records == 1000; }),
            "");
}

TEST(Sweep, IsRefusedWhereNoRunHasItsMetric) {
  const Sweep sweep = parsed(head.substr(0, head.find("[tune]")) + arms + part);
  const auto refusal = [&](const std::function<bool(const RunDescription&)>& lacks) {
    const auto runs = lacking(sweep, lacks);
    return refusal_of([&] { require_metric(Runs(runs), sweep); });
  };
  EXPECT_EQ(refusal([](const RunDescription&) { return true; }),
            "sweep test: no run has output.sosp_level, expected a metric that they have, as "
            "output.gradient_norm");
  EXPECT_EQ(refusal([](const RunDescription& d) { return d.algorithm.ends_with("spider"); }), "");
}

TEST(Tuning, WithABudgetOfOneIsThePlainSweep) {
  const std::string one = replaced(head, "budget = 6", "budget = 1") + arms + part;
  const Sweep sweep = parsed(one),
              plain = parsed(head.substr(0, head.find("[tune]")) + arms + part);
  EXPECT_TRUE(search_of(sweep).parts.empty());
  EXPECT_EQ(jobs_of(sweep), jobs_of(plain));
  EXPECT_FALSE(is_tuned(sweep, sweep.parts[0]));
}

TEST(Tuning, AnArmNamesSubstitutesValuesAndMore) {
  const auto space = [](const std::string& tune) {
    const Sweep sweep = parsed(head + arms + tune + part);
    std::vector<std::string> names;
    for (const Axis& a : sweep.arms[1].space)
      names.push_back(a.front().front().first + " " + std::to_string(a.size()));
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(space(""), (Names{"set.step_size 3", "set.steps 4"}));
  EXPECT_EQ(space("tune = { steps = \"period\" }\n"), (Names{"set.step_size 3", "set.period 4"}));
  EXPECT_EQ(space("tune = { steps = false, step_size = [1, 2, 3, 4, 5] }\n"),
            (Names{"set.step_size 5"}));
  EXPECT_EQ(space("tune = { clip_refresh = [1, 2] }\n"),
            (Names{"set.step_size 3", "set.steps 4", "set.clip_refresh 2"}));
}

TEST(Tuning, RangesHaveWholeNumbersForSteps) {
  const Sweep sweep = parsed(replaced(head, "step_size = [0.01, 0.1, 1]",
                                      "step_size = { from = 0.01, to = 0.3, points = 3 }") +
                             arms + part);
  std::vector<std::string> values;
  for (const Axis& a : sweep.arms[0].space)
    for (const Coordinates& c : a) values.push_back(c.front().second.dump());
  EXPECT_EQ(values, (std::vector<std::string>{"0.01", "0.0548", "0.3", "10", "31", "97", "300"}));
}

TEST(Tuning, RefusesWhatIsUnfairOrLeaks) {
  struct Case {
    std::string toml, part_of_message;
  };
  const std::string whole = head + arms + part;
  for (const Case& c : {
           Case{head + arms + "tune = { budget = 3 }\n" + part,
                "arm spider tries 3 settings and [tune] has budget = 6; expected the same"},
           Case{head + arms + "tune = false\n" + part, "arm spider tries 1 settings"},
           Case{head + arms + "tune = true\n" + part, "tune = true, expected false"},
           Case{replaced(head, "step_size = [", "clip = [") + arms + part,
                "arora-2023/dp-spider has no setting clip, which is tuned; expected clip = "
                "\"NAME\""},
           Case{head + arms + "tune = { steps = \"step_size\" }\n" + part, "tunes step_size twice"},
           Case{replaced(head, "budget = 6", "budget = 14") + arms + part,
                "a budget of 14 settings, expected at most 13"},
           Case{
               replaced(head, "seeds = 3\nspace", "seeds = 3\nfirst_seed = 2\nspace") + arms + part,
               "part n has seeds 0 to 2 and tuning has 2 to 4; expected none in common"},
           Case{whole + "most_seeds = 100000\n" + "first_seed = 3\n", "unknown key 'first_seed'"},
           Case{"first_seed = 999_999\n" + whole, "none in common"},
           Case{whole + "by_seed = [{ epsilon = [1, 2, 3, 4] }]\n",
                "by_seed of part n gives tuning and results one instance, epsilon = "},
           Case{replaced(whole, "records = [1000, 4000]", "\"set.steps\" = [10, 20]"),
                "set.steps is on an axis of part n and tuned in arm gd"},
           Case{replaced(head, "budget = 6", "budget = 6\nunequal = \"\"") + arms + part,
                "why the budgets differ"},
           Case{replaced(whole, "output.sosp_level", "steps"), "of which less is better"},
           Case{replaced(whole, "metric = \"output.sosp_level\"\n", ""), "of which less is better"},
           Case{replaced(whole, "budget = 6\n", ""), "budget is missing in tune"},
           Case{head.substr(0, head.find("[tune]")) + arms + "tune = { steps = [1] }\n" + part,
                "tune without [tune]"},
       }) {
    try {
      parsed(c.toml);
      ADD_FAILURE() << "accepted: " << c.part_of_message;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(c.part_of_message), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Tuning, BudgetsMayDifferWhereTheFileSaysWhy) {
  const Sweep sweep = parsed(replaced(head, "budget = 6", "budget = 6\nunequal = \"a control\"") +
                             arms + "tune = false\n" + part);
  EXPECT_EQ(sweep.tuning.unequal, "a control");
  EXPECT_EQ(search_of(sweep).parts.size(), 1U);
  EXPECT_EQ(parsed(replaced(head, "budget = 6", "budget = 6\nunequal = \"none\"") + arms + part)
                .tuning.unequal,
            "");
}

TEST(Tuning, InstancesByASeedMayBeKeptApart) {
  const std::string apart =
      replaced(head, "seeds = 3\nspace", "seeds = 3\nfirst_seed = 103\nspace") + arms + part +
      "by_seed = [{ epsilon = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }]\n";
  const Sweep sweep = parsed(apart);
  std::set<double> tuning, results;
  const Sweep search = search_of(sweep);
  for (const Job& run : jobs_of(search)) tuning.insert(run.run()->epsilon);
  for (const Job& run : jobs_of(as_written(sweep))) results.insert(run.run()->epsilon);
  EXPECT_EQ(results, (std::set<double>{1, 2, 3}));
  EXPECT_EQ(tuning, (std::set<double>{4, 5, 6}));
}

TEST(TuningTable, ShowsChoiceEndsAndThePriceOfAPrivateSearch) {
  const auto table = [](const Level& level) {
    Sweep sweep = parsed(replaced(head, "budget = 6", "budget = 13") + arms + part);
    auto runs = made_up(search_of(sweep), level);
    choose(Runs(runs), sweep);
    for (StoredRun& run : made_up(sweep, level)) runs.push_back(std::move(run));
    return tuning_table(Runs(runs), sweep, sweep.parts[0], "tuning-n");
  };
  const auto text = [](const plots::Cell& cell) { return std::get<std::string>(cell.content); };
  const auto number = [](const plots::Cell& cell) {
    return std::get<plots::Number>(cell.content).value;
  };
  const plots::Table inner = table(bowl);
  const plots::Row row = inner.row_groups.at(0).rows.at(0);
  EXPECT_EQ(text(row.cells[0]), "step_size = 0.1, steps = 97");
  EXPECT_EQ(number(row.cells[3]), 5);
  EXPECT_EQ(number(row.cells[4]), 1e9) << "the start";
  EXPECT_TRUE(inner.footnotes.empty());
  EXPECT_EQ(text(row.cells[5]), "0");
  EXPECT_EQ(text(row.cells[6]), "–");
  EXPECT_EQ(number(row.cells[7]), repetition_epsilon(0.03, 1e-5, 13));
  EXPECT_EQ(number(row.cells[8]), std::sqrt(0.03 / rho_for_repetition(1, 1e-5, 13)));
  const plots::Table outer = table([](double steps, double step_size, const json&) {
    return steps == 0 ? 100 : 1000 / steps + step_size;
  });
  EXPECT_EQ(text(outer.row_groups.at(0).rows.at(0).cells[6]),
            "step_size = 0.01, the smallest; steps = 300, the largest");
  // No setting is three times better than the start's 1e9.
  const plots::Table still = table([](double, double, const json&) { return 4e8; });
  ASSERT_EQ(still.footnotes.size(), 4U) << "two arms at two sizes";
  EXPECT_NE(still.footnotes.at(0).find("gd, records = 1000: not 3 times better than the start"),
            std::string::npos)
      << still.footnotes.at(0);
  EXPECT_NE(inner.notes.at(0).find("gd: as written and 12 of 12 settings"), std::string::npos)
      << inner.notes.at(0);
}

plots::Table table_of(Sweep sweep, const Level& level) {
  auto runs = made_up(search_of(sweep), level);
  choose(Runs(runs), sweep);
  for (StoredRun& run : made_up(sweep, level)) runs.push_back(std::move(run));
  return tuning_table(Runs(runs), sweep, sweep.parts[0], "tuning-n");
}

TEST(TuningTable, ShowsDigitsThatTellTheChosenFromTheWritten) {
  const plots::Table t =
      table_of(parsed(head + arms + part),
               [](double steps, double, const json&) { return steps == 0 ? 1.00002 : 1.00001; });
  const plots::Row row = t.row_groups.at(0).rows.at(0);
  const auto& chosen = std::get<plots::Spread>(row.cells[2].content);
  const auto& written = std::get<plots::Number>(row.cells[3].content);
  EXPECT_EQ(plots::plain_number(chosen.median, chosen.format), "1.00001");
  EXPECT_EQ(plots::plain_number(written.value, written.format), "1.00002");
  const plots::Table same =
      table_of(parsed(head + arms + part), [](double, double, const json&) { return 1.0; });
  EXPECT_EQ(
      std::get<plots::Number>(same.row_groups.at(0).rows.at(0).cells[3].content).format.digits, 3);
}

TEST(TuningTable, SaysWhatAnArmTunesInsteadOrNot) {
  const auto notes = [](const std::string& tune) {
    return table_of(parsed(replaced(head, "budget = 6", "budget = 3\nunequal = \"a control\"") +
                           arms + tune + part),
                    bowl)
        .notes;
  };
  EXPECT_EQ(notes("tune = false\n").at(1), "spider: as written, without tuning (a control).");
  EXPECT_TRUE(notes("tune = { steps = \"period\" }\n").at(1).ends_with("; steps is not tuned."))
      << notes("tune = { steps = \"period\" }\n").at(1);
  EXPECT_TRUE(notes("tune = { steps = false }\n").at(1).ends_with("; steps is not tuned."));
}

TEST(TuningTable, SaysThatRecordsOfAFileAreTheSame) {
  const TemporaryFolder folder;
  std::ofstream(folder / "own.csv") << "a,label\n1,0\n2,1\n3,0\n4,1\n";
  const std::string own =
      replaced(arms,
               "name = \"spider\"\nalgorithm = \"arora-2023/dp-spider\"\nproblem = "
               "\"ripple-location\"",
               "name = \"spider\"\nalgorithm = \"arora-2023/dp-spider\"\nproblem = \"own-glm\"\n"
               "problem_settings = { data = \"" +
                   std::string(folder / "own.csv") + "\", label = \"label\" }");
  const std::string sizes = replaced(part, "{ records = [1000, 4000] }", "{ epsilon = [1, 2] }");
  const auto plain = table_of(parsed(head + arms + sizes), bowl);
  EXPECT_EQ(plain.caption.find("records of a file"), std::string::npos);
  const auto mixed = table_of(
      parsed(replaced(head, "problem_settings = { sampling = \"whole\" }\n", "") + own + sizes),
      bowl);
  EXPECT_NE(mixed.caption.find("which no result has, while records of a file are the same"),
            std::string::npos)
      << mixed.caption;
  EXPECT_TRUE(mixed.notes.back().starts_with("The records of spider are those of a file"))
      << mixed.notes.back();
}

}  // namespace
}  // namespace dpsosp::tuning_test
