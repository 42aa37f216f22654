// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/tree_stream.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support.hpp"

namespace dpsosp::tree_test {
namespace {

using namespace testing;
using Nodes = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr double C = 1.0;
const Places at;

Vector push(TreeStream& tree, const Batch& batch, double limit = C, Kind kind = Kind::gradient) {
  Vector out(d);
  const GradientQuery query{limit, {}};
  if (kind == Kind::gradient)
    tree.push_gradient(at.to(), batch, query, out);
  else
    tree.push_difference(at.to(), at.from(), batch, query, out);
  return out;
}

TEST(TreeNodes, MatchCorrectedDecomposition) {
  EXPECT_EQ(tree_nodes(1), (Nodes{{1, 1}}));
  EXPECT_EQ(tree_nodes(2), (Nodes{{1, 2}}));
  EXPECT_EQ(tree_nodes(3), (Nodes{{1, 2}, {3, 3}}));
  EXPECT_EQ(tree_nodes(4), (Nodes{{1, 4}}));
  EXPECT_EQ(tree_nodes(5), (Nodes{{1, 4}, {5, 5}}));
  EXPECT_EQ(tree_nodes(6), (Nodes{{1, 4}, {5, 6}}));
  EXPECT_EQ(tree_nodes(7), (Nodes{{1, 4}, {5, 6}, {7, 7}}));
  EXPECT_EQ(tree_nodes(8), (Nodes{{1, 8}}));  // the printed loop gives (1,4), (5,6), (7,7)
}

TEST(TreeNodes, CoverEachPrefixOnceWithPopcountNodes) {
  for (std::int64_t t = 1; t <= 3000; ++t) {
    std::int64_t covered = 0;
    for (const auto& [first, last] : tree_nodes(t)) {
      EXPECT_EQ(first, covered + 1);
      const std::int64_t size = last - first + 1;
      EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(size)));
      EXPECT_EQ(covered % size, 0);  // left-aligned: a node of the tree
      covered = last;
    }
    EXPECT_EQ(covered, t);
    EXPECT_EQ(std::ssize(tree_nodes(t)), std::popcount(static_cast<std::uint64_t>(t)));
  }
}

TEST(Tree, SumsClippedMeansOfPrefix) {
  Stream stream({.seed = 2});
  House house(random_data(40, C, stream), {.seed = 1}, zcdp_rule(1e100));
  TreeStream tree(house.curator, 1e-9, 64);
  Vector expected = Vector::Zero(d);
  for (int t = 1; t <= 13; ++t) {
    const Batch batch = house.curator.draw(BatchPolicy::fresh(3));
    const Kind kind = t == 1 ? Kind::gradient : Kind::difference;
    expected += ask(house.curator, kind, batch, {C, Noise::standard_deviation(1e-9)});
    EXPECT_LE((push(tree, batch, C, kind) - expected).norm(), 1e-7);
  }
}

TEST(Tree, LeafNoiseIsSumOfNodeNoise) {
  House house(Data(d + d2, 40));
  TreeStream tree(house.curator, 2.0, 32);
  std::vector<Vector> out{Vector::Zero(d)};
  std::map<std::pair<std::int64_t, std::int64_t>, Vector> node;
  Stream noise({.seed = 1, .purpose = Purpose::noise});  // the curator's own
  for (std::int64_t t = 1; t <= 20; ++t) {
    out.push_back(push(tree, house.curator.draw(BatchPolicy::all())));
    Vector created(d);
    noise.fill_normal(2.0, created);  // one new node a leaf, whichever
    node[tree_nodes(t).back()] = created;
    Vector expected = Vector::Zero(d);
    for (const auto& range : tree_nodes(t)) expected += node.at(range);
    EXPECT_TRUE(out.back().isApprox(expected, 1e-13)) << t;
  }
}

TEST(Tree, RestartForgetsSum) {
  Data data(d + d2, 4);
  for (Index i = 0; i < 4; ++i) set_record(data, i, Vector::Unit(d + d2, 0) * 0.5, at);
  House house(data, {.seed = 1}, zcdp_rule(1e100));
  TreeStream tree(house.curator, 1e-9, 2);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(push(tree, house.curator.draw(BatchPolicy::all()))[0], 0.5, 1e-7);
    tree.restart();
    EXPECT_EQ(tree.leaves(), 0);
  }
}

/// ρ per record for fresh batches of one record, in units of s²/(2σ²).
std::vector<long> leaf_charges(Index leaves) {
  House house(Data(d + d2, leaves));
  constexpr double sigma = 3.0;
  TreeStream tree(house.curator, sigma, leaves);
  for (Index t = 0; t < leaves; ++t) push(tree, house.curator.draw(BatchPolicy::fresh(1)));
  std::vector<long> charges;
  for (const double rho : zcdp_by_record(house.curator.ledger(), leaves)) {
    const double unit = rho * 2.0 * sigma * sigma / (4.0 * C * C);
    EXPECT_NEAR(unit, std::round(unit), 1e-12);
    charges.push_back(std::lround(unit));
  }
  return charges;
}

TEST(Tree, LeafPaysForNodesAboveIt) {
  EXPECT_EQ(leaf_charges(8), (std::vector<long>{4, 3, 3, 2, 3, 2, 2, 1}));
  EXPECT_EQ(leaf_charges(5), (std::vector<long>{3, 2, 2, 1, 1}));
  EXPECT_EQ(leaf_charges(10), (std::vector<long>{4, 3, 3, 2, 3, 2, 2, 1, 2, 1}));
  for (const Index leaves : {1, 2, 3, 100, 1000})
    EXPECT_EQ(leaf_charges(leaves).front(), std::bit_width(static_cast<std::uint64_t>(leaves)));
}

TEST(Tree, RecordUnderEveryLeafPaysSquaredNodeSums) {
  constexpr Index n = 10;
  constexpr double sigma = 0.7;
  House house(Data(d + d2, n));
  TreeStream tree(house.curator, sigma, 8);
  const std::array limits{1.0, 0.5, 0.25, 2.0};
  for (const double limit : limits) push(tree, house.curator.draw(BatchPolicy::all()), limit);
  // nodes (1), (1,2), (3), (1,4)
  const double squares = 1.0 + std::pow(1.5, 2) + std::pow(0.25, 2) + std::pow(3.75, 2);
  const double expected = squares * std::pow(2.0 / n, 2) / (2.0 * sigma * sigma);
  for (const double rho : zcdp_by_record(house.curator.ledger(), n))
    EXPECT_NEAR(rho, expected, 1e-12 * expected);
}

TEST(Tree, RestartDrawsAndChargesFreshNodes) {
  House house(Data(d + d2, 4));
  TreeStream tree(house.curator, 1.0, 2);
  std::vector<Vector> first, second;
  for (auto* out : {&first, &second}) {
    for (int t = 0; t < 2; ++t) out->push_back(push(tree, house.curator.draw(BatchPolicy::all())));
    EXPECT_THROW(push(tree, house.curator.draw(BatchPolicy::all())), InputError);
    tree.restart();
  }
  for (std::size_t t = 0; t < 2; ++t) EXPECT_GT((first[t] - second[t]).norm(), 1e-3);
  for (const double rho : zcdp_by_record(house.curator.ledger(), 4))
    EXPECT_NEAR(rho, 2 * (1.0 + 4.0) * 0.25 / 2.0, 1e-12);
}

/// The transcript of a tree is its nodes. With the same noise on both sides a node's release moves
/// by the difference of what is under it; Σ ‖moved‖²/(2σ²) is what the neighbour costs.
TEST(Tree, ChargeCoversAnyNeighbour) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Stream stream({.seed = seed});
    constexpr Index n = 12;
    constexpr double sigma = 0.9;
    const bool extreme = stream.below(2) == 0;
    const Index replaced = stream.below(n);
    Data data = random_data(n, C, stream);
    Data neighbour = data;
    Vector v = Vector::Unit(d + d2, 0) * 100.0 * C;
    if (extreme)
      set_record(data, replaced, v, at);
    else
      v = random_data(1, C, stream).offset.col(0);
    set_record(neighbour, replaced, -v, at);
    House a(data), b(neighbour);
    std::array<Batch, 4> kept_a, kept_b;  // a record may be under several leaves
    for (std::size_t k = 0; k < 4; ++k) {
      const BatchPolicy policy =
          k == 0 ? BatchPolicy::all() : BatchPolicy::fresh(1 + stream.below(4));
      kept_a[k] = a.curator.draw(policy);
      kept_b[k] = b.curator.draw(policy);
    }
    TreeStream tree_a(a.curator, sigma, 16), tree_b(b.curator, sigma, 16);
    std::vector<Vector> moved{Vector::Zero(d)};
    std::vector<double> leaf;  // sensitivity of the replaced record, by hand
    double divergence = 0.0, expected = 0.0;
    for (std::int64_t t = 1; t <= 11; ++t) {
      const auto k = static_cast<std::size_t>(stream.below(4));
      const double limit = C * static_cast<double>(1 + stream.below(4)) / 4.0;
      const Kind kind = stream.below(2) == 0 ? Kind::gradient : Kind::difference;
      a.records.read.clear();
      moved.emplace_back(push(tree_a, kept_a[k], limit, kind) -
                         push(tree_b, kept_b[k], limit, kind));
      const double size = static_cast<double>(a.records.read.size());
      leaf.push_back(a.records.read.contains(replaced) ? 2.0 * limit / size : 0.0);
      const std::int64_t first = tree_nodes(t).back().first;
      const Vector node = moved.back() - moved[static_cast<std::size_t>(first - 1)];
      divergence += node.squaredNorm() / (2.0 * sigma * sigma);
      double sum = 0.0;
      for (std::int64_t j = first; j <= t; ++j) sum += leaf[static_cast<std::size_t>(j - 1)];
      expected += sum * sum / (2.0 * sigma * sigma);
    }
    const double charged =
        zcdp_by_record(a.curator.ledger(), n)[static_cast<std::size_t>(replaced)];
    RC_ASSERT(std::abs(charged - expected) <= 1e-9 * (1.0 + expected));
    RC_ASSERT(divergence <= charged * (1 + 1e-9) + 1e-12);
    const double least = extreme ? 0.999 * charged : 0.0;  // and opposite directions attain it
    RC_ASSERT(divergence >= least - 1e-12);
    const double share = 1.0 - a.curator.remaining().share;
    RC_ASSERT(share * 1e9 >= charged * (1 - 1e-6) - 1e-6);
  }));
}

TEST(Tree, RejectsSecretBatchesAndInvalidSettings) {
  House house(Data(d + d2, 8));
  TreeStream tree(house.curator, 1.0, 4);
  for (const BatchPolicy& policy : {BatchPolicy::sample(3), BatchPolicy::poisson(0.5)})
    for (const BatchUse use : {BatchUse::one_query, BatchUse::several_queries})
      EXPECT_THROW(push(tree, house.curator.draw(policy, use)), InputError);
  for (const double sigma : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(TreeStream(house.curator, sigma, 4), InputError);
  EXPECT_THROW(TreeStream(house.curator, 1.0, 0), InputError);
  EXPECT_TRUE(house.records.read.empty());
}

TEST(Tree, RejectsBlockChangeWithinTree) {
  House house(Data(d + d2, 8));
  TreeStream tree(house.curator, 1.0, 4);
  push(tree, house.curator.draw(BatchPolicy::all()));
  Vector out = Vector::Zero(d + d2);
  EXPECT_THROW(tree.push_gradient(at.to(), house.curator.draw(BatchPolicy::all()),
                                  {C, {}, Block::joint}, out),
               InputError);
  EXPECT_EQ(tree.leaves(), 1);
}

TEST(Tree, RefusedPushLeavesTreeUnchanged) {
  House house(Data(d + d2, 8), {.seed = 1}, zcdp_rule(0.4));
  House control(Data(d + d2, 8), {.seed = 1}, zcdp_rule(0.4));
  TreeStream tree(house.curator, 1.0, 4), same(control.curator, 1.0, 4);
  push(tree, house.curator.draw(BatchPolicy::all()));
  push(same, control.curator.draw(BatchPolicy::all()));
  EXPECT_THROW(push(tree, house.curator.draw(BatchPolicy::fresh(1))), BudgetExhausted);
  EXPECT_EQ(tree.leaves(), 1);
  EXPECT_TRUE(same_bits(push(tree, house.curator.draw(BatchPolicy::all())),
                        push(same, control.curator.draw(BatchPolicy::all()))));
}

}  // namespace
}  // namespace dpsosp::tree_test
