// SPDX-License-Identifier: Apache-2.0
// What an algorithm's author can write, and must gain nothing by. What must not compile is in
// tests/packaging/attacks.cpp.
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/gibbs_sampler.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/line_search.hpp"
#include "dpsosp/privacy/stationarity_test.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "every_query.hpp"
#include "second_order_support.hpp"

namespace dpsosp::door_test {
namespace {

using namespace testing;

Quadratics some_quadratics(Index records) {
  Quadratics data;
  for (Index i = 0; i < records; ++i) {
    data.hessians.push_back(Matrix::Identity(d, d) * (0.1 * static_cast<double>(i + 1)));
    data.slopes.push_back(Vector::Constant(d, 0.2 * static_cast<double>(i)));
  }
  return data;
}

std::string refusal(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

const GradientQuery query{1.0, Noise::sensitivity_ratio(3.0)};

TEST(Door, ChargesByItsOwnFacts) {
  QuadraticHouse honest(some_quadratics(10)), cheated(some_quadratics(10));
  auto& facts = const_cast<PublicFacts&>(cheated.curator.facts());
  facts.records = 1'000'000;
  facts.dimension = 1;
  Vector one(d), two(d);
  for (auto* house : {&honest, &cheated}) {
    Vector& out = house == &honest ? one : two;
    house->curator.gradient(Point(Vector::Ones(d)), house->curator.draw(BatchPolicy::poisson(0.5)),
                            query, out);
  }
  EXPECT_EQ(one, two);
  EXPECT_EQ(honest.curator.ledger().entries()[0].sensitivity_low,
            cheated.curator.ledger().entries()[0].sensitivity_low);
  EXPECT_EQ(cheated.curator.remaining().fresh_records, 10);
}

TEST(Door, KeepsItsOwnLedger) {
  QuadraticHouse house(some_quadratics(10));
  Vector out(d);
  const auto ask = [&] {
    house.curator.gradient(Point(Vector::Ones(d)), house.curator.draw(BatchPolicy::all()), query,
                           out);
  };
  ask();
  Ledger mine = house.curator.ledger();
  mine = Ledger();
  ask();
  EXPECT_EQ(house.curator.ledger().queries(), 2);
}

TEST(Door, RefusesOtherThreads) {
  QuadraticHouse house(some_quadratics(10));
  const Batch batch = house.curator.draw(BatchPolicy::all());
  TreeStream tree(house.curator, 1.0, 4);
  Vector out(d);
  std::vector<std::string> refusals;
  std::thread([&] {
    const Vector ones = Vector::Ones(d);
    const Point x(ones);
    refusals.push_back(refusal([&] { house.curator.gradient(x, batch, query, out); }));
    refusals.push_back(refusal([&] { house.curator.draw(BatchPolicy::all()); }));
    refusals.push_back(refusal([&] { house.curator.child({.name = "part", .share = 0.5}); }));
    refusals.push_back(refusal([&] { tree.push_gradient(x, batch, query, out); }));
    refusals.push_back(refusal([&] { TreeStream another(house.curator, 1.0, 4); }));
  }).join();
  for (const std::string& text : refusals)
    EXPECT_NE(text.find("another thread"), std::string::npos);
  EXPECT_EQ(house.curator.ledger().queries(), 0);
  EXPECT_EQ(house.curator.remaining().share, 1.0);
}

/// Whatever is asked, a second thread would take words of the noise twice, and might find a session
/// open that another one is about to close.
TEST(Door, RefusesOtherThreadsWhateverIsAsked) {
  const auto in_another_thread = [](const std::function<void()>& ask) {
    std::string text;
    std::thread([&] { text = refusal(ask); }).join();
    return text;
  };
  for (const AnyQuery& any : every_query()) {
    SineHouse house(10, wide_rule());
    EXPECT_NE(in_another_thread([&] {
                any.ask(house.curator, BatchPolicy::all());
              }).find("another thread"),
              std::string::npos)
        << any.name;
    EXPECT_TRUE(house.records.read.empty()) << any.name;
  }
  SineHouse house(10, wide_rule());
  Curator& c = house.curator;
  const Batch batch = c.draw(BatchPolicy::all());
  const Vector x = Vector::Ones(d);
  const Matrix points = Matrix::Identity(d, d);
  Vector out(d);
  TreeStream tree(c, 1.0, 4);
  HessianStream stream(c), other(c);
  stream.refresh(Point(x), batch, 1.0);
  LineSearch search(c, batch, x, {.epsilon = 0.1, .loss_limit = 1.0, .reach = 2.0});
  StationarityTest test(c, batch,
                        {.epsilon = 0.1,
                         .gradient_scale = 1.0,
                         .curvature_scale = 1.0,
                         .gradient_limit = 1.0,
                         .hessian_limit = 1.0});
  ExponentialMechanism mechanism(c, batch);
  GibbsSampler sampler(c, batch,
                       {.inverse_temperature = 0.5,
                        .regularizer = 1.0,
                        .lipschitz = 1.0,
                        .domain = Domain::ball(1.0)});
  const std::int64_t listed = c.ledger().queries();
  const double left = c.remaining().share;
  const std::vector<std::function<void()>> all{
      [&] { tree.restart(); },
      [&] { tree.push_gradient(Point(x), batch, {.limit = 1.0}, out); },
      [&] { tree.push_difference(Point(x), Point(out), batch, {.limit = 1.0}, out); },
      [&] { stream.refresh(Point(x), batch, 1.0); },
      [&] { stream.add(Point(x), Point(out), batch, 1.0); },
      [&] { stream.product(x, 1.0, out); },
      [&] { HessianStream copy(stream); },
      [&] { other = stream; },
      [&] { search.decreases(x, 0.1); },
      [&] { test.accepts(x); },
      [&] { mechanism.choose(points, x, 1.0, 0.1); },
      [&] { mechanism.choose(Net::box(x, 1.0, 0.9), 1.0, 0.1, out); },
      [&] {
        mechanism.choose(ProductGrid{x, 1.0, 4}, 1.0, 0.1, out);
      },
      [&] { mechanism.choose_vertex(points, x, 1.0, 0.1); },
      [&] { mechanism.choose_l1_vertex(1.0, x, 1.0, 0.1); },
      [&] { sampler.sample(out); },
      [&] { c.remaining(); },
      [&] { c.fresh_records(); },
      [&] { c.ledger(); },
      [&] { c.label(); }};
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_NE(in_another_thread(all[k]).find("another thread"), std::string::npos) << k;
  EXPECT_EQ(c.ledger().queries(), listed);
  EXPECT_EQ(c.remaining().share, left);
  EXPECT_EQ(search.questions(), 0);
  EXPECT_EQ(test.questions(), 0);
}

TEST(Door, RefusesBatchesOfOthers) {
  QuadraticHouse house(some_quadratics(10)), other(some_quadratics(10));
  Curator child = house.curator.child({.name = "part", .share = 0.5});
  const Vector x = Vector::Ones(d);
  const Point point(x);
  Vector out(d);
  Matrix hessian(d, d);
  for (const Batch& batch :
       {other.curator.draw(BatchPolicy::all()), child.draw(BatchPolicy::all()), Batch()}) {
    Curator& curator = house.curator;
    HessianStream hessians(curator);
    TreeStream tree(curator, 1.0, 4);
    const std::vector<std::function<void()>> questions{
        [&] { curator.gradient(point, batch, query, out); },
        [&] { curator.gradient_difference(point, point, batch, query, out); },
        [&] {
          curator.gradient_combination(0.5, point, point, batch, {1, 1, query.noise}, out);
        },
        [&] {
          curator.hessian(point, batch, {1.0, 0, query.noise}, hessian);
        },
        [&] {
          curator.hessian_product(point, x, batch, {1.0, query.noise}, out);
        },
        [&] { hessians.refresh(point, batch, 1.0); },
        [&] { tree.push_gradient(point, batch, query, out); },
        [&] { ExponentialMechanism(curator, batch); },
        [&] {
          LineSearch(curator, batch, x, {0.1, 1.0, 1.0});
        },
        [&] {
          StationarityTest(curator, batch, {0.1, 1.0, 1.0, 1.0, 1.0});
        }};
    for (const auto& ask : questions)
      EXPECT_NE(refusal(ask).find("another curator"), std::string::npos) << refusal(ask);
  }
  EXPECT_EQ(house.curator.ledger().queries(), 0);
}

// The path of a key is a bijection of its parent's: from this root, cousins have the same.
TEST(Door, GivesCuratorsWithEqualPathsOtherNoise) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  const StreamKey root{.seed = 1, .path = std::uint64_t{0} - golden};
  ASSERT_EQ(root.child(0).child(0), root.child(1));
  QuadraticHouse house(some_quadratics(10), root);
  Curator first = house.curator.child({.name = "first", .share = 0.1});
  Curator nephew = first.child({.name = "nephew", .share = 0.1});
  Curator second = house.curator.child({.name = "second", .share = 0.1});
  Vector one(d), two(d);
  const Vector ones = Vector::Ones(d);
  const Point x(ones);
  nephew.gradient(x, nephew.draw(BatchPolicy::all()), query, one);
  second.gradient(x, second.draw(BatchPolicy::all()), query, two);
  EXPECT_GT((one - two).norm(), 1e-6) << "the same records, so only the noise can differ";
}

TEST(Door, ExchangesNoEmptyBudget) {
  for (const double capacity : {0.0, 4.9e-324, 1e-320}) {
    QuadraticHouse house(some_quadratics(10), {.seed = 1},
                         {.capacity = capacity, .alone_epsilon = 1});
    EXPECT_NE(refusal([&] {
                house.curator.child({.name = "whole", .pure = true});
              }).find("to be exchanged"),
              std::string::npos)
        << capacity;
  }
  QuadraticHouse house(some_quadratics(10), {.seed = 1}, {.capacity = 0.5, .alone_epsilon = 1});
  house.curator.child({.name = "whole", .pure = true});
  EXPECT_THROW(house.curator.child({.name = "again", .pure = true}), BudgetExhausted);
}

TEST(Door, RefusesWeightsTooSmallToBeCharged) {
  QuadraticHouse house(some_quadratics(10));
  const Batch batch = house.curator.draw(BatchPolicy::poisson(1e-3), BatchUse::several_queries);
  const CombinationQuery tiny{1e-150, 0.0, Noise::sensitivity_ratio(1.0)};
  Vector out = Vector::Constant(d, 7);
  const Vector ones = Vector::Ones(d), zeros = Vector::Zero(d);
  const Point x(ones), previous(zeros);
  EXPECT_NE(refusal([&] {
              house.curator.gradient_combination(1e-174, x, previous, batch, tiny, out);
            }).find("too small to be charged"),
            std::string::npos);
  EXPECT_EQ(out, Vector::Constant(d, 7));
  EXPECT_EQ(house.curator.ledger().queries(), 0);
}

TEST(Door, ChargesBatchAsItWasDrawn) {
  QuadraticHouse house(some_quadratics(10));
  const Batch batch = house.curator.draw(BatchPolicy::poisson(0.5));
  BatchPolicy policy = batch.policy();
  policy.rate = 1e-6;
  ASSERT_NE(policy, batch.policy()) << "the batch handed out a copy";
  Vector out(d);
  house.curator.gradient(Point(Vector::Ones(d)), batch, query, out);
  EXPECT_EQ(house.curator.ledger().entries()[0].policy, BatchPolicy::poisson(0.5));
}

}  // namespace
}  // namespace dpsosp::door_test
