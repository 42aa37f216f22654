// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/smith_2027/normalised_momentum.hpp"

#include <gtest/gtest.h>

#include "runs.hpp"

namespace dpsosp::normalised_momentum_test {
namespace {

TEST(NormalisedMomentum, MovesByTheStepLength) {
  const Problem p = test::small_problem("glm-logistic", 200);
  smith_2027::NormalisedMomentum method;
  method.schedule(Schedule::practical, p.facts, {1, 1e-6}, Calibrator::cks);
  method.parameters.steps = 20;
  const auto run = test::run_unsound(method, p.facts, *p.records, test::no_noise);
  ASSERT_EQ(run.iterates.size(), 20U);
  for (std::size_t t = 1; t < run.iterates.size(); ++t)
    EXPECT_NEAR((run.iterates[t] - run.iterates[t - 1]).norm(), method.parameters.step_size, 1e-12);
}

}  // namespace
}  // namespace dpsosp::normalised_momentum_test
