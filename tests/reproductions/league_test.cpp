// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "boards.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/experiments/runs.hpp"
#include "findings.hpp"
#include "standings.hpp"
#include "tables.hpp"

namespace dpsosp::league::league_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(League, EntersOrExcludesEveryPrivateAlgorithm) {
  std::set<std::string> out;
  for (const auto& [key, why] : left_out()) {
    EXPECT_FALSE(why.empty()) << key;
    out.insert(key);
  }
  const std::set<std::string> in(entrants().begin(), entrants().end());
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const bool is_private = e.create()->card().is_private();
    EXPECT_EQ(in.contains(e.key) + out.contains(e.key), is_private ? 1 : 0) << e.key;
  }
}

/// Levels of a few contenders at a few places with three seeds; about one in eight did not run.
std::vector<Contender> contenders() {
  std::vector<Contender> list;
  const int places = *rc::gen::inRange(1, 6), count = *rc::gen::inRange(2, 6);
  for (int k = 0; k < count; ++k) {
    Contender c{.name = std::string(1, static_cast<char>('a' + k)), .levels = {}};
    for (int p = 0; p < places; ++p) {
      std::vector<double> levels;
      if (*rc::gen::inRange(0, 8) > 0)
        for (int s = 0; s < 3; ++s) levels.push_back(std::exp(0.01 * *rc::gen::inRange(-400, 400)));
      c.levels.push_back(std::move(levels));
    }
    list.push_back(std::move(c));
  }
  return list;
}

Contender start_of(const std::vector<Contender>& all) {
  return {.name = "start", .levels = {all.front().levels.size(), std::vector<double>(3, 1.0)}};
}

RC_GTEST_PROP(League, ProfilesRiseFromCellsWonToCellsRun, ()) {
  const auto all = contenders();
  for (const Standing& s : standings(all, start_of(all))) {
    const auto curve = profile(all, s.contender, 1e9);
    const auto cells = static_cast<double>(all.front().levels.size());
    RC_ASSERT(std::abs(curve.front().second * cells - static_cast<double>(s.wins)) < 1e-9);
    RC_ASSERT(std::abs(curve.back().second * cells - (cells - static_cast<double>(s.absent))) <
              1e-9);
    RC_ASSERT(std::ranges::is_sorted(curve));
  }
}

RC_GTEST_PROP(League, StandingsAreScaleInvariant, ()) {
  const auto all = contenders();
  auto scaled = all;
  Contender start = start_of(all), scaled_start = start;
  for (Contender& c : scaled)
    for (auto& levels : c.levels)
      for (double& v : levels) v *= 8;
  for (auto& levels : scaled_start.levels)
    for (double& v : levels) v *= 8;
  const auto a = standings(all, start), b = standings(scaled, scaled_start);
  for (std::size_t k = 0; k < a.size(); ++k) {
    RC_ASSERT(a[k].contender == b[k].contender);
    RC_ASSERT(std::abs(a[k].ratio / b[k].ratio - 1) < 1e-12);
    RC_ASSERT(a[k].wins == b[k].wins && a[k].useless == b[k].useless);
    if (k > 0) RC_ASSERT(a[k - 1].ratio <= a[k].ratio);
  }
}

TEST(League, AbsentAlgorithmScoresAsTheStart) {
  const Contender start{.name = "start", .levels = {{1, 1}, {1, 1}}};
  const Contender good{.name = "good", .levels = {{0.1, 0.1}, {0.1, 0.1}}};
  const Contender absent{.name = "absent", .levels = {{0.05, 0.05}, {}}};
  const Contender failed{.name = "failed", .levels = {{0.05, 0.05}, {nan, 0.1}}};
  for (const Contender& other : {absent, failed}) {
    const auto list = standings({good, other}, start);
    EXPECT_EQ(list[0].contender, 0u) << other.name;
    EXPECT_NEAR(list[1].ratio, std::sqrt(1.0 * 10.0), 1e-12) << other.name;
    EXPECT_EQ(list[1].absent, 1u) << other.name;
    EXPECT_EQ(list[1].useless, 0u) << other.name;
  }
}

TEST(League, DivergedOutputScoresAsTheStart) {
  const Contender start{.name = "start", .levels = {{1}, {1}, {2}}};
  const Contender good{.name = "good", .levels = {{0.1}, {0.1}, {9}}};
  const Contender diverged{.name = "diverged", .levels = {{0.05}, {1e40}, {8}}};
  const Contender absent{.name = "absent", .levels = {{0.05}, {}, {}}};
  const auto of = [&](const Contender& c) { return standings({good, c}, start)[1]; };
  EXPECT_EQ(of(diverged).contender, 1u);
  EXPECT_EQ(of(diverged).ratio, of(absent).ratio) << "nobody is better than the start in the last";
  EXPECT_NEAR(of(diverged).ratio, std::cbrt(10.0), 1e-12);
  EXPECT_EQ(of(diverged).absent, 0u) << "it ran";
}

TEST(League, CountsUnimprovedCellsAsUseless) {
  const Contender start{.name = "start", .levels = {{1}, {1}, {1}}};
  const Contender c{.name = "c", .levels = {{1}, {0.995}, {0.5}}};
  EXPECT_EQ(standings({c}, start).front().useless, 2u);
}

TEST(League, SkipsFailedCandidates) {
  EXPECT_EQ(choose({{3, 3}, {nan, 0.1}, {}, {2, 2}, {2, 2}}), 3u);
  EXPECT_EQ(choose({{nan}, {}}), 0u);
}

RunResult result_at(double level) {
  RunResult r;
  r.output.sosp_level = level;
  r.output.value = 0;
  r.start.sosp_level = r.start.value = 1;
  r.best = TraceRow{.sosp_level = 1e-9};
  r.privacy.spent = 0.5;
  return r;
}

/// Results that say what the test wants, for every run of a board.
class Pretended {
 public:
  template <class Level>
  Pretended(const Board& board, Level level) {
    for (const Job& job : jobs_of(board, study_at(Scale::smoke))) {
      const double at = level(*job.run());
      stored_.push_back(
          {.key = job.key(), .status = RunStatus::finished, .reason = "", .result = result_at(at)});
    }
  }
  Runs runs() const { return Runs(stored_); }

 private:
  std::vector<StoredRun> stored_;
};

std::size_t told(const RunDescription& run) {
  const auto& settings = run.problem_settings;
  if (!settings.contains("told.suboptimality")) return 0;
  const double factor = std::stod(settings.at("told.suboptimality"));
  const auto found = std::ranges::find(candidates(), factor, &Candidate::suboptimality);
  return static_cast<std::size_t>(found - candidates().begin());
}

bool is_tuning(const RunDescription& run) { return run.problem_settings.contains("wells"); }

TEST(League, TunesOnTuningInstancesAlone) {
  const Board& board = escape();
  // Everybody does best with the third factor on the instances for tuning, and on the board with
  // the second or the fourth.
  for (const std::size_t best_on_board : {1u, 3u}) {
    const Pretended p(board, [&](const RunDescription& run) {
      return told(run) == (is_tuning(run) ? 2 : best_on_board) ? 0.1 : 0.9;
    });
    const Tuned tuned = play_tuned(p.runs(), board, study_at(Scale::smoke));
    for (std::size_t k = 0; k < entrants().size(); ++k)
      if (tuned.board.refusals[k].front().empty()) {
        EXPECT_EQ(tuned.chosen[k].front(), 2u) << entrants()[k];
        EXPECT_EQ(level_at(tuned.board.contenders[k], 0), 0.9) << entrants()[k];
      }
  }
}

TEST(League, MarksDivergedOutputs) {
  const Board& board = escape();
  const Pretended p(board, [](const RunDescription& run) {
    return run.algorithm == "abadi-2016/dp-sgd" ? 1e40 : 0.5;
  });
  const auto table = levels_table(play(p.runs(), board, study_at(Scale::smoke)));
  for (const plots::Row& row : table.row_groups.front().rows) {
    const auto& labels = row.cells.front().labels;
    EXPECT_EQ(!labels.empty() && labels.front().text == "diverged",
              row.label == "abadi-2016/dp-sgd")
        << row.label;
  }
}

TEST(League, ScoresOutputsAtUntunedSchedule) {
  const Board& board = escape();
  const Pretended p(board, [](const RunDescription& run) { return told(run) == 0 ? 0.5 : 0.1; });
  const Played played = play(p.runs(), board, study_at(Scale::smoke));
  for (const Contender& c : played.contenders) {
    if (!c.levels.front().empty()) {
      EXPECT_EQ(level_at(c, 0), 0.5) << c.name;
    }
  }
  EXPECT_EQ(level_at(played.start, 0), 1.0);
}

TEST(League, RunsShareOneCalibratorAndDelta) {
  for (const Board* board : {&benign(), &descent(), &escape()})
    for (const Job& job : jobs_of(*board, study_at(Scale::smoke))) {
      EXPECT_EQ(job.run()->calibrator, Calibrator::cks);
      EXPECT_EQ(job.run()->delta, 1e-6);
      EXPECT_EQ(job.run()->schedule, Schedule::practical);
    }
}

TEST(League, KeepsTuningInstancesOffTheBoard) {
  for (const Board* board : {&benign(), &descent(), &escape(), &real_data()})
    EXPECT_FALSE(board->ground.problem == board->tuning.problem &&
                 board->ground.settings == board->tuning.settings)
        << board->id;
}

}  // namespace
}  // namespace dpsosp::league::league_test
