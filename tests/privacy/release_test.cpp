// SPDX-License-Identifier: Apache-2.0
// ReleaseCurator. Two of them with the same words draw the same noise, so the difference of their
// releases is that of the sums which they read.
#include "dpsosp/privacy/release_curator.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <system_error>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "../core/stream_words.hpp"
#include "dpsosp/privacy/exponential_mechanism.hpp"
#include "dpsosp/privacy/hessian_stream.hpp"
#include "dpsosp/privacy/tree_stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "second_order_support.hpp"

namespace dpsosp::release_test {
namespace {

using namespace testing;

constexpr double slack = 1 + 0x1p-29;  // allowed for rounding

struct ReleaseHouse : HouseOf<ListRecords, ReleaseCurator> {
  explicit ReleaseHouse(const Data& data, std::uint64_t words = 1, StreamKey key = {.seed = 1},
                        FilterRule rule = zcdp_rule(1e9))
      : HouseOf(facts_of(data.offset.cols()), ListRecords(data, d), rule, key,
                std::make_unique<StreamWords>(words)) {}
};

Vector ask_all(ReleaseHouse& house, Kind kind, const GradientQuery& query) {
  return ask(house.curator, kind, house.curator.draw(BatchPolicy::all()), query);
}

/// A record of extreme size and of random direction.
Vector adversarial(Index entries, double limit, Stream& stream) {
  static constexpr std::array sizes{0.0, 1e-320, 0.5, 1.0, 1.0 + 1e-15, 1.5, 1e6, 1e150, 1e300};
  Vector v(entries);
  stream.fill_normal(1.0, v);
  v = v.normalized() * limit * sizes[static_cast<std::size_t>(stream.below(std::ssize(sizes)))];
  if (stream.below(8) == 0) v[0] = std::numeric_limits<double>::quiet_NaN();
  if (stream.below(8) == 0) v[entries - 1] = std::numeric_limits<double>::infinity();
  if (stream.below(4) == 0) v.tail(entries - 1).setZero();
  return v;
}

TEST(Release, OneRecordMovesItByAtMostSensitivity) {
  double attained = 0;
  rc::check([&](std::uint32_t seed) {
    Stream stream({.seed = seed});
    const double limit = std::pow(10.0, 8 * stream.uniform() - 4);
    const Index n = 1 + stream.below(8);
    const Block block =
        std::array{Block::x, Block::y, Block::joint}[static_cast<std::size_t>(stream.below(3))];
    const Kind kind = stream.below(2) == 0 ? Kind::gradient : Kind::difference;
    const double ratio = std::pow(10.0, 4 * stream.uniform() - 2);
    const GradientQuery query{limit, Noise::sensitivity_ratio(ratio), block};
    const Places places;
    Data data = random_data(n, limit, stream), other = data;
    const Index i = stream.below(n);
    Vector one = adversarial(d + d2, limit, stream);
    set_record(data, i, one, places);
    set_record(other, i, stream.below(2) == 0 ? Vector(-one) : adversarial(d + d2, limit, stream),
               places);
    ReleaseHouse a(std::move(data)), b(std::move(other));
    const double moved = (ask_all(a, kind, query) - ask_all(b, kind, query)).norm();
    const double sensitivity = 2 * limit / static_cast<double>(n);
    // The last bits of the difference are those of the released doubles.
    RC_ASSERT(moved <= sensitivity * (slack + 1e-13 * (1 + ratio)));
    attained = std::max(attained, moved / sensitivity);
  });
  EXPECT_GT(attained, 0.9999);
}

TEST(Release, DoesNotDependOnRecordOrder) {
  Stream stream({.seed = 3});
  Data data = random_data(500, 1.0, stream);
  Data turned = data;
  turned.offset = data.offset.rowwise().reverse();
  turned.slope = data.slope.rowwise().reverse();
  for (const Kind kind : {Kind::gradient, Kind::difference}) {
    const GradientQuery query{1.0, Noise::sensitivity_ratio(0.3), Block::joint};
    ReleaseHouse a(data), b(turned);
    EXPECT_TRUE(same_bits(ask_all(a, kind, query), ask_all(b, kind, query)));
    House c(data), e(turned);  // floating-point sums depend on the order
    EXPECT_FALSE(same_bits(ask(c.curator, kind, c.curator.draw(BatchPolicy::all()), query),
                           ask(e.curator, kind, e.curator.draw(BatchPolicy::all()), query)));
  }
}

TEST(Release, IsClippedMeanPlusStatedNoise) {
  Stream stream({.seed = 4});
  const Data data = random_data(50, 1.0, stream);
  House seeded(data, {.seed = 1});
  const GradientQuery faint{1.0, Noise::sensitivity_ratio(1e-2), Block::x};
  Vector mean = Vector::Zero(d);
  constexpr int count = 20'000;
  ReleaseHouse house(data);
  const Batch batch = house.curator.draw(BatchPolicy::all());
  double squares = 0;
  Matrix answers(d, count);
  for (int k = 0; k < count; ++k) answers.col(k) = ask(house.curator, Kind::gradient, batch, faint);
  UnsoundHouse bare(data, {.no_noise = true});
  const Vector truth =
      ask(bare.curator, Kind::gradient, bare.curator.draw(BatchPolicy::all()), faint);
  const double deviation = 1e-2 * 2.0 / 50;
  mean = answers.rowwise().mean();
  squares = (answers.colwise() - truth).squaredNorm() / (deviation * deviation);
  EXPECT_LT((mean - truth).norm(), 6 * deviation * std::sqrt(d / static_cast<double>(count)));
  EXPECT_NEAR(squares / (d * count), 1.0, 5 * std::sqrt(2.0 / (d * count)));
}

/// Records that answer twice what the clip allows, as a wrong problem would.
class Unclipped final : public UncheckedRecords {
 public:
  explicit Unclipped(double size) : size_(size) {}
  Index size() const override { return 4; }
  ClipReport add(const Summand&, const BatchView& batch, double limit,
                 VectorRef out) const override {
    for (Index k = 0; k < batch.size(); ++k) {
      const double length = (batch[k] == 2 ? size_ : 0.25) * limit;
      out[0] += 0.8 * length;  // beyond the limit as a vector before it is in any entry
      out[1] += 0.6 * length;
    }
    return {};
  }

 private:
  double size_;
};

TEST(Release, CountsContributionsBeyondLimitAsZero) {
  const auto answer = [](double size) {
    PublicFacts facts = facts_of(4);
    facts.dual_kind = DualKind::none;
    facts.dual_dimension = 0;
    const Unclipped records(size);
    ReleaseCurator curator(facts, records, zcdp_rule(1e9), {.seed = 1},
                           std::make_unique<StreamWords>(1));
    Vector out(d);
    curator.gradient(Point(Vector(Vector::Zero(d))), curator.draw(BatchPolicy::all()),
                     {1.0, Noise::sensitivity_ratio(0.01)}, out);
    return out[0];
  };
  const double without = answer(0.0);
  EXPECT_NEAR(answer(1.0) - without, 0.2, 1e-9);
  EXPECT_EQ(answer(1.0 + 1e-8), without);
  EXPECT_EQ(answer(2.0), without);
  EXPECT_EQ(answer(1e300), without);
  EXPECT_EQ(answer(std::numeric_limits<double>::infinity()), without);
  EXPECT_EQ(answer(std::numeric_limits<double>::quiet_NaN()), without);
}

TEST(Release, DrawsNoiseFromWordsAndNotFromSeed) {
  Stream stream({.seed = 5});
  const Data data = random_data(20, 1.0, stream);
  const auto release = [&](std::uint64_t words, std::uint64_t seed) {
    ReleaseHouse house(data, words, {.seed = seed});
    const GradientQuery query{1.0, Noise::sensitivity_ratio(1.0)};
    Vector out = ask_all(house, Kind::gradient, query);
    Curator child = house.curator.child({.name = "part", .share = 0.5});
    out += ask(child, Kind::gradient, child.draw(BatchPolicy::fresh(5)), query);
    TreeStream tree(child, 0.1, 4);
    Vector prefix(d);
    tree.push_gradient(Places().to(), child.draw(BatchPolicy::fresh(5)), query, prefix);
    return Vector(out + prefix);
  };
  EXPECT_TRUE(same_bits(release(1, 1), release(1, 2)));
  EXPECT_GT((release(1, 1) - release(2, 1)).cwiseAbs().minCoeff(), 1e-6);
}

TEST(Release, ChargesAndListsZcdpOfItsGaussian) {
  Stream stream({.seed = 6});
  ReleaseHouse house(random_data(20, 1.0, stream));
  ask_all(house, Kind::gradient, {1.0, Noise::sensitivity_ratio(2.0)});
  ASSERT_EQ(house.curator.ledger().entries().size(), 1U);
  EXPECT_EQ(*house.curator.ledger().entries()[0].event, Event(ZcdpEvent{1.0 / 8}));
  // A plan that fills the budget exactly gets its last query, as with seeded noise.
  ReleaseHouse filled(random_data(20, 1.0, stream), 1, {.seed = 1}, zcdp_rule(1.0));
  const GradientQuery query{1.0, Noise::sensitivity_ratio(noise_ratio_for(1.0, 7))};
  for (int k = 0; k < 7; ++k) ask_all(filled, Kind::gradient, query);
  EXPECT_THROW(ask_all(filled, Kind::gradient, query), BudgetExhausted);
}

TEST(Release, TreeMatchesPrefixSumsAndNodeNoise) {
  Stream stream({.seed = 7});
  const Data data = random_data(40, 1.0, stream);
  constexpr double sigma = 0.25;
  constexpr int runs = 4000, leaves = 5;
  UnsoundHouse bare(data, {.no_noise = true});
  TreeStream truth(bare.curator, sigma, leaves);
  Matrix prefixes(d, leaves);
  for (int t = 0; t < leaves; ++t) {
    Vector out(d);
    truth.push_gradient(Places().to(), bare.curator.draw(BatchPolicy::fresh(8)),
                        {1.0, {}, Block::x}, out);
    prefixes.col(t) = out;
  }
  Matrix second = Matrix::Zero(leaves, leaves);
  for (int run = 0; run < runs; ++run) {
    ReleaseHouse house(data, static_cast<std::uint64_t>(run));
    TreeStream tree(house.curator, sigma, leaves);
    Matrix noise(d, leaves);
    for (int t = 0; t < leaves; ++t) {
      Vector out(d);
      tree.push_gradient(Places().to(), house.curator.draw(BatchPolicy::fresh(8)),
                         {1.0, {}, Block::x}, out);
      noise.col(t) = (out - prefixes.col(t)) / sigma;
    }
    second += noise.transpose() * noise / (d * runs);
  }
  // Covariance of prefixes = shared nodes of 1, 2, 2+1, 4, 4+1.
  Matrix expected(leaves, leaves);
  expected << 1, 0, 0, 0, 0,  //
      0, 1, 1, 0, 0,          //
      0, 1, 2, 0, 0,          //
      0, 0, 0, 1, 1,          //
      0, 0, 0, 1, 2;
  EXPECT_LT((second - expected).cwiseAbs().maxCoeff(), 6 * 2 * std::sqrt(2.0 / (d * runs)));
}

TEST(Release, ThrowingLeafLeavesTreeUnchanged) {
  Stream stream({.seed = 10});
  ReleaseHouse house(random_data(8, 1.0, stream));
  TreeStream tree(house.curator, 0.25, 4);
  const Places at;
  const GradientQuery joint{1.0, {}, Block::joint};
  Vector wide(d + d2), out(d);
  house.records.throws = true;
  EXPECT_THROW(tree.push_gradient(at.to(), house.curator.draw(BatchPolicy::fresh(2)), joint, wide),
               InputError);
  house.records.throws = false;
  EXPECT_EQ(tree.leaves(), 0);
  const GradientQuery query{1.0, {}, Block::x};
  tree.push_gradient(at.to(), house.curator.draw(BatchPolicy::fresh(2)), query, out);
  EXPECT_EQ(tree.leaves(), 1);
  EXPECT_TRUE(out.allFinite());
  EXPECT_LT(out.norm(), 1 + 0.25 * 6);
}

/// The system's generator may fail.
class FailingWords final : public WordSource {
 public:
  explicit FailingWords(int words) : left_(words) {}
  std::uint64_t bits() override {
    if (left_-- == 0) throw std::system_error(EIO, std::generic_category(), "getrandom");
    return words_.bits();
  }

 private:
  int left_;
  StreamWords words_{1};
};

TEST(Release, FailingEntropyReleasesNothingAndIsPaidFor) {
  Stream stream({.seed = 11});
  for (const int words : {0, 1, 5, 9}) {
    PublicFacts facts = facts_of(20);
    const ListRecords records(random_data(20, 1.0, stream), d);
    ReleaseCurator curator(facts, records, zcdp_rule(1.0), {.seed = 1},
                           std::make_unique<FailingWords>(words));
    const Batch batch = curator.draw(BatchPolicy::all());
    const double untouched = 17.5;
    Vector out = Vector::Constant(d, untouched);
    const Places at;
    EXPECT_THROW(
        curator.gradient(at.to(), batch, {1.0, Noise::sensitivity_ratio(2.0), Block::x}, out),
        std::system_error);
    EXPECT_EQ(out, Vector::Constant(d, untouched)) << words;
    EXPECT_EQ(curator.ledger().queries(), 1) << "a failure may tell how many words were drawn";
    EXPECT_LT(curator.remaining().share, 1.0);
  }
}

TEST(Release, RejectsDeviationsBeyondTheLattice) {
  Stream stream({.seed = 12});
  for (const double noise : {1e-260, 1e260}) {
    ReleaseHouse house(random_data(5, 1.0, stream), 1, {.seed = 1}, zcdp_rule(1e300));
    const double limit = noise < 1 ? 1e-260 : 1e260;
    EXPECT_THROW(ask_all(house, Kind::gradient, {limit, Noise::sensitivity_ratio(1.0)}), InputError)
        << noise;
  }
}

TEST(Release, MergesEqualQueriesInLedger) {
  Stream stream({.seed = 11});
  ReleaseHouse house(random_data(4, 1.0, stream));
  for (int k = 0; k < 100; ++k)
    ask_all(house, Kind::gradient, {1.0, Noise::sensitivity_ratio(1.0)});
  ASSERT_EQ(house.curator.ledger().entries().size(), 1U);
  EXPECT_EQ(house.curator.ledger().queries(), 100);
}

/// d × d quadratics, asked with exact noise and without noise.
struct Curved {
  explicit Curved(std::uint64_t words, Index n = 6) : facts(facts_of(n)) {
    facts.dual_kind = DualKind::none;
    facts.dual_dimension = 0;
    Quadratics data;
    Stream stream({.seed = 8});
    for (Index i = 0; i < n; ++i) {
      Matrix a(d, d);
      for (Index j = 0; j < d; ++j) stream.fill_normal(1.0, a.col(j));
      data.hessians.push_back(a);  // not symmetric: a Hessian that is released is made so
      data.slopes.emplace_back(Vector::Ones(d));
    }
    records = std::make_unique<QuadraticRecords>(std::move(data));
    curator =
        std::make_unique<ReleaseCurator>(facts, *records, zcdp_rule(1e12), StreamKey{.seed = 1},
                                         std::make_unique<StreamWords>(words));
    bare = std::make_unique<UnsoundCurator>(facts, *records, StreamKey{.seed = 1},
                                            UnsoundCurator::Departures{.no_noise = true});
  }
  PublicFacts facts;
  std::unique_ptr<QuadraticRecords> records;
  std::unique_ptr<ReleaseCurator> curator;
  std::unique_ptr<UnsoundCurator> bare;
};

TEST(Release, HessianIsMeanPlusGoeNoise) {
  const Vector origin = Vector::Zero(d);
  const Point x(origin);
  constexpr int runs = 20'000;
  Curved h(1);
  Matrix truth(d, d);
  const HessianQuery query{1.0, 0, Noise::standard_deviation(0.125)};
  h.bare->hessian(x, h.bare->draw(BatchPolicy::all()), query, truth);
  const Batch batch = h.curator->draw(BatchPolicy::all());
  double on = 0, off = 0;
  Matrix mean = Matrix::Zero(d, d);
  for (int k = 0; k < runs; ++k) {
    Matrix out(d, d);
    h.curator->hessian(x, batch, query, out);
    ASSERT_EQ(out, out.transpose());
    const Matrix noise = (out - truth) / 0.125;
    mean += noise / runs;
    on += noise.diagonal().squaredNorm() / (d * runs);
    off += (noise.squaredNorm() - noise.diagonal().squaredNorm()) / (d * (d - 1) * runs);
  }
  EXPECT_NEAR(on, 2.0, 6 * 2 * std::sqrt(2.0 / (d * runs)));
  EXPECT_NEAR(off, 1.0, 6 * std::sqrt(2.0 / (d * (d - 1) / 2 * runs)));
  EXPECT_LT(mean.cwiseAbs().maxCoeff(), 6 * std::numbers::sqrt2 / std::sqrt(runs));
}

TEST(Release, ProductsAndCombinationsMatchSeededCurator) {
  const Vector here = Vector::Constant(d, 0.3), there = Vector::Constant(d, -0.2);
  const Point x(here), before(there);
  const Vector v = Vector::LinSpaced(d, -1, 2);
  const auto near = [&](const Vector& a, const Vector& b) { EXPECT_LT((a - b).norm(), 0.05); };
  Curved h(2);
  Vector a(d), b(d);
  h.curator->hessian_product(x, v, h.curator->draw(BatchPolicy::all()),
                             {1.0, Noise::standard_deviation(1e-3)}, a);
  h.bare->hessian_product(x, v, h.bare->draw(BatchPolicy::all()),
                          {1.0, Noise::standard_deviation(1e-3)}, b);
  near(a, b);
  for (const double gamma : {0.0, 0.3, 1.0}) {
    const CombinationQuery query{1.0, 0.4, Noise::standard_deviation(1e-3)};
    h.curator->gradient_combination(gamma, x, before, h.curator->draw(BatchPolicy::all()), query,
                                    a);
    h.bare->gradient_combination(gamma, x, before, h.bare->draw(BatchPolicy::all()), query, b);
    near(a, b);
  }
  for (const LedgerEntry& entry : h.curator->ledger().entries())
    EXPECT_TRUE(std::holds_alternative<ZcdpEvent>(*entry.event)) << entry.query;
}

TEST(Release, HessianStreamMatchesSeededCurator) {
  constexpr double deviation = 1e-3;
  for (const char* name : {"cosine-saddle", "phase-retrieval"}) {
    const Problem problem = find_problem(name)->make({.records = 40, .dimension = d, .seed = 3});
    const Index n = problem.facts.records, dimension = problem.facts.dimension;
    ReleaseCurator curator(problem.facts, *problem.records, zcdp_rule(1e12), StreamKey{.seed = 1},
                           std::make_unique<StreamWords>(4));
    UnsoundCurator bare_door(problem.facts, *problem.records, StreamKey{.seed = 1},
                             UnsoundCurator::Departures{.no_noise = true});
    Stream stream({.seed = 12});
    Vector before = problem.facts.initial_point, here(dimension), v(dimension);
    stream.add_normal(0.1, before);
    stream.fill_normal(0.3, here);
    stream.fill_normal(1.0, v);
    for (const HessianMode mode : {HessianMode::dense, HessianMode::lazy}) {
      HessianStream exact(curator, mode), bare(bare_door, mode);
      Vector a(dimension), b(dimension), refreshed(dimension);
      exact.refresh(Point(before), curator.draw(BatchPolicy::all()), 0.5);
      bare.refresh(Point(before), bare_door.draw(BatchPolicy::all()), 0.5);
      bare.product(v, deviation, refreshed);
      exact.add(Point(here), Point(before), curator.draw(BatchPolicy::fresh(n / 4)), 0.2);
      bare.add(Point(here), Point(before), bare_door.draw(BatchPolicy::fresh(n / 4)), 0.2);
      exact.product(v, deviation, a);
      bare.product(v, deviation, b);
      EXPECT_LT((a - b).norm(), 8 * deviation * std::sqrt(dimension)) << name;
      EXPECT_GT((b - refreshed).norm(), 0.02) << name << ": the points have the same Hessian";
    }
    for (const LedgerEntry& entry : curator.ledger().entries())
      EXPECT_TRUE(std::holds_alternative<ZcdpEvent>(*entry.event)) << entry.query;
  }
}

TEST(Release, RejectsQueriesWithoutExactNoise) {
  Stream stream({.seed = 9});
  ReleaseHouse house(random_data(20, 1.0, stream));
  Curator& curator = house.curator;
  EXPECT_THROW(curator.draw(BatchPolicy::poisson(0.5)), InputError);
  EXPECT_THROW(curator.draw(BatchPolicy::sample(3), BatchUse::several_queries), InputError);
  const Batch batch = curator.draw(BatchPolicy::all());
  EXPECT_THROW(ExponentialMechanism(curator, batch), InputError);
  EXPECT_THROW(ask(curator, Kind::gradient, batch, {1.0, Noise::sensitivity_ratio(4e-4)}),
               InputError);
  ask(curator, Kind::gradient, batch, {1.0, Noise::sensitivity_ratio(5e-4)});
  FilterRule exact = zcdp_rule(1.0);
  exact.calibrator = Calibrator::exact_gaussian;
  EXPECT_THROW(ReleaseHouse(random_data(3, 1.0, stream), 1, {.seed = 1}, exact), InputError);
}

}  // namespace
}  // namespace dpsosp::release_test
