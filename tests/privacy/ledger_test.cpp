// SPDX-License-Identifier: Apache-2.0
// The ledger's total against a count kept by hand, record by record.
#include "dpsosp/privacy/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support.hpp"

namespace dpsosp::ledger_test {
namespace {

using namespace testing;

constexpr double delta = 1e-6;
const AccountOptions by_zcdp{.accountant = Accountant::zcdp};

LedgerEntry entry(const Event& event, RecordRange range, std::int64_t count = 1) {
  return {"/", "gradient", BatchPolicy::all(), event, range, 1.0, 1.0, 1.0, 1.0, count};
}
Event zcdp_event(double rho) { return GaussianEvent{1.0 / std::sqrt(2.0 * rho)}; }

TEST(Ledger, SpendsNothingWhenEmpty) {
  EXPECT_EQ(Ledger().spent(delta).epsilon, 0.0);
  EXPECT_EQ(Ledger().queries(), 0);
}

/// The guarantee names who proved it, also of queries that cost nothing.
TEST(Ledger, NamesTheAccountantOfChargesOfZero) {
  Ledger ledger;
  ledger.append(entry(GaussianEvent{1e12}, {0, 10}));
  EXPECT_EQ(ledger.spent(delta).epsilon, 0.0);
  EXPECT_EQ(ledger.spent(delta).accountant, "analytic");
}

TEST(Ledger, ChargesSampledQueriesAtMostAsWithPublicCoins) {
  // At large rates the exact Gaussian accountant beats the amplified Renyi bound.
  for (const double rate : {0.05, 0.5, 0.95, 1.0}) {
    Ledger fixed, poisson, open;
    fixed.append(entry(FixedSizeGaussianEvent{rate, 6.0}, {0, 10}, 25));
    poisson.append(entry(PoissonGaussianEvent{rate, 12.0}, {0, 10}, 25));
    open.append(entry(GaussianEvent{6.0}, {0, 10}, 25));
    const double full = open.spent(delta).epsilon;
    EXPECT_LE(fixed.spent(delta).epsilon, full * (1 + 1e-12)) << rate;
    EXPECT_LE(poisson.spent(delta).epsilon, full * (1 + 1e-12)) << rate;
    if (rate < 0.1) {
      EXPECT_LT(poisson.spent(delta).epsilon, 0.5 * full);
    }
  }
}

TEST(Ledger, ComposesDisjointRangesInParallelAndAddsOverlaps) {
  // {0..9} and {10..19} at ρ = 0.3, then everybody at 0.2: the most charged record has paid 0.5
  Ledger ledger;
  ledger.append(entry(zcdp_event(0.3), {0, 10}));
  ledger.append(entry(zcdp_event(0.3), {10, 20}));
  EXPECT_NEAR(ledger.spent(delta, by_zcdp).epsilon,
              epsilon_from_rho(0.3, delta, Conversion::cks).epsilon, 1e-12);
  ledger.append(entry(zcdp_event(0.2), {0, 20}));
  EXPECT_NEAR(ledger.spent(delta, by_zcdp).epsilon,
              epsilon_from_rho(0.5, delta, Conversion::cks).epsilon, 1e-12);
}

TEST(Ledger, AddsMixedMechanisms) {
  Ledger ledger;
  ledger.append(entry(zcdp_event(0.02), {0, 4}));
  ledger.append(entry(ExponentialEvent{0.5}, {2, 9}));
  EXPECT_NEAR(ledger.spent(1e-6, by_zcdp).epsilon, 1.49131833353, 1e-9);  // ρ = 0.05125
}

TEST(Ledger, TotalMatchesBruteForceOverRecords) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    constexpr Index n = 8;
    Ledger ledger;
    std::vector<double> rho(n, 0.0);
    std::int64_t queries = 0;
    for (Index k = 0, steps = stream.below(30); k < steps; ++k) {
      const double cost =
          0.01 * static_cast<double>(1 + stream.below(3));  // repeats, so some merge
      const Index begin = stream.below(n);
      const RecordRange range{begin, begin + 1 + stream.below(n - begin)};
      const std::int64_t count = 1 + stream.below(3);
      ledger.append(entry(zcdp_event(cost), range, count));
      queries += count;
      for (Index i = range.begin; i < range.end; ++i)
        rho[static_cast<std::size_t>(i)] += cost * static_cast<double>(count);
    }
    RC_ASSERT(ledger.queries() == queries);
    const double expected =
        epsilon_from_rho(*std::ranges::max_element(rho), delta, Conversion::cks).epsilon;
    RC_ASSERT(std::abs(ledger.spent(delta, by_zcdp).epsilon - expected) <= 1e-9 * (1 + expected));
  }));
}

TEST(Ledger, MergesAdjacentFreshBatchesAndCountsQueries) {
  const auto fresh = [](Index begin, std::int64_t count = 1) {
    LedgerEntry e = entry(GaussianEvent{2.0}, {begin, begin + 5}, count);
    e.policy = BatchPolicy::fresh(5);
    return e;
  };
  Ledger ledger;
  for (const Index begin : {0, 5, 10}) ledger.append(fresh(begin));
  ASSERT_EQ(ledger.entries().size(), 1U);
  EXPECT_EQ(ledger.queries(), 3);
  EXPECT_EQ(ledger.entries().front().charged, (RecordRange{0, 15}));
  EXPECT_EQ(ledger.entries().front().count, 1) << "each record pays once";
  Ledger one;
  one.append(fresh(0));
  EXPECT_EQ(ledger.spent(1e-6).epsilon, one.spent(1e-6).epsilon);
  ledger.append(fresh(20));     // a gap
  ledger.append(fresh(25, 2));  // dearer
  EXPECT_EQ(ledger.entries().size(), 3U);
  EXPECT_EQ(ledger.queries(), 6);
}

TEST(Ledger, MergingKeepsCostlierEventRangesAndCount) {
  Ledger ledger;
  LedgerEntry first = entry(GaussianEvent{2.0}, {0, 5});
  LedgerEntry second = entry(GaussianEvent{2.0 * (1 - 4e-16)}, {0, 5}, 2);
  second.sensitivity_low = second.sensitivity_high = 7.0;
  second.deviation_low = second.deviation_high = 14.0;
  ledger.append(first);
  ledger.append(second);
  ASSERT_EQ(ledger.entries().size(), 1U);
  const LedgerEntry& merged = ledger.entries().front();
  EXPECT_EQ(merged.count, 3);
  EXPECT_LT(std::get<GaussianEvent>(*merged.event).noise_multiplier, 2.0);
  EXPECT_EQ(merged.sensitivity_low, 1.0);
  EXPECT_EQ(merged.sensitivity_high, 7.0);
  EXPECT_EQ(merged.deviation_low, 1.0);
  EXPECT_EQ(merged.deviation_high, 14.0);
}

TEST(Ledger, DoesNotMergeDifferentEntries) {
  const LedgerEntry base = entry(GaussianEvent{2.0}, {0, 5});
  std::vector<LedgerEntry> others(7, base);
  others[0].scope = "/child/";
  others[1].query = "gradient_difference";
  others[2].policy = BatchPolicy::fresh(5);
  others[3].event = GaussianEvent{2.0 + 1e-6};
  others[4].charged = {0, 6};
  others[5].event = PoissonGaussianEvent{0.1, 2.0};
  others[6].event.reset();
  for (const LedgerEntry& other : others) {
    Ledger ledger;
    ledger.append(base);
    ledger.append(other);
    EXPECT_EQ(ledger.entries().size(), 2U);
  }
}

TEST(Ledger, NeverUnderchargesManyTinyDifferences) {
  // every step is within the merging tolerance of the last one, their sum is not
  for (const double step : {-0.9e-12, 0.9e-12}) {
    Ledger ledger;
    double z = 1.0, rho = 0.0;
    for (int k = 0; k < 2000; ++k, z *= 1 + step) {
      ledger.append(entry(GaussianEvent{z}, {0, 1}));
      rho += 0.5 / (z * z);
    }
    EXPECT_GE(ledger.spent(delta, by_zcdp).epsilon,
              epsilon_from_rho(rho, delta, Conversion::cks).epsilon * (1 - 1e-13));
  }
}

TEST(Ledger, ReportsInfiniteTotalForQueryWithoutFiniteCost) {
  Ledger ledger;
  ledger.append(entry(GaussianEvent{2.0}, {0, 5}));
  LedgerEntry costless = entry(GaussianEvent{1.0}, {0, 5});
  costless.event.reset();
  ledger.append(costless);
  EXPECT_EQ(ledger.spent(delta).epsilon, std::numeric_limits<double>::infinity());
}

/// A curator and the records it was given, for a tree of children.
struct Member {
  Curator curator;
  Index begin, end;
};

TEST(Ledger, MatchesBruteForceInSessionsWithChildren) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    constexpr Index n = 24;
    constexpr double C = 1.0;
    constexpr double capacity = 1e15;  // the deepest child has 0.05⁶ of it and more
    Stream data_stream({.seed = seed + 1});
    const Data data = random_data(n, C, data_stream);
    Data neighbour = data;
    const Index replaced = stream.below(n);
    neighbour.offset.col(replaced) = Vector::Constant(d + d2, -300.0);
    House a(data, {.seed = 5}, zcdp_rule(capacity)), b(neighbour, {.seed = 5}, zcdp_rule(capacity));
    std::vector<Member> on_a, on_b;
    on_a.push_back({std::move(a.curator), 0, n});
    on_b.push_back({std::move(b.curator), 0, n});
    std::vector<double> rho(n, 0.0);
    double divergence = 0.0;  // Σ ‖difference of releases‖²/(2 s²), the price of this neighbour
    for (int step = 0; step < 40; ++step) {
      const auto who = static_cast<std::size_t>(stream.below(std::ssize(on_a)));
      const Index size = on_a[who].end - on_a[who].begin;
      if (stream.below(6) == 0 && size > 2) {
        const Index begin = stream.below(size - 1);
        const RecordRange range{begin, begin + 1 + stream.below(size - begin)};
        const ChildSpec spec{"c" + std::to_string(step), 0.05, range};
        Member child_a{on_a[who].curator.child(spec), on_a[who].begin + range.begin,
                       on_a[who].begin + range.end};
        Member child_b{on_b[who].curator.child(spec), child_a.begin, child_a.end};
        on_a.push_back(std::move(child_a));
        on_b.push_back(std::move(child_b));
        continue;
      }
      const Index b_size = 1 + stream.below(size);
      const std::array policies{BatchPolicy::all(), BatchPolicy::fresh(b_size),
                                BatchPolicy::sample(b_size), BatchPolicy::poisson(0.5)};
      const BatchPolicy policy = policies[static_cast<std::size_t>(stream.below(4))];
      if (policy.kind == BatchPolicy::Kind::fresh &&
          on_a[who].curator.remaining().fresh_records < b_size)
        continue;
      const double ratio = 5.0 + static_cast<double>(stream.below(2));
      const GradientQuery query{C, Noise::sensitivity_ratio(ratio), Block::joint};
      const Kind kind = stream.below(2) == 0 ? Kind::gradient : Kind::difference;
      a.records.read.clear();
      const Batch batch_a = on_a[who].curator.draw(policy, BatchUse::several_queries);
      const Batch batch_b = on_b[who].curator.draw(policy, BatchUse::several_queries);
      const Vector moved = ask(on_a[who].curator, kind, batch_a, query) -
                           ask(on_b[who].curator, kind, batch_b, query);
      const double divisor = policy.kind == BatchPolicy::Kind::all ? static_cast<double>(size)
                             : policy.kind == BatchPolicy::Kind::poisson
                                 ? 0.5 * static_cast<double>(size)
                                 : static_cast<double>(b_size);
      const double deviation = ratio * 2.0 * C / divisor;
      divergence += moved.squaredNorm() / (2.0 * deviation * deviation);
      const bool secret =
          policy.kind == BatchPolicy::Kind::sample || policy.kind == BatchPolicy::Kind::poisson;
      for (Index i = 0; i < n; ++i) {
        const bool in_range = i >= on_a[who].begin && i < on_a[who].end;
        const bool read = a.records.read.contains(i);
        const bool stray = read && !in_range;
        RC_ASSERT(!stray);
        if (secret ? in_range : read) rho[static_cast<std::size_t>(i)] += 0.5 / (ratio * ratio);
      }
    }
    const Ledger& ledger = on_a.front().curator.ledger();
    const std::vector<double> listed = zcdp_by_record(ledger, n);
    for (std::size_t i = 0; i < n; ++i) RC_ASSERT(std::abs(listed[i] - rho[i]) <= 1e-9);
    RC_ASSERT(divergence <= rho[static_cast<std::size_t>(replaced)] * (1 + 1e-9));
    const double expected =
        epsilon_from_rho(*std::ranges::max_element(rho), delta, Conversion::cks).epsilon;
    RC_ASSERT(std::abs(ledger.spent(delta, by_zcdp).epsilon - expected) <= 1e-9 * (1 + expected));
  }));
}

TEST(Ledger, ListsAmplifiedChargesForSecretBatchesOfOneQuery) {
  House house(Data(d + d2, 100));
  const GradientQuery query{3.0, Noise::sensitivity_ratio(1.5)};
  for (int k = 0; k < 4; ++k)
    ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::sample(5)), query);
  for (int k = 0; k < 6; ++k)
    ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::poisson(0.05)), query);
  ASSERT_EQ(house.curator.ledger().entries().size(), 2U);
  const std::vector<CountedEvent> expected{{FixedSizeGaussianEvent{0.05, 1.5}, 4},
                                           {PoissonGaussianEvent{0.05, 3.0}, 6}};
  EXPECT_DOUBLE_EQ(house.curator.ledger().spent(1e-5).epsilon,
                   epsilon_of(expected, Adjacency::replace_one, 1e-5).epsilon);
}

}  // namespace
}  // namespace dpsosp::ledger_test
