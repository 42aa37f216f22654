// SPDX-License-Identifier: Apache-2.0
// lowy-2024: probes that run algorithms, claims on them, the contour's crossings.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "contour.hpp"
#include "dpsosp/claims/claims.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "dpsosp/experiments/metric.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "findings.hpp"

namespace dpsosp::lowy_2024_test {
namespace {

using lowy_2024_exhibit::crossing;
using nlohmann::json;

TEST(LowyProbes, ProjectedRunUsesScheduleOfItsDimension) {
  const auto at = [](int k) {
    return compute_probe("lowy-2024/projection-size", {{"rank", 3},
                                                       {"support", 20},
                                                       {"records", 10000},
                                                       {"dimension", 40},
                                                       {"projected", k},
                                                       {"epsilon", 4}});
  };
  const json few = at(2), many = at(16);
  // alpha of DP-SPIDER is d^(1/3), its steps 1/alpha^2
  EXPECT_NEAR(std::log2(many.at("promise").get<double>() / few.at("promise").get<double>()), 1.0,
              0.05);
  EXPECT_NEAR(std::log2(few.at("steps").get<double>() / many.at("steps").get<double>()), 2.0, 0.1);
  EXPECT_LT(many.at("mean_gradient").get<double>(), many.at("start").get<double>());
}

TEST(LowyProbes, DpSpiderMeetsItsPromiseFromAnyExcess) {
  double before = 0;
  for (const double psi : {1e-3, 1e-2, 1e-1}) {
    double squares = 0, promise = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const json r =
          compute_probe("lowy-2024/start-at-excess", {{"excess", psi}, {"records", 3000}}, seed);
      const double g = r.at("mean_gradient");
      squares += g * g / 5;
      promise = r.at("promise");
    }
    EXPECT_LE(squares, promise * promise);
    EXPECT_GT(promise, before);
    before = promise;
  }
}

TEST(LowyProbes, MechanismTailStaysBelowItsBound) {
  const json r = compute_probe("lowy-2024/exponential-mechanism-tail",
                               {{"dimension", 2}, {"records", 10000}, {"seeds", 5}});
  EXPECT_EQ(r.at("above"), 0);
  EXPECT_GT(r.at("largest"), 0);
  EXPECT_LT(r.at("largest"), 1);
  EXPECT_DOUBLE_EQ(r.at("failure"), std::sqrt(2.0) / 2e4);
}

TEST(LowyProbes, TuningImprovesOnItsOwnInstances) {
  const auto mean_train = [](json parameters) {
    const std::vector<double> v =
        compute_probe("lowy-2024/published-experiment", std::move(parameters)).at("train");
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  const json defaults{{"stage", "dp_sgd"}, {"variant", "repaired"}, {"epsilon", 8}, {"seeds", 6}};
  json tuned = defaults;
  tuned["tuning"] = 2;
  const json r = compute_probe("lowy-2024/published-experiment", tuned);
  EXPECT_TRUE(r.at("settings").contains("step_size"));
  EXPECT_EQ(r.at("train").size(), 6U);
  EXPECT_EQ(r.at("test").size(), 6U);
  // the default step is in the grid, and the best of it is far better here
  EXPECT_LT(mean_train(tuned), mean_train(defaults));
  EXPECT_LT(mean_train(tuned), r.at("start").get<double>());
  EXPECT_LE(from_json_number(r.at("spent")), 8 * (1 + 1e-9));
}

TEST(LowyClaims, BoundInQuasarConvexityMayBeOutgrown) {
  // excess = 1e-4 q^-power under a bound that grows as `promised`
  const auto verdict = [](double power, double promised) {
    return finding_of("lowy-2024/c6-quasar", Scale::quick,
                      [&](const json& job) -> json {
                        const json& settings =
                            job.at("problem_settings");  // without those at their defaults
                        const double a = std::stod(settings.value("amplitude", "0.3"));
                        const double q = std::min(1.0, 2 - 4 * a / std::sqrt(1 - a * a));
                        RunResult r;
                        r.minimum = 0;
                        r.trace = {TraceRow{
                            .t = 0, .value = 1e-4 * std::pow(q, -power), .gradient_norm = 1}};
                        r.schedule.alpha = 1e-2 * std::pow(q, -promised);
                        return r;
                      })
        .verdict;
  };
  EXPECT_EQ(verdict(1, 1), Verdict::holds);
  EXPECT_EQ(verdict(0.5, 1), Verdict::bound_met);
  EXPECT_EQ(verdict(1.5, 1), Verdict::inconclusive);
  EXPECT_EQ(verdict(0.5, 0), Verdict::inconclusive);  // a schedule that forgets 1/q
}

TEST(LowyClaims, CurvatureFarBelowPromiseConfirmsNothing) {
  const auto verdict = [](double least_eigenvalue) {
    return finding_of("lowy-2024/c16-glm", Scale::quick,
                      [&](const json&) -> json {
                        RunResult r;
                        r.schedule.alpha = 1e-3;
                        r.start.gradient_norm = 1;
                        r.output.lambda_min = least_eigenvalue;
                        return r;
                      })
        .verdict;
  };
  EXPECT_EQ(verdict(0.1), Verdict::inconclusive);
  EXPECT_EQ(verdict(-5e-3), Verdict::holds);  // 0.25 of the promise
  EXPECT_EQ(verdict(-2e-2), Verdict::fails);
}

TEST(LowyClaims, CountsCrossingOnlyAwayFromStart) {
  const auto verdict = [](double level) {
    return finding_of("lowy-2024/c5", Scale::quick, [&](const json& job) -> json {
      const double over = 50 * job.at("dimension").get<double>() / job.at("records").get<double>();
      const bool warm = job.at("algorithm") == "lowy-2024/warm-exponential";
      const double at = level * (warm ? std::pow(over, 0.3) : 1);
      RunResult r;
      r.start.gradient_norm = 1;
      r.trace = {TraceRow{.t = 0, .gradient_norm = at}};
      r.schedule.alpha = at;
      return r;
    });
  };
  const Finding away = verdict(0.1);
  EXPECT_EQ(away.verdict, Verdict::holds) << away.measured;
  ASSERT_TRUE(away.value);
  EXPECT_NEAR(*away.value, 1, 1e-6);
  EXPECT_EQ(verdict(0.9).verdict, Verdict::inconclusive);
}

TEST(LowyClaims, BoundsDeviationFromAboveOnly) {
  const auto verdict = [](double others) {
    return finding_of("lowy-2024/c14", Scale::quick, [&](const json& job) {
      const bool small = job.at("parameters").at("projected") == 4;
      return json{{"scaled", std::vector<double>(5, small ? 0.1 : others)}};
    });
  };
  EXPECT_EQ(verdict(0.9).verdict, Verdict::holds);
  EXPECT_EQ(verdict(1.1).verdict, Verdict::fails);
  EXPECT_FALSE(verdict(1.1).reason.empty());
}

TEST(LowyClaims, IsInconclusiveIfPromiseIsNoBetterThanStart) {
  const auto verdict = [](double promise, double reached) {
    return finding_of("lowy-2024/c8", Scale::quick, [&](const json&) -> json {
      RunResult r;
      r.minimum = 0;
      r.start.value = 1;
      r.output.value = reached;
      r.schedule.alpha = promise;
      return r;
    });
  };
  EXPECT_EQ(verdict(0.4, 0.1).verdict, Verdict::inconclusive);
  EXPECT_EQ(verdict(0.3, 0.1).verdict, Verdict::holds);
  EXPECT_EQ(verdict(0.3, 0.35).verdict, Verdict::fails);
}

TEST(LowyClaims, WarmStartFailsOnlyIfSignificantlyWorse) {
  // ratios of the warm start to the others: at ε = 1, and elsewhere
  const auto verdict = [](double at_one, double elsewhere) {
    return finding_of("lowy-2024/c17", Scale::quick, [&](const json& job) {
      const json& p = job.at("parameters");
      const double ratio = p.at("stage") != "warm_start" ? 1
                           : p.at("epsilon") == 1        ? at_one
                                                         : elsewhere;
      std::vector<double> train;
      for (int seed = 0; seed < 10; ++seed)
        train.push_back(p.at("variant") == "repaired" ? std::pow(ratio, 1 + 0.1 * seed) : 1);
      return json{{"train", train},
                  {"test", train},
                  {"settings", json::object()},
                  {"start", 2},
                  {"spent", 1}};
    });
  };
  EXPECT_EQ(verdict(0.8, 0.8).verdict, Verdict::holds);
  EXPECT_EQ(verdict(1.2, 0.8).verdict, Verdict::fails);
  const Finding even = verdict(1, 0.8);
  EXPECT_EQ(even.verdict, Verdict::inconclusive);
  EXPECT_NE(even.measured.find("12 of 14"), std::string::npos) << even.measured;
}

TEST(LowyClaims, CountsPopulationSlopeOnlyIfSecondStageActs) {
  const auto verdict = [](int steps, double quiet, double promise = 1) {
    return finding_of("lowy-2024/c13", Scale::quick, [&](const json& job) -> json {
      const double level = 1 / std::sqrt(job.at("records").get<double>());
      RunResult r;
      r.start.gradient_norm = 1;
      r.start.sosp_level = 1;
      r.output.gradient_norm = level * (job.at("door") == "no_noise" ? quiet : 1);
      r.output.sosp_level = level;
      r.schedule.alpha = promise * level;
      r.privacy.label = PrivacyLabel::enforced;
      r.algorithm.steps = steps;
      return r;
    });
  };
  EXPECT_EQ(verdict(100, 0.1).verdict, Verdict::as_claimed) << verdict(100, 0.1).reason;
  EXPECT_EQ(verdict(2, 0.1).verdict, Verdict::bound_met);
  EXPECT_EQ(verdict(2, 0.1, 0.9).verdict, Verdict::inconclusive);
  EXPECT_EQ(verdict(100, 0.9).verdict, Verdict::as_claimed);
  EXPECT_NE(verdict(100, 0.1).measured, verdict(100, 0.9).measured);
}

TEST(TraceMetric, WeighsFirstRowAsOneIterate) {
  RunResult run;
  run.minimum = 0.5;
  run.trace = {TraceRow{.t = 100, .value = 2, .gradient_norm = 1},
               TraceRow{.t = 103, .value = 4, .gradient_norm = 3}};
  EXPECT_DOUBLE_EQ(*metric_of(run, "trace.mean_gradient_norm"), (1.0 + 3 * 3.0) / 4);
  EXPECT_DOUBLE_EQ(*metric_of(run, "trace.mean_excess_risk"), (2.0 + 3 * 4.0) / 4 - 0.5);
}

TEST(Contour, FindsCrossingOfPowerLaw) {
  const std::vector<double> records{100, 1000, 10000, 100000};
  std::vector<double> ratio;
  for (const double n : records) ratio.push_back(std::pow(n / 3000, -0.3));
  EXPECT_NEAR(*crossing(records, ratio), 3000, 1e-6);
}

TEST(Contour, ReturnsLastCrossingOrNone) {
  EXPECT_FALSE(crossing({1, 2, 3}, {0.5, 0.9, 1.1}));
  EXPECT_FALSE(crossing({1, 2, 3}, {0.5, 0.9, 0.8}));
  // the last crossing counts
  const auto n = crossing({1, 10, 100}, {0.5, 2, 0.5});
  ASSERT_TRUE(n);
  EXPECT_NEAR(*n, std::sqrt(1000.0), 1e-9);
}

}  // namespace
}  // namespace dpsosp::lowy_2024_test
