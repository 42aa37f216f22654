// SPDX-License-Identifier: Apache-2.0
// Simulated records: what the curator of sums without records answers and refuses, and its label.
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/simulated_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "support.hpp"

namespace dpsosp::simulated_test {
namespace {

using namespace testing;

/// A curator over a simulated stream of any length.
struct SimulatedHouse {
  explicit SimulatedHouse(Index n, const std::string& sampling = "stream")
      : problem(make(n, sampling)),
        curator(problem.facts, *problem.simulated, zcdp_rule(1e9), {.seed = 1}) {}
  static Problem make(Index n, const std::string& sampling) {
    const auto family = find_problem("cosine-saddle");
    Fields fields = family->fields();
    set_field(fields, "cosine-saddle", "sampling", sampling);
    return family->make({.records = n, .dimension = 3});
  }
  Vector ask(Curator& of, const Batch& batch, double limit = 10) {
    Vector out(3);
    of.gradient(Point(problem.facts.initial_point), batch, {limit, Noise::sensitivity_ratio(1.0)},
                out);
    return out;
  }

  Problem problem;
  SimulatedCurator curator;
};

constexpr Index huge = 10'000'000'000'000'000;

template <class Made, class Sums, class... Rest>
constexpr bool takes = std::is_constructible_v<Made, const PublicFacts&, const Sums&, Rest...>;
using Words = std::unique_ptr<WordSource>;

// Records cannot be passed off as sums without any, nor such sums as records.
static_assert(takes<Curator, AnyRecords, const FilterRule&, StreamKey>);
static_assert(!takes<Curator, SimulatedSums, const FilterRule&, StreamKey>);
static_assert(!takes<Curator, RecordSums, const FilterRule&, StreamKey>);
static_assert(takes<SimulatedCurator, SimulatedSums, const FilterRule&, StreamKey>);
static_assert(!takes<SimulatedCurator, AnyRecords, const FilterRule&, StreamKey>);
static_assert(!takes<SimulatedCurator, RecordSums, const FilterRule&, StreamKey>);
static_assert(takes<ReleaseCurator, AnyRecords, const FilterRule&, StreamKey, Words>);
static_assert(!takes<ReleaseCurator, SimulatedSums, const FilterRule&, StreamKey, Words>);
static_assert(takes<AuditedCurator, AnyRecords, const FilterRule&, StreamKey, Auditor&, ClipLog&>);
static_assert(
    !takes<AuditedCurator, SimulatedSums, const FilterRule&, StreamKey, Auditor&, ClipLog&>);
static_assert(takes<UnsoundCurator, AnyRecords, StreamKey, const Departures&>);
static_assert(takes<UnsoundCurator, SimulatedSums, StreamKey, const Departures&>);
// Nobody else can make records that count as those of admit().
class Pretended : public AnyRecords {};
static_assert(!std::is_default_constructible_v<Pretended>);
static_assert(std::is_final_v<Records> && !std::is_default_constructible_v<Records> &&
              !std::is_copy_constructible_v<Records>);
static_assert(!std::is_convertible_v<const UncheckedRecords*, const Records*>);
static_assert(!std::is_convertible_v<const AnyRecords*, const SimulatedSums*> &&
              !std::is_convertible_v<const SimulatedSums*, const AnyRecords*>);
static_assert(!std::is_assignable_v<std::unique_ptr<const AnyRecords>&,
                                    std::unique_ptr<const SimulatedSums>>);

TEST(SimulatedRecords, GiveTheirCuratorAndItsChildrenALabelOfTheirOwn) {
  SimulatedHouse house(1000, "whole");
  EXPECT_EQ(house.curator.label(), PrivacyLabel::simulated);
  house.ask(house.curator, house.curator.draw(BatchPolicy::all()));
  EXPECT_EQ(house.curator.label(), PrivacyLabel::simulated);
  EXPECT_EQ(house.curator.child({"part", 0.5}).label(), PrivacyLabel::simulated);
  EXPECT_EQ(on_records(PrivacyLabel::simulated), PrivacyLabel::enforced);
  for (const PrivacyLabel other : {PrivacyLabel::enforced, PrivacyLabel::conditional,
                                   PrivacyLabel::violated, PrivacyLabel::none})
    EXPECT_EQ(on_records(other), other);
}

TEST(SimulatedRecords, KeepTheLabelOfADeparture) {
  const Problem problem = SimulatedHouse::make(1000, "whole");
  const auto label = [&](const Departures& departures) {
    return UnsoundCurator(problem.facts, *problem.simulated, {.seed = 1}, departures).label();
  };
  EXPECT_EQ(label({}), PrivacyLabel::violated);
  EXPECT_EQ(label({.no_noise = true}), PrivacyLabel::none);
  EXPECT_EQ(label({.no_clipping = true}), PrivacyLabel::conditional);
}

TEST(SimulatedRecords, AreChargedAndRefusedLikeRecords) {
  const auto family = find_problem("cosine-saddle");
  const Problem real = family->make({.records = 1000, .dimension = 3});
  const Problem none = SimulatedHouse::make(1000, "whole");
  Curator enforced(real.facts, *real.records, zcdp_rule(0.25), {.seed = 1});
  SimulatedCurator simulated(none.facts, *none.simulated, zcdp_rule(0.25), {.seed = 1});
  for (Curator* curator : {&enforced, static_cast<Curator*>(&simulated)}) {
    Vector out(3);
    const auto ask = [&] {
      curator->gradient(Point(real.facts.initial_point), curator->draw(BatchPolicy::all()),
                        {10, Noise::sensitivity_ratio(2.0)}, out);
    };
    ask();  // 1/8 each
    EXPECT_DOUBLE_EQ(curator->remaining().share, 0.5);
    ask();
    EXPECT_THROW(ask(), BudgetExhausted);
  }
  EXPECT_EQ(enforced.ledger().spent(1e-6).epsilon, simulated.ledger().spent(1e-6).epsilon);
}

TEST(SimulatedRecords, AnswerFreshBatchesUntilDataEnd) {
  SimulatedHouse house(huge);
  for (int k = 0; k < 4; ++k)
    EXPECT_TRUE(
        house.ask(house.curator, house.curator.draw(BatchPolicy::fresh(huge / 4))).allFinite());
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(1)), DataExhausted);
}

TEST(SimulatedRecords, AnswerFullBatchesRepeatedly) {
  SimulatedHouse house(huge, "whole");
  house.ask(house.curator, house.curator.draw(BatchPolicy::all()));
  house.ask(house.curator, house.curator.draw(BatchPolicy::all()));
  EXPECT_EQ(house.curator.ledger().entries().size(), 1U);  // one kind of query, counted twice
}

TEST(SimulatedRecords, RejectMixingFullAndFreshBatches) {
  SimulatedHouse fresh_first(1000);
  fresh_first.curator.draw(BatchPolicy::fresh(10));
  EXPECT_THROW(fresh_first.curator.draw(BatchPolicy::all()), InputError);
  EXPECT_NO_THROW(fresh_first.curator.draw(BatchPolicy::fresh(10)));
  SimulatedHouse all_first(1000);
  all_first.curator.draw(BatchPolicy::all());
  EXPECT_THROW(all_first.curator.draw(BatchPolicy::fresh(10)), InputError);
  EXPECT_NO_THROW(all_first.curator.draw(BatchPolicy::all()));
}

TEST(SimulatedRecords, RejectDifferentCutsByCuratorAndChild) {
  SimulatedHouse house(1000);
  Curator child = house.curator.child({"all", 0.1});
  child.draw(BatchPolicy::fresh(100));
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(30)), InputError);
  // a later child cannot inherit the place of one that is gone
  {
    Curator gone = house.curator.child({"gone", 0.1, RecordRange{500, 600}});
    gone.draw(BatchPolicy::fresh(50));
  }
  for (int k = 0; k < 20; ++k) {
    Curator next = house.curator.child({"next " + std::to_string(k), 0.01, RecordRange{500, 600}});
    EXPECT_THROW(next.draw(BatchPolicy::fresh(7)), InputError);
  }
}

TEST(SimulatedRecords, AllowDifferentReadsOfDisjointHalves) {
  SimulatedHouse house(1000);
  Curator first = house.curator.child({"first", 0.5, RecordRange{0, 500}});
  Curator second = house.curator.child({"second", 0.5, RecordRange{500, 1000}});
  for (int k = 0; k < 3; ++k) house.ask(first, first.draw(BatchPolicy::all()));
  for (int k = 0; k < 3; ++k) house.ask(second, second.draw(BatchPolicy::fresh(100)));
}

TEST(SimulatedRecords, RejectSampledBatches) {
  SimulatedHouse house(huge);
  EXPECT_THROW(house.curator.draw(BatchPolicy::sample(10)), InputError);
  EXPECT_THROW(house.curator.draw(BatchPolicy::poisson(1e-15)), InputError);
}

TEST(SimulatedRecords, RejectLimitsThatWouldClip) {
  SimulatedHouse house(1000);
  const Batch batch = house.curator.draw(BatchPolicy::fresh(10), BatchUse::several_queries);
  EXPECT_THROW(house.ask(house.curator, batch, 0.01), InputError);
  EXPECT_NO_THROW(house.ask(house.curator, batch, std::sqrt(3.0)));
}

}  // namespace
}  // namespace dpsosp::simulated_test
