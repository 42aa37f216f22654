// SPDX-License-Identifier: Apache-2.0
// AboveThreshold on loss differences, and the printed forms of the stationarity test.
#include "dpsosp/privacy/line_search.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "second_order_support.hpp"

namespace dpsosp::line_search_test {
namespace {

using namespace testing;

constexpr Index n = 400;

/// Linear losses of slope `slope` along the first axis, one record apart from the rest.
Quadratics slopes(double slope, double odd, Index records = n) {
  Quadratics data;
  data.hessians.assign(static_cast<std::size_t>(records), Matrix::Zero(2, 2));
  data.slopes.assign(static_cast<std::size_t>(records), slope * Vector::Unit(2, 0));
  data.slopes[0] = odd * Vector::Unit(2, 0);
  return data;
}
const LineSearchSpec spec{.epsilon = 1, .loss_limit = 1, .reach = 2};
Vector at(double a) { return a * Vector::Unit(2, 0); }

struct Search {
  explicit Search(const Quadratics& data, double capacity = 1e9, std::uint64_t seed = 1)
      : house(data, {.seed = seed}, zcdp_rule(capacity)),
        search(house.curator, house.curator.draw(BatchPolicy::all()), at(0), spec) {}
  QuadraticHouse house;
  LineSearch search;
};

TEST(LineSearch, AcceptsSufficientDecreaseOnly) {
  // s = 2·1·2/400 = 0.01; all noise together is below 0.5 but for e^-12
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Search s(slopes(1, 1), 1e9, seed);
    EXPECT_FALSE(s.search.decreases(at(1), 0));
    EXPECT_FALSE(s.search.decreases(at(-1), 1.5));
    EXPECT_TRUE(s.search.decreases(at(-1), 0.5));
    EXPECT_EQ(s.search.questions(), 3);
  }
}

TEST(LineSearch, ChargesOnceAndEndsAtFirstAcceptance) {
  Search s(slopes(1, 1));
  EXPECT_DOUBLE_EQ(s.search.sensitivity(), 0.01);
  for (int k = 0; k < 9; ++k) EXPECT_FALSE(s.search.decreases(at(1), 1));
  EXPECT_TRUE(s.search.decreases(at(-2), 0));
  EXPECT_THROW(s.search.decreases(at(-2), 0), InputError);
  ASSERT_EQ(s.house.curator.ledger().entries().size(), 1U);
  const LedgerEntry entry = s.house.curator.ledger().entries().front();
  EXPECT_EQ(std::get<PureEvent>(*entry.event).epsilon, 1.0);
  EXPECT_EQ(entry.query, "line_search");
  EXPECT_FALSE(std::is_copy_constructible_v<LineSearch>);
}

// A record moves the mean by 2G‖x − y‖/n at most, 100 times beyond the limit too, and that is
// reached: the least decrease that is refused without noise shows the mean.
TEST(LineSearch, OneRecordMovesDecreaseByAtMostSensitivity) {
  const auto decrease = [](double odd, double distance) {
    double low = -5, high = 5;
    while (high - low > 1e-12) {
      UnsoundQuadraticHouse house(slopes(0.3, odd, 10), {.no_noise = true});
      LineSearch search(house.curator, house.curator.draw(BatchPolicy::all()), at(0), spec);
      const double middle = (low + high) / 2;
      (search.decreases(at(-distance), middle) ? low : high) = middle;
    }
    return low;
  };
  for (const double distance : {0.5, 1.0, 2.0})
    for (const double scale : {1.0, 100.0}) {
      const double moved = decrease(scale, distance) - decrease(-scale, distance);
      EXPECT_NEAR(moved, 2 * 1.0 * distance / 10, 1e-9);
      EXPECT_LE(moved, 2 * 1.0 * spec.reach / 10 + 1e-9);
    }
  EXPECT_NEAR(decrease(std::nan(""), 1.0), 0.9 * 0.3, 1e-9);  // counts as zero
}

// A single record, exchanged at will: on every k the probability that the k-th answer is the first
// yes may differ by the factor e^ε at most.
TEST(LineSearch, FirstAcceptanceSatisfiesEpsilonBound) {
  constexpr int runs = 40000, questions = 4;
  std::vector<std::vector<double>> first(2, std::vector<double>(questions + 1, 0.0));
  for (int world = 0; world < 2; ++world)
    for (int run = 0; run < runs; ++run) {
      Search s(slopes(0, world == 0 ? 1 : -1, 1), 1e9,
               static_cast<std::uint64_t>(run + world * runs));
      int k = 0;
      while (k < questions && !s.search.decreases(at(k % 2 == 0 ? -2 : 2), 1.0)) ++k;
      ++first[static_cast<std::size_t>(world)][static_cast<std::size_t>(k)];
    }
  for (std::size_t k = 0; k <= questions; ++k) {
    const double a = first[0][k], b = first[1][k];
    const double slack = 5 * (std::sqrt(a) + std::sqrt(b) * std::exp(1.0));
    EXPECT_LE(a, std::exp(1.0) * b + slack) << k;
    EXPECT_LE(b, std::exp(1.0) * a + slack) << k;
  }
}

TEST(LineSearch, RefusalLeavesNoTrace) {
  QuadraticHouse house(slopes(1, 1), {.seed = 1}, zcdp_rule(0.4));  // ε = 1 costs 1/2
  const Batch all = house.curator.draw(BatchPolicy::all());
  EXPECT_THROW(LineSearch(house.curator, all, at(0), spec), BudgetExhausted);
  for (double LineSearchSpec::*field :
       {&LineSearchSpec::epsilon, &LineSearchSpec::loss_limit, &LineSearchSpec::reach})
    for (const double bad : {0.0, -1.0, 1e-200, HUGE_VAL, std::nan("")}) {
      LineSearchSpec wrong = spec;
      wrong.*field = bad;
      EXPECT_THROW(LineSearch(house.curator, all, at(0), wrong), InputError) << bad;
    }
  EXPECT_THROW(LineSearch(house.curator, all, at(HUGE_VAL), spec), InputError);
  EXPECT_THROW(LineSearch(house.curator, all, Vector::Zero(3), spec), InputError);
  EXPECT_THROW(LineSearch(house.curator, house.curator.draw(BatchPolicy::sample(3)), at(0), spec),
               InputError);
  EXPECT_TRUE(house.curator.ledger().entries().empty());
  EXPECT_TRUE(house.records.read.empty());
  EXPECT_EQ(house.curator.remaining().share, 1.0);
  House minimax(Data(d + d2, 5));
  EXPECT_THROW(
      LineSearch(minimax.curator, minimax.curator.draw(BatchPolicy::all()), Vector::Zero(d), spec),
      InputError);
}

TEST(LineSearch, RejectsPointsBeyondReachAndDeniesNonFiniteOnes) {
  Search s(slopes(1, 1));
  EXPECT_THROW(s.search.decreases(at(-2.1), 0), InputError);
  EXPECT_THROW(s.search.decreases(Vector::Zero(3), 0), InputError);
  EXPECT_THROW(s.search.decreases(at(-1), std::nan("")), InputError);
  EXPECT_FALSE(s.search.decreases(at(std::nan("")), -1e9));
  EXPECT_EQ(s.search.questions(), 1);
}

TEST(LineSearch, ReadsNoRecordsAtItsOwnPoint) {
  const Quadratics data = slopes(5, 5);
  const QuadraticHouse house(data);
  ClipLog log;
  Curator curator(house.facts, house.records, zcdp_rule(1e9), {.seed = 1}, &log);
  LineSearch search(curator, curator.draw(BatchPolicy::all()), at(0), spec);
  search.decreases(at(0), 1e9);
  EXPECT_EQ(log.contributions, 0);
  search.decreases(at(1), 1e9);
  EXPECT_EQ(log.contributions, n);
}

TEST(LineSearch, FollowsDepartures) {
  const auto decreases = [](const UnsoundCurator::Departures& departures, double by) {
    UnsoundQuadraticHouse house(slopes(5, 5), departures);
    LineSearch search(house.curator, house.curator.draw(BatchPolicy::all()), at(0), spec);
    return std::pair(search.decreases(at(-1), by), house.curator.ledger().entries().at(0));
  };
  EXPECT_TRUE(decreases({.no_noise = true}, 0.999).first);
  EXPECT_FALSE(decreases({.no_noise = true}, 1.001).first);  // clamped at 1
  EXPECT_FALSE(decreases({.no_noise = true}, 1.0).second.event);
  EXPECT_TRUE(decreases({.no_noise = true, .no_clipping = true}, 4.999).first);
  EXPECT_FALSE(decreases({.no_noise = true, .no_data = true}, 1e-9).first);
  EXPECT_EQ(std::get<PureEvent>(*decreases({.no_clipping = true}, 1).second.event).epsilon, 1.0);
}

// ganesh-2023 notes, 7: m = 5000, ε = 1, G = 1, M = 2, T = 100, ω = 0.1, α = 0.1, ρ = 1.
StationaritySpec ganesh(SelectionScales scales) {
  return {.epsilon = 1,
          .gradient_scale = 0.1,
          .curvature_scale = std::sqrt(0.1),
          .gradient_limit = 1,
          .hessian_limit = 2,
          .form = SelectionForm::two_tests,
          .scales = scales,
          .candidates = 100,
          .failure = 0.1};
}

TEST(PrintedSelection, MatchesGaneshScalesOffsetsAndTrueCost) {
  const auto printed = plan_stationarity(ganesh(SelectionScales::zero_out), 5000);
  ASSERT_EQ(printed.size(), 2U);
  EXPECT_NEAR(printed[0].threshold_scale(), 0.0008, 1e-15);
  EXPECT_NEAR(printed[0].question_scale(), 0.0016, 1e-15);
  EXPECT_NEAR(printed[1].threshold_scale(), 0.0016, 1e-15);
  EXPECT_NEAR(printed[1].question_scale(), 0.0032, 1e-15);
  EXPECT_NEAR(printed[0].threshold - 0.1, 0.02432289, 5e-9);
  EXPECT_NEAR(printed[1].threshold - std::sqrt(0.1), 0.04864578, 5e-9);
  EXPECT_NEAR(printed[0].threshold, 0.12432289, 5e-9);
  EXPECT_NEAR(-printed[1].threshold, -0.36487354, 5e-9);
  EXPECT_NEAR(printed[0].true_epsilon() + printed[1].true_epsilon(), 2.0, 1e-14);
  const auto sound = plan_stationarity(ganesh(SelectionScales::replace_one), 5000);
  EXPECT_NEAR(sound[0].threshold_scale(), 0.0016, 1e-15);
  EXPECT_NEAR(sound[0].question_scale(), 0.0032, 1e-15);
  EXPECT_NEAR(sound[1].threshold_scale(), 0.0032, 1e-15);
  EXPECT_NEAR(sound[1].question_scale(), 0.0064, 1e-15);
  EXPECT_NEAR(sound[0].threshold, 0.14864578, 5e-9);
  EXPECT_NEAR(-sound[1].threshold, -0.41351932, 5e-9);
  EXPECT_NEAR(sound[0].true_epsilon() + sound[1].true_epsilon(), 1.0, 1e-14);
}

// avdiukhin-2024 notes, 8: G = 2.616, M = 2, α = 0.1, ρ = 1.539600718, n = 20000.
TEST(StationarityPlan, MatchesAvdiukhinVector14) {
  const double rho = 1.539600718, alpha = 0.1;
  const StationaritySpec one{.epsilon = 1,
                             .gradient_scale = alpha,
                             .curvature_scale = std::sqrt(rho * alpha),
                             .gradient_limit = 2.616,
                             .hessian_limit = 2};
  const auto tests = plan_stationarity(one, 20000);
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_NEAR(tests[0].sensitivity, 0.002616, 1e-15);
  EXPECT_NEAR(tests[0].threshold_scale(), 0.005232, 1e-15);
  EXPECT_NEAR(tests[0].question_scale(), 0.010464, 1e-15);
  EXPECT_EQ(tests[0].threshold, 1.5);
  const double w = selection_noise(tests[0].sensitivity, 1, 10, 0.05);
  EXPECT_NEAR(w, 0.125389370, 5e-10);
  EXPECT_NEAR(w * 20000 / 0.5, 5015.574802, 5e-6);  // the n at which w = 1/2
}

struct Selected {
  Selected(const StationaritySpec& s, const Vector& where, double capacity = 1e9,
           std::uint64_t seed = 1)
      : problem(find_problem("cosine-saddle")->make({.records = 2000, .dimension = 3})),
        curator(problem.facts, *problem.records, zcdp_rule(capacity), {.seed = seed}),
        test(curator, curator.draw(BatchPolicy::all()), s),
        yes(test.accepts(where)) {}
  Problem problem;
  Curator curator;
  StationarityTest test;
  bool yes;
};
StationaritySpec printed_spec(SelectionForm form, SelectionScales scales) {
  return {.epsilon = 1,
          .gradient_scale = 0.2,
          .curvature_scale = 0.4,
          .gradient_limit = std::sqrt(3.0),
          .hessian_limit = 1,
          .form = form,
          .scales = scales};
}
const Vector minimum = Vector::Zero(3);
const Vector saddle_point = std::acos(-1.0) * Vector::Unit(3, 0);
const Vector slope_point = Vector::Constant(3, std::acos(0.0));

TEST(PrintedSelection, AcceptsMinimumButNotSaddleOrSlope) {
  for (const SelectionForm form : {SelectionForm::two_tests, SelectionForm::independent})
    for (const SelectionScales scales : {SelectionScales::zero_out, SelectionScales::replace_one})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const StationaritySpec s = printed_spec(form, scales);
        EXPECT_TRUE(Selected(s, minimum, 1e9, seed).yes);
        EXPECT_FALSE(Selected(s, saddle_point, 1e9, seed).yes);
        EXPECT_FALSE(Selected(s, slope_point, 1e9, seed).yes);
      }
}

TEST(PrintedSelection, EachScalarHasAThresholdOfItsOwn) {
  for (const SelectionForm form : {SelectionForm::two_tests, SelectionForm::independent}) {
    StationaritySpec s = printed_spec(form, SelectionScales::replace_one);
    s.gradient_limit = s.hessian_limit = 10;
    const auto planned = plan_stationarity(s, 4000);
    ASSERT_NE(planned[0].threshold, planned[1].threshold);
    ASSERT_LT(planned[1].threshold, 10) << "is clipped";
    const auto accepts = [&](double gradient, double curvature) {
      Quadratics data;
      data.hessians.assign(4000, -curvature * Matrix::Identity(2, 2));
      data.slopes.assign(4000, gradient * Vector::Unit(2, 0));
      UnsoundQuadraticHouse house(data, {.no_noise = true});
      StationarityTest test(house.curator, house.curator.draw(BatchPolicy::all()), s);
      return test.accepts(Vector::Zero(2));
    };
    const double g = planned[0].threshold, c = planned[1].threshold;
    EXPECT_TRUE(accepts(g * (1 - 1e-9), c * (1 - 1e-9)));
    EXPECT_FALSE(accepts(g * (1 + 1e-9), 0));
    EXPECT_FALSE(accepts(0, c * (1 + 1e-9)));
  }
}

TEST(PrintedSelection, ChargesTrueCost) {
  const auto total = [](SelectionForm form, SelectionScales scales, int questions) {
    Selected s(printed_spec(form, scales), saddle_point);
    for (int k = 1; k < questions; ++k) s.test.accepts(saddle_point);
    double epsilon = 0;
    for (const LedgerEntry& e : s.curator.ledger().entries()) {
      if (const auto* pure = std::get_if<PureEvent>(&*e.event))
        epsilon += static_cast<double>(e.count) * pure->epsilon;
      else
        epsilon += static_cast<double>(e.count) * std::get<LaplaceEvent>(*e.event).epsilon;
    }
    return epsilon;
  };
  EXPECT_DOUBLE_EQ(total(SelectionForm::two_tests, SelectionScales::zero_out, 5), 2);
  EXPECT_DOUBLE_EQ(total(SelectionForm::two_tests, SelectionScales::replace_one, 5), 1);
  // avdiukhin-2024 notes, 2.3: 2ε + 2ε per candidate, 4Kε in all
  EXPECT_DOUBLE_EQ(total(SelectionForm::independent, SelectionScales::zero_out, 5), 20);
  EXPECT_DOUBLE_EQ(total(SelectionForm::independent, SelectionScales::replace_one, 5), 10);
}

TEST(PrintedSelection, IndependentFormIsRefusedPerQuestion) {
  const StationaritySpec spec1 =
      printed_spec(SelectionForm::independent, SelectionScales::replace_one);
  const double cost = 2 * zcdp_rule(1).charge(LaplaceEvent{1});
  Selected s(spec1, saddle_point, 1.5 * cost);
  const auto before = s.curator.ledger().queries();
  EXPECT_THROW(s.test.accepts(minimum), BudgetExhausted);
  EXPECT_EQ(s.curator.ledger().queries(), before);
  EXPECT_EQ(s.test.questions(), 1);
}

TEST(PrintedSelection, OnlyTwoTestFormEndsAtFirstAcceptance) {
  Selected two(printed_spec(SelectionForm::two_tests, SelectionScales::replace_one), minimum);
  EXPECT_THROW(two.test.accepts(minimum), InputError);
  Selected many(printed_spec(SelectionForm::independent, SelectionScales::replace_one), minimum);
  EXPECT_TRUE(many.test.accepts(minimum));
}

TEST(PrintedSelection, RejectsBadSpecs) {
  StationaritySpec none = ganesh(SelectionScales::zero_out), certain = none;
  none.candidates = 0;
  EXPECT_THROW(plan_stationarity(none, 10), InputError);
  for (const double bad : {0.0, 1.0, std::nan("")}) {
    certain.failure = bad;
    EXPECT_THROW(plan_stationarity(certain, 10), InputError);
  }
}

}  // namespace
}  // namespace dpsosp::line_search_test
