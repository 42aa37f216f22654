// SPDX-License-Identifier: Apache-2.0
// The accounting vectors of avdiukhin-2024 notes, 8, and the cost of the paper's printed noise.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/privacy/accounting/calibration.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"

namespace dpsosp::avdiukhin_2024::avdiukhin_accounting_test {
namespace {

constexpr double C_well = 2.616227428;  // 2√(L f_max) + σ of the double well

void expect_digits(double actual, double expected, double relative = 1e-6) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

/// The orders of avdiukhin-2024 notes, 3.2.
AccountOptions options() {
  AccountOptions o{.accountant = Accountant::rdp, .orders = integer_orders(2, 64)};
  for (const double a : {72, 80, 96, 128, 160, 192, 256, 320, 384, 512}) o.orders.push_back(a);
  return o;
}

/// z = ΔB/C of `steps` Poisson steps.
double solved(double rate, std::int64_t steps, Adjacency adjacency, PrivacyBudget budget) {
  return smallest_noise_multiplier(
      [&](double z) {
        return std::vector<CountedEvent>{{PoissonGaussianEvent{rate, z}, steps}};
      },
      adjacency, budget.epsilon, budget.delta, options());
}

// avdiukhin-2024 notes, 8
TEST(AvdiukhinAccountant, MatchesReferenceRenyiBounds) {
  for (const auto& [a, value] : std::map<double, double>{{2, 1.71813422075e-4},
                                                         {3, 2.64637574585e-4},
                                                         {4, 3.63154048911e-4},
                                                         {8, 8.93643907606e-4},
                                                         {16, 3.0878507837},
                                                         {32, 11.246275937}})
    expect_digits(poisson_gaussian_rdp(a, 0.01, 1), value);
  expect_digits(poisson_gaussian_rdp(2, 0.01, 1), std::log1p(1e-4 * std::expm1(1.0)));
  expect_digits(poisson_gaussian_rdp(5, 1, 2), 0.625, 1e-14);
  for (const auto& [a, value] : std::map<double, double>{
           {2, 3.953118857e-4}, {4, 9.689074616e-4}, {8, 1.016182743}, {16, 7.613116104}})
    expect_digits(poisson_gaussian_rdp(a, 0.01024, 0.8), value);
  expect_digits(weak_triangle_rdp(2, 0.01, 1), 8.09368647951e-4);
  expect_digits(weak_triangle_rdp(4, 0.01, 1), 1.75623101397e-3);
  expect_digits(weak_triangle_rdp(2, 0.01, 4), 2.905398983e-5);
  expect_digits(weak_triangle_rdp(4, 0.01, 4), 5.286251976e-5);
  expect_digits(weak_triangle_rdp(16, 0.01, 4), 2.106778041e-4);
}

// avdiukhin-2024 notes, 8
TEST(AvdiukhinAccountant, MatchesReferenceConversions) {
  const std::vector<CountedEvent> events{{PoissonGaussianEvent{256.0 / 60000, 1.1}, 14062}};
  const Guarantee sharp = epsilon_of(events, Adjacency::add_remove, 1e-5, options());
  expect_digits(sharp.epsilon, 2.596981179);
  EXPECT_EQ(sharp.order, 8.0);
  AccountOptions classical = options();
  classical.conversion = Conversion::bs;
  const Guarantee loose = epsilon_of(events, Adjacency::add_remove, 1e-5, classical);
  expect_digits(loose.epsilon, 3.009099526);
  EXPECT_EQ(loose.order, 9.0);
  const Guarantee replaced = epsilon_of(events, Adjacency::replace_one, 1e-5, options());
  expect_digits(replaced.epsilon, 5.803975177);
  EXPECT_EQ(replaced.order, 5.0);
}

// avdiukhin-2024 notes, 8 and the table of avdiukhin-2024 notes, 3.2
TEST(AvdiukhinAccountant, MatchesNoiseMultipliersOfTables) {
  constexpr double rate = 512.0 / 50000;
  constexpr std::int64_t T = 2328;
  const double epsilon[]{0.125, 1, 8};
  const double added[]{5.22833, 1.29800, 0.57490};
  const double replaced[]{10.3714, 2.31414, 0.80332};
  const double small_delta[]{27.4665, 4.10324, 0.97782};
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(solved(rate, T, Adjacency::add_remove, {epsilon[k], 1e-2}), added[k], 1e-4);
    EXPECT_NEAR(solved(rate, T, Adjacency::replace_one, {epsilon[k], 1e-2}), replaced[k], 1e-4);
    EXPECT_NEAR(solved(rate, T, Adjacency::replace_one, {epsilon[k], 1e-5}), small_delta[k], 1e-4);
  }
  expect_digits(solved(327.0 / 10000, 3882, Adjacency::add_remove, {1, 1e-5}), 8.30296653);
  expect_digits(solved(327.0 / 10000, 3882, Adjacency::replace_one, {1, 1e-5}), 16.5381231);
  // Δ = z C/B
  expect_digits(8.30296653 * C_well / 327, 0.0664295069);
  expect_digits(16.5381231 * C_well / 327, 0.132316487);
}

// avdiukhin-2024, Theorem 3.1; avdiukhin-2024 notes, 8 and 3.2 (last row)
TEST(AvdiukhinTheorem31, PrintedNoiseExceedsBudgetForEpsilonAtLeastOne) {
  expect_digits(naive_kappa(50000, {1, 0.01}) * 2.5 * std::sqrt(2328.0), 0.00517707354);
  expect_digits(naive_kappa(10000, {1, 1e-5}) * C_well * std::sqrt(3882.0), 0.0553090382);
  for (const auto& [epsilon, z] :
       std::map<double, double>{{0.125, 8.48212}, {1, 1.06026}, {8, 0.13253}})
    EXPECT_NEAR(naive_kappa(50000, {epsilon, 1e-2}) * std::sqrt(2328.0) * 512, z, 1e-4);
  // Under add/remove the printed noise costs more than its ε from ε = 1 on (avdiukhin-2024 notes,
  // 3.1).
  const std::map<double, double> implied{
      {0.125, 0.059}, {0.25, 0.170}, {0.5, 0.461}, {1, 1.46}, {2, 11.5}};
  for (const auto& [epsilon, cost] : implied) {
    const double z = naive_kappa(50000, {epsilon, 1e-2}) * std::sqrt(2328.0) * 512;
    const std::vector<CountedEvent> events{{PoissonGaussianEvent{0.01024, z}, 2328}};
    const double found = epsilon_of(events, Adjacency::add_remove, 1e-2, options()).epsilon;
    expect_digits(found, cost, 0.02);
    EXPECT_EQ(found > epsilon, epsilon >= 1);
    // the schedule's function, under replace-one: at least as much
    EXPECT_GE(implied_epsilon(BatchPolicy::poisson(0.01024), 50000, 2328, z / 2, 1e-2), found);
  }
}

// avdiukhin-2024 notes, 8: a shuffled record is used once an epoch, so shuffling does
// not amplify
TEST(Shuffling, CostsFarMoreThanPoissonSamplingAtSameNoise) {
  expect_digits(gaussian_delta(1, 1), 0.1269367375);
  expect_digits(gaussian_epsilon(1e-5, 1), 4.377178096);
  const double mu = std::sqrt(24.0) * 2 / 1.298;
  expect_digits(mu, 7.548504600);
  expect_digits(gaussian_epsilon(1e-2, mu), 45.1814981);
}

}  // namespace
}  // namespace dpsosp::avdiukhin_2024::avdiukhin_accounting_test
