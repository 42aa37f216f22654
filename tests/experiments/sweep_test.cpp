// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run_costs.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/experiments/sweep_report.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::sweep_test {
namespace {

using nlohmann::json;

const std::string head = R"(
title = "A sweep"
metric = "output.sosp_level"
seeds = 3
delta = 1e-5
[[arm]]
name = "first"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
)";

const std::string second_arm = R"(
[[arm]]
name = "second"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "ripple-location"
delta = 1e-4
settings = { steps = 7 }
)";

Sweep parsed(const std::string& rest, Scale scale = Scale::quick) {
  return parse_sweep(head + rest, "test", scale);
}

std::string part_with(const std::string& axes) {
  return "[[part]]\nname = \"p\"\naxes = " + axes + "\n";
}

/// The values of one coordinate along the first axis of the only part.
std::vector<double> grid(const std::string& name, const std::string& values) {
  const Sweep sweep = parsed(part_with("[{ " + name + " = " + values + " }]"));
  std::vector<double> numbers;
  for (const Coordinates& p : sweep.parts.at(0).axes.at(0)) {
    EXPECT_EQ(p.at(0).first, name);
    numbers.push_back(p.at(0).second.get<double>());
  }
  return numbers;
}

TEST(SweepGrid, LogarithmicRangeHasExactEndsAndEqualRatios) {
  const auto v = grid("epsilon", "{ from = 0.1, to = 0.7, points = 6 }");
  ASSERT_EQ(v.size(), 6U);
  EXPECT_EQ(v.front(), 0.1);
  EXPECT_EQ(v.back(), 0.7);
  for (std::size_t k = 0; k + 1 < v.size(); ++k)
    EXPECT_NEAR(v[k + 1] / v[k], std::pow(7.0, 0.2), 1e-14);
}

TEST(SweepGrid, LinearRangeHasExactEndsAndEqualDifferences) {
  const auto v = grid("epsilon", "{ from = 0.7, to = 0.1, points = 5, spacing = \"linear\" }");
  ASSERT_EQ(v.size(), 5U);
  EXPECT_EQ(v.front(), 0.7);
  EXPECT_EQ(v.back(), 0.1);
  for (std::size_t k = 0; k + 1 < v.size(); ++k) EXPECT_NEAR(v[k + 1] - v[k], -0.15, 1e-15);
}

TEST(SweepGrid, SizesAreDistinctIntegers) {
  EXPECT_EQ(grid("records", "{ from = 1000, to = 1e6, points = 4 }"),
            (std::vector<double>{1000, 10000, 100000, 1000000}));
  EXPECT_EQ(grid("dimension", "{ from = 2, to = 4, points = 20 }"), (std::vector<double>{2, 3, 4}));
  const Sweep sweep = parsed(part_with("[{ records = [1e3, 2e3] }]"));
  for (const Coordinates& p : sweep.parts[0].axes[0]) EXPECT_TRUE(p[0].second.is_number_integer());
}

TEST(SweepGrid, MultipliesAxesWithLastAxisFastest) {
  const Sweep sweep =
      parsed(second_arm +
             part_with("[{ records = [100, 200], epsilon = [1, 2] }, { dimension = [2, 3, 4] }]"));
  const auto cells = cells_of(sweep, sweep.parts[0]);
  std::vector<std::string> seen;
  for (const Cell& c : cells) seen.push_back(sweep.arms[c.arm].name + ": " + to_text(c.at));
  std::vector<std::string> expected;
  for (const char* arm : {"first: ", "second: "})
    for (const char* moved : {"epsilon = 1, records = 100", "epsilon = 2, records = 200"})
      for (const char* d : {"2", "3", "4"})
        expected.push_back(std::string(arm) + moved + ", dimension = " + d);
  EXPECT_EQ(seen, expected);
}

TEST(SweepGrid, HasOneCellPerArmWithoutAxes) {
  const Sweep sweep = parsed(second_arm + part_with("[]"));
  EXPECT_EQ(cells_of(sweep, sweep.parts[0]).size(), 2U);
  EXPECT_EQ(jobs_of(sweep).size(), 6U);
}

TEST(SweepGrid, ScaleSelectsValuesPointsSeedsAndParts) {
  const std::string rest = R"(
[[part]]
name = "n"
seeds = { smoke = 1, quick = 2, full = 5 }
axes = [{ records = { from = { smoke = 10, quick = 100, full = 1000 }, to = 1e6, points = { smoke = 2, quick = 3, full = 4 } } },
        { dimension = { smoke = [2], quick = [2, 3], full = [2, 3, 4] } }]
[[part]]
name = "d"
scales = ["quick", "full"]
axes = [{ dimension = [5] }]
)";
  struct Expected {
    Scale scale;
    double from;
    std::size_t points, dimensions, seeds, parts;
  };
  for (const Expected& e :
       {Expected{Scale::smoke, 10, 2, 1, 1, 1}, Expected{Scale::quick, 100, 3, 2, 2, 2},
        Expected{Scale::full, 1000, 4, 3, 5, 2}}) {
    const Sweep sweep = parsed(rest, e.scale);
    ASSERT_EQ(sweep.parts.size(), e.parts);
    const Part& n = sweep.parts[0];
    EXPECT_EQ(coordinate(n.axes[0].front(), "records"), e.from);
    EXPECT_EQ(n.axes[0].size(), e.points);
    EXPECT_EQ(n.axes[1].size(), e.dimensions);
    EXPECT_EQ(n.seeds, e.seeds);
    for (const Cell& c : cells_of(sweep, n)) EXPECT_EQ(c.runs.size(), e.seeds);
  }
}

TEST(SweepCells, DescribeCoordinatesArmAndBothSeeds) {
  const Sweep sweep = parsed(second_arm + R"(
[[part]]
name = "p"
arms = ["second"]
axes = [{ records = [500] }, { dimension = [3] }, { epsilon = [0.5] },
        { "set.step_size" = [0.25] }, { "problem.sampling" = ["whole"] }]
[[part]]
name = "delta"
arms = ["first"]
axes = [{ delta = [1e-7] }]
)");
  const auto cells = cells_of(sweep, sweep.parts[0]);
  ASSERT_EQ(cells.size(), 1U);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    const json d = cells[0].runs.at(seed).description();
    EXPECT_EQ(d["algorithm"], "wang-ye-xu-2017/dp-gd");
    EXPECT_EQ(d["problem"], "ripple-location");
    EXPECT_EQ(d["records"], 500);
    EXPECT_EQ(d["dimension"], 3);
    EXPECT_EQ(d["epsilon"], 0.5);
    EXPECT_EQ(d["delta"], 1e-4);
    EXPECT_EQ(d["settings"], (json{{"step_size", "0.25"}, {"steps", "7"}}));
    EXPECT_EQ(d["problem_settings"]["sampling"], "whole");
    EXPECT_EQ(d["seed"], seed);
    EXPECT_EQ(d["data_seed"], seed);
  }
  EXPECT_EQ(cells_of(sweep, sweep.parts[1])[0].first_run().delta, 1e-7);
}

TEST(SweepJobs, ListRunsSharedByTwoPartsOnce) {
  const Sweep sweep = parsed(R"(
records = 300
[[part]]
name = "a"
axes = [{ records = [100, 200, 300] }]
[[part]]
name = "b"
axes = [{ records = [300, 400] }]
)");
  const auto jobs = jobs_of(sweep);
  EXPECT_EQ(jobs.size(), 12U);
  std::set<std::string> keys;
  for (const Job& job : jobs) keys.insert(job.hash());
  EXPECT_EQ(keys.size(), jobs.size());
  for (const Part& part : sweep.parts)
    for (const Cell& cell : cells_of(sweep, part))
      for (const Job& run : cell.runs) EXPECT_TRUE(keys.contains(run.hash()));
}

TEST(SweepJobs, SplitEvenlyIntoAnyNumberOfShards) {
  const auto jobs = jobs_of(parsed(part_with("[{ records = [100, 200, 300, 400] }]")));
  ASSERT_EQ(jobs.size(), 12U);
  for (std::size_t count = 1; count <= jobs.size() + 2; ++count) {
    std::vector<Job> joined;
    std::size_t least = jobs.size(), most = 0;
    for (std::size_t index = 1; index <= count; ++index) {
      const auto mine = of_shard(jobs, index, count);
      least = std::min(least, mine.size());
      most = std::max(most, mine.size());
      joined.insert(joined.end(), mine.begin(), mine.end());
    }
    EXPECT_LE(most - least, 1U);
    EXPECT_TRUE(std::is_permutation(jobs.begin(), jobs.end(), joined.begin(), joined.end()));
  }
}

using Outcome = std::function<StoredRun(const json& description)>;

/// Every run of the sweep with an outcome that the test makes up.
std::vector<StoredRun> made_up(const Sweep& sweep, const Outcome& outcome) {
  std::vector<StoredRun> runs;
  for (const Job& job : jobs_of(sweep)) runs.push_back(outcome(job.description()));
  return runs;
}

RunResult result_of(double level, double start = 1e9) {
  RunResult r;
  r.output.sosp_level = level;
  r.start.sosp_level = start;
  r.privacy.label = PrivacyLabel::enforced;
  return r;
}

/// n^{-1/2} in every run, to within a factor that depends on the seed alone.
double level_of(const json& d) {
  return (1 + 0.01 * d.at("seed").get<double>()) / std::sqrt(d.at("records").get<double>());
}

const std::string four_sizes = R"(
[[part]]
name = "p"
axes = [{ records = [100, 400, 1600, 6400] }]
fit = [{ axis = "records", claimed = -0.5 }]
)";

Slope only_slope(const Sweep& sweep, const Outcome& outcome) {
  const auto runs = made_up(sweep, outcome);
  const auto slopes = slopes_of(Runs(runs), sweep);
  EXPECT_EQ(slopes.size(), 1U);
  return slopes.at(0);
}

TEST(SweepSlopes, RecoverExactPowerLawAsClaimed) {
  const Slope s = only_slope(parsed(four_sizes),
                             [](const json& d) { return finished_run(d, result_of(level_of(d))); });
  ASSERT_TRUE(s.fit);
  EXPECT_NEAR(s.fit->slope, -0.5, 1e-10);
  EXPECT_EQ(s.verdict.verdict, Verdict::as_claimed);
  EXPECT_EQ(s.cells.size(), 4U);
  EXPECT_TRUE(s.left_out.empty());
  EXPECT_EQ(s.arm, "first");
  for (const FitCell& c : s.cells) EXPECT_EQ(c.seeds, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(SweepSlopes, AreInconclusiveForLevelsSetByThePlan) {
  const auto verdict = [](const std::string& more) {
    std::string sizes = four_sizes;
    sizes.replace(sizes.find("claimed = -0.5"), 14, "claimed = -0.5" + more);
    return only_slope(parsed(sizes),
                      [](const json& d) { return finished_run(d, result_of(level_of(d))); })
        .verdict.verdict;
  };
  EXPECT_EQ(verdict(""), Verdict::as_claimed);
  EXPECT_EQ(verdict(", ends_at_alpha = false"), Verdict::as_claimed);
  EXPECT_EQ(verdict(", ends_at_alpha = true"), Verdict::inconclusive);
}

// Levels fall as n^-0.3; DP-SPIDER's α bounds the gradient norm.
TEST(SweepSlopes, LargerExponentBelowThePromiseIsNoRefutation) {
  // Levels are n^-0.3, promises share^-1 of the level at the largest n and go as n^of_plan.
  const auto judged = [](double share, const std::string& metric, double of_plan = -0.5) {
    std::string sizes = four_sizes;
    sizes.replace(sizes.find("claimed"), 7, "metric = \"" + metric + "\", claimed");
    return only_slope(parsed(sizes),
                      [&](const json& d) {
                        const double level = (1 + 0.01 * d.at("seed").get<double>()) *
                                             std::pow(d.at("records").get<double>(), -0.3);
                        RunResult result = result_of(level);
                        result.output.gradient_norm = level;
                        result.start.gradient_norm = 1e6;
                        result.schedule.alpha = std::pow(6400.0, -0.3 - of_plan) / share *
                                                std::pow(d.at("records").get<double>(), of_plan);
                        return finished_run(d, result);
                      })
        .verdict;
  };
  const SlopeVerdict below = judged(0.1, "output.gradient_norm");
  EXPECT_EQ(below.verdict, Verdict::inconclusive);
  EXPECT_EQ(below.bound, BoundVerdict::below_promise);
  EXPECT_EQ(below.reason,
            "worse than claimed in this range, where every level is at most 0.1 of its promise");
  EXPECT_EQ(judged(1.1, "output.gradient_norm").verdict, Verdict::worse_than_claimed);
  EXPECT_EQ(judged(1.1, "output.gradient_norm").bound, BoundVerdict::exceeds);
  EXPECT_EQ(judged(0.1, "output.sosp_level").verdict, Verdict::worse_than_claimed);
  EXPECT_EQ(judged(0.1, "output.gradient_norm", -0.3).verdict, Verdict::worse_than_claimed)
      << "the promise itself is worse than claimed";
}

// A factor ln n is worth 0.155 of an exponent over n = 100 to 6400, more than the 0.11 from 10^4
// on.
TEST(SweepSlopes, ExcessOfALogarithmOverTheCellsRefutesNothing) {
  const auto judged = [](const auto& level) {
    return only_slope(parsed(four_sizes),
                      [&](const json& d) {
                        const double n = d.at("records").get<double>();
                        return finished_run(
                            d, result_of((1 + 0.001 * d.at("seed").get<double>()) * level(n), 1e9));
                      })
        .verdict;
  };
  const SlopeVerdict logarithm = judged([](double n) { return std::log(n) / std::sqrt(n); });
  EXPECT_NE(headline_of(logarithm), Headline::refuted);
  EXPECT_NE(logarithm.bound, BoundVerdict::exceeds);
  const SlopeVerdict within = judged([](double n) { return std::pow(n, -0.36); });
  EXPECT_EQ(within.verdict, Verdict::worse_than_claimed);
  EXPECT_EQ(headline_of(within), Headline::open) << "0.14 is less than a logarithm";
  EXPECT_EQ(headline_of(judged([](double n) { return std::pow(n, -0.3); })), Headline::refuted);
}

const std::vector<StatedExponent> stated{
    {"p/one", "records", -0.5, "elsewhere", "another"},
    {"p/two", "records", -1, "p", "first"},
    {"p/two", "records", {-2, -1.5}, "p", "second"},
    {"p/two", "records", -3, "elsewhere", "first"},
    {"p/two", "dimension", 1, "p", "first"},
};

/// The only fit of a part "p" of both arms.
FitRequest only_fit(const std::string& more) {
  const std::string part = "[[part]]\nname = \"p\"\naxes = [{ records = [100, 400] }]\n";
  const std::string fit = "fit = [{ axis = \"records\", " + more + " }]\n";
  return parse_sweep(head + second_arm + part + fit, "test", Scale::quick, stated)
      .parts.at(0)
      .fits.at(0);
}

TEST(SweepFit, HasTheExponentOfItsClaim) {
  const FitRequest anywhere = only_fit(R"(claim = "p/one")");
  EXPECT_EQ(anywhere.claim, "p/one");
  EXPECT_EQ(anywhere.claimed, ClaimedExponent(-0.5));
  EXPECT_EQ(only_fit(R"(claim = "p/two", arm = "first")").claimed, ClaimedExponent(-1));
  EXPECT_EQ(only_fit(R"(claim = "p/two", arm = "second")").claimed, ClaimedExponent(-2, -1.5));
  EXPECT_EQ(only_fit("claimed = -0.5").claim, "");
}

TEST(SweepFit, RivalsAreExponentsOfAllClaimsOnTheAxisAndOfTheFile) {
  EXPECT_EQ(only_fit("claimed = -0.5").rivals,
            (std::vector<double>{-0.5, -0.5, -1, -1, -2, -1.5, -3, -3}));
  EXPECT_EQ(only_fit("claimed = -0.5, rivals = [-0.4]").rivals.back(), -0.4);
  EXPECT_THROW(only_fit("rivals = [-0.4]"), InputError);
}

// The claim chooses the metric of its slope: a fit of another is shown and not judged.
TEST(SweepFit, IsJudgedByTheMetricOfItsClaim) {
  const auto claimed = [](const std::string& metric, const std::string& of_claim) {
    const std::vector<StatedExponent> one{{"p/one", "records", -0.5, "p", "first", of_claim}};
    const std::string part = "[[part]]\nname = \"p\"\naxes = [{ records = [100, 400] }]\n";
    const std::string fit =
        "fit = [{ axis = \"records\", arm = \"first\", claim = \"p/one\", metric = \"" + metric +
        "\" }]\n";
    return parse_sweep(head + second_arm + part + fit, "test", Scale::quick, one)
        .parts.at(0)
        .fits.at(0)
        .claimed;
  };
  EXPECT_TRUE(claimed("output.sosp_level", "output.sosp_level"));
  EXPECT_FALSE(claimed("best.sosp_level", "output.sosp_level"));
  EXPECT_TRUE(claimed("schedule.alpha", "output.sosp_level")) << "the plan stands beside it";
  EXPECT_TRUE(claimed("best.sosp_level", "")) << "the claim names none";
}

// The exponent of a run is -0.45 give or take `spread`, by its seed: the mean is undecided for the
// claim -1/2 as long as the interval reaches -0.45, the end of its zone.
TEST(SweepSeeds, AreAddedWhileASlopeNeedsMore) {
  const auto seeds_after = [](double middle, double spread, const std::string& most) {
    Sweep sweep = parsed(four_sizes + most);
    int rounds = 0;
    for (;; ++rounds) {
      const auto runs = made_up(sweep, [&](const json& d) {
        const double off = d.at("seed").get<std::uint64_t>() % 2 == 0 ? spread : -spread;
        return finished_run(d, result_of(std::pow(d.at("records").get<double>(), middle + off)));
      });
      if (!add_seeds(Runs(runs), sweep)) break;
    }
    EXPECT_LE(rounds, 6);
    return sweep.parts.at(0).seeds;
  };
  EXPECT_EQ(seeds_after(-0.45, 0.05, ""), 3U) << "the part has no most_seeds";
  EXPECT_EQ(seeds_after(-0.5, 0.001, "most_seeds = 100\n"), 3U) << "three settle it";
  EXPECT_EQ(seeds_after(-0.45, 0.05, "most_seeds = 20\n"), 20U) << "3, 6, 12, 20";
  EXPECT_GT(seeds_after(-0.48, 0.04, "most_seeds = 100\n"), 3U);
  EXPECT_LT(seeds_after(-0.48, 0.04, "most_seeds = 100\n"), 100U);
  EXPECT_THROW(parsed(four_sizes + "most_seeds = 2\n"), InputError);
}

TEST(SweepCells, FollowEveryChangeOfASweepThatWasAskedBefore) {
  const Sweep first = parsed(part_with("[{ records = [100, 400] }]"));
  const std::vector<Cell> before = cells_of(first, first.parts[0]);
  Sweep other = first;
  other.parts[0].seeds += 1;
  EXPECT_EQ(cells_of(other, other.parts[0])[0].runs.size(), before[0].runs.size() + 1);
  other = first;
  other.parts[0].axes[0].pop_back();
  EXPECT_LT(cells_of(other, other.parts[0]).size(), before.size());
  other = first;
  other.arms[other.parts[0].arms[0]].spec.epsilon = 7;
  EXPECT_EQ(cells_of(other, other.parts[0])[0].first_run().epsilon, 7);
  const std::vector<Cell> after = cells_of(first, first.parts[0]);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t k = 0; k < after.size(); ++k) EXPECT_EQ(after[k].runs, before[k].runs);
}

TEST(SweepCells, SeedsHaveInstancesOfTheirOwn) {
  const Sweep sweep = parsed(part_with("[{ records = [100, 400] }]") +
                             "by_seed = [{ epsilon = [1, 2], delta = [1e-5, 1e-6] }]\nseeds = 5\n");
  for (const Cell& cell : cells_of(sweep, sweep.parts.at(0))) {
    ASSERT_EQ(cell.runs.size(), 5U);
    for (const Job& job : cell.runs) {
      const RunDescription& run = *job.run();
      EXPECT_EQ(run.epsilon, run.seed % 2 == 0 ? 1 : 2);
      EXPECT_EQ(run.delta, run.seed % 2 == 0 ? 1e-5 : 1e-6);
      EXPECT_EQ(run.data_seed, run.seed);
    }
    EXPECT_FALSE(coordinate(cell.at, "epsilon")) << "no axis";
  }
  EXPECT_THROW(
      parsed(part_with("[{ records = [100, 400] }]") + "by_seed = [{ records = [1, 2] }]\n"),
      InputError);
  EXPECT_THROW(parsed(part_with("[]") + "by_seed = [{ epsilon = [1, -1] }]\n"), InputError);
}

TEST(SweepFit, RefusesClaimsThatStateNoOneExponent) {
  const auto refusal = [](const std::string& more) -> std::string {
    try {
      only_fit(more);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(R"(claim = "p/on")"),
            "test:20: unknown slope claim 'p/on'; did you mean 'p/one'?");
  EXPECT_EQ(refusal(R"(claim = "p/two")"),
            "test:20: claim p/two states 3 exponents on records and several of them for this part "
            "and arm, expected one");
  EXPECT_EQ(refusal(R"(claim = "p/one", claimed = -0.5)"),
            "test:20: claim and claimed in one fit, expected one of them");
  EXPECT_THROW(parsed(part_with("[{ records = [1, 2] }]") +
                      R"(fit = [{ axis = "records", claim = "p/one" }])"),
               InputError);
}

TEST(SweepSlopes, AreFittedPerArmAndSliceOfOtherAxes) {
  const Sweep sweep = parsed(second_arm + R"(
[[part]]
name = "p"
axes = [{ records = [100, 400, 1600], epsilon = [1, 2, 4] }, { dimension = [2, 4] }]
fit = [{ axis = "records" }, { axis = "records", arm = "second", metric = "output.value" }]
)");
  const auto runs = made_up(sweep, [](const json& d) {
    const bool first = d.at("algorithm") == "arora-2023/dp-spider";
    const double exponent = (first ? -0.1 : -0.2) * d.at("dimension").get<double>();
    RunResult result = result_of(std::pow(d.at("records").get<double>(), exponent));
    result.output.value = 1.0;
    return finished_run(d, result);
  });
  const auto slopes = slopes_of(Runs(runs), sweep);
  ASSERT_EQ(slopes.size(), 6U);
  const double exponents[] = {-0.2, -0.4, -0.4, -0.8, 0, 0};
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    EXPECT_EQ(slopes[k].arm, k < 2 ? "first" : "second");
    EXPECT_EQ(to_text(slopes[k].slice), k % 2 == 0 ? "dimension = 2" : "dimension = 4");
    ASSERT_TRUE(slopes[k].fit);
    EXPECT_NEAR(slopes[k].fit->slope, exponents[k], 1e-10);
  }
}

TEST(SweepSlopes, OmitCellsNotThreeTimesBetterThanStart) {
  const double worst = level_of({{"seed", 1}, {"records", 100}});  // the median over seeds
  for (const double ratio : {2.99, 3.01}) {
    const Slope s = only_slope(parsed(four_sizes), [&](const json& d) {
      return finished_run(d, result_of(level_of(d), ratio * worst));
    });
    EXPECT_EQ(s.cells.size(), ratio < 3 ? 3U : 4U) << ratio;
    ASSERT_EQ(s.left_out.size(), ratio < 3 ? 1U : 0U);
    if (ratio < 3) {
      EXPECT_EQ(s.left_out[0],
                "records = 100: the start has 0.302, less than 3 times the result 0.101");
    }
    EXPECT_NEAR(s.fit.value().slope, -0.5, 1e-10);
  }
}

TEST(SweepSlopes, ReportPrivacyLabelsOfCountedRuns) {
  const Slope s = only_slope(parsed(four_sizes), [&](const json& d) {
    const bool small = d.at("records") == 100;
    RunResult result = result_of(level_of(d), small ? 0.0 : 1e9);  // the smallest cell is left out
    result.privacy.label = small                     ? PrivacyLabel::violated
                           : d.at("records") == 400  ? PrivacyLabel::conditional
                           : d.at("records") == 1600 ? PrivacyLabel::simulated
                                                     : PrivacyLabel::enforced;
    return finished_run(d, result);
  });
  EXPECT_EQ(s.privacy, (std::set<std::string>{"conditional", "enforced", "simulated"}));
  const plots::Table table = slopes_table({s}, "slopes", "title");
  EXPECT_EQ(std::get<std::string>(table.row_groups.at(0).rows.at(0).cells.at(0).content),
            "conditional, enforced, simulated");
}

TEST(SweepSlopes, CompareNoiselessControlSeedBySeed) {
  const std::string control = R"(
[[arm]]
name = "no noise"
algorithm = "arora-2023/dp-spider"
problem = "ripple-location"
door = "no_noise"
)";
  const std::string part = R"(
[[part]]
name = "controls"
arms = ["no noise"]
axes = [{ records = [400] }]
seeds = 2
)";
  const Sweep sweep = parsed(control + four_sizes + "arms = [\"first\"]\n" + part);
  const auto runs = made_up(sweep, [](const json& d) {
    const double gain = d.at("door") == "no_noise" ? 8 + d.at("seed").get<double>() : 1;
    return finished_run(d, result_of(level_of(d) / gain));
  });
  const auto slopes = slopes_of(Runs(runs), sweep);
  ASSERT_EQ(slopes.size(), 1U);
  const auto ratios = over_noiseless(Runs(runs), sweep, slopes[0]);
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_NEAR(ratios[0], 8, 1e-12);
  EXPECT_NEAR(ratios[1], 9, 1e-12);

  const Sweep without = parsed(four_sizes);
  const auto fewer =
      made_up(without, [](const json& d) { return finished_run(d, result_of(level_of(d))); });
  EXPECT_TRUE(over_noiseless(Runs(fewer), without, slopes_of(Runs(fewer), without).at(0)).empty());
}

TEST(SweepSlopes, CountFailuresAndOmitSingleValueCells) {
  for (const int failures : {1, 2}) {
    const Slope s = only_slope(parsed(four_sizes), [&](const json& d) {
      if (d.at("records") == 400 && d.at("seed") < failures) return failed_run(d, "not_finite");
      return finished_run(d, result_of(level_of(d)));
    });
    EXPECT_EQ(s.cells.size(), failures == 1 ? 4U : 3U);
    if (failures == 1) {
      EXPECT_EQ(s.cells.at(1).failed, 1);
      EXPECT_EQ(s.fit.value().failed, 1);
    } else {
      EXPECT_EQ(s.left_out.at(0),
                "records = 400: 2 of 3 runs failed (not_finite); two values are needed");
    }
  }
}

TEST(SweepSlopes, OmitCellsWithZeroOrMissingMetric) {
  const Slope s = only_slope(parsed(four_sizes), [](const json& d) {
    RunResult result = result_of(level_of(d));
    if (d.at("records") == 100 && d.at("seed") == 1) result.output.sosp_level = 0.0;
    if (d.at("records") == 400 && d.at("seed") == 1) result.output.sosp_level.reset();
    return finished_run(d, result);
  });
  EXPECT_EQ(s.left_out,
            (std::vector<std::string>{"records = 100: a value is 0, which has no logarithm",
                                      "records = 400: 1 of 3 runs have no output.sosp_level"}));
  EXPECT_FALSE(s.fit);
  EXPECT_EQ(s.verdict.verdict, Verdict::inconclusive);
  EXPECT_EQ(s.verdict.reason, "2 of 4 cells count");
}

TEST(SweepSlopes, AreInconclusiveWithTooFewCommonSeeds) {
  const Slope s = only_slope(parsed(four_sizes), [](const json& d) {
    const bool late = d.at("records") > 400;
    if (d.at("seed") == (late ? 0 : 2)) return failed_run(d, "not_finite");
    return finished_run(d, result_of(level_of(d)));
  });
  EXPECT_EQ(s.cells.size(), 4U);
  EXPECT_FALSE(s.fit);
  EXPECT_EQ(s.verdict.verdict, Verdict::inconclusive);
  EXPECT_NE(s.verdict.reason.find("seed"), std::string::npos) << s.verdict.reason;
}

TEST(SweepTime, EstimatesByPowerLawOfStoredTimes) {
  const TemporaryFolder folder;
  const Sweep sweep = parsed(second_arm + part_with("[{ records = [100, 200, 800] }]"));
  const auto jobs = jobs_of(sweep);
  EXPECT_EQ(estimate_time(jobs, folder / "none.sqlite").unknown, jobs.size());
  EXPECT_FALSE(std::filesystem::exists(folder / "none.sqlite"));
  {
    Store store(folder / "s.sqlite");
    for (const Job& job : jobs)
      if (job.run()->algorithm == "arora-2023/dp-spider" && job.run()->records < 800) {
        Provenance p;
        p.cpu_seconds = 0.01 * std::pow(static_cast<double>(job.run()->records), 1.5);
        store.put(finished_run(job.description(), result_of(1)), p);
      }
  }
  const TimeEstimate e = estimate_time(jobs, folder / "s.sqlite");
  EXPECT_EQ(e.stored, 6U);
  EXPECT_EQ(e.unknown, 9U);
  EXPECT_NEAR(e.seconds, 3 * 0.01 * std::pow(800, 1.5), 1e-6);
}

}  // namespace
}  // namespace dpsosp::sweep_test
