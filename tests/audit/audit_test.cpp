// SPDX-License-Identifier: Apache-2.0
// The long form: every instance and pair of every algorithm, and attacks with many runs.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "likelihood/bounds.hpp"
#include "dpsosp/audit/audit.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/reproductions/reproductions.hpp"

namespace dpsosp::audit_test {
namespace {

TEST(Audit, FalsifiesNoClaimAtQuickScale) {
  for (const AuditJobs::OfAlgorithm& a :
       audit_jobs({reproductions().catalogue, Scale::quick}).algorithms) {
    SCOPED_TRACE(a.algorithm);
    const ReplayAudit replay = audit_replay(a.replay);
    EXPECT_TRUE(replay.passed) << write_json(replay.checks).dump(2);
    EXPECT_FALSE(audit_statistics(a.statistics).falsified);
  }
}

TEST(Audit, FindsWhatAllRestsOnRightAtQuickScale) {
  for (const CommonJob& job : audit_jobs({reproductions().catalogue, Scale::quick}).common) {
    const CheckLine line = audit_common(job);
    EXPECT_TRUE(line.passed) << job.check << ": " << line.detail;
  }
}

TEST(Audit, CatchesEveryPlantedBug) {
  for (const PlantJob& job : audit_jobs({reproductions().catalogue, Scale::quick}).plants)
    EXPECT_TRUE(audit_plant(job).caught) << job.plant;
}

/// The whole audit, over 200 seeds: each of its tests has a level of 1e-6, of which there are
/// thousands, so that one alarm in all of them is within chance.
TEST(Audit, OfEveryClaimRaisesAtMostOneAlarmOver200Seeds) {
  constexpr std::uint32_t seeds = 200;
  std::vector<std::string> alarms;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const AuditJobs jobs = audit_jobs({reproductions().catalogue, Scale::smoke}, seed);
    for (const CommonJob& job : jobs.common)
      if (const CheckLine line = audit_common(job); !line.passed)
        alarms.push_back(fmt::format("{}, seed {}: {}", job.check, seed, line.detail));
    for (const AuditJobs::OfAlgorithm& a : jobs.algorithms) {
      const ReplayAudit replay = audit_replay(a.replay);
      for (const CheckLine& line : replay.checks)
        if (!line.passed)
          alarms.push_back(
              fmt::format("{}, seed {}: {}: {}", a.algorithm, seed, line.property, line.detail));
      const StatisticalAudit statistics = audit_statistics(a.statistics);
      if (statistics.falsified)
        alarms.push_back(
            fmt::format("{}, seed {}: falsified {}", a.algorithm, seed, statistics.law));
    }
    // An hour and more: whoever ends it knows how far it was.
    std::cout << fmt::format("{} seeds, {} alarms", seed, alarms.size()) << std::endl;
  }
  EXPECT_LE(alarms.size(), 1U) << fmt::format("{}", fmt::join(alarms, "\n"));
}

/// Where the charge is tight, a true claim is falsified no more often than stated.
TEST(Audit, RaisesFalseAlarmsAtMostAsStated) {
  const double mu = 1.5, confidence = 0.9;
  audit::Claim claim({{GaussianEvent{1.0 / mu}, 1}});
  constexpr int audits = 2000;
  int alarms = 0;
  for (int k = 0; k < audits; ++k) {
    Stream stream({.seed = static_cast<std::uint64_t>(k), .purpose = Purpose::test});
    std::vector<double> one(200), two(200);
    for (std::size_t i = 0; i < one.size(); ++i) {
      one[i] = stream.normal() + 0.5 * mu;
      two[i] = stream.normal() - 0.5 * mu;
    }
    alarms += claim.falsified_by(audit::error_rates(one, two, confidence)) ? 1 : 0;
  }
  EXPECT_LT(alarms, 0.1 * audits);
}

}  // namespace
}  // namespace dpsosp::audit_test
