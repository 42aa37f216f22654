// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/gaussian.hpp"

#include <rapidcheck.h>

#include "dpsosp/core/errors.hpp"
#include "near.hpp"

namespace dpsosp::gaussian_test {
namespace {

double classical_noise(double epsilon, double delta) {
  return std::sqrt(2 * std::log(1.25 / delta)) / epsilon;
}

TEST(Gaussian, DeltaMatchesKnownValues) {
  EXPECT_TRUE(relative(gaussian_delta(1, 1), 0.126936737507, 1e-11));
  EXPECT_TRUE(relative(gaussian_delta(0.5, 0.3), 0.00757348058546, 1e-11));
  EXPECT_TRUE(relative(gaussian_delta(0, 1), 0.382924922548, 1e-11));
}

TEST(Gaussian, DeltaAtEpsilonZeroEqualsTotalVariation) {
  for (const double mu : {1e-12, 1e-6, 1e-3, 0.3, 1.0, 1.001, 5.0, 30.0})
    EXPECT_TRUE(relative(gaussian_delta(0, mu), std::erf(mu / (2 * std::sqrt(2.0))), 1e-13)) << mu;
}

TEST(Gaussian, DeltaIsContinuousAtFormulaSwitch) {
  for (const double epsilon : {0.0, 0.1, 0.5, 1.0, 8.0, 20.0})
    EXPECT_TRUE(relative(gaussian_delta(epsilon, 1 + 1e-13), gaussian_delta(epsilon, 1), 1e-10))
        << epsilon;
}

TEST(Gaussian, DeltaIsAccurateAtExtremes) {
  EXPECT_TRUE(relative(gaussian_delta(1, 1.0 / 20), 1.129033227097697e-91, 1e-11));
  EXPECT_EQ(gaussian_delta(5000, 1), 0);
  EXPECT_GT(gaussian_delta(5000, 200), 0.99);  // e^5000 is never formed
}

TEST(Gaussian, NoiseForBudgetMatchesKnownValues) {
  struct Row {
    double epsilon, delta, noise, classical;
  };
  for (const Row& row :
       {Row{0.1, 1e-6, 36.3046904262, 52.9880252685}, Row{0.5, 1e-5, 7.03182667558, 9.68961052521},
        Row{1, 1e-5, 3.73063163482, 4.84480526261}, Row{4, 1e-5, 1.08116184952, 1.21120131565},
        Row{10, 1e-6, 0.541086831818, 0.529880252685}}) {
    EXPECT_TRUE(relative(1 / gaussian_mu_for(row.epsilon, row.delta), row.noise, 1e-11));
    EXPECT_TRUE(relative(classical_noise(row.epsilon, row.delta), row.classical, 1e-11));
  }
}

// The negative control of the row above: the textbook formula is not private at epsilon = 10.
TEST(Gaussian, ClassicalFormulaFailsAboveEpsilonOne) {
  EXPECT_LT(gaussian_delta(1, 1 / classical_noise(1, 1e-5)), 1e-5);
  EXPECT_TRUE(relative(gaussian_delta(10, 1 / classical_noise(10, 1e-6)), 1.90e-6, 2e-3));
}

TEST(Gaussian, EpsilonAndMuErrOnSafeSide) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_mu, std::uint16_t raw_delta) {
    const double mu = log_uniform(raw_mu, 1e-3, 20);
    const double delta = log_uniform(raw_delta, 1e-90, 0.5);
    const double epsilon = gaussian_epsilon(delta, mu);
    RC_ASSERT(gaussian_delta(epsilon, mu) <= delta);
    if (epsilon > 0) {
      RC_ASSERT(gaussian_delta(epsilon * (1 - 1e-8), mu) > delta);
      RC_ASSERT(agrees(gaussian_mu_for(epsilon, delta), mu, 1e-9));
    }
  }));
}

TEST(Gaussian, IsAccurateForTinyMu) {
  // 40-digit values of epsilon at (mu, delta)
  EXPECT_TRUE(relative(gaussian_epsilon(1e-11, 1e-8), 2.7178055194e-08, 1e-9));
  EXPECT_TRUE(relative(gaussian_epsilon(1e-19, 1e-16), 2.7178e-16, 1e-4));
  EXPECT_TRUE(relative(gaussian_epsilon(1e-23, 1e-20), 2.7178e-20, 1e-4));
  // Both forms meet where they change.
  EXPECT_TRUE(relative(gaussian_delta(1e-4, 0.99999e-4), gaussian_delta(1e-4, 1.00001e-4), 1e-4));
}

TEST(Gaussian, RejectsBadArguments) {
  EXPECT_THROW(gaussian_delta(-1, 1), InputError);
  EXPECT_THROW(gaussian_delta(1, std::nan("")), InputError);
  EXPECT_THROW(gaussian_epsilon(0, 1), InputError);
  EXPECT_THROW(gaussian_epsilon(1, 1), InputError);
  EXPECT_THROW(gaussian_mu_for(1, 1.5), InputError);
}

}  // namespace
}  // namespace dpsosp::gaussian_test
