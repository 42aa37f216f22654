// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/advanced_composition.hpp"
#include "dpsosp/privacy/accounting/filter.hpp"
#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/budget.hpp"
#include "dpsosp/privacy/query.hpp"
#include "near.hpp"

namespace dpsosp::calibration_test {
namespace {

EventFamily poisson(double rate, int steps) {
  return [=](double z) {
    return std::vector<CountedEvent>{{PoissonGaussianEvent{rate, z}, steps}};
  };
}

// avdiukhin-2024 notes, 3.2: n = 50000, B = 512, 24 epochs
TEST(Calibration, MatchesAvdiukhinNoiseMultipliers) {
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
      const double z = smallest_noise_multiplier(poisson(512.0 / 50000, 2328), row.adjacency,
                                                 epsilon, row.delta, options);
      EXPECT_TRUE(relative(z, row.noise[i], 1e-5)) << name_of(row.adjacency) << ' ' << epsilon;
    }
}

TEST(Calibration, ReturnsSmallestNoiseThatMeetsTarget) {
  for (const double epsilon : {0.05, 0.5, 3.0, 30.0}) {
    const EventFamily family = poisson(0.02, 500);
    const double z = smallest_noise_multiplier(family, Adjacency::replace_one, epsilon, 1e-6);
    EXPECT_LE(epsilon_of(family(z), Adjacency::replace_one, 1e-6).epsilon, epsilon);
    EXPECT_GT(epsilon_of(family(z * (1 - 1e-10)), Adjacency::replace_one, 1e-6).epsilon, epsilon);
  }
}

TEST(Calibration, OfRenyiOrdersAgreesWithBisectionOverAllOrders) {
  const AccountOptions options{.accountant = Accountant::rdp};
  const auto fixed = [](double z) {
    return std::vector<CountedEvent>{
        {FixedSizeGaussianEvent{.rate = 0.01, .noise_multiplier = z}, 300}};
  };
  for (const EventFamily& family :
       {poisson(0.02, 500), poisson(0.3, 7), poisson(1e-4, 100000), EventFamily(fixed)})
    for (const double epsilon : {0.2, 1.0, 8.0, 50.0}) {
      const auto proves = [&](double z) {
        return epsilon_of(family(z), Adjacency::replace_one, 1e-6, options).epsilon <= epsilon;
      };
      const double z =
          smallest_noise_multiplier(family, Adjacency::replace_one, epsilon, 1e-6, options);
      EXPECT_TRUE(proves(z)) << epsilon;
      EXPECT_FALSE(proves(z * (1 - 1e-13))) << epsilon;
    }
}

TEST(Calibration, NeverExceedsTargetForAnyComposition) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_epsilon, std::uint16_t raw_delta,
                           std::uint16_t raw_rate, std::uint16_t raw_steps, std::uint8_t kinds) {
    // Rényi accounting at its largest order has no epsilon below about 1e-2 at the least delta,
    // whatever the noise.
    const bool exact = kinds % 8 != 1 && kinds % 8 != 2 && (kinds & 24) == 0;
    const double epsilon = log_uniform(raw_epsilon, exact ? 1e-6 : 3e-2, 1e3);
    const double delta = log_uniform(raw_delta, 1e-15, 1e-2);
    const double rate = log_uniform(raw_rate, 1e-8, 1);
    const auto steps = static_cast<std::int64_t>(log_uniform(raw_steps, 1, 1e9));
    const EventFamily family = [&](double z) {
      std::vector<CountedEvent> events{{GaussianEvent{z}, steps}};
      if (kinds % 8 == 1) events.push_back({PoissonGaussianEvent{rate, 2 * z}, steps});
      if (kinds % 8 == 2) events.push_back({FixedSizeGaussianEvent{rate, z}, steps});
      if ((kinds & 8) != 0) events.push_back({LaplaceEvent{1 / z}, 1});
      if ((kinds & 16) != 0) events.push_back({ExponentialEvent{1 / z}, 1});
      return events;
    };
    const double z = smallest_noise_multiplier(family, Adjacency::replace_one, epsilon, delta);
    RC_ASSERT(epsilon_of(family(z), Adjacency::replace_one, delta).epsilon <= epsilon);
  }));
}

TEST(Calibration, FitsWholePlanIntoFilter) {
  EXPECT_TRUE(rc::check([](std::uint16_t raw_epsilon, std::uint16_t raw_delta,
                           std::uint16_t raw_batch, std::uint8_t raw_count,
                           std::uint8_t calibrator) {
    const bool renyi = calibrator % 4 == 3;  // which has no small epsilon, as above
    const PrivacyBudget budget{log_uniform(raw_epsilon, renyi ? 0.1 : 1e-4, 1e2),
                               log_uniform(raw_delta, 1e-12, 1e-2)};
    constexpr Index n = 1000;
    const auto batch = static_cast<Index>(log_uniform(raw_batch, 1, n));
    const std::int64_t count = 1 + raw_count % 40;
    const Calibrator by[] = {Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian,
                             Calibrator::rdp};
    const std::vector<PlannedQuery> plan{{BatchPolicy::sample(batch), count},
                                         {BatchPolicy::all(), 1}};
    const auto noise = calibrate_common_noise(plan, n, budget, by[calibrator % 4]);
    PrivacyFilter filter(noise.rule.capacity);
    std::vector<CountedEvent> events, public_coins;
    for (const PlannedQuery& q : plan) {
      const Event event =
          *plan_gaussian(q.policy, q.use, n, 1.0, Noise::sensitivity_ratio(noise.sensitivity_ratio))
               .event;
      for (std::int64_t k = 0; k < q.count; ++k)
        RC_ASSERT(filter.try_charge(noise.rule.charge(event)));
      events.push_back({event, q.count});
      public_coins.push_back({without_amplification(event), q.count});
    }
    const double spent =
        std::min(epsilon_of(events, Adjacency::replace_one, budget.delta).epsilon,
                 epsilon_of(public_coins, Adjacency::replace_one, budget.delta).epsilon);
    RC_ASSERT(spent <= budget.epsilon * (1 + 1e-9));
  }));
}

TEST(Calibration, DependsOnEverythingThatIsAskedAndOnNothingElse) {
  const auto noise_for = [](Index batch, std::int64_t count, Index n, const PrivacyBudget& budget) {
    const std::vector<PlannedQuery> plan{{BatchPolicy::sample(batch), count}};
    const CalibratedNoise noise = calibrate_common_noise(plan, n, budget, Calibrator::rdp);
    return std::tuple(noise.sensitivity_ratio, noise.rule.order, noise.rule.capacity);
  };
  const auto first = noise_for(10, 5, 1000, {1, 1e-6});
  EXPECT_NE(noise_for(11, 5, 1000, {1, 1e-6}), first);
  EXPECT_NE(noise_for(10, 6, 1000, {1, 1e-6}), first);
  EXPECT_NE(noise_for(10, 5, 1001, {1, 1e-6}), first);
  EXPECT_NE(noise_for(10, 5, 1000, {2, 1e-6}), first);
  EXPECT_NE(noise_for(10, 5, 1000, {1, 1e-5}), first);
  for (std::int64_t others = 0; others < 100; ++others) {
    EXPECT_EQ(noise_for(10, 5, 1000, {1, 1e-6}), first);
    noise_for(10, 1000 + others, 1000, {1, 1e-6});
  }
  EXPECT_EQ(noise_for(10, 5, 1000, {1, 1e-6}), first);
}

TEST(Calibration, RejectsEpsilonBelowReachOfRenyiOrders) {
  const std::vector<PlannedQuery> plan{{BatchPolicy::sample(10), 5}};
  EXPECT_THROW(calibrate_common_noise(plan, 1000, {1e-3, 1e-12}, Calibrator::rdp), InputError);
  EXPECT_NO_THROW(calibrate_common_noise(plan, 1000, {1e-3, 1e-12}, Calibrator::cks));
}

TEST(Calibration, MatchesAnalyticMechanismForOneGaussian) {
  const double z = smallest_noise_multiplier(
      [](double x) { return std::vector<CountedEvent>{{GaussianEvent{x}}}; },
      Adjacency::replace_one, 1, 1e-5);
  EXPECT_TRUE(relative(z, 1 / gaussian_mu_for(1, 1e-5), 1e-12));
}

TEST(Calibration, RejectsImpossibleTargets) {
  EXPECT_THROW(smallest_noise_multiplier(poisson(0.1, 10), Adjacency::replace_one, 0, 1e-5),
               InputError);
  const EventFamily deaf = [](double) { return std::vector<CountedEvent>{{PureEvent{1}}}; };
  EXPECT_THROW(smallest_noise_multiplier(deaf, Adjacency::replace_one, 0.5, 1e-5), InputError);
  EXPECT_THROW(smallest_noise_multiplier(deaf, Adjacency::replace_one, 2, 1e-5), InputError);
}

TEST(Calibration, PropagatesAccountantError) {
  EXPECT_THROW(smallest_noise_multiplier(poisson(0.1, 10), Adjacency::replace_one, 1, 1e-5,
                                         {.accountant = Accountant::zcdp}),
               UnsupportedError);
}

// xu-2026 notes, 9, at (2, 1e-6)
TEST(AdvancedComposition, MatchesKnownNoiseMultipliers) {
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 400), 369.4297, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 440), 388.3420, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 2040), 866.2219, 5e-7));
  EXPECT_TRUE(relative(advanced_noise_multiplier(2, 1e-6, 4080), 1243.7908, 5e-7));
  EXPECT_TRUE(relative(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0.5), 183.1681, 5e-7));
  EXPECT_TRUE(relative(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0.125), 46.4063, 1e-6));
  EXPECT_THROW(advanced_amplified_noise_multiplier(2, 1e-6, 400, 0), InputError);
  EXPECT_THROW(advanced_noise_multiplier(2, 1e-6, 0), InputError);
}

TEST(AdvancedComposition, NeedsSixTimesNoiseOfZcdp) {
  const double rho = rho_for(2, 1e-6, Conversion::bs);
  EXPECT_TRUE(relative(rho, 0.06757388167, 1e-9));
  const std::pair<int, double> rows[] = {
      {400, 54.4033}, {440, 57.0587}, {2040, 122.8600}, {4080, 173.7503}};
  for (const auto& [queries, z] : rows)
    EXPECT_TRUE(relative(std::sqrt(queries / (2 * rho)), z, 1e-6));
  EXPECT_GT(advanced_noise_multiplier(2, 1e-6, 400), 6 * 54.4033);
}

TEST(Calibration, MatchesXuSampledNoiseMultipliers) {
  AccountOptions options{.accountant = Accountant::rdp, .conversion = Conversion::bs};
  options.orders = {2,  3,  4,  5,  6,  8,  10, 12, 14,  16,  18,
                    20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256};
  for (const auto& [rate, z] : {std::pair{0.125, 6.956}, {0.5, 27.301}})
    EXPECT_TRUE(relative(
        smallest_noise_multiplier(poisson(rate, 400), Adjacency::add_remove, 2, 1e-6, options), z,
        1e-2));
}

}  // namespace
}  // namespace dpsosp::calibration_test
