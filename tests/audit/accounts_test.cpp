// SPDX-License-Identifier: Apache-2.0
#include "replay/accounts.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace dpsosp::audit_test {
namespace {

using namespace audit;

/// Drawn losses say so, and not that nothing could be tried.
bool is_contradiction(const std::string& complaint) {
  return complaint.find("losses exceed it") != std::string::npos;
}

constexpr AccountSizes sizes{14, 20'000};

TEST(Accountants, AreNotContradictedByDrawnLosses) {
  for (const std::uint64_t seed : {1U, 2U, 3U})
    EXPECT_EQ(complaint_of_accountants(seed, sizes), "");
}

/// An accountant with something wrong.
std::string with(Accountant whose, const std::function<double(double)>& wrong) {
  return complaint_of_accountants(1, sizes,
                                  [&](std::span<const CountedEvent> events, Adjacency adjacency,
                                      double delta, Accountant accountant) {
                                    auto epsilon = account_of(events, adjacency, delta, accountant);
                                    if (epsilon && accountant == whose) *epsilon = wrong(*epsilon);
                                    return epsilon;
                                  });
}

TEST(Accountants, AreContradictedWhereEpsilonIsTooSmall) {
  EXPECT_TRUE(is_contradiction(with(Accountant::tightest, [](double e) { return 0.9 * e; })));
  EXPECT_TRUE(is_contradiction(with(Accountant::analytic, [](double e) { return 0.9 * e; })));
  EXPECT_TRUE(is_contradiction(with(Accountant::rdp, [](double e) { return 0.6 * e; })));
  EXPECT_TRUE(is_contradiction(with(Accountant::zcdp, [](double e) { return 0.6 * e; })));
}

/// What is said where every accountant takes events of one kind for cheaper ones.
template <class Of>
std::string cheaper(void (*change)(Of&)) {
  return complaint_of_accountants(
      1, sizes,
      [&](std::span<const CountedEvent> events, Adjacency adjacency, double delta,
          Accountant accountant) -> std::optional<double> {
        std::vector<CountedEvent> changed(events.begin(), events.end());
        bool any = false;
        for (CountedEvent& e : changed)
          if (auto* event = std::get_if<Of>(&e.event)) {
            change(*event);
            any = true;
          }
        if (!any) return {};
        return account_of(changed, adjacency, delta, accountant);
      });
}

TEST(Accountants, AreContradictedWhereAnEventIsTakenForACheaperOne) {
  EXPECT_TRUE(is_contradiction(
      cheaper<GaussianEvent>([](GaussianEvent& e) { e.noise_multiplier *= 1.1; })));
  EXPECT_TRUE(is_contradiction(
      cheaper<PoissonGaussianEvent>([](PoissonGaussianEvent& e) { e.noise_multiplier *= 1.2; })));
  EXPECT_TRUE(is_contradiction(
      cheaper<PoissonGaussianEvent>([](PoissonGaussianEvent& e) { e.rate *= 0.8; })));
  EXPECT_TRUE(is_contradiction(
      cheaper<FixedSizeGaussianEvent>([](FixedSizeGaussianEvent& e) { e.rate *= 0.5; })));
  EXPECT_TRUE(is_contradiction(cheaper<LaplaceEvent>([](LaplaceEvent& e) { e.epsilon *= 0.8; })));
  EXPECT_TRUE(is_contradiction(cheaper<PureEvent>([](PureEvent& e) { e.epsilon *= 0.8; })));
  EXPECT_TRUE(
      is_contradiction(cheaper<ExponentialEvent>([](ExponentialEvent& e) { e.epsilon *= 0.7; })));
  EXPECT_TRUE(is_contradiction(cheaper<ZcdpEvent>([](ZcdpEvent& e) { e.rho *= 0.4; })));
}

constexpr AccountSizes fills{60, 10'000};

TEST(Filters, GrantNoMoreThanTheBudget) { EXPECT_EQ(complaint_of_filters(2, fills), ""); }

TEST(Filters, AreContradictedWhereTheirRuleGrantsMore) {
  const auto with = [](const std::function<void(FilterRule&, double)>& wrong) {
    return complaint_of_filters(
        1, fills,
        [&](const PrivacyBudget& budget, Calibrator calibrator, std::optional<double> order,
            double pure) {
          FilterRule rule = rule_of(budget, calibrator, order, pure);
          wrong(rule, pure > 0 ? rule_of(budget, calibrator, order, 0).capacity : rule.capacity);
          return rule;
        });
  };
  EXPECT_TRUE(
      is_contradiction(with([](FilterRule& rule, double whole) { rule.capacity = whole; })));
  EXPECT_TRUE(is_contradiction(with([](FilterRule& rule, double) {
    if (rule.calibrator == Calibrator::exact_gaussian) rule.capacity *= 1.2;
  })));
  EXPECT_TRUE(is_contradiction(with([](FilterRule& rule, double) { rule.capacity *= 1.5; })));
  EXPECT_TRUE(is_contradiction(with([](FilterRule& rule, double) { rule.pure_capacity *= 2; })));
}

TEST(Filters, AreContradictedWhereRulesOfGuestsAreCheckedAccountByAccount) {
  EXPECT_TRUE(is_contradiction(complaint_of_filters(
      1, fills, rule_of, [](const FilterRule& rule, const PrivacyBudget& budget) {
        FilterRule one = rule, other = rule;
        one.pure_capacity = 0;
        other.capacity = 0;
        return is_accepted(one, budget) && is_accepted(other, budget);
      })));
}

}  // namespace
}  // namespace dpsosp::audit_test
