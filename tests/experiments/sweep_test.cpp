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
#include "sweep_texts.hpp"
#include "temporary_folder.hpp"

namespace dpsosp::sweep_test {
namespace {

using nlohmann::json;

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
