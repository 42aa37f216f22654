// SPDX-License-Identifier: Apache-2.0
// What a curator refuses; a refused query changes nothing.
#include "dpsosp/privacy/curator.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/privacy/release_curator.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "dpsosp/problems/matrix_sensing.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "support.hpp"

namespace dpsosp::curator_test {
namespace {

using namespace testing;

constexpr Index n = 12;
constexpr double C = 1.0;
const GradientQuery query{C, Noise::sensitivity_ratio(1.0), Block::x};  // costs ρ = 1/2
const std::array policies{BatchPolicy::all(), BatchPolicy::fresh(4), BatchPolicy::sample(4),
                          BatchPolicy::poisson(0.4)};

Data some_data(std::uint64_t seed = 2) {
  Stream stream({.seed = seed});
  return random_data(n, C, stream);
}

/// Runs `attempt`, which must throw, in the middle of a session; then everything observable must be
/// as in the same session without it.
template <class Error>
void expect_no_trace(const std::function<void(Curator&, VectorRef)>& attempt) {
  House visited(some_data(), {.seed = 3}, zcdp_rule(1.2));
  House control(some_data(), {.seed = 3}, zcdp_rule(1.2));
  for (House* house : {&visited, &control}) {
    ask(house->curator, Kind::gradient, house->curator.draw(BatchPolicy::all()), query);
    house->curator.draw(BatchPolicy::fresh(2));
  }
  const Vector sentinel = Vector::Constant(d, -0.1234567);
  Vector out = sentinel;
  visited.records.read.clear();
  EXPECT_THROW(attempt(visited.curator, out), Error);
  EXPECT_TRUE(same_bits(out, sentinel));
  EXPECT_TRUE(visited.records.read.empty());
  EXPECT_EQ(visited.curator.remaining().share, control.curator.remaining().share);
  EXPECT_EQ(visited.curator.remaining().fresh_records, control.curator.remaining().fresh_records);
  EXPECT_EQ(visited.curator.ledger().queries(), control.curator.ledger().queries());
  for (const BatchPolicy& policy : {BatchPolicy::fresh(3), BatchPolicy::sample(5)}) {
    const GradientQuery cheap{C, Noise::sensitivity_ratio(10.0)};
    const Vector a = ask(visited.curator, Kind::gradient, visited.curator.draw(policy), cheap);
    const Vector b = ask(control.curator, Kind::gradient, control.curator.draw(policy), cheap);
    EXPECT_TRUE(same_bits(a, b));  // the refusal drew no noise and no coins
  }
}

TEST(Refusal, OverBudgetQueryLeavesNoTrace) {
  const GradientQuery dear{C, Noise::sensitivity_ratio(0.5)};  // 2 of the 0.7 that are left
  const Places at;
  expect_no_trace<BudgetExhausted>([&](Curator& c, VectorRef out) {
    c.gradient(at.to(), c.draw(BatchPolicy::all()), dear, out);
  });
  expect_no_trace<BudgetExhausted>([&](Curator& c, VectorRef out) {
    c.gradient_difference(at.to(), at.from(), c.draw(BatchPolicy::all()), dear, out);
  });
  expect_no_trace<BudgetExhausted>([&](Curator& c, VectorRef out) {
    TreeStream tree(c, 0.5 * 2.0 * C / n, 4);
    tree.push_gradient(at.to(), c.draw(BatchPolicy::all()), dear, out);
  });
  expect_no_trace<BudgetExhausted>([&](Curator& c, VectorRef) { c.child({"dear", 0.9}); });
  expect_no_trace<DataExhausted>(
      [&](Curator& c, VectorRef) { c.draw(BatchPolicy::fresh(n)), c.draw(BatchPolicy::fresh(1)); });
}

/// With as much noise a Poisson batch is charged twice the ratio, which no accountant takes:
/// granted, it would leave a ledger that cannot be added up.
TEST(Refusal, EventBeyondEveryAccountantLeavesNoTrace) {
  FilterRule rule = zcdp_rule(1.0);
  rule.calibrator = Calibrator::rdp;
  rule.order = 8.0;
  for (const double ratio : {1e100, 0.6e-100}) {
    House house(some_data(), {.seed = 3}, rule);
    EXPECT_THROW(ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::poisson(0.5)),
                     {C, Noise::sensitivity_ratio(ratio)}),
                 InputError)
        << ratio;
    EXPECT_EQ(house.curator.ledger().queries(), 0) << ratio;
    EXPECT_EQ(house.curator.ledger().spent(1e-6).epsilon, 0.0) << ratio;
    EXPECT_EQ(house.curator.remaining().share, 1.0) << ratio;
  }
}

TEST(Refusal, LeavesSecretBatchUnused) {
  House house(some_data(), {.seed = 3}, zcdp_rule(1.0));
  const Batch batch = house.curator.draw(BatchPolicy::sample(4));
  EXPECT_THROW(ask(house.curator, Kind::gradient, batch, {C, Noise::sensitivity_ratio(0.1)}),
               BudgetExhausted);
  EXPECT_NO_THROW(ask(house.curator, Kind::gradient, batch, query));
  EXPECT_THROW(ask(house.curator, Kind::gradient, batch, query), InputError);
}

TEST(Refusal, BadShapesLeaveNoTrace) {
  const Places at;
  const Vector wrong = Vector::Zero(d + 4);
  const auto refused = [&](const Point& point, const Point& previous, Block block, Index entries) {
    expect_no_trace<InputError>([&](Curator& c, VectorRef) {
      Vector out = Vector::Zero(entries);
      c.gradient_difference(point, previous, c.draw(BatchPolicy::all()), {C, query.noise, block},
                            out);
    });
    expect_no_trace<InputError>([&](Curator& c, VectorRef) {
      Vector out = Vector::Zero(entries);
      TreeStream tree(c, 10.0, 4);
      tree.push_difference(point, previous, c.draw(BatchPolicy::all()), {C, query.noise, block},
                           out);
    });
  };
  refused(at.to(), at.from(), Block::x, d + 1);
  refused(at.to(), at.from(), Block::x, d2);
  refused(at.to(), at.from(), Block::y, d);
  refused(at.to(), at.from(), Block::joint, d);
  refused(Point(wrong, at.y), at.from(), Block::x, d);
  refused(at.to(), Point(wrong, at.y), Block::x, d);
  refused(Point(at.x, wrong), at.from(), Block::x, d);
  refused(at.to(), Point(at.x), Block::x, d);
  refused(Point(at.x), at.from(), Block::x, d);
  refused(Point(at.x), Point(at.x_before), Block::x, d);  // its dual is shared: y is needed
}

TEST(Refusal, BadLimitsAndNoiseLeaveNoTrace) {
  const Places at;
  for (const double bad : {std::nan(""), -1.0, HUGE_VAL, 1e-200}) {
    expect_no_trace<InputError>([&](Curator& c, VectorRef out) {
      c.gradient(at.to(), c.draw(BatchPolicy::all()), {bad, query.noise}, out);
    });
    expect_no_trace<InputError>([&](Curator& c, VectorRef out) {
      TreeStream tree(c, 10.0, 4);
      tree.push_gradient(at.to(), c.draw(BatchPolicy::all()), {bad, query.noise}, out);
    });
  }
  expect_no_trace<InputError>([&](Curator& c, VectorRef out) {
    c.gradient(at.to(), c.draw(BatchPolicy::all()), {C, Noise::sensitivity_ratio(0.0)}, out);
  });
}

TEST(Batches, AreRejectedByOtherCurators) {
  // A parent's batch reaches records that a child never paid for; a child's sample has a higher
  // rate than the parent would charge; another data set has other indices.
  House house(some_data()), other(some_data(9));
  Curator child = house.curator.child({"half", 0.5, RecordRange{0, n / 2}});
  Curator sibling = house.curator.child({"rest", 0.5, RecordRange{n / 2, n}});
  Vector out = Vector::Zero(d);
  const Places at;
  const auto refuses = [&](Curator& asked, const Batch& batch) {
    EXPECT_THROW(asked.gradient(at.to(), batch, query, out), InputError);
    EXPECT_THROW(asked.gradient_difference(at.to(), at.from(), batch, query, out), InputError);
    TreeStream tree(asked, 1.0, 4);
    EXPECT_THROW(tree.push_gradient(at.to(), batch, query, out), InputError);
  };
  house.records.read.clear();
  for (const BatchPolicy& policy : policies) {
    refuses(child, house.curator.draw(
                       policy.kind == BatchPolicy::Kind::fresh ? BatchPolicy::fresh(2) : policy));
    refuses(house.curator, child.draw(policy));
    refuses(sibling,
            child.draw(policy.kind == BatchPolicy::Kind::fresh ? BatchPolicy::fresh(1) : policy));
    refuses(house.curator, other.curator.draw(policy));
  }
  refuses(house.curator, Batch{});
  Batch moved = house.curator.draw(BatchPolicy::sample(2));
  const Batch taken = std::move(moved);
  refuses(house.curator, moved);  // NOLINT(bugprone-use-after-move): the handle is empty
  EXPECT_TRUE(house.records.read.empty());
  EXPECT_EQ(out, Vector::Zero(d));
  EXPECT_NO_THROW(house.curator.gradient(at.to(), taken, query, out));
}

/// Where they lie in memory says nothing: a curator may lie where an earlier one lay.
TEST(Batches, AreRejectedByCuratorsMadeAfterTheirOwn) {
  for (const BatchPolicy& policy : {BatchPolicy::all(), BatchPolicy::sample(2)}) {
    House house(some_data());
    std::vector<Batch> earlier;
    const Places at;
    Vector out = Vector::Zero(d);
    for (Index k = 0; k < 20; ++k) {
      Curator child = house.curator.child(
          {.name = std::to_string(k), .share = 0.01, .range = RecordRange{k % 4, k % 4 + 4}});
      for (const Batch& batch : earlier)
        EXPECT_THROW(child.gradient(at.to(), batch, query, out), InputError) << k;
      earlier.push_back(child.draw(policy));
    }
  }
  std::vector<Batch> earlier;  // of whole data sets
  for (int k = 0; k < 20; ++k) {
    House house(some_data());
    for (const Batch& batch : earlier)
      EXPECT_THROW(ask(house.curator, Kind::gradient, batch, query), InputError) << k;
    earlier.push_back(house.curator.draw(BatchPolicy::all()));
  }
}

TEST(Batches, StayValidWhenCuratorMoves) {
  House house(some_data());
  const Batch batch = house.curator.draw(BatchPolicy::sample(4));
  Curator moved = std::move(house.curator);
  EXPECT_NO_THROW(ask(moved, Kind::gradient, batch, query));
}

TEST(Batches, CopiesOfSecretHandleAreSameBatch) {
  for (const BatchPolicy& policy : {BatchPolicy::sample(4), BatchPolicy::poisson(0.4)}) {
    House house(some_data());
    const Batch batch = house.curator.draw(policy);
    const Batch copy =
        batch;  // NOLINT(performance-unnecessary-copy-initialization): that is the attack
    ask(house.curator, Kind::gradient, copy, query);
    EXPECT_THROW(ask(house.curator, Kind::difference, batch, query), InputError);
    EXPECT_EQ(house.curator.ledger().queries(), 1);
  }
}

TEST(Batches, SecretCoinsForSeveralQueriesDoNotAmplify) {
  for (const BatchPolicy& policy : {BatchPolicy::sample(4), BatchPolicy::poisson(0.4)}) {
    House house(some_data());
    const Batch batch = house.curator.draw(policy, BatchUse::several_queries);
    ask(house.curator, Kind::gradient, batch, query);
    const auto first = house.records.read;
    house.records.read.clear();
    ask(house.curator, Kind::difference, batch, query);
    EXPECT_EQ(house.records.read, first);
    for (const double rho : zcdp_by_record(house.curator.ledger(), n)) EXPECT_DOUBLE_EQ(rho, 1.0);
  }
}

TEST(Batches, FreshBatchesAreDisjointAndRunOut) {
  House house(some_data());
  std::set<Index> used;
  for (const Index size : {5, 1, 4}) {
    house.records.read.clear();
    ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::fresh(size)), query);
    EXPECT_EQ(static_cast<Index>(house.records.read.size()), size);
    for (const Index i : house.records.read) EXPECT_TRUE(used.insert(i).second);
  }
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(3)), DataExhausted);
  EXPECT_EQ(house.curator.remaining().fresh_records, 2);
  EXPECT_NO_THROW(house.curator.draw(BatchPolicy::fresh(2)));
  EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(1)), DataExhausted);
}

TEST(Batches, RejectSizesAndRatesOutOfRange) {
  House house(some_data());
  for (const Index size : {Index{0}, Index{-1}, n + 1}) {
    EXPECT_THROW(house.curator.draw(BatchPolicy::sample(size)), InputError);
    EXPECT_THROW(house.curator.draw(BatchPolicy::fresh(size)), InputError);
  }
  for (const double rate : {0.0, -0.1, 1.1, std::nan("")})
    EXPECT_THROW(house.curator.draw(BatchPolicy::poisson(rate)), InputError);
}

TEST(Curator, ChargesPublicBatchesToMembersAndSecretOnesToAll) {
  for (const BatchPolicy& policy : policies) {
    House house(some_data());
    ask(house.curator, Kind::gradient, house.curator.draw(policy), query);
    ASSERT_EQ(house.curator.ledger().entries().size(), 1U);
    const RecordRange charged = house.curator.ledger().entries().front().charged;
    const bool everyone = policy.kind != BatchPolicy::Kind::fresh;
    EXPECT_EQ(charged, (everyone ? RecordRange{0, n} : RecordRange{0, 4}));
    for (const Index i : house.records.read) {
      EXPECT_GE(i, charged.begin);
      EXPECT_LT(i, charged.end);
    }
  }
}

TEST(Curator, ReleasesNothingWhenRecordsThrow) {
  House house(some_data(), {.seed = 1}, zcdp_rule(1.0));
  const Vector sentinel = Vector::Constant(d, 5.0);
  Vector out = sentinel;
  house.records.throws = true;
  const Places at;
  EXPECT_THROW(house.curator.gradient(at.to(), house.curator.draw(BatchPolicy::all()), query, out),
               InputError);
  TreeStream tree(house.curator, 4.0 * C / n, 4);
  EXPECT_THROW(tree.push_gradient(at.to(), house.curator.draw(BatchPolicy::all()), query, out),
               InputError);
  EXPECT_EQ(tree.leaves(), 0);
  EXPECT_TRUE(same_bits(out, sentinel));
  const double listed = zcdp_by_record(house.curator.ledger(), n).front();
  EXPECT_NEAR(house.curator.remaining().share, 1.0 - listed, 1e-15);
}

TEST(Curator, GivesSameBitsForSameKeyOnly) {
  for (const BatchPolicy& policy : policies) {
    House a(some_data(), {.seed = 4, .run = 1}), b(some_data(), {.seed = 4, .run = 1});
    House c(some_data(), {.seed = 4, .run = 2});
    for (const Kind kind : {Kind::gradient, Kind::difference, Kind::gradient}) {
      const auto release = [&](House& h) {
        return ask(h.curator, kind,
                   h.curator.draw(BatchPolicy(policy).kind == BatchPolicy::Kind::fresh
                                      ? BatchPolicy::fresh(4)
                                      : policy),
                   query);
      };
      const Vector from_a = release(a);
      EXPECT_TRUE(same_bits(from_a, release(b)));
      EXPECT_FALSE(same_bits(from_a, release(c)));
    }
  }
}

TEST(Curator, DrawingBatchesDoesNotShiftNoise) {
  House a(some_data()), b(some_data());
  for (int k = 0; k < 3; ++k) a.curator.draw(BatchPolicy::sample(3));
  const Vector from_a = ask(a.curator, Kind::gradient, a.curator.draw(BatchPolicy::all()), query);
  const Vector from_b = ask(b.curator, Kind::gradient, b.curator.draw(BatchPolicy::all()), query);
  EXPECT_TRUE(same_bits(from_a, from_b));
}

TEST(Curator, UsesSeparateStreamsForCoinsAndNoise) {
  // one stream for both would let the released noise tell who was sampled
  const StreamKey key{.seed = 8, .run = 3};
  House house(Data(d + d2, n), key);
  Stream coins({.seed = 8, .run = 3, .purpose = Purpose::sampling});
  Stream noise({.seed = 8, .run = 3, .purpose = Purpose::noise});
  for (int k = 0; k < 5; ++k) {
    house.records.read.clear();
    const Vector out =
        ask(house.curator, Kind::gradient, house.curator.draw(BatchPolicy::sample(4)), query);
    const auto members = coins.subset(n, 4);
    EXPECT_EQ(house.records.read, std::set<Index>(members.begin(), members.end()));
    Vector expected(d);
    noise.fill_normal(2.0 * C / 4.0, expected);
    EXPECT_TRUE(same_bits(out, expected));
  }
}

TEST(Curator, LabelsARunEnforcedOnlyOnRecordsOfAdmit) {
  const auto expect = [](Curator curator, PrivacyLabel label) {
    EXPECT_EQ(curator.label(), label);
    EXPECT_EQ(curator.child({"part", 0.5}).label(), label);
  };
  const auto admitted = admit({.problem = "list", .tilted = true},
                              RecordTable({Matrix::Ones(d, n), Vector::Ones(n)}));
  const ListRecords written(some_data(), d);
  const PublicFacts facts = facts_of(n);
  expect(Curator(facts, *admitted, zcdp_rule(1), {.seed = 1}), PrivacyLabel::enforced);
  expect(Curator(facts, written, zcdp_rule(1), {.seed = 1}), PrivacyLabel::conditional);
  expect(
      ReleaseCurator(facts, written, zcdp_rule(1), {.seed = 1}, std::make_unique<SystemEntropy>()),
      PrivacyLabel::conditional);
  expect(UnsoundCurator(facts, written, {.seed = 1}, {}), PrivacyLabel::violated);
}

TEST(Curator, RejectsRecordCountThatContradictsFacts) {
  const PublicFacts facts = facts_of(n + 1);
  const ListRecords records(some_data(), d);
  EXPECT_THROW(Curator(facts, records, zcdp_rule(1.0), {}), InputError);
}

TEST(LocalDuals, DependOnTheirOwnRecordAlone) {
  // Without y, record i answers with its own maximiser; replacing record j leaves what record i
  // contributes as it was. One record per fresh batch shows each contribution by itself.
  constexpr Index records = 6;
  constexpr Index replaced = 3;
  auto data = std::make_shared<MatrixSensingData>();
  data->rows = 2;
  data->cols = 3;
  data->rank = 1;
  data->features = Matrix::Random(6, records);
  data->labels = Vector::Random(records);
  auto neighbour = std::make_shared<MatrixSensingData>(*data);
  neighbour->features.col(replaced) *= -50.0;
  neighbour->labels[replaced] = 700.0;
  PublicFacts facts;
  facts.dimension = 5;
  facts.records = records;
  facts.dual_kind = DualKind::per_record;
  facts.dual_dimension = records;
  const auto a = matrix_sensing_records(data);
  const auto b = matrix_sensing_records(neighbour);
  Curator from_a(facts, *a, zcdp_rule(1e6), {.seed = 1});
  Curator from_b(facts, *b, zcdp_rule(1e6), {.seed = 1});
  const Vector x = Vector::Constant(5, 0.8);
  for (Index i = 0; i < records; ++i) {
    const GradientQuery one{100.0, Noise::sensitivity_ratio(1.0)};
    Vector out_a(5), out_b(5);
    from_a.gradient(Point(x), from_a.draw(BatchPolicy::fresh(1)), one, out_a);
    from_b.gradient(Point(x), from_b.draw(BatchPolicy::fresh(1)), one, out_b);
    EXPECT_EQ(same_bits(out_a, out_b), i != replaced) << i;
    EXPECT_LE((out_a - out_b).norm(), 200.0 * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace dpsosp::curator_test
