// SPDX-License-Identifier: Apache-2.0
// Record and replay on every algorithm, and on planted bugs.
#include <algorithm>

#include <gtest/gtest.h>

#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "subjects/instances.hpp"
#include "subjects/mechanisms.hpp"
#include "noise/noise_check.hpp"
#include "subjects/plants.hpp"
#include "subjects/stand_ins.hpp"

namespace dpsosp::replay_test {
namespace {

using namespace audit;

std::string failures(const ReplayAudit& audit) {
  std::string text;
  for (const CheckLine& line : audit.checks)
    if (!line.passed) text.append(line.property).append(": ").append(line.detail).append("\n");
  return text;
}

std::string name_of(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

class EveryClaim : public testing::TestWithParam<std::string> {};

TEST_P(EveryClaim, SurvivesReplayAndIsTight) {
  const ReplayAudit audit = audit_replay(GetParam(), {.most_instances = 12});
  EXPECT_EQ(failures(audit), "");
  EXPECT_GT(audit.answers, 0);
  EXPECT_GT(audit.attained, 0.999);  // the attacker reaches what is charged for
  EXPECT_LE(audit.attained, 1 + 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryClaim, testing::ValuesIn(audited_algorithms()),
                         [](const auto& p) { return name_of(p.param); });

class EveryPlant : public testing::TestWithParam<AuditPlant> {};

TEST_P(EveryPlant, IsCaughtInItsHost) {
  const AuditPlant& plant = GetParam();
  if (plant.name == "choice-half-noise") {  // takes thousands of choices
    EXPECT_TRUE(audit_statistics(plant.host, {.runs = 1000, .power = false}, plant.name).falsified);
    return;
  }
  const ReplayAudit audit = audit_replay(plant.host, {.plant = plant.name, .until_caught = true});
  EXPECT_FALSE(audit.passed);
  EXPECT_GT(audit.first_caught, 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPlant, testing::ValuesIn(audit_plants()),
                         [](const auto& p) { return name_of(p.param.name); });

/// Random numbers from words that are not theirs have the right law: they are seen where they are
/// drawn again.
class EveryPlantOfWords : public EveryPlant {};

TEST_P(EveryPlantOfWords, IsSeenByDrawingAgain) {
  const PlantEntry& plant = find_plant(GetParam().name);
  const std::vector<Subject> subjects = replay_subjects(plant.host);
  const Subject& subject = subjects.back();  // where sampling is chosen, by Poisson's
  const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
  const std::uint64_t seed = (std::uint64_t{1} << 31U) + 3;
  EXPECT_EQ(record(subject, records, seed, Plant::none).other_noise, "");
  EXPECT_NE(record(subject, records, seed, plant.plant).other_noise, "");
}

std::vector<AuditPlant> plants_of_words() {
  std::vector<AuditPlant> all = audit_plants();
  std::erase_if(
      all, [](const AuditPlant& p) { return find_plant(p.name).plant < Plant::choice_of_noise; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPlantOfWords, testing::ValuesIn(plants_of_words()),
                         [](const auto& p) { return name_of(p.param.name); });

TEST(Replay, RepeatsRunOfSameRecord) {
  const std::vector<Subject> subjects = replay_subjects("wang-xu-2020/dp-trust-region");
  ASSERT_FALSE(subjects.empty());
  const Subject& subject = subjects.front();
  const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
  const Recorded first = record(subject, records, 3, Plant::none);
  const Replayed second = replay(subject, first, records, 3, Plant::none);
  EXPECT_EQ(second.difference, "");
  EXPECT_EQ(second.charge_difference, "");
  EXPECT_TRUE(first.shown == second.shown);
  ASSERT_EQ(second.answers.size(), first.transcript.size());
  for (std::size_t k = 0; k < second.answers.size(); ++k)
    EXPECT_EQ(second.answers[k], first.transcript[k].answer);
}

TEST(Replay, RunsDivergeWithoutFrozenReleases) {
  const std::vector<Subject> subjects = replay_subjects("wang-ye-xu-2017/dp-gd");
  ASSERT_FALSE(subjects.empty());
  const Subject& subject = subjects.front();
  const auto run = [&](double size) {
    const Neighbour records(*subject.problem->records, 0,
                            saturating(*subject.problem->records, size));
    return record(subject, records, 3, Plant::none);
  };
  EXPECT_FALSE(run(100.0).shown == run(-100.0).shown);
}

void expect_same_run_without_audit(const Subject& subject) {
  const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
  const Recorded audited = record(subject, records, 5, Plant::none);
  Curator curator(subject.problem->facts, records, subject.rule,
                  {.seed = 5, .run = subject.stream});
  struct Quiet final : Observer {
    void iterate(Index, ConstVectorRef) override {}
  } quiet;
  const Outcome outcome = subject.algorithm->run(curator, stream_of(subject, 5), quiet);
  const auto point = audited.shown.result.at("point").get<std::vector<double>>();
  EXPECT_TRUE(std::ranges::equal(outcome.point, point)) << subject.name;
  EXPECT_EQ(curator.ledger().queries(), audited.ledger.queries());
  EXPECT_EQ(curator.label(), PrivacyLabel::conditional);  // the neighbour adds its sums itself
}

/// The curator that anybody uses answers as the audited one: an auditor that only looks changes no
/// bit.
TEST(AuditedCurator, AnswersAsPlainCurator) {
  for (const Subject& subject : replay_subjects("ganesh-2023/stochastic-spider"))
    expect_same_run_without_audit(subject);
}

/// Every question, also of children and with exact noise.
TEST(AuditedCurator, ReleasesBitsOfPlainCuratorInEveryMechanism) {
  for (const std::string& key : mechanism_keys())
    for (const Subject& subject : replay_subjects(key)) {
      if (subject.problem->facts.records < 3 || subject.problem->facts.records == 10) continue;
      const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
      const Recorded audited = record(subject, records, 5, Plant::none);
      EXPECT_TRUE(unwatched(subject, records, 5) == audited.shown) << key << ' ' << subject.name;
      EXPECT_GT(audited.shown.observed.size(), 4U) << key << ' ' << subject.name;
    }
}

TEST(AuditedCurator, AnswersAsPlainCuratorInEveryDimension) {
  for (const Index d : {1, 31, 32, 40, 300, 1000}) {
    Subject subject;
    subject.name = std::to_string(d);
    subject.problem = std::make_shared<const Problem>(
        find_problem("double-well")->make({.records = 40, .dimension = d, .seed = 3}));
    subject.algorithm = find_audited("wang-ye-xu-2017/dp-gd");
    subject.rule =
        subject.algorithm
            ->schedule(Schedule::practical, subject.problem->facts, {1, 1e-6}, Calibrator::cks)
            .rule;
    expect_same_run_without_audit(subject);
  }
}

TEST(AuditedCurator, HasPrivacyLabelNone) {
  const Subject subject = fast_subject("wang-ye-xu-2017/dp-gd", {8, 1e-6});
  const Neighbour records(*subject.problem->records, 0, one_of(*subject.problem->records, 0));
  Recorder recorder(records);
  ClipLog log;
  AuditedCurator curator(subject.problem->facts, records, subject.rule, {.seed = 1}, recorder, log);
  EXPECT_EQ(curator.label(), PrivacyLabel::none);
}

TEST(Audit, RejectsUnknownNamesAndBadOptions) {
  EXPECT_THROW(audit_replay("no-such/algorithm"), InputError);
  EXPECT_THROW(audit_replay("reference/sgd"), InputError);
  EXPECT_THROW(audit_replay("wang-ye-xu-2017/dp-gd", {.plant = "no-such-bug"}), InputError);
  EXPECT_THROW(audit_statistics("reference/sgd", {}), InputError);
  EXPECT_THROW(audit_statistics("wang-ye-xu-2017/dp-gd", {.runs = 7}), InputError);
}

/// Answers of known noise, as a transcript.
Transcript with_noise(double deviation, double claimed, int answers) {
  Stream stream({.seed = 2, .purpose = Purpose::test});
  Transcript transcript;
  for (int k = 0; k < answers; ++k) {
    Exchange e;
    e.what.deviation = claimed;
    e.answer = Vector::Ones(5);
    e.noisy = e.answer;
    stream.add_normal(deviation, e.noisy);
    transcript.push_back(e);
  }
  return transcript;
}

TEST(NoiseCheck, AcceptsChargedNoiseAndRejectsTenPercentLess) {
  NoiseCheck right, less, again;
  const Stream algorithm({.seed = 9, .purpose = Purpose::algorithm});
  right.see(with_noise(2.0, 2.0, 1000), algorithm);
  EXPECT_EQ(right.complaint(), "");
  less.see(with_noise(1.8, 2.0, 1000), algorithm);
  EXPECT_NE(less.complaint(), "");
  Transcript repeated = with_noise(2.0, 2.0, 10);
  repeated[7].noisy = repeated[3].noisy;
  again.see(repeated, algorithm);
  EXPECT_NE(again.complaint().find("again"), std::string::npos);
}

}  // namespace
}  // namespace dpsosp::replay_test
