// SPDX-License-Identifier: Apache-2.0
// What is charged, to whom and when, over every kind of query: properties of whole classes of
// mistakes, not of single ones (tests/planted-bugs.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../core/stream_words.hpp"
#include "dpsosp/privacy/audited_curator.hpp"
#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/unsound_curator.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "every_query.hpp"

namespace dpsosp::charging_test {
namespace {

constexpr Index n = 12;

using namespace testing;

FilterRule renyi_rule(double capacity, double order = 8.0) {
  return {.calibrator = Calibrator::rdp, .order = order, .capacity = capacity};
}

// --- who is drawn decides nothing

/// Batches that are often empty: what is listed and charged for k questions is k times the same,
/// whoever the coins drew.
TEST(Charges, AreSameWhoeverIsDrawn) {
  for (const AnyQuery& query : every_query()) {
    if (!query.secret) continue;
    for (const BatchPolicy& policy : {BatchPolicy::poisson(0.1), BatchPolicy::sample(1)})
      for (const std::uint64_t seed : {1U, 2U}) {
        SineHouse house(3, renyi_rule(1e3), {.seed = seed});
        query.ask(house.curator, policy);
        const double one = spent_share(house.curator);
        EXPECT_GT(one, 0) << query.name;
        bool read_nobody = house.records.read.empty();
        for (int k = 2; k <= 200; ++k) {
          house.records.read.clear();
          query.ask(house.curator, policy);
          read_nobody = read_nobody || house.records.read.empty();
          ASSERT_EQ(house.curator.ledger().queries(), k) << query.name;
          ASSERT_NEAR(spent_share(house.curator), k * one, 1e-9 * k * one) << query.name;
        }
        EXPECT_EQ(read_nobody, policy.kind == BatchPolicy::Kind::poisson) << query.name;
      }
  }
}

TEST(Batches, AnswerOneQueryThoughNobodyIsDrawn) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    SineHouse house(3, renyi_rule(1e6), {.seed = seed});
    const Batch batch = house.curator.draw(BatchPolicy::poisson(0.01));
    const Vector x = Vector::Ones(d);
    Vector out(d);
    const GradientQuery query{1.0, Noise::sensitivity_ratio(1.0)};
    EXPECT_NO_THROW(house.curator.gradient(Point(x), batch, query, out));
    EXPECT_THROW(house.curator.gradient(Point(x), batch, query, out), InputError);
  }
}

// --- what is read is what is listed

/// A point and others: itself, its neighbours in floating point, and some relatively near.
std::vector<std::pair<Vector, Vector>> near_pairs() {
  const Vector x{{0.7, -0.4, 1.1}}, zero = Vector::Zero(d);
  std::vector<std::pair<Vector, Vector>> pairs{{x, x}, {zero, zero}, {zero, -zero}};
  for (Index j = 0; j < d; ++j) {
    Vector next = x;
    next[j] = std::nextafter(x[j], 9.0);
    pairs.emplace_back(x, next);
  }
  for (int digits = 3; digits <= 15; ++digits)
    pairs.emplace_back(x, x * (1 + std::pow(10.0, -digits)));
  for (const double size : {5e-324, 1e-300, 1e-163, 1e-161, 1e-155, 1e-90, 1e-16})
    pairs.emplace_back(zero, Vector::Unit(d, 1) * size);
  return pairs;
}

bool refused_as_too_near(const Vector& x, const Vector& y) {
  const double distance = (x - y).stableNorm();
  return distance > 0 && distance < 1e-140;
}

struct TwoPoints {
  Vector x, y;
  double limit;
};

/// Questions of two points, on one batch that is drawn for them. What is released is not looked at.
using OfTwoPoints = std::function<void(Curator&, const Batch&, const TwoPoints&)>;

const std::vector<std::pair<std::string, OfTwoPoints>>& questions_of_two_points() {
  static const Noise noise = Noise::standard_deviation(1.0);
  static Vector out(d);
  const auto combination = [](double gamma) {
    return [gamma](Curator& c, const Batch& batch, const TwoPoints& p) {
      c.gradient_combination(gamma, Point(p.x), Point(p.y), batch, {p.limit, p.limit, noise}, out);
    };
  };
  static const std::vector<std::pair<std::string, OfTwoPoints>> all{
      {"difference",
       [](Curator& c, const Batch& batch, const TwoPoints& p) {
         c.gradient_difference(Point(p.x), Point(p.y), batch, {p.limit, noise}, out);
       }},
      {"combination at 0", combination(0)},
      {"combination at 1e-9", combination(1e-9)},
      {"combination at a half", combination(0.5)},
      {"combination at 1", combination(1)},
      {"tree of differences",
       [](Curator& c, const Batch& batch, const TwoPoints& p) {
         TreeStream tree(c, 1.0, 4);
         tree.push_difference(Point(p.x), Point(p.y), batch, {.limit = p.limit}, out);
       }},
      {"hessian stream",
       [](Curator& c, const Batch& batch, const TwoPoints& p) {
         HessianStream stream(c);
         stream.refresh(Point(p.x), c.draw(BatchPolicy::fresh(2)), 1.0);
         stream.add(Point(p.x), Point(p.y), batch, p.limit);
         stream.product(Vector::Ones(d), 1.0, out);
       }},
      {"hessian product",  // of the step
       [](Curator& c, const Batch& batch, const TwoPoints& p) {
         if (refused_as_too_near(p.x, p.y)) return;
         c.hessian_product(Point(p.x), p.x - p.y, batch, {p.limit, noise}, out);
       }},
      {"choice",  // of one of two that are near each other
       [](Curator& c, const Batch& batch, const TwoPoints& p) {
         if (p.limit == 0 || refused_as_too_near(p.x, p.y)) return;
         Matrix points(d, 2);
         points << p.x, p.y;
         ExponentialMechanism(c, batch).choose(points, p.x, p.limit, 0.1);
       }},
      {"choice of a vertex", [](Curator& c, const Batch& batch, const TwoPoints& p) {
         if (p.limit == 0 || refused_as_too_near(p.x, p.y)) return;
         Matrix vertices(d, 2);
         vertices << p.x, p.y;
         ExponentialMechanism(c, batch).choose_vertex(vertices, p.x, p.limit, 0.1);
       }}};
  return all;
}

TEST(Charges, AreMadeToWhomIsReadHoweverNearTwoPointsAre) {
  for (const auto& [name, ask] : questions_of_two_points())
    for (const auto& [x, y] : near_pairs())
      for (const double limit : {0.0, 1e-3, 1.0})
        for (const bool other_way : {false, true}) {
          SineHouse house(n, wide_rule(1e30));
          const Batch batch = house.curator.draw(BatchPolicy::fresh(4));
          ask(house.curator, batch, {other_way ? y : x, other_way ? x : y, limit});
          EXPECT_EQ(house.records.read, charged_by(house.curator.ledger()))
              << name << " at distance " << (x - y).norm() << ", limit " << limit;
          EXPECT_EQ(spent_share(house.curator) > 0 || house.curator.ledger().queries() > 0,
                    !house.records.read.empty())
              << name;
        }
}

TEST(Charges, AreMadeOfSecretBatchesHoweverNearTwoPointsAre) {
  for (const auto& [name, ask] : questions_of_two_points()) {
    if (!name.starts_with("difference") && !name.starts_with("combination")) continue;
    for (const BatchPolicy& policy : {BatchPolicy::sample(3), BatchPolicy::poisson(0.9)})
      for (const auto& [x, y] : near_pairs())
        for (const double limit : {0.0, 1.0}) {
          SineHouse house(n, renyi_rule(1e30));
          ask(house.curator, house.curator.draw(policy), {x, y, limit});
          EXPECT_EQ(house.records.read.empty(), house.curator.ledger().queries() == 0)
              << name << " at distance " << (x - y).norm() << ", limit " << limit;
        }
  }
}

TEST(Charges, CoverEveryRecordThatAnyQueryReads) {
  for (const AnyQuery& query : every_query())
    for (const BatchPolicy& policy : {BatchPolicy::all(), BatchPolicy::fresh(4)}) {
      SineHouse house(n, wide_rule());
      Curator child =
          house.curator.child({.name = "part", .share = 0.5, .range = RecordRange{3, 9}});
      query.ask(child, policy);
      const std::set<Index> charged = charged_by(house.curator.ledger());
      EXPECT_TRUE(std::ranges::includes(charged, house.records.read)) << query.name;
      EXPECT_EQ(charged.size(), policy.kind == BatchPolicy::Kind::all ? 6U : 4U) << query.name;
      EXPECT_EQ(house.curator.ledger().queries(), query.listed) << query.name;
    }
}

/// What costs nothing is noise alone: nothing of earlier questions is left in it.
TEST(Charges, AreMadeForAllThatDependsOnRecords) {
  const Vector x{{0.7, -0.4, 1.1}};
  const Matrix same = x.replicate(1, 4);
  for (const AnyQuery& query : every_query()) {
    const SineRecords records(d, n);
    UnsoundCurator curator(sine_facts(d, n), records, {.seed = 5}, {.no_noise = true});
    query.ask(curator, BatchPolicy::all());
    const auto listed = [&] { return curator.ledger().queries(); };
    const std::int64_t before = listed();
    records.read.clear();
    Vector out = Vector::Ones(d);
    const GradientQuery of_one{1.0, Noise::standard_deviation(1.0)};
    curator.gradient_difference(Point(x), Point(x), curator.draw(BatchPolicy::all()), of_one, out);
    EXPECT_EQ(out, Vector::Zero(d)) << query.name;
    HessianStream stream(curator);
    stream.refresh(Point(x), curator.draw(BatchPolicy::all()), 0.0);
    stream.product(Vector::Ones(d), 1.0, out.setOnes());
    EXPECT_EQ(out, Vector::Zero(d)) << query.name;
    ExponentialMechanism mechanism(curator, curator.draw(BatchPolicy::all()));
    mechanism.choose_vertex(same, x, 1.0, 0.5);
    EXPECT_EQ(listed(), before) << query.name;
    EXPECT_TRUE(records.read.empty()) << query.name;
  }
}

/// A question without a charge has the same answer whatever the records are, whatever its vectors
/// are: not finite, or so long that a product with them is not.
TEST(Charges, AreMadeWhateverVectorsAre) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Vector x{{0.7, -0.4, 1.1}};
  using Ask = std::function<void(Curator&, const Vector& v, VectorRef out)>;
  const auto stream = [&](HessianMode mode) {
    return [&, mode](Curator& c, const Vector& v, VectorRef out) {
      HessianStream estimate(c, mode);
      estimate.refresh(Point(x), c.draw(BatchPolicy::all()), 1.0);
      estimate.product(v, 1.0, out);
    };
  };
  const Noise noise = Noise::standard_deviation(1.0);
  const std::vector<std::pair<std::string, Ask>> all{
      {"lazy stream", stream(HessianMode::lazy)},
      {"dense stream", stream(HessianMode::dense)},
      {"product",
       [&](Curator& c, const Vector& v, VectorRef out) {
         c.hessian_product(Point(x), v, c.draw(BatchPolicy::all()), {1.0, noise}, out);
       }},
      {"gradient",
       [&](Curator& c, const Vector& v, VectorRef out) {
         c.gradient(Point(v), c.draw(BatchPolicy::all()), {1.0, noise}, out);
       }},
      {"difference",
       [&](Curator& c, const Vector& v, VectorRef out) {
         c.gradient_difference(Point(v), Point(x), c.draw(BatchPolicy::all()), {1.0, noise}, out);
       }},
      {"difference of the same",
       [&](Curator& c, const Vector& v, VectorRef out) {
         c.gradient_difference(Point(v), Point(v), c.draw(BatchPolicy::all()), {1.0, noise}, out);
       }},
      {"choice of vertices", [&](Curator& c, const Vector& v, VectorRef out) {
         Matrix vertices(d, 2);
         vertices << v, -v;
         ExponentialMechanism mechanism(c, c.draw(BatchPolicy::all()));
         out.setConstant(static_cast<double>(mechanism.choose_vertex(vertices, x, 1.0, 0.5)));
       }}};
  for (const auto& [name, ask] : all)
    for (const double wrong : {infinity, -infinity, std::nan(""), 1e308, 1e160, 1e-320, 0.0})
      for (const bool everywhere : {false, true}) {
        Vector v = Vector::Zero(d);
        if (everywhere)
          v.setConstant(wrong);
        else
          v[1] = wrong;
        std::vector<Vector> released;
        std::vector<std::string> refusals;
        for (const std::uint64_t records : {7U, 8U, 9U}) {
          const SineRecords own(d, n, records);
          Curator curator(sine_facts(d, n), own, wide_rule(1e30), {.seed = 3});
          Vector out = Vector::Zero(d);
          std::string refused;
          try {
            ask(curator, v, out);
          } catch (const std::exception& e) {
            refused = e.what();
          }
          refusals.push_back(refused);
          if (curator.ledger().queries() == 0) released.push_back(out);
        }
        EXPECT_EQ(refusals[0], refusals[1]) << name << ' ' << wrong;
        EXPECT_EQ(refusals[0], refusals[2]) << name << ' ' << wrong;
        for (const Vector& out : released)
          EXPECT_TRUE(same_bits(out, released.front()))
              << name << ' ' << wrong << ": " << out.transpose();
      }
}

/// A proof holds in a region, and a limit is enforced everywhere.
TEST(Charges, TrustNoConstantOfTheProblem) {
  for (const AnyQuery& query : every_query()) {
    std::vector<Ledger> ledgers;
    std::vector<Vector> released;
    for (const double value : {0.0, 1e-6, 1e6}) {
      const SineRecords records(d, n);
      PublicFacts facts = sine_facts(d, n);
      for (const std::string_view name :
           {constant::smoothness, constant::hessian_lipschitz, constant::lipschitz,
            constant::joint_smoothness, constant::suboptimality})
        if (value > 0)
          facts.constants.set(name, {.value = value, .origin = Origin::proved, .attained = 1.0});
      Curator curator(facts, records, wide_rule(), {.seed = 5});
      released.push_back(query.ask(curator, BatchPolicy::all()));
      ledgers.push_back(curator.ledger());
    }
    for (std::size_t k = 1; k < 3; ++k) {
      EXPECT_TRUE(same_bits(released[k], released[0])) << query.name;
      ASSERT_EQ(ledgers[k].entries().size(), ledgers[0].entries().size()) << query.name;
      for (std::size_t e = 0; e < ledgers[0].entries().size(); ++e) {
        EXPECT_EQ(ledgers[k].entries()[e].event, ledgers[0].entries()[e].event) << query.name;
        EXPECT_EQ(ledgers[k].entries()[e].sensitivity_high,
                  ledgers[0].entries()[e].sensitivity_high)
            << query.name;
      }
    }
  }
}

// --- the event is that of the sampling

TEST(Charges, AreOfTheSamplingThatIsDrawn) {
  SineHouse house(n, renyi_rule(1e6));
  Curator child = house.curator.child({.name = "child", .share = 0.5, .range = RecordRange{3, 9}});
  Curator grandchild =
      child.child({.name = "grandchild", .share = 0.5, .range = RecordRange{2, 5}});
  const std::array<std::pair<Curator*, RecordRange>, 3> all{
      {{&house.curator, {0, 12}}, {&child, {3, 9}}, {&grandchild, {5, 8}}}};
  const std::array<double, 3> capacity{1e6, 5e5, 2.5e5};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [curator, range] = all[k];
    const Index own = range.end - range.begin;
    for (const AnyQuery& query : every_query()) {
      if (!query.secret || query.name.starts_with("hessian")) continue;
      for (Index size = 1; size <= own; ++size) {
        const double before = spent_share(*curator);
        house.records.read.clear();
        query.ask(*curator, BatchPolicy::sample(size));
        const LedgerEntry entry = house.curator.ledger().entries().back();
        EXPECT_EQ(entry.charged, range);
        EXPECT_EQ(std::ssize(house.records.read), size);
        const auto* event = std::get_if<FixedSizeGaussianEvent>(&*entry.event);
        ASSERT_NE(event, nullptr) << query.name;
        const double rate = static_cast<double>(size) / static_cast<double>(own);
        EXPECT_EQ(event->rate, rate) << query.name << " of " << own;
        EXPECT_EQ(event->noise_multiplier, 1.0);
        EXPECT_NEAR((spent_share(*curator) - before) * capacity[k],
                    renyi_rule(1e6).charge(FixedSizeGaussianEvent{rate, 1.0}), 1e-8)
            << query.name << ", " << size << " of " << own;
      }
      for (const double rate : {0.1, 0.6}) {
        query.ask(*curator, BatchPolicy::poisson(rate));
        const LedgerEntry entry = house.curator.ledger().entries().back();
        EXPECT_EQ(entry.charged, range);
        EXPECT_EQ(*entry.event, Event(PoissonGaussianEvent{rate, 2.0})) << query.name;
      }
    }
  }
}

// --- a failure is paid for

TEST(Charges, AreKeptWhereTheRecordsThrow) {
  for (const AnyQuery& query : every_query()) {
    if (query.ahead) continue;
    for (const bool in_child : {false, true}) {
      std::array<double, 2> spent{};
      for (const bool throws : {false, true}) {
        SineHouse house(n, wide_rule());
        house.records.throws = throws;
        std::optional<Curator> child;
        if (in_child) child.emplace(house.curator.child({.name = "part", .share = 0.5}));
        Curator& asked = in_child ? *child : house.curator;
        if (throws)
          EXPECT_THROW(query.ask(asked, BatchPolicy::all()), InputError) << query.name;
        else
          query.ask(asked, BatchPolicy::all());
        EXPECT_FALSE(house.records.read.empty()) << query.name;
        EXPECT_EQ(house.curator.ledger().queries(), query.listed) << query.name;
        EXPECT_LT(asked.remaining().share, 1) << query.name;
        EXPECT_EQ(charged_by(house.curator.ledger()).size(), static_cast<std::size_t>(n));
        spent[throws ? 1 : 0] = spent_share(asked);
      }
      EXPECT_EQ(spent[0], spent[1]) << query.name;
    }
  }
}

TEST(Charges, OfSecretBatchesAreKeptWhereTheRecordsThrow) {
  for (const AnyQuery& query : every_query()) {
    if (!query.secret) continue;
    SineHouse house(n, renyi_rule(1e6));
    house.records.throws = true;
    EXPECT_THROW(query.ask(house.curator, BatchPolicy::sample(4)), InputError) << query.name;
    EXPECT_EQ(house.curator.ledger().queries(), 1) << query.name;
    EXPECT_LT(house.curator.remaining().share, 1) << query.name;
  }
}

// --- nothing is remembered of another curator

TEST(Charges, AreThoseOfTheirOwnRuleBesideOtherCurators) {
  constexpr double capacity = 1e5;
  std::vector<FilterRule> rules{{.calibrator = Calibrator::bun_steinke, .capacity = capacity},
                                zcdp_rule(10 * capacity),
                                renyi_rule(capacity, 2.0),
                                renyi_rule(capacity, 32.0)};
  for (FilterRule& rule : rules) rule.delta_extra = 1e-3;
  for (const AnyQuery& query : every_query())
    for (const FilterRule& one : rules)
      for (const FilterRule& other : rules) {
        SineHouse a(n, one), b(n, other, {.seed = 2});
        Curator child = a.curator.child({.name = "half", .share = 0.5});
        const std::array<std::pair<Curator*, double>, 3> curators{
            {{&a.curator, one.capacity}, {&b.curator, other.capacity}, {&child, one.capacity / 2}}};
        for (const std::size_t k : {0U, 1U, 0U, 2U, 1U, 2U}) {
          const auto& [curator, of] = curators[k];
          const FilterRule& rule = k == 1 ? other : one;
          const double before = spent_share(*curator);
          query.ask(*curator, BatchPolicy::all());
          const LedgerEntry entry = curator->ledger().entries().back();
          EXPECT_NEAR((spent_share(*curator) - before) * of,
                      rule.charge(*entry.event) * static_cast<double>(query.listed), 1e-8)
              << query.name << ", " << to_string(rule.calibrator);
        }
      }
}

}  // namespace
}  // namespace dpsosp::charging_test
