// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/runner.hpp"
#include "dpsosp/problems/problem.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::run_test {
namespace {

using nlohmann::json;

RunSpec one_noisy_step() {
  RunSpec spec;
  spec.algorithm = "yang-2022/dp-sgda";
  spec.problem = "matrix-sensing";
  spec.records = 50;
  spec.settings = {{"steps", "1"}, {"step_size", "1"}};
  spec.noise = NoiseRule::calibrated;
  spec.door = Door::no_data;  // the step is the noise
  spec.observations = 0;
  return spec;
}

Vector step_of(const RunSpec& spec) {
  const json result = compute_run(describe(spec));
  const auto point = result.at("point").get<std::vector<double>>();
  RunSpec still = spec;
  still.settings["step_size"] = "1e-300";
  const auto start = compute_run(describe(still)).at("point").get<std::vector<double>>();
  const auto n = static_cast<Index>(point.size());
  return Eigen::Map<const Vector>(point.data(), n) - Eigen::Map<const Vector>(start.data(), n);
}

double cosine(const Vector& a, const Vector& b) { return a.dot(b) / (a.norm() * b.norm()); }

TEST(Run, DifferentRunsUseIndependentNoise) {
  // 120 coordinates: independent directions have |cosine| above 0.5 with probability below 1e-8.
  const RunSpec spec = one_noisy_step();
  RunSpec other = spec;
  other.epsilon = 2.0;
  EXPECT_LT(std::abs(cosine(step_of(spec), step_of(other))), 0.5);
  other = spec;
  other.settings["clip"] = "2";
  EXPECT_LT(std::abs(cosine(step_of(spec), step_of(other))), 0.5);
  other = spec;
  other.seed = 1;
  EXPECT_LT(std::abs(cosine(step_of(spec), step_of(other))), 0.5);
}

TEST(Run, FailsOutsideRegionOfSimulatedRecords) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/stochastic-spider";
  spec.problem = "double-well";
  spec.records = 100;
  spec.dimension = 10;
  spec.epsilon = 0.1;
  spec.problem_settings = {{"sampling", "whole"}};
  EXPECT_THROW(compute_run(describe(spec)), RunFailed);
  spec.settings = {{"target", "population"}};  // its batches are not whole: what is asked is wrong
  EXPECT_THROW(compute_run(describe(spec)), InputError);
}

TEST(Run, NoDataControlKeepsNoiseForAnyDataSeed) {
  const RunSpec spec = one_noisy_step();
  RunSpec swapped = spec;
  swapped.data_seed = 99;
  EXPECT_EQ(compute_run(describe(spec)).at("point"), compute_run(describe(swapped)).at("point"));
}

TEST(Run, OverriddenScheduleLosesItsPromise) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/stochastic-spider";
  spec.problem = "cosine-saddle";
  spec.records = 2000;
  spec.observations = 0;
  const json planned = compute_run(describe(spec)).at("schedule");
  EXPECT_GT(planned.at("alpha").get<double>(), 0.0);
  spec.settings["steps"] = "3";
  const json overruled = compute_run(describe(spec)).at("schedule");
  EXPECT_EQ(overruled.at("alpha"), 0.0);
  EXPECT_EQ(overruled.at("utility"), "heuristic");
}

TEST(Run, PromisesFromEstimatedConstantsAreHeuristic) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/stochastic-spider";
  spec.problem = "phase-retrieval";
  spec.dimension = 2;
  spec.records = 5000;
  spec.epsilon = 2.0;
  spec.observations = 0;
  const json schedule = compute_run(describe(spec)).at("schedule");
  EXPECT_GT(schedule.at("alpha").get<double>(), 0.0);
  EXPECT_EQ(schedule.at("utility"), "heuristic");
  EXPECT_NE(schedule.at("note").get<std::string>().find("estimates"), std::string::npos);
}

TEST(Run, DescriptionOmitsDefaultSettings) {
  RunSpec spec = one_noisy_step();
  const json bare = describe(spec);
  const auto family = find_problem(spec.problem);
  for (const auto& [name, text] : values_of(family->fields()))
    if (!spec.problem_settings.contains(name)) spec.problem_settings[name] = text;
  EXPECT_EQ(describe(spec), bare);
}

TEST(Run, MarksRecordDependentPartsAsNotPrivate) {
  const json result = compute_run(describe(one_noisy_step()));
  for (const char* part : {"start", "origin", "output", "evaluation_log"})
    EXPECT_EQ(result.at(part).at("private"), false) << part;
}

TEST(Release, HoldsPublishablePartsWithFreshNoise) {
  int different = 0;
  for (const char* algorithm : {"avdiukhin-2024/dp-sgd",
                                "arora-2023/tree-spider",
                                "tao-2025/ada-dp-spider",
                                "gao-wright-2023/short-steps",
                                "wang-xu-2020/dp-trust-region"}) {
    RunSpec spec;
    spec.algorithm = algorithm;
    spec.problem = "cosine-saddle";
    spec.records = 600;
    spec.dimension = 3;
    spec.epsilon = 4;
    spec.observations = 0;
    const json one = compute_release(describe(spec));
    ASSERT_EQ(one.size(), 4U) << algorithm;
    different += one.at("point") != compute_release(describe(spec)).at("point") ? 1 : 0;
    const json& privacy = one.at("privacy");
    EXPECT_EQ(privacy.at("label"), "enforced");
    EXPECT_EQ(privacy.at("noise"), "discrete Gaussian, system entropy");
    EXPECT_EQ(privacy.at("spent_accountant"), "zcdp") << algorithm;
    EXPECT_LE(privacy.at("spent").get<double>(), 4 * (1 + 1e-9)) << algorithm;
    for (const json& entry : privacy.at("ledger").at("entries"))
      EXPECT_EQ(entry.at("event").at("kind"), "zcdp") << algorithm;
    const json& schedule = one.at("schedule");
    EXPECT_EQ(schedule, compute_run(describe(spec)).at("schedule")) << algorithm;
  }
  EXPECT_GE(different, 3);  // two of them end where they start, at so few records
}

TEST(Release, RejectsUnenforcedDoorsAndInexactNoise) {
  RunSpec spec = one_noisy_step();
  EXPECT_THROW(compute_release(describe(spec)), InputError);  // no data
  spec.door = Door::enforced;
  EXPECT_NO_THROW(compute_release(describe(spec)));
  spec.calibrator = "exact-gaussian";
  EXPECT_THROW(compute_release(describe(spec)), InputError);
  spec = RunSpec{.algorithm = "abadi-2016/dp-sgd", .problem = "cosine-saddle", .records = 600};
  spec.settings = {{"rate", "0.1"}};
  spec.calibrator = "rdp";
  spec.noise = NoiseRule::calibrated;
  EXPECT_THROW(compute_release(describe(spec)), InputError);  // secret batches
}

TEST(Run, MeanClippingIsLabelledViolatedAndCostsMore) {
  RunSpec spec = one_noisy_step();
  spec.door = Door::enforced;
  const json sound = compute_run(describe(spec)).at("privacy");
  spec.door = Door::batch_mean_clip;
  const json printed = compute_run(describe(spec)).at("privacy");
  EXPECT_EQ(sound.at("label"), "enforced");
  EXPECT_EQ(printed.at("label"), "violated");
  EXPECT_GT(printed.at("spent").get<double>(), 10.0 * sound.at("spent").get<double>());
}

RunSpec unclipped_run() {
  RunSpec spec;
  spec.algorithm = "avdiukhin-2024/noisy-sgd";
  spec.problem = "double-well";
  spec.records = 2000;
  spec.settings = {{"deviation", "1"}, {"largest_deviation", "1"}};
  spec.observations = 0;
  return spec;
}

TEST(Run, UnclippedRunIsConditionalAndClassRelative) {
  const json d = describe(unclipped_run());
  EXPECT_EQ(d.at("door"), "no_clipping");
  const json result = compute_run(d);
  const json& privacy = result.at("privacy");
  EXPECT_EQ(privacy.at("label"), "conditional");
  EXPECT_EQ(privacy.at("guarantee"), "inf");
  EXPECT_LE(privacy.at("nominal").get<double>(), 1.0);
  EXPECT_EQ(privacy.at("class_relative").at("epsilon"), 1.0);
  EXPECT_EQ(privacy.at("class_relative").at("delta"), 1e-6);
  EXPECT_EQ(result.at("evaluation_log").at("violations"), 0);
  EXPECT_LT(result.at("evaluation_log").at("largest_norm_over_nominal").get<double>(), 1.0);
}

// A class-relative statement is made where the ledger bears it out, and there alone.
TEST(Run, UnclippedRunMakesNoClassPromiseOverBudget) {
  RunSpec spec = unclipped_run();
  spec.schedule = "paper";
  spec.settings["noise_form"] = "naive";
  const json privacy = compute_run(describe(spec)).at("privacy");
  EXPECT_GT(privacy.at("nominal").get<double>(), 1.0);
  EXPECT_FALSE(privacy.contains("class_relative"));
}

TEST(Run, UnclippedRunIsViolatedIfGradientExceedsBound) {
  RunSpec spec = unclipped_run();
  spec.settings["bound"] = "given";
  spec.settings["clip"] = "0.5";
  const json result = compute_run(describe(spec));
  EXPECT_EQ(result.at("privacy").at("label"), "violated");
  EXPECT_FALSE(result.at("privacy").contains("nominal"));
  EXPECT_FALSE(result.at("privacy").contains("class_relative"));
  EXPECT_GT(result.at("evaluation_log").at("violations"), 0);
  EXPECT_EQ(result.at("evaluation_log").at("first_violation"), 0);
}

TEST(Run, UnclippedRunMakesNoClassPromiseOnOverriddenSchedule) {
  RunSpec spec = unclipped_run();
  spec.settings["steps"] = "3";
  const json privacy = compute_run(describe(spec)).at("privacy");
  EXPECT_EQ(privacy.at("label"), "conditional");
  EXPECT_FALSE(privacy.contains("class_relative"));
}

RunSpec scheduled_run() {
  RunSpec spec;
  spec.algorithm = "wang-ye-xu-2017/dp-gd";
  spec.problem = "cosine-saddle";
  spec.problem_settings = {{"sampling", "whole"}, {"start", "random"}};
  spec.records = 10000;
  spec.observations = 0;
  return spec;
}

TEST(Run, ToldConstantChangesScheduleButNotGuarantee) {
  const json as_proved = compute_run(describe(scheduled_run()));
  RunSpec spec = scheduled_run();
  spec.problem_settings["told.suboptimality"] = "0.0625";
  const json told = compute_run(describe(spec));
  EXPECT_LT(told.at("algorithm").at("steps"), as_proved.at("algorithm").at("steps"));
  EXPECT_EQ(told.at("start"), as_proved.at("start"));
  EXPECT_EQ(told.at("privacy").at("label"), "enforced");
  EXPECT_LE(told.at("privacy").at("spent").get<double>(), spec.epsilon);
  EXPECT_GT(as_proved.at("schedule").at("alpha").get<double>(), 0.0);
  EXPECT_EQ(told.at("schedule").at("alpha"), 0.0) << "a belief promises nothing";
}

TEST(Run, TellingTrueConstantKeepsDescription) {
  RunSpec spec = scheduled_run();
  const json plain = describe(spec);
  spec.problem_settings["told.smoothness"] = "1";
  EXPECT_EQ(describe(spec), plain);
  spec.problem_settings["told.smoothness"] = "2";
  EXPECT_NE(describe(spec), plain);
}

TEST(Run, RejectsInvalidToldConstants) {
  for (const auto& [name, value] : {std::pair{"told.suboptimality", "0"},
                                    std::pair{"told.suboptimality", "-1"},
                                    std::pair{"told.suboptimality", "nan"},
                                    std::pair{"told.smoothness", "inf"},
                                    std::pair{"told.smothness", "1"}}) {
    RunSpec spec = scheduled_run();
    spec.problem_settings[name] = value;
    EXPECT_THROW(describe(spec), InputError) << name << " = " << value;
  }
}

TEST(Run, ScheduledParametersMatchTheRun) {
  RunSpec spec = scheduled_run();
  EXPECT_EQ(json(scheduled_parameters(describe(spec))),
            compute_run(describe(spec)).at("algorithm").at("parameters"));
  spec.algorithm = "menart-2024/kl-spider";  // cosine-saddle states no KL constants
  EXPECT_THROW(scheduled_parameters(describe(spec)), InputError);
  EXPECT_THROW(compute_run(describe(spec)), InputError);
}

}  // namespace
}  // namespace dpsosp::run_test
