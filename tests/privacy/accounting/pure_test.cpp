// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "near.hpp"

namespace dpsosp::pure_test {
namespace {

TEST(Pure, RdpMatchesKnownValues) {
  EXPECT_TRUE(relative(laplace_rdp(2, 1), 0.61912363, 1e-8));
  EXPECT_TRUE(relative(pure_rdp(2, 1), 0.7353256641, 1e-10));
  EXPECT_TRUE(relative(pure_rdp(4, 0.5), 0.3518911447, 1e-10));
}

// D_a(P ‖ Q) of two distributions on two points
double two_points(double order, double p, double q) {
  return std::log(p * std::pow(p / q, order - 1) +
                  (1 - p) * std::pow((1 - p) / (1 - q), order - 1)) /
         (order - 1);
}

TEST(Pure, BoundIsAttainedByRandomisedResponse) {
  for (const double epsilon : {0.1, 1.0, 4.0})
    for (const double order : {1.5, 2.0, 10.0}) {
      const double p = 1 / (1 + std::exp(-epsilon));
      EXPECT_TRUE(relative(pure_rdp(order, epsilon), two_points(order, p, 1 - p), 1e-12));
    }
}

// Losses t and t − ε: the extreme pairs of a mechanism whose loss has range ε.
TEST(Exponential, BoundHoldsForAllTwoPointLosses) {
  for (const double epsilon : {0.1, 1.0, 3.0})
    for (const double order : {1.2, 2.0, 5.0, 20.0}) {
      double highest = 0;
      for (int i = 1; i < 200; ++i) {
        const double t = epsilon * i / 200;
        const double p = std::expm1(epsilon - t) / (std::exp(epsilon - t) - std::exp(-t));
        highest = std::max(highest, two_points(order, p, p * std::exp(-t)));
      }
      EXPECT_LE(highest, exponential_rdp(order, epsilon));
      EXPECT_GT(highest, exponential_rdp(order, epsilon) / 2);  // and is within a factor of two
    }
}

TEST(Exponential, DivergenceIsContinuousAtFormulaSwitch) {
  EXPECT_TRUE(relative(exponential_rdp(1.5, 0.05 - 1e-12), exponential_rdp(1.5, 0.05), 1e-10));
  EXPECT_EQ(exponential_rdp(2, 800), 800);  // e^800 overflows, the bound does not
}

TEST(Pure, BoundsAreOrderedAndBelowZcdp) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_epsilon, std::uint16_t raw_order) {
    const double epsilon = log_uniform(raw_epsilon, 1e-6, 100);
    const double order = 1 + log_uniform(raw_order, 0.01, 1000);
    const double pure = pure_rdp(order, epsilon);
    const double laplace = laplace_rdp(order, epsilon);
    const double exponential = exponential_rdp(order, epsilon);
    RC_ASSERT(laplace <= pure * (1 + 1e-9));
    RC_ASSERT(pure <= epsilon * (1 + 1e-12));
    RC_ASSERT(pure <= order * epsilon * epsilon / 2 * (1 + 1e-9));
    RC_ASSERT(laplace <= order * zcdp(LaplaceEvent{epsilon}).value() * (1 + 1e-9) + 1e-300);
    RC_ASSERT(exponential <= order * epsilon * epsilon / 8 * (1 + 1e-9));
    RC_ASSERT(exponential <= epsilon);
  }));
}

TEST(Pure, EpsilonZeroIsFree) {
  for (const Event& event : {Event{LaplaceEvent{0}}, Event{PureEvent{0}},
                             Event{ExponentialEvent{0}}, Event{ZcdpEvent{0}}})
    EXPECT_EQ(rdp(event, 3, Adjacency::replace_one), 0);
}

TEST(Exponential, MatchesKnownProbabilitiesAndCharge) {
  const std::array scores{0.0, 1.0, 2.0};
  double sum = 0;
  for (const double u : scores) sum += std::exp(u / 2);
  EXPECT_TRUE(relative(1 / sum, 0.1863237232, 1e-9));
  EXPECT_EQ(zcdp(ExponentialEvent{1}), 0.125);
}

}  // namespace
}  // namespace dpsosp::pure_test
