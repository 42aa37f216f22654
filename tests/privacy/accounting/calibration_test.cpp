// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/calibration.hpp"

#include <cmath>

#include "dpsosp/privacy/accounting/advanced_composition.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "near.hpp"

namespace dpsosp {
namespace {

EventFamily poisson(double rate, int steps) {
  return [=](double z) {
    return std::vector<CountedEvent>{{PoissonGaussianEvent{rate, z}, steps}};
  };
}

// avdiukhin-2024, section 3.2: n = 50000, B = 512, 24 epochs
TEST(Calibration, MeetsTheNoiseMultipliersOfAvdiukhin) {
  AccountOptions options{.accountant = Accountant::rdp, .orders = integer_orders(2, 64)};
  for (const double order : {72, 80, 96, 128, 160, 192, 256, 320, 384, 512})
    options.orders.push_back(order);
  struct Row {
    Adjacency adjacency;
    double delta, noise[7];
  };
  const Row rows[] = {{Adjacency::add_remove,
                       1e-2,
                       {5.22833, 3.24081, 2.00622, 1.29800, 0.91724, 0.71434, 0.57490}},
                      {Adjacency::replace_one,
                       1e-2,
                       {10.3714, 6.35236, 3.81763, 2.31414, 1.47353, 1.02787, 0.80332}},
                      {Adjacency::add_remove,
                       1e-5,
                       {13.7640, 7.27052, 3.89318, 2.15711, 1.29883, 0.90019, 0.69254}},
                      {Adjacency::replace_one,
                       1e-5,
                       {27.4665, 14.4515, 7.65149, 4.10324, 2.28072, 1.37868, 0.97782}}};
  for (const Row& row : rows)
    for (int i = 0; i < 7; ++i) {
      const double epsilon = std::ldexp(0.125, i);
      const double z = smallest_noise_multiplier(
          poisson(512.0 / 50000, 2328), row.adjacency, epsilon, row.delta, options);
      EXPECT_TRUE(relative(z, row.noise[i], 1e-5)) << name_of(row.adjacency) << ' ' << epsilon;
    }
}

TEST(Calibration, ReturnsTheEndThatMeetsTheTarget) {
  for (const double epsilon : {0.05, 0.5, 3.0, 30.0}) {
    const EventFamily family = poisson(0.02, 500);
    const double z = smallest_noise_multiplier(family, Adjacency::replace_one, epsilon, 1e-6);
    EXPECT_LE(epsilon_of(family(z), Adjacency::replace_one, 1e-6).epsilon, epsilon);
    EXPECT_GT(epsilon_of(family(z * (1 - 1e-10)), Adjacency::replace_one, 1e-6).epsilon, epsilon);
  }
}

TEST(Calibration, OfOneGaussianIsTheAnalyticMechanism) {
  const double z = smallest_noise_multiplier(
      [](double x) { return std::vector<CountedEvent>{{GaussianEvent{x}}}; },
      Adjacency::replace_one,
      1,
      1e-5);
  EXPECT_TRUE(relative(z, 1 / gaussian_mu_for(1, 1e-5), 1e-12));
}

TEST(Calibration, ImpossibleTargetsAreRefused) {
  EXPECT_THROW(smallest_noise_multiplier(poisson(0.1, 10), Adjacency::replace_one, 0, 1e-5),
               InputError);
  const EventFamily deaf = [](double) { return std::vector<CountedEvent>{{PureEvent{1}}}; };
  EXPECT_THROW(smallest_noise_multiplier(deaf, Adjacency::replace_one, 0.5, 1e-5), InputError);
  EXPECT_THROW(smallest_noise_multiplier(deaf, Adjacency::replace_one, 2, 1e-5), InputError);
}

TEST(Calibration, RefusalOfTheAccountantPasses) {
  EXPECT_THROW(
      smallest_noise_multiplier(
          poisson(0.1, 10), Adjacency::replace_one, 1, 1e-5, {.accountant = Accountant::zcdp}),
      UnsupportedError);
}

// xu-2026, section 9.2, at (2, 1e-6)
TEST(AdvancedComposition, MeetsTheKnownNoiseMultipliers) {
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 400), 369.4297, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 440), 388.3420, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 2040), 866.2219, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 4080), 1243.7908, 5e-7));
  EXPECT_TRUE(relative(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0.5), 183.1681, 5e-7));
  EXPECT_TRUE(relative(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0.125), 46.4063, 1e-6));
  EXPECT_THROW(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0), InputError);
  EXPECT_THROW(advanced_noise_multiplier(2, 1e-6, 0), InputError);
}

TEST(AdvancedComposition, CostsSixTimesTheNoiseOfZcdp) {
  const double rho = rho_for(2, 1e-6, Conversion::bs);
  EXPECT_TRUE(relative(rho, 0.06757388167, 1e-9));
  const std::pair<int, double> rows[] = {
      {400, 54.4033}, {440, 57.0587}, {2040, 122.8600}, {4080, 173.7503}};
  for (const auto& [queries, z] : rows)
    EXPECT_TRUE(relative(std::sqrt(queries / (2 * rho)), z, 1e-6));
  EXPECT_GT(advanced_noise_multiplier(2, 1e-6, 400), 6 * 54.4033);
}

TEST(Calibration, MeetsTheSampledNoiseMultipliersOfXu) {
  AccountOptions options{.accountant = Accountant::rdp, .conversion = Conversion::bs};
  options.orders = {2,  3,  4,  5,  6,  8,  10, 12, 14,  16,  18,
                    20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256};
  for (const auto& [rate, z] : {std::pair{0.125, 6.956}, {0.5, 27.301}})
    EXPECT_TRUE(relative(
        smallest_noise_multiplier(poisson(rate, 400), Adjacency::add_remove, 2, 1e-6, options),
        z,
        1e-2));
}

}  // namespace
}  // namespace dpsosp
