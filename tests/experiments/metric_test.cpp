// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/metric.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace dpsosp::metric_test {
namespace {

Certificate certificate(double level, double gradient_norm, double lambda_min, double value) {
  Certificate c;
  c.sosp_level = level;
  c.gradient_norm = gradient_norm;
  c.lambda_min = lambda_min;
  c.value = value;
  return c;
}

/// A result with a number of its own in every place that a metric reads.
RunResult result() {
  RunResult r;
  r.algorithm = {.steps = 11,
                 .counts = {{"refreshes", 13}, {"stage1.steps", 14}},
                 .records_used = 12,
                 .parameters = {{"step_size", "0.25"}, {"sampling", "whole"}, {"radius", "inf"}}};
  r.schedule.alpha = 0.5;
  r.privacy.spent = 0.75;
  r.start = certificate(8, 9, -3, 20);
  r.output = certificate(1, 2, -1, 6);
  r.minimum = 5.5;
  r.population.emplace();
  r.population->start.value = 21;
  r.population->output.value = 7;
  r.best = TraceRow{4, 3, 2, 1, 0.625};
  r.trace = {TraceRow{0, 20, 9, -3, 8}, TraceRow{4, 9, 5, -2, 0.5}, TraceRow{10, 6, 2, -1, 0.25}};
  r.evaluation_log.contributions = 15;
  r.evaluation_log.estimate_error = EstimateErrors{.seen = 2, .median = 0.1, .largest = 0.4};
  return r;
}

TEST(Metric, ReadsValueOfEveryName) {
  const std::pair<const char*, double> expected[] = {
      {"output.sosp_level", 1},
      {"output.gradient_norm", 2},
      {"output.lambda_min", -1},
      {"output.value", 6},
      {"output.excess_risk", 0.5},
      {"start.sosp_level", 8},
      {"start.gradient_norm", 9},
      {"start.lambda_min", -3},
      {"start.value", 20},
      {"start.excess_risk", 14.5},
      {"population.output.value", 7},
      {"population.start.value", 21},
      {"best.sosp_level", 0.625},
      {"trace.median_sosp_level", 0.5},
      {"trace.mean_gradient_norm", (1 * 9 + 4 * 5 + 6 * 2) / 11.0},
      {"trace.mean_excess_risk", (1 * 20 + 4 * 9 + 6 * 6) / 11.0 - 5.5},
      {"trace.fraction_solved", 2.0 / 3.0},
      {"schedule.alpha", 0.5},
      {"estimate.median", 0.1},
      {"estimate.largest", 0.4},
      {"steps", 11},
      {"records_used", 12},
      {"evaluations", 15},
      {"privacy.spent", 0.75},
      {"counts.refreshes", 13},
      {"counts.stage1.steps", 14},
      {"parameters.step_size", 0.25},
  };
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(metric_of(result(), name)) << name;
    EXPECT_DOUBLE_EQ(*metric_of(result(), name), value) << name;
    EXPECT_FALSE(metric_label(name).empty()) << name;
  }
}

TEST(Metric, ReturnsNothingIfAbsentNullOrNonFinite) {
  RunResult r = result();
  for (const char* name : {"population.output.excess_risk",  // the minimum is null
                           "population.output.sosp_level", "parameters.sampling",
                           "parameters.radius", "parameters.none", "counts.none"})
    EXPECT_FALSE(metric_of(r, name)) << name;
  r.output.value = Certificate::unknown;
  r.schedule.alpha = std::numeric_limits<double>::infinity();
  r.trace->clear();
  for (const char* name :
       {"output.value", "output.excess_risk", "schedule.alpha", "trace.fraction_solved",
        "trace.mean_gradient_norm", "trace.median_sosp_level"})
    EXPECT_FALSE(metric_of(r, name)) << name;
  for (const char* name :
       {"output.value", "trace.mean_gradient_norm", "best.sosp_level", "estimate.median"})
    EXPECT_FALSE(metric_of(RunResult(), name)) << name;
}

TEST(Metric, StartMetricReadsSameQuantityAtStart) {
  const std::pair<const char*, double> expected[] = {
      {"output.sosp_level", 8}, {"output.excess_risk", 14.5},    {"population.output.value", 21},
      {"best.sosp_level", 8},   {"trace.mean_gradient_norm", 9}, {"trace.median_sosp_level", 8}};
  for (const auto& [name, value] : expected) EXPECT_EQ(start_metric(result(), name), value) << name;
  for (const char* name : {"start.value", "steps", "schedule.alpha", "trace.fraction_solved"})
    EXPECT_FALSE(start_metric(result(), name)) << name;
}

TEST(Metric, RejectsUnknownNameWithSuggestion) {
  EXPECT_EQ(refusal_of([] { check_metric("output.sosp_levl"); }),
            "unknown metric 'output.sosp_levl'; did you mean 'output.sosp_level'?");
  for (const char* name : {"", "output", "output.", ".value", "output.value.x", "counts.",
                           "parameters.", "best.value", "trace.value", "population.value"}) {
    EXPECT_NE(refusal_of([&] { check_metric(name); }), "") << name;
    EXPECT_NE(refusal_of([&] { metric_of(result(), name); }), "") << name;
    EXPECT_NE(refusal_of([&] { metric_label(name); }), "") << name;
  }
}

}  // namespace
}  // namespace dpsosp::metric_test
