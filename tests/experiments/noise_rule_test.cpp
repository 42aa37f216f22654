// SPDX-License-Identifier: Apache-2.0
// What `noise = calibrated` is: the schedule's parameters, or the settings' alone, and the least
// noise with which their plan fits the budget.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::noise_rule_test {
namespace {

using Settings = std::map<std::string, std::string>;

RunSpec spec_of(const std::string& algorithm, const std::string& problem = "double-well") {
  RunSpec spec{.algorithm = algorithm, .problem = problem, .records = 4000};
  if (problem == "double-well" || problem == "cosine-saddle") spec.dimension = 3;
  spec.epsilon = 2;
  spec.observations = 0;
  return spec;
}

RunSpec calibrated(RunSpec spec) {
  spec.noise = NoiseRule::calibrated;
  return spec;
}

/// The settings that a common noise changes, and those that say what noise is of.
std::set<std::string> noise_of(const std::string& key) {
  const auto algorithm = find_algorithm(key);
  const auto before = values_of(algorithm->fields());
  algorithm->set_common_noise(0.123);
  std::set<std::string> names;
  for (const auto& [name, text] : values_of(algorithm->fields()))
    if (before.at(name) != text || name.find("noise") != std::string::npos ||
        name.ends_with("_budget"))
      names.insert(name);
  return names;
}

std::string refusal_of(const RunSpec& spec) {
  try {
    scheduled_parameters(describe(spec));
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

class EverySchedule : public testing::TestWithParam<std::string> {
 protected:
  /// A run by the schedule on one of the problems that it accepts.
  std::optional<RunSpec> run() const {
    for (const char* problem :
         {"double-well", "cosine-saddle", "cosine-minimax", "ripple-location"}) {
      const RunSpec spec = spec_of(GetParam(), problem);
      if (refusal_of(spec) == "accepted") return spec;
    }
    return {};
  }
};

TEST_P(EverySchedule, IsKeptButForTheNoise) {
  const auto spec = run();
  if (!spec) GTEST_SKIP() << "no schedule for these problems";
  const auto scheduled = scheduled_parameters(describe(*spec));
  const auto ruled = scheduled_parameters(describe(calibrated(*spec)));
  const auto noise = noise_of(GetParam());
  ASSERT_FALSE(noise.empty());
  for (const auto& [name, text] : scheduled)
    if (!noise.contains(name)) {
      EXPECT_EQ(ruled.at(name), text) << name;
    }
}

TEST_P(EverySchedule, KeepsTheBudgetWithCalibratedNoise) {
  auto spec = run();
  if (!spec) GTEST_SKIP() << "no schedule for these problems";
  spec->settings["steps"] = "20";
  const RunResult r = compute_run(describe(calibrated(*spec)));
  EXPECT_NE(r.algorithm.status, Status::budget);
  EXPECT_LE(r.privacy.spent, spec->epsilon * (1 + 1e-9));
  EXPECT_EQ(r.privacy.label, find_algorithm(GetParam())->card().privacy);
  EXPECT_EQ(r.schedule.alpha, 0) << "the promise was made for another noise";
  // A selection that the schedule plans is made.
  if (compute_run(describe(*spec)).algorithm.counts.contains("selected")) {
    EXPECT_TRUE(r.algorithm.counts.contains("selected"));
  }
}

std::vector<std::string> with_common_noise() {
  std::vector<std::string> keys;
  for (const AlgorithmEntry& e : algorithm_registry()) {
    const auto algorithm = e.create();
    if (!algorithm->card().is_private()) continue;
    try {
      algorithm->set_common_noise(1);
      keys.push_back(e.key);
    } catch (const InputError&) {
    }
  }
  return keys;
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySchedule, testing::ValuesIn(with_common_noise()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(CalibratedNoise, IsTheLeastForThePlanThatScheduleAndSettingsComeTo) {
  RunSpec spec = calibrated(spec_of("wang-ye-xu-2017/dp-gd"));
  spec.settings = {{"steps", "7"}, {"clip", "0.25"}};
  const auto used = scheduled_parameters(describe(spec));
  EXPECT_EQ(used.at("steps"), "7");
  EXPECT_EQ(used.at("clip"), "0.25");
  const FilterRule rule = filter_rule({spec.epsilon, spec.delta}, spec.calibrator);
  EXPECT_EQ(std::stod(used.at("noise")), noise_ratio_for(rule.capacity, 7));
}

TEST(CalibratedNoise, OfFreshBatchesIsThatOfOneQuery) {
  RunSpec spec = calibrated(spec_of("wang-ye-xu-2017/dp-gd"));
  spec.settings = {{"steps", "10"}, {"sampling", "fresh"}, {"batch", "100"}};
  const FilterRule rule = filter_rule({spec.epsilon, spec.delta}, spec.calibrator);
  const RunResult r = compute_run(describe(spec));
  EXPECT_EQ(r.algorithm.steps, 10);
  EXPECT_EQ(std::stod(r.algorithm.parameters.at("noise")), noise_ratio_for(rule.capacity, 1));
  EXPECT_LE(r.privacy.spent, spec.epsilon * (1 + 1e-9));
}

// Of a selection, which is no query of the plan.
TEST(CalibratedNoise, LeavesTheSelectionItsShare) {
  RunSpec spec = calibrated(spec_of("avdiukhin-2024/dp-sgd"));
  spec.settings = {{"steps", "20"}};
  const auto noise = [&](const char* share) {
    spec.settings["selection_share"] = share;
    return std::stod(scheduled_parameters(describe(spec)).at("noise"));
  };
  EXPECT_NEAR(noise("0.5") / noise("0"), std::sqrt(2.0), 1e-6);
  spec.settings["selection_share"] = "0.5";
  for (const Calibrator calibrator : {Calibrator::cks, Calibrator::rdp}) {
    spec.calibrator = calibrator;
    const RunResult r = compute_run(describe(spec));
    EXPECT_TRUE(r.algorithm.counts.contains("selected"));
    EXPECT_LE(r.privacy.spent, spec.epsilon * (1 + 1e-9));
  }
  spec.settings["selection_epsilon"] = "1e3";
  EXPECT_NE(refusal_of(spec).find("its selection leaves no budget"), std::string::npos);
}

TEST(CalibratedNoise, WithoutScheduleHasTheSettingsAlone) {
  RunSpec spec = calibrated(spec_of("arora-2023/dp-spider"));
  spec.schedule = Schedule::none;
  spec.settings = {{"steps", "12"}};
  auto expected = values_of(find_algorithm(spec.algorithm)->fields());
  expected["steps"] = "12";
  const auto used = scheduled_parameters(describe(spec));
  const auto noise = noise_of(spec.algorithm);
  for (const auto& [name, text] : expected)
    if (!noise.contains(name)) {
      EXPECT_EQ(used.at(name), text) << name;
    }
  EXPECT_NE(used, scheduled_parameters(describe(calibrated(spec_of(spec.algorithm)))));
}

// The stored runs of xu-2026: the description is what their keys and random numbers come from.
TEST(CalibratedNoise, WithoutScheduleKeepsTheKeysOfStoredRuns) {
  RunSpec spec{.algorithm = "ganesh-2023/stochastic-spider", .problem = "matrix-sensing"};
  spec.settings = {{"steps", "20"}};
  spec.records = 400;
  spec.epsilon = 2;
  spec.schedule = Schedule::none;
  spec.noise = NoiseRule::calibrated;
  spec.calibrator = Calibrator::rdp;
  RunDescription d = describe(spec);
  d.library_numbers_version = 5;  // of the key below
  const nlohmann::json j = d;
  EXPECT_EQ(j.at("schedule"), "none");
  EXPECT_EQ(j.at("noise"), "calibrated");
  EXPECT_EQ(j.get<RunDescription>(), d);
  EXPECT_EQ(RunKey(j).hash(), "c0110ccb90c1429aad513dfa75b4dfa85baf8e64af0edc94b8cb3fa23494b70b");
  spec.schedule = Schedule::practical;
  EXPECT_NE(RunKey(nlohmann::json(describe(spec))).hash(), RunKey(j).hash());
}

TEST(CalibratedNoise, RefusesWhatContradictsItInOneLine) {
  RunSpec spec = calibrated(spec_of("wang-ye-xu-2017/dp-gd"));
  spec.settings = {{"noise", "20"}};
  EXPECT_EQ(refusal_of(spec),
            "wang-ye-xu-2017/dp-gd: noise = 20 with noise = calibrated, which sets it; leave out "
            "one of them");
  spec.noise = NoiseRule::schedule;
  EXPECT_EQ(refusal_of(spec), "accepted") << "a setting overrules the schedule's noise";
  spec.schedule = Schedule::none;
  EXPECT_EQ(refusal_of(spec),
            "wang-ye-xu-2017/dp-gd: schedule = none with noise = schedule, expected a schedule or "
            "noise = calibrated");
  spec = calibrated(spec_of("ganesh-2023/exponential-mechanism"));
  EXPECT_EQ(refusal_of(spec),
            "ganesh-2023/exponential-mechanism: its queries have no common noise; use one of its "
            "schedules");
}

}  // namespace
}  // namespace dpsosp::noise_rule_test
