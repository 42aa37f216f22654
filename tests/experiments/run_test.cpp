// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/run.hpp"
#include "dpsosp/experiments/run_follower.hpp"
#include "dpsosp/experiments/run_json.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"

namespace dpsosp::run_test {
namespace {

using nlohmann::json;

RunSpec one_noisy_step() {
  RunSpec spec;
  spec.algorithm = "yang-2022/dp-sgda";
  spec.problem = "matrix-sensing";
  spec.records = 50;
  spec.settings = {{"steps", "1"}, {"step_size", "1"}};
  spec.schedule = Schedule::none;
  spec.noise = NoiseRule::calibrated;
  spec.door = Door::no_data;  // the step is the noise
  spec.observations = 0;
  return spec;
}

Vector step_of(const RunSpec& spec) {
  const auto point = compute_run(describe(spec)).point.value();
  RunSpec still = spec;
  still.settings["step_size"] = "1e-300";
  const auto start = compute_run(describe(still)).point.value();
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

TEST(Run, DescriptionsThatDifferInTheLeastHaveIndependentNoise) {
  RunSpec spec = one_noisy_step();
  spec.settings["clip"] = "1";
  spec.problem_settings = {{"planted_scale", "frobenius"}};
  const Vector step = step_of(spec);
  std::vector<RunSpec> others(5, spec);
  others[0].epsilon = std::nextafter(spec.epsilon, 2.0);
  others[1].delta = std::nextafter(spec.delta, 1.0);
  others[2].settings["clip"] = "1.0000000000000002";
  others[3].problem_settings["planted_scale"] = "over_sqrt_rank";
  others[4].records += 1;
  for (std::size_t k = 0; k < others.size(); ++k)
    EXPECT_LT(std::abs(cosine(step, step_of(others[k]))), 0.5) << k;
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
  EXPECT_EQ(compute_run(describe(spec)).point, compute_run(describe(swapped)).point);
}

TEST(Run, OverriddenScheduleLosesItsPromise) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/stochastic-spider";
  spec.problem = "cosine-saddle";
  spec.records = 2000;
  spec.observations = 0;
  EXPECT_GT(compute_run(describe(spec)).schedule.alpha, 0.0);
  spec.settings["steps"] = "3";
  const ScheduleResult overruled = compute_run(describe(spec)).schedule;
  EXPECT_EQ(overruled.alpha, 0.0);
  EXPECT_EQ(overruled.utility, Utility::heuristic);
}

TEST(Run, PromisesFromEstimatedConstantsAreHeuristic) {
  RunSpec spec;
  spec.algorithm = "ganesh-2023/stochastic-spider";
  spec.problem = "phase-retrieval";
  spec.dimension = 2;
  spec.records = 5000;
  spec.epsilon = 2.0;
  spec.observations = 0;
  const ScheduleResult schedule = compute_run(describe(spec)).schedule;
  EXPECT_GT(schedule.alpha, 0.0);
  EXPECT_EQ(schedule.utility, Utility::heuristic);
  EXPECT_NE(schedule.note.find("estimates"), std::string::npos);
}

TEST(Run, DescriptionOmitsDefaultSettings) {
  RunSpec spec = one_noisy_step();
  const RunDescription bare = describe(spec);
  const auto family = find_problem(spec.problem);
  for (const auto& [name, text] : values_of(family->fields()))
    if (!spec.problem_settings.contains(name)) spec.problem_settings[name] = text;
  EXPECT_EQ(describe(spec), bare);
}

// A description and its key, of a store from before the setting `simulate` was called `sampling`.
TEST(Run, RenamedSettingKeepsTheKeysOfStoredRuns) {
  const json stored = json::parse(R"({
    "algorithm": "lowy-2024/warm-glm", "calibrator": "cks", "data_seed": 0, "delta": 1e-06,
    "dimension": 400, "door": "enforced", "epsilon": 4, "noise": "schedule", "noise_queries": 0,
    "numbers_version": {"algorithm": 2, "library": 3, "problem": 1}, "observations": 200,
    "problem": "glm-sigmoid", "problem_settings":
      {"features": "low_rank", "rank": "3", "simulate": "whole", "support": "100"},
    "records": 1000, "schedule": "practical", "seed": 0,
    "settings": {"fallback": "false", "rank": "3"}, "variant": "repaired"})");
  const RunDescription read = stored;
  const std::map<std::string, std::string> now{
      {"features", "low_rank"}, {"rank", "3"}, {"sampling", "whole"}, {"support", "100"}};
  EXPECT_EQ(read.problem_settings, now);
  EXPECT_EQ(RunKey(json(read)).hash(),
            "98bf4e7c51e0e2a37f80dd63fa62ee6d7456da4b52ffbef32b0f1f3edc0d2122");

  RunSpec spec;
  spec.algorithm = read.algorithm;
  spec.problem = read.problem;
  spec.problem_settings = now;
  EXPECT_EQ(json(describe(spec)).at("problem_settings"), stored.at("problem_settings"));
  spec.problem_settings.erase("sampling");
  spec.problem_settings["simulate"] = "whole";
  try {
    describe(spec);
    FAIL();
  } catch (const InputError& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "unknown setting of glm-sigmoid 'simulate'; did you mean 'sampling'?");
  }
}

TEST(Run, MarksRecordDependentPartsAsNotPrivate) {
  const json result = compute_run(describe(one_noisy_step()));
  for (const char* part : {"start", "origin", "output", "evaluation_log"})
    EXPECT_EQ(result.at(part).at("private"), false) << part;
}

TEST(Release, HoldsPublishablePartsWithFreshNoise) {
  int different = 0;
  for (const char* algorithm :
       {"avdiukhin-2024/dp-sgd", "arora-2023/tree-spider", "tao-2025/ada-dp-spider",
        "gao-wright-2023/short-steps", "wang-xu-2020/dp-trust-region"}) {
    RunSpec spec;
    spec.algorithm = algorithm;
    spec.problem = "cosine-saddle";
    spec.records = 600;
    spec.dimension = 3;
    spec.epsilon = 4;
    spec.observations = 0;
    const Release one = compute_release(describe(spec));
    ASSERT_EQ(json(one).size(), 4U) << algorithm;
    different += one.point != compute_release(describe(spec)).point ? 1 : 0;
    const PrivacyResult& privacy = one.privacy;
    EXPECT_EQ(privacy.label, PrivacyLabel::enforced);
    EXPECT_EQ(privacy.noise, "discrete Gaussian, system entropy");
    EXPECT_EQ(privacy.spent_accountant, "zcdp") << algorithm;
    EXPECT_LE(privacy.spent, 4 * (1 + 1e-9)) << algorithm;
    for (const LedgerRow& row : privacy.ledger.rows) EXPECT_EQ(row.event, "zcdp") << algorithm;
    EXPECT_EQ(one.schedule, compute_run(describe(spec)).schedule) << algorithm;
  }
  EXPECT_GE(different, 3);  // two of them end where they start, at so few records
}

/// A better value of two points would be a function of the records without noise.
TEST(Release, IsWhereNoiseLeadsHoweverBadThatIs) {
  RunSpec spec = one_noisy_step();
  spec.door = Door::enforced;
  spec.epsilon = 1e-3;
  spec.observations = 0;
  std::set<std::vector<double>> seen;
  for (int k = 0; k < 20; ++k) seen.insert(compute_release(describe(spec)).point);
  EXPECT_EQ(seen.size(), 20U);
}

/// Reads a private member, as an author may: naming it in an explicit instantiation is allowed.
StreamKey Stream::*key_of_streams();
template <StreamKey Stream::*member>
struct Reader {
  friend StreamKey Stream::*key_of_streams() { return member; }
};
template struct Reader<&Stream::key_>;

/// Keeps what it finds in the stream that it is given.
class Spy final : public Algorithm {
 public:
  Spy() {
    card_.key = "spy-2027/spy";
    card_.title = "A spy";
  }
  static inline std::optional<StreamKey> found = {};

  const AlgorithmCard& card() const override { return card_; }
  Fields fields() override { return {}; }
  void set_variant(Variant) override {}
  Scheduled schedule(Schedule, const PublicFacts&, const PrivacyBudget& budget,
                     Calibrator calibrator) override {
    return {.rule = filter_rule(budget, calibrator)};
  }
  void check_settings(const PublicFacts&) const override {}
  Outcome run(Curator& curator, Stream stream, Observer&) const override {
    found = stream.*key_of_streams();
    return {.point = curator.facts().initial_point, .status = Status::steps_done};
  }

 private:
  AlgorithmCard card_;
};

/// With the key of its own stream an algorithm could draw the curator's noise again.
TEST(Run, GivesAlgorithmsNoKey) {
  register_algorithm({"spy-2027/spy", [] { return std::make_unique<Spy>(); }});
  RunSpec spec{.algorithm = "spy-2027/spy", .problem = "double-well", .records = 50};
  spec.observations = 0;
  const Stream known({.seed = 3, .run = 5, .path = 7});
  EXPECT_EQ((known.*key_of_streams()).seed, 3U) << "the spy sees a key where there is one";
  for (const bool release : {false, true})
    for (const std::uint64_t seed : {1U, 918273645U}) {
      spec.seed = seed;
      Spy::found.reset();
      if (release)
        compute_release(describe(spec));
      else
        compute_run(describe(spec));
      ASSERT_TRUE(Spy::found);
      EXPECT_EQ(Spy::found->seed, 0U);
      EXPECT_EQ(Spy::found->run, 0U);
      EXPECT_EQ(Spy::found->path, 0U);
    }
}

class Tries final : public RunFollower {
 public:
  void begin(std::optional<Index>) override { ++count; }
  void step(Index, ConstVectorRef, const Objective*) override {}
  void end() override {}
  int count = 0;
};

/// A second try would spend the budget again, and its ledger would not know of the first.
TEST(Release, ThatFailsIsNotTriedAgain) {
  RunSpec spec{.algorithm = "avdiukhin-2024/dp-sgd", .problem = "double-well", .records = 500};
  spec.settings = {{"steps", "1"}, {"selection_share", "0.5"}};
  spec.observations = 0;
  Tries tries;
  EXPECT_THROW(compute_release(describe(spec), {}, tries), RunFailed);
  EXPECT_EQ(tries.count, 1);
}

TEST(Release, RejectsUnenforcedDoorsAndInexactNoise) {
  RunSpec spec = one_noisy_step();
  EXPECT_THROW(compute_release(describe(spec)), InputError);  // no data
  spec.door = Door::enforced;
  EXPECT_NO_THROW(compute_release(describe(spec)));
  spec.calibrator = Calibrator::exact_gaussian;
  EXPECT_THROW(compute_release(describe(spec)), InputError);
  spec = RunSpec{.algorithm = "abadi-2016/dp-sgd", .problem = "cosine-saddle", .records = 600};
  spec.settings = {{"rate", "0.1"}};
  spec.calibrator = Calibrator::rdp;
  spec.noise = NoiseRule::calibrated;
  EXPECT_THROW(compute_release(describe(spec)), InputError);  // secret batches
}

TEST(Run, MeanClippingIsLabelledViolatedAndCostsMore) {
  RunSpec spec = one_noisy_step();
  spec.door = Door::enforced;
  const PrivacyResult sound = compute_run(describe(spec)).privacy;
  spec.door = Door::batch_mean_clip;
  const PrivacyResult printed = compute_run(describe(spec)).privacy;
  EXPECT_EQ(sound.label, PrivacyLabel::enforced);
  EXPECT_EQ(printed.label, PrivacyLabel::violated);
  EXPECT_GT(printed.spent, 10.0 * sound.spent);
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
  const RunDescription d = describe(unclipped_run());
  EXPECT_EQ(d.door, Door::no_clipping);
  const RunResult result = compute_run(d);
  const PrivacyResult& privacy = result.privacy;
  EXPECT_EQ(privacy.label, PrivacyLabel::conditional);
  EXPECT_EQ(privacy.guarantee, std::numeric_limits<double>::infinity());
  EXPECT_LE(privacy.nominal.value(), 1.0);
  EXPECT_EQ(privacy.class_relative.value().epsilon, 1.0);
  EXPECT_EQ(privacy.class_relative.value().delta, 1e-6);
  EXPECT_EQ(result.evaluation_log.unclipped.value().violations, 0);
  EXPECT_LT(result.evaluation_log.unclipped.value().largest_norm_over_nominal, 1.0);
}

// A class-relative statement is made where the ledger bears it out, and there alone.
TEST(Run, UnclippedRunMakesNoClassPromiseOverBudget) {
  RunSpec spec = unclipped_run();
  spec.schedule = Schedule::paper;
  spec.settings["noise_form"] = "naive";
  const PrivacyResult privacy = compute_run(describe(spec)).privacy;
  EXPECT_GT(privacy.nominal.value(), 1.0);
  EXPECT_FALSE(privacy.class_relative);
}

TEST(Run, UnclippedRunIsViolatedIfGradientExceedsBound) {
  RunSpec spec = unclipped_run();
  spec.settings["bound"] = "given";
  spec.settings["clip"] = "0.5";
  const RunResult result = compute_run(describe(spec));
  EXPECT_EQ(result.privacy.label, PrivacyLabel::violated);
  EXPECT_FALSE(result.privacy.nominal);
  EXPECT_FALSE(result.privacy.class_relative);
  EXPECT_GT(result.evaluation_log.unclipped.value().violations, 0);
  EXPECT_EQ(result.evaluation_log.unclipped.value().first_violation, 0);
}

TEST(Run, UnclippedRunMakesNoClassPromiseOnOverriddenSchedule) {
  RunSpec spec = unclipped_run();
  spec.settings["steps"] = "3";
  const PrivacyResult privacy = compute_run(describe(spec)).privacy;
  EXPECT_EQ(privacy.label, PrivacyLabel::conditional);
  EXPECT_FALSE(privacy.class_relative);
}

// Every part that a result may have, over these runs: population, estimates, clipping of none,
// trace.
TEST(RunJson, ReadsBackWhatItWrites) {
  std::set<std::string> parts;
  const auto check = [&](const RunSpec& spec) {
    const RunDescription d = describe(spec);
    EXPECT_EQ(json(d).get<RunDescription>(), d);
    const json written = compute_run(d);
    const std::string text = written.dump();
    EXPECT_EQ(json(json::parse(text).get<RunResult>()).dump(), text);
    for (const auto& [part, value] : written.items()) parts.insert(part);
    for (const char* part : {"filter", "nominal", "class_relative"})
      if (written["privacy"].contains(part)) parts.insert(part);
    for (const char* part : {"estimate_error", "violations", "estimates_out_of_range"})
      if (written["evaluation_log"].contains(part)) parts.insert(part);
  };
  RunSpec spec = one_noisy_step();
  spec.door = Door::enforced;
  spec.observations = 4;
  spec.dimension.reset();
  check(spec);
  check(unclipped_run());
  spec = {.algorithm = "ganesh-2023/stochastic-spider", .problem = "cosine-saddle"};
  spec.records = 2000;
  spec.dimension = 4;
  spec.data_seed = 3;
  check(spec);
  for (const char* part : {"algorithm", "schedule", "privacy", "start", "origin", "output",
                           "evaluation_log", "point", "trace", "best", "population", "filter",
                           "nominal", "class_relative", "estimate_error", "violations"})
    EXPECT_TRUE(parts.contains(part)) << part;
}

TEST(RunJson, WritesWhatIsNotFinite) {
  RunResult r;
  r.output.sosp_level = std::numeric_limits<double>::infinity();
  r.privacy.ledger.rows = {LedgerRow{.scope = "/", .query = "q", .batch = "all", .count = 2},
                           LedgerRow{.scope = "/",
                                     .query = "q",
                                     .batch = "fresh",
                                     .count = 1,
                                     .event = "gaussian",
                                     .event_parameters = {{"sensitivity_ratio", 0.5}},
                                     .records_end = 7,
                                     .batch_sizes = {1, 2},
                                     .pure = true,
                                     .delta_extra = 1e-9}};
  r.privacy.ledger.further = 3;
  const json written = json::parse(json(r).dump());
  EXPECT_EQ(written["output"]["sosp_level"], "inf");
  EXPECT_EQ(written["output"]["value"], "nan");
  EXPECT_EQ(written["privacy"]["ledger"]["entries"][0]["event"], "no finite cost");
  EXPECT_EQ(written.get<RunResult>().privacy, r.privacy);
}

TEST(RunJson, RejectsWhatIsNoResult) {
  const json good = RunResult();
  for (const auto& [place, value] : {std::pair<const char*, json>{"/algorithm/status", "done"},
                                     {"/algorithm/steps", "many"},
                                     {"/privacy", json::array()},
                                     {"/output/value", nullptr},
                                     {"/output/method", 3}}) {
    json bad = good;
    bad[json::json_pointer(place)] = value;
    EXPECT_ANY_THROW(bad.get<RunResult>()) << place;
  }
  EXPECT_NO_THROW(good.get<RunResult>());
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

TEST(Run, OnSimulatedRecordsHasALabelOfItsOwnAndWhatRecordsWouldHave) {
  RunSpec spec = scheduled_run();
  spec.settings = {{"steps", "5"}};
  const PrivacyResult simulated = compute_run(describe(spec)).privacy;
  EXPECT_EQ(simulated.label, PrivacyLabel::simulated);
  spec.problem_settings.erase("sampling");
  PrivacyResult on_data = compute_run(describe(spec)).privacy;
  EXPECT_EQ(on_data.label, PrivacyLabel::enforced);
  on_data.label = PrivacyLabel::simulated;
  EXPECT_EQ(simulated, on_data) << "guarantee, filter, ledger and what is spent";
}

// Less noise than a budget asks is less noise on any records.
TEST(Run, OfAControlOnSimulatedRecordsIsLabelledAsOnRecords) {
  RunSpec spec = scheduled_run();
  spec.settings = {{"steps", "2"}};
  spec.door = Door::no_noise;
  EXPECT_EQ(compute_run(describe(spec)).privacy.label, PrivacyLabel::none);
  spec.door = Door::no_data;
  EXPECT_EQ(compute_run(describe(spec)).privacy.label, PrivacyLabel::none);
  spec = unclipped_run();
  spec.problem_settings = {{"sampling", "whole"}};
  spec.records = 1'000'000;
  spec.settings["steps"] = "2";
  EXPECT_EQ(compute_run(describe(spec)).privacy.label, PrivacyLabel::conditional);
}

TEST(Run, ReleasesNothingOfSimulatedRecords) {
  try {
    compute_release(describe(scheduled_run()));
    FAIL();
  } catch (const InputError& refusal) {
    EXPECT_STREQ(refusal.what(), "release: the records are simulated, expected records in memory");
  }
}

TEST(Run, ToldConstantChangesScheduleButNotGuarantee) {
  const RunResult as_proved = compute_run(describe(scheduled_run()));
  RunSpec spec = scheduled_run();
  spec.problem_settings["told.suboptimality"] = "0.0625";
  const RunResult told = compute_run(describe(spec));
  EXPECT_LT(told.algorithm.steps, as_proved.algorithm.steps);
  EXPECT_EQ(json(told.start), json(as_proved.start));
  EXPECT_EQ(told.privacy.label, PrivacyLabel::simulated);
  EXPECT_LE(told.privacy.spent, spec.epsilon);
  EXPECT_GT(as_proved.schedule.alpha, 0.0);
  EXPECT_EQ(told.schedule.alpha, 0.0) << "a belief promises nothing";
}

TEST(Run, TellingTrueConstantKeepsDescription) {
  RunSpec spec = scheduled_run();
  const RunDescription plain = describe(spec);
  spec.problem_settings["told.smoothness"] = "1";
  EXPECT_EQ(describe(spec), plain);
  spec.problem_settings["told.smoothness"] = "2";
  EXPECT_NE(describe(spec), plain);
}

TEST(Run, RejectsInvalidToldConstants) {
  for (const auto& [name, value] :
       {std::pair{"told.suboptimality", "0"}, std::pair{"told.suboptimality", "-1"},
        std::pair{"told.suboptimality", "nan"}, std::pair{"told.smoothness", "inf"},
        std::pair{"told.smothness", "1"}}) {
    RunSpec spec = scheduled_run();
    spec.problem_settings[name] = value;
    EXPECT_THROW(describe(spec), InputError) << name << " = " << value;
  }
}

TEST(Run, ScheduledParametersMatchTheRun) {
  RunSpec spec = scheduled_run();
  EXPECT_EQ(scheduled_parameters(describe(spec)), compute_run(describe(spec)).algorithm.parameters);
  spec.algorithm = "menart-2024/kl-spider";  // cosine-saddle states no KL constants
  EXPECT_THROW(scheduled_parameters(describe(spec)), InputError);
  EXPECT_THROW(compute_run(describe(spec)), InputError);
}

}  // namespace
}  // namespace dpsosp::run_test
