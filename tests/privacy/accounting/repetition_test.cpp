// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/repetition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/accounting/conversion.hpp"
#include "near.hpp"

namespace dpsosp::repetition_test {
namespace {

struct Row {
  double rho, delta, mean, gamma, epsilon;
};
/// To 40 digits, by the formulas of the theorem.
constexpr Row known[] = {{0.01, 1e-6, 1, 1, 0.6216926545596},
                         {0.01, 1e-6, 2, 0.2846681370408, 0.8571195555759},
                         {0.0243559703595, 1e-6, 16, 0.01456267671558, 1.742351445997},
                         {0.5, 1e-5, 64, 0.002621867068989, 8.534538416457},
                         {2, 1e-6, 1.5, 0.46641076608, 12.6118262257},
                         {2, 1e-6, 3, 0.1489992965125, 14.02183713345}};

TEST(Repetition, MatchesKnownValues) {
  for (const Row& r : known)
    EXPECT_TRUE(relative(repetition_epsilon(r.rho, r.delta, r.mean), r.epsilon, 1e-11));
}

/// Theorem 2 of Papernot & Steinke word for word, over grids of λ and λ̂: never below, and near.
TEST(Repetition, IsTheLeastOfTheTheoremOverItsOrders) {
  for (const Row& r : known) {
    if (r.mean == 1) continue;
    EXPECT_TRUE(relative((1 / r.gamma - 1) / std::log(1 / r.gamma), r.mean, 1e-9));
    double hat = std::numeric_limits<double>::infinity(), least = hat;
    constexpr int points = 20000;
    for (int k = 0; k <= points; ++k) {
      const double order = 1 + std::pow(10.0, -6 + 9.0 * k / points);
      hat = std::min(hat, (1 - 1 / order) * r.rho * order + std::log(1 / r.gamma) / order);
    }
    for (int k = 0; k <= points; ++k) {
      const double order = 1 + std::pow(10.0, -2 + 6.0 * k / points);
      const double rdp = r.rho * order + hat + std::log(r.mean) / (order - 1);
      least =
          std::min(least, rdp + std::log1p(-1 / order) - std::log(r.delta * order) / (order - 1));
    }
    const double epsilon = repetition_epsilon(r.rho, r.delta, r.mean);
    EXPECT_LE(epsilon, least * (1 + 1e-12));
    EXPECT_TRUE(relative(epsilon, least, 1e-5));
  }
}

TEST(Repetition, OfOneRunCostsNothing) {
  for (const double rho : {1e-6, 0.01, 3.0}) {
    EXPECT_EQ(repetition_epsilon(rho, 1e-6, 1),
              epsilon_from_rho(rho, 1e-6, Conversion::cks).epsilon);
    EXPECT_EQ(rho_for_repetition(1, 1e-6, 1), rho_for(1, 1e-6, Conversion::cks));
  }
  EXPECT_TRUE(relative(repetition_epsilon(0.01, 1e-6, 1 + 1e-9),
                       epsilon_from_rho(0.01, 1e-6, Conversion::cks).epsilon, 1e-4));
}

TEST(Repetition, CostsMoreTheMoreRunsAndLessThanAllOfThem) {
  for (const double rho : {1e-4, 0.02, 1.0}) {
    double before = 0;
    for (const double mean : {1.0, 1.01, 2.0, 4.0, 16.0, 64.0, 1024.0}) {
      const double epsilon = repetition_epsilon(rho, 1e-6, mean);
      EXPECT_GT(epsilon, before);
      before = epsilon;
      if (mean >= 4) {
        EXPECT_LT(epsilon, epsilon_from_rho(rho * mean, 1e-6, Conversion::cks).epsilon);
      }
    }
  }
}

TEST(Repetition, BudgetIsInverse) {
  for (const double epsilon : {0.1, 1.0, 8.0})
    for (const double mean : {2.0, 16.0, 256.0}) {
      const double rho = rho_for_repetition(epsilon, 1e-6, mean);
      EXPECT_LE(repetition_epsilon(rho, 1e-6, mean), epsilon);
      EXPECT_GT(repetition_epsilon(rho * (1 + 1e-9), 1e-6, mean), epsilon);
    }
}

TEST(Repetition, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(repetition_epsilon(-1, 1e-6, 2), InputError);
  EXPECT_THROW(repetition_epsilon(0.1, 0, 2), InputError);
  EXPECT_THROW(repetition_epsilon(0.1, 1e-6, 0.5), InputError);
  EXPECT_THROW(rho_for_repetition(0, 1e-6, 2), InputError);
}

}  // namespace
}  // namespace dpsosp::repetition_test
