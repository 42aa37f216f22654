// SPDX-License-Identifier: Apache-2.0
// Parts of a curator's budget and data.
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "support.hpp"

namespace dpsosp::child_test {
namespace {

using namespace testing;

constexpr Index n = 12;
constexpr double C = 1.0;
const GradientQuery query{C, Noise::sensitivity_ratio(1.0)};  // costs ρ = 1/2

Data some_data() {
  Stream stream({.seed = 2});
  return random_data(n, C, stream);
}
Vector ask_all(Curator& curator, const GradientQuery& q = query) {
  return ask(curator, Kind::gradient, curator.draw(BatchPolicy::all()), q);
}

TEST(Child, ReservesSliceAtOnceAndNeverExceedsIt) {
  House house(some_data(), {.seed = 1}, zcdp_rule(2.0));
  Curator child = house.curator.child({"half", 0.5});
  EXPECT_DOUBLE_EQ(house.curator.remaining().share, 0.5);  // before the child has asked anything
  ask_all(house.curator);
  ask_all(house.curator);
  EXPECT_THROW(ask_all(house.curator), BudgetExhausted);
  ask_all(child);
  ask_all(child);
  EXPECT_THROW(ask_all(child), BudgetExhausted);
  for (const double rho : zcdp_by_record(house.curator.ledger(), n)) EXPECT_DOUBLE_EQ(rho, 2.0);
}

TEST(Child, AddsSlicesOfSameRecordsOnly) {
  House house(some_data());
  house.curator.child({"a", 0.75, RecordRange{0, 6}});
  house.curator.child({"b", 0.75, RecordRange{6, 12}});
  EXPECT_DOUBLE_EQ(house.curator.remaining().share, 0.25);
  EXPECT_THROW(house.curator.child({"c", 0.5, RecordRange{5, 7}}), BudgetExhausted);
  EXPECT_NO_THROW(house.curator.child({"d", 0.25}));
  EXPECT_THROW(house.curator.child({"e", 1e-6, RecordRange{0, 1}}), BudgetExhausted);
}

TEST(Child, SpendsWholeBudgetInEqualSlices) {
  for (const int parts : {3, 7, 10, 49}) {
    House house(some_data(), {.seed = 1}, zcdp_rule(0.1));
    for (int k = 0; k < parts; ++k) ASSERT_NO_THROW(house.curator.child({"part", 1.0 / parts}));
    EXPECT_THROW(house.curator.child({"more", 1e-9}), BudgetExhausted);
  }
}

TEST(Child, ReadsAndChargesItsRangeAlone) {
  House house(some_data());
  Curator child = house.curator.child({"c", 0.5, RecordRange{3, 9}});
  Curator grandchild = child.child({"g", 0.5, RecordRange{2, 5}});  // records 5, 6, 7 of the root
  EXPECT_EQ(child.facts().records, 6);
  EXPECT_EQ(grandchild.facts().records, 3);
  for (const BatchPolicy& policy : {BatchPolicy::all(), BatchPolicy::fresh(2),
                                    BatchPolicy::sample(2), BatchPolicy::poisson(0.7)})
    for (int k = 0; k < (policy.kind == BatchPolicy::Kind::fresh ? 1 : 20); ++k)
      ask(grandchild, Kind::gradient, grandchild.draw(policy, BatchUse::several_queries), query);
  EXPECT_EQ(house.records.read, (std::set<Index>{5, 6, 7}));
  const auto rho = zcdp_by_record(house.curator.ledger(), n);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(rho[i] > 0.0, i >= 5 && i <= 7);
  EXPECT_EQ(house.curator.ledger().entries().front().scope, "/c/g/");
}

TEST(Child, UsesItsOwnRecordCountInSensitivity) {
  const Places places;
  Data data(d + d2, n), neighbour(d + d2, n);
  set_record(data, 4, Vector::Unit(d + d2, 0) * C, places);
  set_record(neighbour, 4, Vector::Unit(d + d2, 0) * -C, places);
  House a(data), b(neighbour);
  Curator child_a = a.curator.child({"c", 0.5, RecordRange{3, 6}});
  Curator child_b = b.curator.child({"c", 0.5, RecordRange{3, 6}});
  EXPECT_NEAR((ask_all(child_a) - ask_all(child_b)).norm(), 2.0 * C / 3.0, 1e-12);
  EXPECT_NEAR(a.curator.ledger().entries().front().sensitivity_high, 2.0 * C / 3.0, 1e-15);
}

TEST(Child, NeverSharesNoiseWithParentOrSiblings) {
  House house(Data(d + d2, n));
  std::vector<Vector> releases;
  Curator a = house.curator.child({"same name", 0.2});
  Curator b = house.curator.child({"same name", 0.2});
  Curator c = a.child({"c", 0.5});
  for (int k = 0; k < 3; ++k)
    for (Curator* each : {&house.curator, &a, &b, &c}) releases.push_back(ask_all(*each));
  for (std::size_t i = 0; i < releases.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      for (Index k = 0; k < d; ++k) EXPECT_NE(releases[i][k], releases[j][k]);
}

TEST(Child, NeverSharesBatchesWithParentOrSiblings) {
  House house(some_data());
  const auto batches = [&](Curator& curator) {
    std::vector<std::set<Index>> all;
    for (int k = 0; k < 8; ++k) {
      house.records.read.clear();
      ask(curator, Kind::gradient, curator.draw(BatchPolicy::poisson(0.5)), query);
      all.push_back(house.records.read);
    }
    return all;
  };
  Curator a = house.curator.child({"a", 0.3});
  Curator b = house.curator.child({"b", 0.3});
  const auto of_parent = batches(house.curator), of_a = batches(a), of_b = batches(b);
  EXPECT_NE(of_a, of_b);
  EXPECT_NE(of_a, of_parent);
  EXPECT_NE(of_b, of_parent);
}

TEST(Child, DrawsSameNoiseInAnyOrderOfSiblings) {
  const auto releases = [](bool a_first) {
    House house(some_data());
    Curator a = house.curator.child({"a", 0.3});
    Curator b = house.curator.child({"b", 0.3});
    std::array<Vector, 3> out;
    const auto sampled = [](Curator& curator) {
      return ask(curator, Kind::gradient, curator.draw(BatchPolicy::sample(5)), query);
    };
    if (a_first) out[0] = sampled(a);
    out[1] = sampled(b);
    if (!a_first) out[0] = sampled(a);
    out[2] = sampled(house.curator);
    return out;
  };
  const auto first = releases(true), second = releases(false);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same_bits(first[k], second[k]));
}

TEST(Child, CarriesGivenFacts) {
  House house(some_data());
  const Vector start = Vector::Constant(d, 3.0);
  Curator child = house.curator.child({"warm", 0.5, {}, start, 0.25});
  EXPECT_EQ(child.facts().initial_point, start);
  EXPECT_EQ(child.facts().constants[constant::suboptimality], 0.25);
  EXPECT_EQ(child.facts().constants.at(constant::suboptimality).origin, Origin::estimated);
  EXPECT_EQ(house.curator.facts().initial_point, Vector::Zero(d));
}

TEST(Child, RejectsBadSpecificationsWithoutReserving) {
  House house(some_data());
  for (const double share : {0.0, -0.5, 1.5, std::nan("")})
    EXPECT_THROW(house.curator.child({"c", share}), InputError);
  for (const RecordRange range :
       {RecordRange{3, 3}, RecordRange{-1, 2}, RecordRange{0, n + 1}, RecordRange{5, 2}})
    EXPECT_THROW(house.curator.child({"c", 0.5, range}), InputError);
  EXPECT_THROW(house.curator.child({"c", 0.5, {}, Vector(Vector::Zero(d + 1))}), InputError);
  EXPECT_EQ(house.curator.remaining().share, 1.0);
}

TEST(Child, CountsFreshRecordsSeparatelyButChargesThemJointly) {
  House house(some_data(), {.seed = 1}, zcdp_rule(1.0));
  ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::fresh(6)), query);
  Curator used = house.curator.child({"used", 0.5, RecordRange{0, 6}});
  EXPECT_EQ(used.remaining().fresh_records, 6);
  EXPECT_THROW(house.curator.child({"again", 0.1, RecordRange{5, 6}}), BudgetExhausted);
  EXPECT_NO_THROW(house.curator.child({"unused", 1.0, RecordRange{6, 12}}));
}

}  // namespace
}  // namespace dpsosp::child_test
