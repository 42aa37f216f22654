// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "board.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/experiments/runs.hpp"

namespace dpsosp::league::league_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Method& method_of(const std::vector<Method>& all, std::string_view key) {
  return *std::ranges::find(all, key, &Method::algorithm);
}

/// Of both contests.
std::vector<const Group*> all_groups() {
  std::vector<const Group*> all;
  for (const Contest contest : {Contest::minimisation, Contest::minimax})
    for (const Group& group : groups(contest)) all.push_back(&group);
  return all;
}

TEST(LeagueGroups, UsesHaveDisjointSeeds) {
  EXPECT_EQ(seed_of(Use::tuning, 7), 1'000'007U);
  EXPECT_EQ(seed_of(Use::development, 999'999), 2'999'999U);
  EXPECT_EQ(seed_of(Use::final, 0), 3'000'000U);
  EXPECT_THROW(seed_of(Use::tuning, 1'000'000), InputError);
}

TEST(LeagueGroups, SeedsDrawInstancesThatDifferAndRepeat) {
  std::set<std::size_t> ordinals;
  for (const Group* group : all_groups()) {
    std::set<Settings> drawn;
    for (std::uint64_t k = 0; k < 15; ++k) {
      const std::uint64_t seed = seed_of(Use::final, k);
      const Settings settings = instance_of(*group, 8, seed).spec.problem_settings;
      EXPECT_EQ(settings, instance_of(*group, 8, seed).spec.problem_settings);
      drawn.insert(settings);
    }
    EXPECT_GE(drawn.size(), 12U) << group->id;
    EXPECT_TRUE(ordinals.insert(ordinal_of(*group)).second) << group->id;
  }
  EXPECT_EQ(ordinal_of(groups()[3]), 3U) << "it is in the streams of instances";
}

TEST(LeagueGroups, InstancesRunAndStartAboveTheirTargets) {
  for (const Group* group : all_groups())
    for (const Index d : dimensions(group->contest))
      for (std::uint64_t k = 0; k < 3; ++k) {
        const Instance instance = instance_of(*group, d, seed_of(Use::final, k));
        SCOPED_TRACE(instance.spec.problem + " of " + group->id);
        const auto job = job_of(methods(group->contest).front(), 0, instance,
                                group->records.front(), Scale::quick);
        ASSERT_TRUE(job);
        RunDescription run = *job->run();
        run.settings["steps"] = "2";
        const RunResult result = compute_run(run);
        EXPECT_EQ(std::ssize(result.point.value()), d);
        ASSERT_TRUE(result.start.sosp_level);
        EXPECT_GT(*result.start.sosp_level, 0);
        EXPECT_LT(*result.start.sosp_level, 3 * instance.constant(constant::lipschitz));
      }
}

TEST(LeagueDivision, EveryPrivateAlgorithmEntersOrIsLeftOut) {
  std::set<std::string> in, out;
  for (const Method& m : published(Scale::quick).methods) in.insert(m.algorithm);
  for (const auto& [key, why] : left_out()) {
    EXPECT_FALSE(why.empty()) << key;
    out.insert(key);
  }
  for (const AlgorithmEntry& e : algorithm_registry())
    EXPECT_EQ(in.contains(e.key) + out.contains(e.key), e.create()->card().is_private() ? 1 : 0)
        << e.key;
  for (const Method& m : methods()) EXPECT_TRUE(in.contains(m.algorithm)) << m.algorithm;
  std::set<std::string> of_minimax;
  for (const Method& m : methods(Contest::minimax)) of_minimax.insert(m.algorithm);
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const AlgorithmCard card = e.create()->card();
    EXPECT_EQ(of_minimax.contains(e.key), card.is_private() && card.needs_dual) << e.key;
  }
}

TEST(LeagueDivision, ContestsShareNeitherMethodsNorPlaces) {
  for (const Scale scale : {Scale::smoke, Scale::quick}) {
    const Division minimised = tuned(scale, 0), of_minimax = tuned(scale, 0, Contest::minimax);
    ASSERT_FALSE(of_minimax.places.empty());
    for (const Place& place : of_minimax.places)
      EXPECT_EQ(std::ranges::count(minimised.places, place), 0) << place.group->id;
    for (const Method& m : of_minimax.methods)
      EXPECT_EQ(std::ranges::count(minimised.methods, m.algorithm, &Method::algorithm), 0);
  }
}

TEST(LeagueDivision, OrdersHaveDifferentPointsAndTheScheduleSecond) {
  for (const Contest contest : {Contest::minimisation, Contest::minimax})
    for (const Method& method : methods(contest))
      for (const bool simulated : {true, false}) {
        if (method.dials.empty()) continue;
        const auto& order = order_of(method, simulated);
        ASSERT_EQ(order.size(), budgets.back()) << method.algorithm;
        EXPECT_TRUE(order[default_trial].empty());
        EXPECT_EQ(std::set<Settings>(order.begin(), order.end()).size(), order.size());
      }
}

TEST(LeagueDivision, SettingsAreMultiplesOfConstants) {
  const auto all = methods();
  const Method& sgd = method_of(all, "abadi-2016/dp-sgd");
  const Instance instance = instance_of(find_group("low-rank"), 8, seed_of(Use::tuning, 0));
  const double G = instance.constant(constant::lipschitz),
               M = instance.constant(constant::smoothness);
  bool clips = false;
  for (std::size_t trial = 0; trial < budgets.back(); ++trial) {
    if (trial == default_trial) continue;
    const Settings settings = settings_of(sgd, trial, instance);
    const Settings& factors = order_of(sgd, false)[trial];
    EXPECT_NEAR(std::stod(settings.at("step_size")) * M, std::stod(factors.at("step size")), 1e-9);
    EXPECT_NEAR(std::stod(settings.at("clip")) / G, std::stod(factors.at("clip")), 1e-9);
    clips = clips || std::stod(factors.at("clip")) < 1;
  }
  EXPECT_TRUE(clips) << "records are in memory";
}

TEST(LeagueDivision, EveryMethodRunsOnEveryGroup) {
  for (const Group* group : all_groups()) {
    const Instance instance =
        instance_of(*group, dimensions(group->contest).front(), seed_of(Use::tuning, 0));
    for (const Method& method : methods(group->contest))
      for (const std::size_t trial : {std::size_t{0}, std::size_t{2}}) {
        if (method.dials.empty()) continue;
        SCOPED_TRACE(method.algorithm + " on " + group->id);
        const auto job = job_of(method, trial, instance, group->records[1], Scale::quick);
        ASSERT_TRUE(job);
        EXPECT_EQ(job->run()->calibrator, Calibrator::cks);
        EXPECT_EQ(job->run()->delta, 1e-6);
        try {
          EXPECT_EQ(compute_run(*job->run()).privacy.delta, 1e-6);
        } catch (const RunFailed&) {  // diverged, which counts as the start
        }
      }
  }
}

TEST(LeagueDivision, SharesOfRefreshesSpendTheBudgetAndNoMore) {
  const auto all = methods();
  const Instance instance = instance_of(find_group("saddles"), 8, seed_of(Use::tuning, 0));
  for (const char* key : {"arora-2023/dp-spider", "wang-ye-xu-2017/dp-svrg",
                          "tran-cutkosky-2022/momentum-aggregation"}) {
    std::size_t split = 0;
    for (std::size_t trial = 0; trial < budgets.back(); ++trial) {
      const Settings& values = order_of(method_of(all, key), true)[trial];
      if (trial == default_trial || values.at("share of refreshes") == "0") continue;
      SCOPED_TRACE(std::string(key) + " " + std::to_string(trial));
      const auto job = job_of(method_of(all, key), trial, instance, 30000, Scale::quick);
      ASSERT_TRUE(job);
      const RunResult r = compute_run(*job->run());
      EXPECT_EQ(r.algorithm.status, Status::steps_done);
      RunDescription common = *job->run();
      common.settings["refresh_share"] = "0";
      const double whole = compute_run(common).privacy.spent;
      EXPECT_LE(r.privacy.spent, whole);
      // Differences of momentum aggregation that are shorter than their level's cost less.
      if (std::string_view(key) != "tran-cutkosky-2022/momentum-aggregation") {
        EXPECT_GE(r.privacy.spent, (1 - 1e-6) * whole);
      }
      ++split;
    }
    EXPECT_GE(split, 5U);
  }
}

TEST(LeagueDivision, StepsOfFixedLengthHaveTheirTravel) {
  const auto all = methods();
  const Instance instance = instance_of(find_group("saddles"), 8, seed_of(Use::tuning, 0));
  const double length = std::sqrt(instance.constant(constant::suboptimality) /
                                  instance.constant(constant::smoothness));
  for (const char* key : {"abadi-2016/dp-adam", "tran-cutkosky-2022/momentum-aggregation"}) {
    const Settings settings = settings_of(method_of(all, key), 2, instance);
    EXPECT_NEAR(std::stod(settings.at("step_size")) * std::stod(settings.at("steps")) / length /
                    std::stod(order_of(method_of(all, key), true)[2].at("travel")),
                1, 1e-5);
  }
}

TEST(LeagueGroups, KindsOfProblemsTakeTurns) {
  for (const Group* group : all_groups()) {
    std::map<std::string, int> counts;
    for (std::uint64_t k = 0; k < 6; ++k) {
      ++counts[instance_of(*group, 8, seed_of(Use::final, k)).spec.problem];
      EXPECT_EQ(instance_of(*group, 8, seed_of(Use::final, k)).spec.problem,
                instance_of(*group, 8, seed_of(Use::tuning, k)).spec.problem);
    }
    EXPECT_EQ(std::ssize(counts), group->kinds) << group->id;
    for (const auto& [problem, count] : counts) EXPECT_EQ(count, 6 / group->kinds) << problem;
  }
}

RunResult result_at(double level) {
  RunResult r;
  r.output.sosp_level = level;
  r.start.sosp_level = 1;
  r.best = TraceRow{.sosp_level = 1e-9};
  return r;
}

/// Results that say what the test wants.
class Pretended {
 public:
  template <class Level>
  Pretended(const std::vector<Job>& jobs, Level level) {
    for (const Job& job : jobs) {
      const double at = level(*job.run());
      if (std::isnan(at))
        stored_.push_back({.key = job.key(), .status = RunStatus::failed, .reason = "diverged"});
      else
        stored_.push_back({.key = job.key(),
                           .status = RunStatus::finished,
                           .reason = "",
                           .result = result_at(at)});
    }
  }
  Runs runs() const { return Runs(stored_); }

 private:
  std::vector<StoredRun> stored_;
};

TEST(LeagueDivision, ChoosesOnTuningInstancesTheBestOfThePrefix) {
  const auto all = methods();
  const Method& sgd = method_of(all, "abadi-2016/dp-sgd");
  const Place place = places(Scale::smoke).front();
  const Instance instance = instances(place, Use::tuning, Scale::smoke).front();
  const auto best = settings_of(sgd, 9, instance), early = settings_of(sgd, 2, instance);
  const Pretended p(tuning_jobs(Scale::smoke), [&](const RunDescription& run) {
    EXPECT_LT(run.seed, seed_of(Use::development, 0));
    return run.settings == best ? 0.1 : run.settings == early ? 0.3 : 0.9;
  });
  const Choices choices = choose(p.runs(), Scale::smoke);
  EXPECT_EQ(choices.trial(place, sgd.algorithm, 16), 9U);
  EXPECT_EQ(choices.trial(place, sgd.algorithm, 4), 2U);
  EXPECT_EQ(choices.trial(place, sgd.algorithm, 1), 0U);
  EXPECT_EQ(Choices(choices.csv()).csv(), choices.csv());
}

TEST(LeagueDivision, RefusesSettingsThatAreNone) {
  EXPECT_THROW(Choices("saddles,2,3000,abadi-2016/dp-sgd,16,99\n"), InputError);
  EXPECT_THROW(Choices("saddles\n"), InputError);
  EXPECT_EQ(Choices().trial(places(Scale::smoke).front(), "abadi-2016/dp-sgd", 16), default_trial);
}

TEST(LeagueDivision, CommittedSettingsAreThoseOfEveryPlace) {
  Choices all;
  for (const Contest contest : {Contest::minimisation, Contest::minimax})
    for (const Place& place : places(Scale::quick, contest))
      for (const Method& method : methods(contest))
        for (const std::size_t budget : budgets)
          if (budget > 0 && !method.dials.empty())
            all.set(place, method.algorithm, budget,
                    committed_choices().trial(place, method.algorithm, budget));
  EXPECT_EQ(all.csv(), committed_choices().csv());
}

TEST(LeagueMeasures, FailuresAndOutputsAboveTheStartCountAsTheStart) {
  EXPECT_EQ(counted({.level = nan, .start = nan}, 2), 2);
  EXPECT_EQ(counted({.level = 1e40, .start = 2}, 2), 2);
  EXPECT_EQ(counted({.level = std::numeric_limits<double>::infinity(), .start = 2}, 2), 2);
  EXPECT_EQ(counted({.level = 0.5, .start = 2}, 2), 0.5);
  EXPECT_EQ(counted({.level = 1e-300, .start = 2, .outside = true}, 2), 2) << "flat far out";
  // A trial that diverges on one instance and leads on the other is as good as its mean.
  EXPECT_EQ(best_trial({{{0.5, 1}, {0.5, 1}}, {{0.1, 1}, {1e40, 1}}, {{0.2, 1}, {nan, nan}}}, 3),
            1U);
  EXPECT_EQ(best_trial({{{0.5, 1}}, {{0.1, 1}}}, 1), 0U);
}

TEST(LeagueMeasures, CostIsTheSmallestSizeThatReachesAndUnreachedTargetsCount) {
  const Curve good{.lipschitz = 1, .records = {10, 100, 1000}, .levels = {0.9, 0.05, 0.2}};
  const Curve idle{.lipschitz = 1, .records = {10, 100, 1000}, .levels = {2, 2, 2}};
  EXPECT_EQ(cost_of(good, 0), 10);
  EXPECT_EQ(cost_of(good, 5), 100);  // 10^{−1.25} = 0.056
  EXPECT_TRUE(std::isinf(cost_of(good, 6)));
  EXPECT_TRUE(std::isinf(cost_of(idle, 0)));
  const std::vector<Curve> both{good, idle};
  EXPECT_EQ(share_within(both, 5), 0);
  EXPECT_DOUBLE_EQ(share_within(both, 10), 1.0 / 42);
  EXPECT_DOUBLE_EQ(share_within(both, 1000), 6.0 / 42);
  EXPECT_EQ(cost_of_half(both, 5), 100);
  EXPECT_TRUE(std::isinf(cost_of_half(std::vector{good, idle, idle}, 5)));
  EXPECT_DOUBLE_EQ(score_of(good), (1 + 6 + 3) / 63.0);
}

/// Scores of methods on strata of five instances: common to all but for what is their own.
template <class Own>
Scores scores_with(std::size_t methods, std::size_t strata, double common, Own own) {
  Stream random({.seed = 3, .purpose = Purpose::test});
  Scores scores{.strata = {}, .values = std::vector<std::vector<double>>(methods)};
  for (std::size_t k = 0; k < 5 * strata; ++k) {
    scores.strata.push_back(k / 5);
    const double shared = common * random.normal();
    for (std::size_t m = 0; m < methods; ++m)
      scores.values[m].push_back(shared + own(m, k / 5, random));
  }
  return scores;
}

const Stream resampling({.seed = 1, .purpose = Purpose::statistics});

TEST(LeagueMeasures, EqualMethodsAreToldApartInFivePercentAtMost) {
  const Scores scores = scores_with(
      9, 7, 3, [](std::size_t, std::size_t, Stream& random) { return random.normal(); });
  // Of 200 repetitions 5 % are 10; more than 20 have a chance of 0.1 %.
  EXPECT_LE(false_exclusions(scores, 200, 100, resampling), 0.1);
}

TEST(LeagueMeasures, ABetterMethodIsAloneInTheFirstGroup) {
  const Scores scores = scores_with(9, 7, 30, [](std::size_t m, std::size_t, Stream& random) {
    return random.normal() + (m == 4 ? 2 : 0);
  });
  const auto frequency = first_group_frequency(scores, 200, resampling);
  for (std::size_t m = 0; m < 9; ++m) {
    if (m == 4)
      EXPECT_GE(frequency[m], decided);
    else
      EXPECT_LE(frequency[m], 1 - decided) << "pairs are compared, whose instances differ by 30";
  }
}

TEST(LeagueMeasures, ResamplesKeepTheSizeOfEveryStratum) {
  // The first leads by 1 in one stratum and is behind by 0.8 in the other: ahead by 0.1 for
  // certain.
  const Scores scores = scores_with(2, 2, 1, [](std::size_t m, std::size_t stratum, Stream&) {
    return m == 0 ? (stratum == 0 ? 1.0 : -0.8) : 0.0;
  });
  const auto frequency = first_group_frequency(scores, 200, resampling);
  EXPECT_EQ(frequency[0], 1);
  EXPECT_LE(frequency[1], 1 - decided);
}

TEST(LeagueMeasures, OneInstanceAStratumTellsNobodyApart) {
  Scores scores{.strata = {0, 1, 2}, .values = {{1, 1, 1}, {0, 0, 0}}};
  EXPECT_EQ(first_group_frequency(scores, 20, resampling), (std::vector<double>{1, 1}));
  scores.strata = {0, 0, 0};
  EXPECT_EQ(first_group_frequency(scores, 20, resampling), (std::vector<double>{1, 0}));
}

TEST(LeagueMeasures, AProgramThatEntersMovesNobodysNumber) {
  for (const char* id : {"escapes", "minimax-sums"}) {
    Division division =
        tuned(Scale::quick, 0, id[0] == 'm' ? Contest::minimax : Contest::minimisation);
    std::erase_if(division.places, [id](const Place& place) {
      return place.group->id != id || place.dimension != 8;
    });
    const Pretended p(jobs_of(division), [](const RunDescription& run) {
      return 1e-3 * static_cast<double>(run.algorithm.size());
    });
    const Board alone = boards_of(p.runs(), division).front();
    Board joined = alone;
    joined.entrants.push_back(joined.entrants.front());
    joined.entrants.back().program = true;
    for (Curve& curve : joined.entrants.back().curves) std::ranges::fill(curve.levels, 1e-6);
    const Scores of_alone = scores_of(alone), of_joined = scores_of(joined);
    const auto before = frequencies(alone, of_alone), after = frequencies(joined, of_joined);
    for (std::size_t k = 0; k < alone.entrants.size(); ++k) {
      EXPECT_EQ(before[k], after[k]) << alone.entrants[k].algorithm;
      EXPECT_EQ(of_alone.values[k], of_joined.values[k]);
    }
    EXPECT_EQ(after.back(), 1);
    EXPECT_LT(std::ranges::min(before), 1);
  }
}

TEST(LeagueMeasures, OutputsOutsideOfTheRegionAreTold) {
  const Job job = jobs_of(tuned(Scale::smoke, 0)).front();
  RunResult result = result_at(0.1);
  for (const bool inside : {true, false}) {
    result.output.in_region = inside;
    const std::vector<StoredRun> stored{
        {.key = job.key(), .status = RunStatus::finished, .reason = "", .result = result}};
    EXPECT_EQ(reached_by(Runs(stored), job).outside, !inside);
  }
}

TEST(LeagueMeasures, OutputsAreJudgedAndNotTheBestIterate) {
  const Division division = tuned(Scale::smoke, 0);
  const Pretended p(jobs_of(division), [](const RunDescription& run) {
    return run.algorithm == "abadi-2016/dp-adam" ? nan : 0.5;
  });
  const Board board = boards_of(p.runs(), division).front();
  for (const Entrant& e : board.entrants) {
    EXPECT_TRUE(e.algorithm != "abadi-2016/dp-adam" || e.failed == e.runs);
    std::size_t starts = 0, outputs = 0;  // a start has 1
    for (const Curve& curve : e.curves) {
      starts += curve.levels.front() == 1;
      outputs += curve.levels.front() == 0.5;
    }
    EXPECT_EQ(starts, e.failed) << e.algorithm;
    EXPECT_EQ(outputs, e.runs - e.failed) << e.algorithm;
  }
}

}  // namespace
}  // namespace dpsosp::league::league_test
