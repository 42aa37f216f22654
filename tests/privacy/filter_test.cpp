// SPDX-License-Identifier: Apache-2.0
// The filter per record, and the budgets that calibration puts on it.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "support.hpp"

namespace dpsosp::filter_test {
namespace {

using namespace testing;

TEST(RangeFilter, MatchesReferenceGrantsAndRefusals) {
  RangeFilter filter({0, 20}, 0.5);
  EXPECT_TRUE(filter.try_charge({{{0, 10}, 0.3}}));
  EXPECT_TRUE(filter.try_charge({{{10, 20}, 0.3}}));
  EXPECT_TRUE(filter.try_charge({{{0, 20}, 0.2}}));
  EXPECT_NEAR(filter.remaining(), 0.0, 1e-16);
  RangeFilter other({0, 1}, 0.5);
  EXPECT_TRUE(other.try_charge({{{0, 1}, 0.2}}));
  EXPECT_TRUE(other.try_charge({{{0, 1}, 0.2}}));
  EXPECT_FALSE(other.try_charge({{{0, 1}, 0.15}}));
  EXPECT_TRUE(other.try_charge({{{0, 1}, 0.1}}));
  EXPECT_NEAR(other.remaining(), 0.0, 1e-16);
}

TEST(RangeFilter, MatchesBruteForcePerRecord) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    constexpr Index n = 9;
    constexpr double capacity = 64.0;
    RangeFilter filter({0, n}, capacity);
    std::array<double, n> spent{};
    for (int step = 0; step < 60; ++step) {
      std::vector<RangeFilter::Charge> charges;
      std::array<double, n> tried = spent;
      for (Index k = 0, count = 1 + stream.below(3); k < count; ++k) {
        const Index begin = stream.below(n);
        const RecordRange range{begin, begin + 1 + stream.below(n - begin)};
        const auto amount = static_cast<double>(stream.below(9));  // integers: sums are exact
        charges.push_back({range, amount});
        for (Index i = range.begin; i < range.end; ++i)
          tried[static_cast<std::size_t>(i)] += amount;
      }
      const bool fits = *std::ranges::max_element(tried) <= capacity;
      RC_ASSERT(filter.try_charge(charges) == fits);
      if (fits) spent = tried;
      RC_ASSERT(filter.remaining() == capacity - *std::ranges::max_element(spent));
    }
  }));
}

TEST(RangeFilter, NeverOverspendsUnderGreedyAdaptiveCharges) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    constexpr double capacity = 0.7;
    RangeFilter filter({0, 4}, capacity);
    std::array<long double, 4> spent{};
    for (int step = 0; step < 400; ++step) {
      // asks for all that seems to be left, a little more, or a small random amount
      const double left = filter.remaining();
      const std::array wishes{left, std::nextafter(left, 1.0), left * (1 + 1e-15),
                              left * stream.uniform(), 1e-17};
      const double amount = wishes[static_cast<std::size_t>(stream.below(5))];
      const Index begin = stream.below(4);
      const RecordRange range{begin, begin + 1 + stream.below(4 - begin)};
      if (filter.try_charge({{range, amount}}))
        for (Index i = range.begin; i < range.end; ++i)
          spent[static_cast<std::size_t>(i)] += static_cast<long double>(amount);
    }
    const long double most = *std::ranges::max_element(spent);
    RC_ASSERT(most <= static_cast<long double>(capacity) * (1 + 3e-16L));
    RC_ASSERT(most >= 0.5L * static_cast<long double>(capacity));  // the charges come near it
  }));
}

TEST(RangeFilter, RefusesChargesToRecordsOfOthers) {
  RangeFilter filter({3, 9}, 1.0, 1.0, 1.0);
  for (const RecordRange range : {RecordRange{0, 3}, RecordRange{2, 4}, RecordRange{8, 10},
                                  RecordRange{9, 12}, RecordRange{0, 12}, RecordRange{6, 5}}) {
    EXPECT_THROW(filter.try_charge({{range, 0.25}}), std::logic_error);
    EXPECT_THROW(filter.try_charge({{{3, 9}, 0.25}, {range, 0.25}}), std::logic_error);
    EXPECT_THROW(filter.try_slice({range, 0.25}), std::logic_error);
    EXPECT_THROW(filter.try_pure({range, 0.25}, 0.25), std::logic_error);
  }
  EXPECT_EQ(filter.remaining(), 1.0);
  EXPECT_EQ(filter.pure_remaining(), 1.0);
  EXPECT_TRUE(filter.try_charge({{{3, 9}, 1.0}}));
}

TEST(RangeFilter, SpendsEqualSlicesEntirely) {
  for (const double capacity : {0.0175, 0.1, 1.0 / 3.0, 0.7, 12.3})
    for (int slices = 1; slices <= 300; ++slices) {
      RangeFilter filter({0, 5}, capacity);
      for (int k = 0; k < slices; ++k)
        ASSERT_TRUE(filter.try_charge({{{0, 5}, capacity / slices}}));
      EXPECT_FALSE(filter.try_charge({{{3, 4}, 1e-9 * capacity}}));
    }
}

TEST(Budget, SpentFilterMatchesRequestedEpsilon) {
  // The curator's own refusals against the exact conversion: spending all of it gives epsilon.
  for (const double epsilon : {0.1, 1.0, 8.0}) {
    const FilterRule rule = filter_rule({epsilon, 1e-6}, Calibrator::exact_gaussian);
    House house(Data(d + d2, 5), {.seed = 1}, rule);
    const GradientQuery tenth{1.0, Noise::sensitivity_ratio(noise_ratio_for(rule.capacity, 10.0))};
    for (int k = 0; k < 10; ++k)
      ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::all()), tenth);
    EXPECT_THROW(ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::all()), tenth),
                 BudgetExhausted);
    const Guarantee spent = house.curator.ledger().spent(1e-6);
    EXPECT_NEAR(spent.epsilon, epsilon, 1e-9 * epsilon);
    EXPECT_LE(gaussian_delta(epsilon, std::sqrt(2.0 * rule.capacity)), 1e-6 * (1 + 1e-9));
  }
}

TEST(Budget, FixedOrderRuleSolvesConversion) {
  const FilterRule rule = filter_rule({1.0, 1e-5}, Calibrator::rdp, 12.0);
  const double epsilon = rule.capacity + std::log(11.0 / 12.0) - std::log(1e-5 * 12.0) / 11.0;
  EXPECT_NEAR(epsilon, 1.0, 1e-14);
  EXPECT_THROW(filter_rule({1.0, 1e-5}, Calibrator::rdp), InputError);
  EXPECT_THROW(filter_rule({0.01, 1e-12}, Calibrator::rdp, 1.5), InputError);
  EXPECT_THROW((FilterRule{Calibrator::rdp, {}, 1.0}.charge(GaussianEvent{1.0})), InputError);
}

void expect_plan_is_granted_and_no_more(const std::vector<PlannedQuery>& plan,
                                        Calibrator calibrator) {
  constexpr Index n = 200;
  const PrivacyBudget budget{1.3, 1e-5};
  const CalibratedNoise noise = calibrate_common_noise(plan, n, budget, calibrator);
  House house(Data(d + d2, n), {.seed = 1}, noise.rule);
  const GradientQuery query{1.0, Noise::sensitivity_ratio(noise.sensitivity_ratio)};
  const auto once = [&](const PlannedQuery& q) {
    ask(house.curator, Kind::gradient, house.curator.draw(q.policy, q.use), query);
  };
  for (const PlannedQuery& q : plan)
    for (std::int64_t k = 0; k < q.count; ++k) ASSERT_NO_THROW(once(q));
  EXPECT_LE(house.curator.ledger().spent(budget.delta).epsilon, budget.epsilon * (1 + 1e-12));
  if (calibrator == Calibrator::rdp) {
    EXPECT_GE(house.curator.ledger().spent(budget.delta, {.accountant = Accountant::rdp}).epsilon,
              budget.epsilon * (1 - 1e-9));
  }
  for (const PlannedQuery& q : plan) EXPECT_THROW(once(q), BudgetExhausted);
}

TEST(Budget, GrantsCalibratedPlanAndNoFurtherQuery) {
  const PlannedQuery all{BatchPolicy::all(), 7};
  const PlannedQuery sample{BatchPolicy::sample(20), 40};
  const PlannedQuery poisson{BatchPolicy::poisson(0.1), 60};
  const PlannedQuery shared{BatchPolicy::poisson(0.1), 3, BatchUse::several_queries};
  for (const std::vector<PlannedQuery>& plan :
       {std::vector{all}, std::vector{sample}, std::vector{poisson}, std::vector{shared},
        std::vector{all, sample, poisson, shared}})
    for (const Calibrator calibrator :
         {Calibrator::rdp, Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian})
      expect_plan_is_granted_and_no_more(plan, calibrator);
}

TEST(Budget, RoundingNeverRefusesLastQuery) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    const PrivacyBudget budget{std::exp(7.0 * stream.uniform() - 4.0),
                               std::exp(-2.0 - 20.0 * stream.uniform())};
    const std::int64_t count = 1 + stream.below(300);
    const PlannedQuery plan{BatchPolicy::all(), count};
    for (const Calibrator calibrator :
         {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian}) {
      const CalibratedNoise noise = calibrate_common_noise({&plan, 1}, 10, budget, calibrator);
      PrivacyFilter filter(noise.rule.capacity);
      const double charge = noise.rule.charge(GaussianEvent{noise.sensitivity_ratio});
      std::int64_t granted = 0;
      while (granted <= count && filter.try_charge(charge)) ++granted;
      RC_ASSERT(granted == count);
    }
  }));
}

TEST(Budget, RoundingNeverRefusesLastQueryAtRenyiOrder) {
  const auto expect_granted = [](const PrivacyBudget& budget, const PlannedQuery& q, Index n) {
    const CalibratedNoise noise = calibrate_common_noise({&q, 1}, n, budget, Calibrator::rdp);
    PrivacyFilter filter(noise.rule.capacity);
    const Noise ratio = Noise::sensitivity_ratio(noise.sensitivity_ratio);
    const double charge = noise.rule.charge(*plan_gaussian(q.policy, q.use, n, 1.0, ratio).event);
    for (std::int64_t k = 0; k < q.count; ++k)
      ASSERT_TRUE(filter.try_charge(charge)) << budget.epsilon << ' ' << budget.delta << ' ' << k;
  };
  // Without a margin the last query of these was refused.
  expect_granted({1.0, 1e-8}, {BatchPolicy::all(), 10}, 10);
  expect_granted({1.5, 1e-3}, {BatchPolicy::all(), 2}, 10);
  expect_granted({0.33017492697183104, 0.0019028392356637009}, {BatchPolicy::all(), 94}, 4143);
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    Stream stream({.seed = seed});
    const PrivacyBudget budget{std::exp(4.0 * stream.uniform() - 1.0),
                               std::exp(-5.0 - 15.0 * stream.uniform())};
    const std::int64_t count = 1 + stream.below(200);
    const bool all = stream.bernoulli(0.5);
    expect_granted(budget, {all ? BatchPolicy::all() : BatchPolicy::poisson(0.05), count}, 1000);
  }
}

TEST(Budget, RejectsInvalidPlansAndTargets) {
  const PlannedQuery negative{BatchPolicy::all(), -1};
  const std::vector<PlannedQuery> mixed{{BatchPolicy::all(), 10}, negative};
  for (const Calibrator calibrator : {Calibrator::cks, Calibrator::rdp}) {
    EXPECT_THROW(calibrate_common_noise(mixed, 10, {1.0, 1e-5}, calibrator), InputError);
    EXPECT_THROW(calibrate_common_noise({}, 10, {1.0, 1e-5}, calibrator), InputError);
  }
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(filter_rule({bad, 1e-5}, Calibrator::cks), InputError);
    EXPECT_THROW(filter_rule({1.0, bad}, Calibrator::cks), InputError);
  }
  EXPECT_THROW(filter_rule({1.0, 1.0}, Calibrator::cks), InputError);
}

TEST(FilterRule, AmplifiesSamplesOnlyUnderRdp) {
  const double ratio = 2.0;
  const Event sample = FixedSizeGaussianEvent{0.01, ratio};
  const Event poisson = PoissonGaussianEvent{0.01, 2.0 * ratio};  // std of the sum over C
  for (const Calibrator calibrator :
       {Calibrator::cks, Calibrator::bun_steinke, Calibrator::exact_gaussian})
    for (const Event& event : {sample, poisson})
      EXPECT_DOUBLE_EQ((FilterRule{calibrator, {}, 1.0}.charge(event)), 0.5 / (ratio * ratio));
  const FilterRule rdp_rule{Calibrator::rdp, 8.0, 1.0};
  for (const Event& event : {sample, poisson})
    EXPECT_LT(rdp_rule.charge(event), 0.1 * 8.0 * 0.5 / (ratio * ratio));
  EXPECT_THROW((FilterRule{Calibrator::exact_gaussian, {}, 1.0}.charge(LaplaceEvent{1.0})),
               UnsupportedError);
}

}  // namespace
}  // namespace dpsosp::filter_test
