// SPDX-License-Identifier: Apache-2.0
// The second account of a filter, and what it means for the total.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/privacy/accounting/gaussian.hpp"
#include "dpsosp/privacy/range_filter.hpp"
#include "support.hpp"

namespace dpsosp::pure_account_test {
namespace {

using namespace testing;
using Account = RangeFilter::Account;

constexpr PrivacyBudget budget{1.0, 1e-6};

TEST(PureAccount, RuleSplitsBudgetBetweenAccounts) {
  for (const Calibrator calibrator :
       {Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian}) {
    const FilterRule plain = filter_rule(budget, calibrator);
    EXPECT_EQ(plain.capacity, zcdp_budget(budget, calibrator));
    EXPECT_EQ(plain.pure_capacity, 0.0);
    EXPECT_EQ(plain.delta_extra, 0.0);
    const FilterRule split = filter_rule(budget, calibrator, {}, 0.25);
    EXPECT_EQ(split.capacity, zcdp_budget({0.75, 1e-6}, calibrator));
    EXPECT_EQ(split.pure_capacity, 0.25);
    EXPECT_EQ(filter_rule(budget, calibrator, {}, 1.0).capacity, 0.0);
    const FilterRule inexact = filter_rule(budget, calibrator, {}, 0.25, 4e-7);
    EXPECT_EQ(inexact.capacity, zcdp_budget({0.75, 1e-6 - 4e-7}, calibrator));
    EXPECT_DOUBLE_EQ(inexact.delta_extra * (1 + std::exp(1.0)), 4e-7);
  }
  EXPECT_NEAR(filter_rule(budget, Calibrator::rdp, 20.0, 0.1).capacity,
              filter_rule({0.9, 1e-6}, Calibrator::rdp, 20.0).capacity, 1e-15);
  for (const double bad : {-0.1, 1.1, std::nan("")})
    EXPECT_THROW(filter_rule(budget, Calibrator::cks, {}, bad), InputError);
  for (const double bad : {-1e-9, 1e-6, std::nan("")})
    EXPECT_THROW(filter_rule(budget, Calibrator::cks, {}, 0.1, bad), InputError);
}

/// A rule that somebody else made is compared with the budget as a whole: what one account grants,
/// the others may not grant again.
TEST(PureAccount, RulesAreCheckedOverAllAccountsTogether) {
  for (const Calibrator calibrator :
       {Calibrator::bun_steinke, Calibrator::cks, Calibrator::exact_gaussian, Calibrator::rdp}) {
    const auto order = calibrator == Calibrator::rdp ? std::optional(60.0) : std::nullopt;
    for (const double pure : {0.0, 0.25, 0.5})
      for (const double extra : {0.0, 2e-7, 5e-7}) {
        const FilterRule right = filter_rule(budget, calibrator, order, pure, extra);
        EXPECT_NO_THROW(check(right, budget));
        for (double FilterRule::*account :
             {&FilterRule::capacity, &FilterRule::pure_capacity, &FilterRule::delta_extra}) {
          FilterRule wider = right;
          wider.*account += std::max(1e-6 * (wider.*account), 1e-9);
          EXPECT_THROW(check(wider, budget), InputError) << pure << ' ' << extra;
        }
        // Each account alone is within the budget.
        FilterRule whole = right;
        whole.capacity = filter_rule(budget, calibrator, order).capacity;
        if (pure > 0 || extra > 0) {
          EXPECT_THROW(check(whole, budget), InputError) << pure << ' ' << extra;
        }
      }
  }
}

TEST(PureAccount, IsChargedBeforeOtherAccount) {
  RangeFilter filter({0, 10}, 0.1, 1.0);
  EXPECT_EQ(filter.try_pure({{0, 10}, 0.08}, 0.4), Account::pure);
  EXPECT_EQ(filter.try_pure({{0, 5}, 0.08}, 0.4), Account::pure);
  EXPECT_EQ(filter.try_pure({{0, 5}, 0.08}, 0.4), Account::zcdp);
  EXPECT_FALSE(filter.try_pure({{0, 5}, 0.08}, 0.4).has_value());
  EXPECT_EQ(filter.try_pure({{5, 10}, 0.08}, 0.6), Account::pure);
  EXPECT_FALSE(filter.try_charge({{{0, 10}, 0.03}}));
  EXPECT_TRUE(filter.try_charge({{{0, 10}, 0.02}}));
  EXPECT_NEAR(filter.remaining(), 0.0, 1e-15);
  EXPECT_NEAR(filter.pure_remaining(), 0.0, 1e-15);
  RangeFilter none({0, 10}, 0.1);
  EXPECT_EQ(none.try_pure({{0, 10}, 0.08}, 0.4), Account::zcdp);
}

TEST(PureAccount, RefusalLeavesAccountsUnchanged) {
  RangeFilter filter({0, 4}, 1.0, 1.0, 1e-7);
  EXPECT_FALSE(filter.try_slice({{1, 3}, 0.5, 0.5, 2e-7}));
  EXPECT_FALSE(filter.try_slice({{1, 3}, 0.5, 1.5, 0.0}));
  EXPECT_FALSE(filter.try_pure({{0, 4}, 0.1}, 0.1, 2e-7).has_value());
  EXPECT_TRUE(filter.try_slice({{0, 4}, 1.0, 1.0, 1e-7}));
}

/// δ at ε of: randomised response at ε₁, then the Gaussian whose µ its answer chose.
double delta_response_first(double epsilon, double e1, std::array<double, 2> mu) {
  const double p = std::exp(e1) / (1 + std::exp(e1));
  double worst = 0;
  for (const bool same : {true, false}) {  // which answer the first data set favours
    const double chosen = same ? p : 1 - p;
    const double ratio = same ? e1 : -e1;
    worst += chosen * [&](double left, double m) {
      if (left >= 0) return gaussian_delta(left, m);
      // δ at negative ε by symmetry: δ(−a) = 1 − e^{−a} + e^{−a} δ(a)
      return -std::expm1(left) + std::exp(left) * gaussian_delta(-left, m);
    }(epsilon - ratio, mu[same ? 0 : 1]);
  }
  return worst;
}

TEST(PureAccount, CostsItsEpsilonAmongAdaptiveGaussians) {
  const FilterRule rule = filter_rule(budget, Calibrator::exact_gaussian, {}, 0.4);
  const double most = std::sqrt(2 * rule.capacity);
  for (const double first : {0.0, 0.3, 0.7, 1.0})
    for (const double second : {0.0, 0.3, 0.7, 1.0}) {
      const double delta = delta_response_first(1.0, 0.4, {first * most, second * most});
      EXPECT_LE(delta, budget.delta * (1 + 1e-9)) << first << ' ' << second;
    }
  // and it is not free: without its epsilon the Gaussian's delta is exceeded
  EXPECT_GT(delta_response_first(0.6, 0.4, {most, most}), 5 * budget.delta);
}

LedgerEntry entry(const Event& event, bool pure, double delta_extra = 0.0) {
  return {"/", "q", BatchPolicy::all(), event, {0, 4}, 1, 1, 1, 1, 1, pure, delta_extra};
}

TEST(PureAccount, NeverExceedsGuarantee) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    const PrivacyBudget whole{std::exp(4.0 * stream.uniform() - 3.0),
                              std::exp(-4.0 - 16.0 * stream.uniform())};
    for (const Calibrator calibrator : {Calibrator::cks, Calibrator::exact_gaussian}) {
      const double pure = whole.epsilon * stream.uniform();
      const double extra = stream.bernoulli(0.5) ? 0.3 * whole.delta : 0.0;
      const FilterRule rule = filter_rule(whole, calibrator, {}, pure, extra);
      RangeFilter filter({0, 4}, rule.capacity, rule.pure_capacity, rule.delta_extra);
      Ledger ledger;
      for (int k = 0; k < 12; ++k) {
        const double share = 0.4 * stream.uniform();
        if (stream.bernoulli(0.5)) {
          const Event event = GaussianEvent{1 / std::sqrt(2 * share * rule.capacity)};
          if (filter.try_charge({{{0, 4}, rule.charge(event)}})) ledger.append(entry(event, false));
          continue;
        }
        const double epsilon = share * pure;
        const Event event =
            stream.bernoulli(0.5) ? Event{PureEvent{epsilon}} : Event{ExponentialEvent{epsilon}};
        const double amount =
            calibrator == Calibrator::exact_gaussian ? HUGE_VAL : rule.charge(event);
        const double failure = 0.3 * rule.delta_extra * stream.uniform();
        const auto account = filter.try_pure({{0, 4}, amount}, epsilon, failure);
        if (account) ledger.append(entry(event, *account == Account::pure, failure));
      }
      const Guarantee spent = ledger.spent(whole.delta);
      RC_ASSERT(spent.epsilon <= whole.epsilon * (1 + 1e-9));
    }
  }));
}

TEST(PureAccount, AddsPureEpsilonsToBestOfRest) {
  Ledger ledger;
  ledger.append(entry(GaussianEvent{8.0}, false));
  for (int k = 0; k < 3; ++k) ledger.append(entry(ExponentialEvent{0.5}, true));
  ASSERT_EQ(ledger.entries().size(), 2U);  // equal choices are one entry
  EXPECT_EQ(ledger.entries().back().count, 3);
  const Guarantee spent = ledger.spent(1e-6);
  Ledger gaussian;
  gaussian.append(entry(GaussianEvent{8.0}, false));
  EXPECT_EQ(spent.accountant, "basic");
  EXPECT_NEAR(spent.epsilon, 1.5 + gaussian.spent(1e-6).epsilon, 1e-12);
  // many small pure releases are cheaper as zCDP; a mix is then better than either extreme
  Ledger many;
  many.append(entry(GaussianEvent{8.0}, false));
  for (int k = 0; k < 400; ++k) many.append(entry(ExponentialEvent{0.02}, false));
  many.append(entry(PureEvent{3.0}, true));
  EXPECT_LT(many.spent(1e-6).epsilon, 3.0 + 1.5);
}

TEST(PureAccount, ChargesDeltaOfInexactReleases) {
  Ledger exact, inexact;
  exact.append(entry(GaussianEvent{6.0}, false));
  inexact.append(entry(GaussianEvent{6.0}, false, 1e-7));
  const double epsilon = inexact.spent(1e-6).epsilon;
  EXPECT_GT(epsilon, exact.spent(1e-6).epsilon);
  EXPECT_NEAR(epsilon, exact.spent(1e-6 - (1 + std::exp(epsilon)) * 1e-7).epsilon, 1e-9 * epsilon);
  inexact.append(entry(GaussianEvent{6.0}, false, 1e-6));
  EXPECT_EQ(inexact.spent(1e-6).epsilon, HUGE_VAL);
}

TEST(PureAccount, ChildrenReserveSharesOfBothAccounts) {
  const FilterRule rule = filter_rule(budget, Calibrator::cks, {}, 0.5);
  House house(Data(d + d2, 12), {.seed = 1}, rule);
  const auto ask_for = [&](Curator& curator, double rho) {
    return ask(curator, Kind::gradient, curator.draw(BatchPolicy::all()),
               {1.0, Noise::sensitivity_ratio(noise_ratio_for(rho, 1))});
  };
  Curator both = house.curator.child({"both", 0.25});
  EXPECT_DOUBLE_EQ(house.curator.remaining().share, 0.75);
  EXPECT_DOUBLE_EQ(house.curator.remaining().pure_share, 0.75);
  ChildSpec pure_alone{"pure", 0.0};
  pure_alone.pure_share = 0.75;
  Curator pure = house.curator.child(pure_alone);
  EXPECT_DOUBLE_EQ(house.curator.remaining().share, 0.75);
  EXPECT_NEAR(house.curator.remaining().pure_share, 0.0, 1e-15);
  EXPECT_THROW(ask_for(pure, 1e-9), BudgetExhausted);
  EXPECT_NO_THROW(ask_for(both, 0.25 * rule.capacity));
  EXPECT_THROW(ask_for(both, 1e-6 * rule.capacity), BudgetExhausted);
  EXPECT_NO_THROW(ask_for(house.curator, 0.75 * rule.capacity));
  ChildSpec more{"more", 0.0};
  more.pure_share = 1e-9;
  EXPECT_THROW(house.curator.child(more), BudgetExhausted);
  for (const double bad : {-0.1, 1.1, std::nan("")}) {
    ChildSpec spec{"bad", 0.1};
    spec.pure_share = bad;
    EXPECT_THROW(house.curator.child(spec), InputError);
  }
}

}  // namespace
}  // namespace dpsosp::pure_account_test
