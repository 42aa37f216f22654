// SPDX-License-Identifier: Apache-2.0
// The long form: every instance and pair of every algorithm, and attacks with many runs.
#include <gtest/gtest.h>

#include "bounds.hpp"
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

TEST(Audit, CatchesEveryPlantedBug) {
  for (const PlantJob& job : audit_jobs({reproductions().catalogue, Scale::quick}).plants)
    EXPECT_TRUE(audit_plant(job).caught) << job.plant;
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
