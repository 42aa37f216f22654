// SPDX-License-Identifier: Apache-2.0
// Hessians, Hessian products and gradient combinations: what is read, moved, charged and refused.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "second_order_support.hpp"

namespace dpsosp::second_order_test {
namespace {

using namespace testing;
using Departures = UnsoundCurator::Departures;

constexpr Index n = 10;
constexpr Index dim = 4;
constexpr double M = 1.5;
const std::array policies{BatchPolicy::all(), BatchPolicy::fresh(4), BatchPolicy::sample(4),
                          BatchPolicy::poisson(0.4)};
double size_of(const BatchPolicy& policy) {
  return policy.kind == BatchPolicy::Kind::all ? 10.0 : 4.0;
}
const Vector x = Vector{{0.7, -0.4, 1.1, 0.2}};
const Vector x_before = Vector{{0.2, 0.5, -0.3, 0.9}};
const Vector v = Vector{{1.0, -2.0, 0.5, 0.3}};

Quadratics some(Index rank = dim, std::uint64_t seed = 2) {
  Stream stream({.seed = seed});
  return random_quadratics(n, dim, rank, M, stream);
}

Matrix ask_hessian(Curator& curator, const BatchPolicy& policy, const HessianQuery& query) {
  Matrix out(curator.facts().dimension, curator.facts().dimension);
  curator.hessian(Point(curator.facts().initial_point), curator.draw(policy), query, out);
  return out;
}
Vector ask_product(Curator& curator, const BatchPolicy& policy, const HessianProductQuery& query,
                   const Vector& by = v) {
  Vector out(dim);
  curator.hessian_product(Point(x), by, curator.draw(policy), query, out);
  return out;
}
Vector ask_combination(Curator& curator, double gamma, const BatchPolicy& policy,
                       const CombinationQuery& query) {
  Vector out(dim);
  curator.gradient_combination(gamma, Point(x), Point(x_before), curator.draw(policy), query, out);
  return out;
}
double zcdp_of(const LedgerEntry& entry) {
  const double z = std::get<GaussianEvent>(*entry.event).noise_multiplier;
  return 1.0 / (2.0 * z * z);
}

TEST(HessianQueries, ReturnExactHessianWithoutNoise) {
  for (const char* name : {"cosine-saddle", "phase-retrieval", "glm-logistic"}) {
    const Problem p = find_problem(name)->make({.records = 60, .dimension = 5});
    UnsoundCurator curator(p.facts, *p.records, {.seed = 1},
                           {.no_noise = true, .no_clipping = true});
    const Vector at = p.facts.initial_point + Vector::Constant(5, 0.1);
    Matrix out(5, 5);
    curator.hessian(Point(at), curator.draw(BatchPolicy::all()), {.limit = 1}, out);
    EXPECT_EQ(out, Matrix(out.transpose()));
    for (Index j = 0; j < 5; ++j) {
      Vector expected(5), product(5);
      p.empirical->hessian_product(at, Vector::Unit(5, j), expected);
      EXPECT_LT((out.col(j) - expected).norm(), 1e-12) << name;
      curator.hessian_product(Point(at), Vector::Unit(5, j), curator.draw(BatchPolicy::all()),
                              {.limit = 1}, product);
      EXPECT_LT((product - expected).norm(), 1e-12) << name;
    }
  }
}

TEST(HessianQueries, AddSymmetricNoiseWithDoubledDiagonalVariance) {
  const HessianQuery query{.limit = M, .rank = 0, .noise = Noise::standard_deviation(0.3)};
  Quadratics zero = some();
  for (Matrix& h : zero.hessians) h.setZero();
  QuadraticHouse house(zero);
  const Matrix noise = ask_hessian(house.curator, BatchPolicy::all(), query);
  EXPECT_EQ(noise, Matrix(noise.transpose()));
  Stream stream({.seed = 1, .purpose = Purpose::noise});
  for (Index j = 0; j < dim; ++j)
    for (Index i = 0; i <= j; ++i)
      EXPECT_DOUBLE_EQ(noise(i, j), (i == j ? std::numbers::sqrt2 : 1.0) * 0.3 * stream.normal());
}

// privacy-accounting notes, 3: d = 4, M = 1, b = 100, s = 0.5 costs 0.0016.
TEST(HessianQueries, CostSquaredSensitivityOverFourVariances) {
  Stream stream({.seed = 5});
  QuadraticHouse house(random_quadratics(100, 4, 4, 1.0, stream));
  ask_hessian(house.curator, BatchPolicy::all(),
              {.limit = 1, .rank = 0, .noise = Noise::standard_deviation(0.5)});
  const LedgerEntry entry = house.curator.ledger().entries().front();
  EXPECT_NEAR(zcdp_of(entry), 0.0016, 1e-15);
  EXPECT_NEAR(entry.sensitivity_high, 0.04, 1e-15);
  EXPECT_EQ(entry.deviation_high, 0.5);
  // a record of rank 1 moves the Frobenius norm by half as much
  QuadraticHouse one(random_quadratics(100, 4, 1, 1.0, stream));
  ask_hessian(one.curator, BatchPolicy::all(),
              {.limit = 1, .rank = 1, .noise = Noise::standard_deviation(0.5)});
  EXPECT_NEAR(zcdp_of(one.curator.ledger().entries().front()), 0.0004, 1e-15);
}

TEST(HessianQueries, CostSameAsOtherQueriesAtSameNoiseRatio) {
  for (const BatchPolicy& policy : policies) {
    QuadraticHouse house(some());
    ask_hessian(house.curator, policy,
                {.limit = M, .rank = 0, .noise = Noise::sensitivity_ratio(3)});
    ask_product(house.curator, policy, {.limit = M, .noise = Noise::sensitivity_ratio(3)});
    // Two queries of a fresh batch charge different records.
    for (const LedgerEntry& entry : house.curator.ledger().entries())
      EXPECT_DOUBLE_EQ(zcdp_of(entry), 1.0 / 18.0);
  }
}

TEST(HessianQueries, ChargeSecretBatchesInFullAndAnswerOnce) {
  for (const BatchPolicy& policy : {BatchPolicy::sample(4), BatchPolicy::poisson(0.4)}) {
    QuadraticHouse house(some());
    const Batch batch = house.curator.draw(policy);
    Matrix out(dim, dim);
    Vector product(dim);
    const HessianQuery query{.limit = M, .rank = 0, .noise = Noise::sensitivity_ratio(1)};
    house.curator.hessian(Point(x), batch, query, out);
    const LedgerEntry entry = house.curator.ledger().entries().front();
    EXPECT_EQ(entry.charged, (RecordRange{0, n}));
    EXPECT_DOUBLE_EQ(std::get<GaussianEvent>(*entry.event).noise_multiplier, 1.0);
    EXPECT_THROW(house.curator.hessian(Point(x), batch, query, out), InputError);
    EXPECT_THROW(house.curator.hessian_product(Point(x), v, batch, {M, query.noise}, product),
                 InputError);
    const Batch kept = house.curator.draw(policy, BatchUse::several_queries);
    house.curator.hessian(Point(x), kept, query, out);
    EXPECT_NO_THROW(house.curator.hessian_product(Point(x), v, kept, {M, query.noise}, product));
  }
}

/// ‖release(data) − release(neighbour)‖ with the same coins and noise.
template <class Ask>
double moved(const Quadratics& data, const Quadratics& neighbour, std::uint64_t seed, Ask ask) {
  QuadraticHouse a(data, {.seed = seed}), b(neighbour, {.seed = seed});
  return (ask(a.curator) - ask(b.curator)).norm();
}

TEST(SecondOrderSensitivity, BoundsEffectOfOneRecord) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed, std::uint8_t index, std::uint8_t which) {
    Stream stream({.seed = seed});
    const Index rank = 1 + which / 4 % dim;
    const Quadratics data = random_quadratics(n, dim, rank, M, stream);
    Quadratics neighbour = data;
    const Quadratics other = random_quadratics(1, dim, rank, M, stream);
    neighbour.hessians[index % n] = other.hessians[0];
    neighbour.slopes[index % n] = other.slopes[0];
    const BatchPolicy& policy = policies[which % 4];
    const double b = size_of(policy);
    const Noise noise = Noise::sensitivity_ratio(1);
    RC_ASSERT(moved(data, neighbour, seed, [&](Curator& c) {
                return ask_hessian(c, policy, {.limit = M, .rank = rank, .noise = noise});
              }) <= 2 * M * std::sqrt(static_cast<double>(rank)) / b * (1 + 1e-12));
    RC_ASSERT(moved(data, neighbour, seed, [&](Curator& c) {
                return ask_product(c, policy, {.limit = M, .noise = noise});
              }) <= 2 * M * v.norm() / b * (1 + 1e-12));
    const double gamma = static_cast<double>(which % 11) / 10;
    RC_ASSERT(moved(data, neighbour, seed, [&](Curator& c) {
                return ask_combination(c, gamma, policy, {1.3, 0.2, noise});
              }) <= 2 * (gamma * 1.3 + (1 - gamma) * 0.2) / b * (1 + 1e-12));
  }));
}

TEST(SecondOrderSensitivity, IsAttainedByOppositeRecords) {
  const Noise noise = Noise::sensitivity_ratio(1);
  for (const BatchPolicy& policy : policies)
    for (const double scale : {1.0, 100.0})
      for (const Index rank : {Index{1}, dim}) {
        double hessian = 0, product = 0, combination = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {  // one is in the batch
          Quadratics data = some(rank), neighbour = some(rank);
          const Matrix h = rank == 1 ? Matrix(v.normalized() * v.normalized().transpose())
                                     : Matrix(Matrix::Identity(dim, dim));
          for (Quadratics* q : {&data, &neighbour}) {
            const double sign = q == &data ? 1 : -1;
            q->hessians[i] = sign * scale * M * h;
            // so that the gradient at x and the difference from x_before are parallel
            q->slopes[i] = q->hessians[i] * (-x + 1e4 * (x - x_before));
          }
          hessian = std::max(hessian, moved(data, neighbour, 5, [&](Curator& c) {
                               return ask_hessian(c, policy, {M, rank, noise});
                             }));
          product = std::max(product, moved(data, neighbour, 5, [&](Curator& c) {
                               return ask_product(c, policy, {M, noise});
                             }));
          combination = std::max(combination, moved(data, neighbour, 5, [&](Curator& c) {
                                   return ask_combination(c, 0.3, policy, {0.9, 0.02, noise});
                                 }));
        }
        const double b = size_of(policy), r = static_cast<double>(rank);
        EXPECT_NEAR(hessian / (2 * M * std::sqrt(r) / b), 1.0, 1e-9);
        EXPECT_NEAR(product / (2 * M * v.norm() / b), 1.0, 1e-9);
        EXPECT_NEAR(combination / (2 * (0.3 * 0.9 + 0.7 * 0.02) / b), 1.0, 1e-9);
      }
}

// What the neighbours above reach is what the ledger lists and the charge pays for.
TEST(SecondOrderSensitivity, IsListedAndChargedForEveryQuery) {
  const Noise noise = Noise::standard_deviation(0.3);
  for (const BatchPolicy& policy : policies) {
    const double b = size_of(policy);
    QuadraticHouse house(some(2));
    ask_hessian(house.curator, policy, {.limit = M, .rank = 2, .noise = noise});
    ask_product(house.curator, BatchPolicy::all(), {.limit = M, .noise = noise});
    ask_combination(house.curator, 0.3, BatchPolicy::all(), {0.9, 0.1, noise});
    const auto& entries = house.curator.ledger().entries();
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_NEAR(entries[0].sensitivity_high, 2 * M * std::sqrt(2.0) / b, 1e-14);
    EXPECT_NEAR(entries[1].sensitivity_high, 2 * M * v.norm() / 10, 1e-14);
    EXPECT_NEAR(entries[2].sensitivity_high, 2 * (0.3 * 0.9 + 0.7 * 0.1) / 10, 1e-14);
    for (const LedgerEntry& entry : entries) {
      const double isotropic = (&entry == &entries[0] ? std::numbers::sqrt2 : 1.0) * 0.3;
      EXPECT_NEAR(zcdp_of(entry) / (0.5 * std::pow(entry.sensitivity_high / isotropic, 2)), 1.0,
                  1e-12);
    }
  }
}

TEST(HessianQueries, RejectUnprovedRank) {
  const Noise noise = Noise::sensitivity_ratio(1);
  const auto asks = [&](Index proved, Index claimed) {
    Quadratics data = some();
    data.proved_rank = proved;
    QuadraticHouse house(data);
    ask_hessian(house.curator, BatchPolicy::all(), {M, claimed, noise});
  };
  for (const Index claimed : {Index{0}, dim}) EXPECT_NO_THROW(asks(0, claimed));
  for (const Index claimed : {Index{1}, dim - 1}) EXPECT_THROW(asks(0, claimed), InputError);
  EXPECT_NO_THROW(asks(2, 2));
  EXPECT_NO_THROW(asks(2, 3));
  EXPECT_THROW(asks(2, 1), InputError);
  for (const Index claimed : {Index{-1}, dim + 1}) EXPECT_THROW(asks(2, claimed), InputError);
}

TEST(HessianQueries, ProveRankOneForUnregularisedProducts) {
  for (const auto& [name, rank] :
       {std::pair{"phase-retrieval", Index{1}}, std::pair{"glm-logistic", Index{0}},
        std::pair{"cosine-saddle", Index{0}}})
    EXPECT_EQ(find_problem(name)->make({.records = 5, .dimension = 4}).records->hessian_rank(),
              rank)
        << name;
  const auto family = find_problem("glm-logistic");
  Fields fields = family->fields();
  set_field(fields, "glm-logistic", "regulariser", "0");
  const Problem plain = family->make({.records = 1, .dimension = 4});
  ASSERT_EQ(plain.records->hessian_rank(), 1);
  UnsoundCurator curator(plain.facts, *plain.records, {.seed = 1}, {.no_noise = true});
  Matrix out(4, 4);
  curator.hessian(Point(Vector::Constant(4, 0.3)), curator.draw(BatchPolicy::all()),
                  {.limit = 10, .rank = 1, .noise = {}}, out);
  const Vector eigenvalues = symmetric_eigen(out).values.cwiseAbs();
  EXPECT_LT((eigenvalues.sum() - eigenvalues.maxCoeff()) / eigenvalues.maxCoeff(), 1e-12);
}

TEST(HessianQueries, ProductWithZeroIsFreeButStillNoisy) {
  QuadraticHouse house(some());
  const HessianProductQuery query{M, Noise::standard_deviation(0.3)};
  const Vector first = ask_product(house.curator, BatchPolicy::all(), query, Vector::Zero(dim));
  Vector expected(dim);
  Stream({.seed = 1, .purpose = Purpose::noise}).fill_normal(0.3, expected);
  EXPECT_TRUE(same_bits(first, expected));
  EXPECT_TRUE(house.records.read.empty());
  EXPECT_TRUE(house.curator.ledger().entries().empty());
}

/// Where nothing is clipped the log counts what the noise was not made for, of every kind.
TEST(UnclippedQueries, CountContributionsLongerThanTheirNominalLimit) {
  Quadratics data;
  for (const double size : {0.5, 3.0, 1.0, 2.0}) {
    data.hessians.push_back(size * Matrix::Identity(dim, dim));
    data.slopes.push_back(size * Vector::Unit(dim, 0));
  }
  const QuadraticHouse house(data);
  const Noise noise = Noise::sensitivity_ratio(1);
  for (const double nominal : {0.7, 1.5, 3.5}) {
    ClipLog log;
    UnsoundCurator curator(house.facts, house.records, {.seed = 1}, {.no_clipping = true}, &log);
    const int longer = nominal < 1 ? 3 : nominal < 3 ? 2 : 0;
    Vector out(dim);
    curator.gradient(Point(Vector::Zero(dim)), curator.draw(BatchPolicy::all()), {nominal, noise},
                     out);
    EXPECT_EQ(log.violations, longer);
    EXPECT_EQ(log.first_violation, longer > 0 ? 0 : -1);
    ask_product(curator, BatchPolicy::all(), {nominal, noise});
    EXPECT_EQ(log.violations, 2 * longer);
    EXPECT_DOUBLE_EQ(log.largest_over_nominal, 3.0 / nominal);
  }
}

TEST(HessianQueries, CountNonFiniteHessiansAsZero) {
  const Noise noise = Noise::sensitivity_ratio(1);
  Quadratics zeroed = some();
  zeroed.hessians[2].setZero();
  for (const double wild : {std::nan(""), HUGE_VAL}) {
    Quadratics data = some();
    data.hessians[2].setConstant(wild);
    QuadraticHouse a(data), b(zeroed);
    const Matrix out = ask_hessian(a.curator, BatchPolicy::all(), {M, 0, noise});
    EXPECT_TRUE(out.isApprox(ask_hessian(b.curator, BatchPolicy::all(), {M, 0, noise}), 1e-14));
    EXPECT_TRUE(ask_product(a.curator, BatchPolicy::all(), {M, noise})
                    .isApprox(ask_product(b.curator, BatchPolicy::all(), {M, noise}), 1e-14));
  }
}

TEST(Combination, EqualsGradientAtOneAndDifferenceAtZero) {
  const Noise noise = Noise::standard_deviation(0.2);
  for (const BatchPolicy& policy : policies) {
    const auto gradient = [&](Curator& c) {
      Vector out(dim);
      c.gradient(Point(x), c.draw(policy), {0.9, noise}, out);
      return out;
    };
    const auto difference = [&](Curator& c) {
      Vector out(dim);
      c.gradient_difference(Point(x), Point(x_before), c.draw(policy), {0.1, noise}, out);
      return out;
    };
    QuadraticHouse a(some()), b(some()), c(some()), e(some());
    EXPECT_TRUE(
        same_bits(ask_combination(a.curator, 1, policy, {0.9, 0.1, noise}), gradient(b.curator)));
    EXPECT_TRUE(
        same_bits(ask_combination(c.curator, 0, policy, {0.9, 0.1, noise}), difference(e.curator)));
    EXPECT_EQ(*a.curator.ledger().entries()[0].event, *b.curator.ledger().entries()[0].event);
    EXPECT_EQ(*c.curator.ledger().entries()[0].event, *e.curator.ledger().entries()[0].event);
  }
}

TEST(Combination, ReadsOneBatchAndIsAmplifiedAsOneQuery) {
  const Noise noise = Noise::sensitivity_ratio(2);
  QuadraticHouse house(some()), plain(some());
  ask_combination(house.curator, 0.3, BatchPolicy::sample(4), {0.9, 0.1, noise});
  EXPECT_EQ(house.records.read.size(), 4U);
  Vector out(dim);
  plain.curator.gradient(Point(x), plain.curator.draw(BatchPolicy::sample(4)), {0.9, noise}, out);
  EXPECT_EQ(*house.curator.ledger().entries()[0].event, *plain.curator.ledger().entries()[0].event);
}

TEST(Combination, EqualsGammaTimesGradientAtSinglePoint) {
  UnsoundQuadraticHouse house(some(), {.no_noise = true});
  Vector out(dim), gradient(dim);
  const Batch all = house.curator.draw(BatchPolicy::all());
  house.curator.gradient(Point(x), all, {0.9, {}}, gradient);
  house.curator.gradient_combination(0.25, Point(x), Point(x), all, {0.9, 0.1, {}}, out);
  EXPECT_LT((out - 0.25 * gradient).norm(), 1e-15);
}

/// Every query of this file.
const std::vector<std::function<void(Curator&, const Batch&, const Noise&, double, MatrixRef)>>
    queries{[](Curator& c, const Batch& batch, const Noise& noise, double limit, MatrixRef out) {
              c.hessian(Point(x), batch, {limit, 0, noise}, out);
            },
            [](Curator& c, const Batch& batch, const Noise& noise, double limit, MatrixRef out) {
              c.hessian_product(Point(x), v, batch, {limit, noise}, out.col(0));
            },
            [](Curator& c, const Batch& batch, const Noise& noise, double limit, MatrixRef out) {
              c.gradient_combination(0.5, Point(x), Point(x_before), batch, {limit, 0.1, noise},
                                     out.col(0));
            }};

TEST(SecondOrderRefusal, LeavesNoTrace) {
  const Noise dear = Noise::sensitivity_ratio(0.5), fair = Noise::sensitivity_ratio(5);
  for (const auto& query : queries)
    for (const auto& [noise, limit] :
         {std::pair{dear, 1.0}, std::pair{fair, -1.0}, std::pair{fair, 1e-200},
          std::pair{fair, std::nan("")}, std::pair{Noise::sensitivity_ratio(0), 1.0},
          std::pair{Noise::sensitivity_ratio(-1), 1.0},
          std::pair{Noise::standard_deviation(HUGE_VAL), 1.0}}) {
      QuadraticHouse visited(some(), {.seed = 3}, zcdp_rule(1)),
          control(some(), {.seed = 3}, zcdp_rule(1));
      Matrix out = Matrix::Constant(dim, dim, 7.0);
      if (noise.value == dear.value && limit == 1.0)
        EXPECT_THROW(
            query(visited.curator, visited.curator.draw(BatchPolicy::all()), noise, limit, out),
            BudgetExhausted);
      else
        EXPECT_THROW(
            query(visited.curator, visited.curator.draw(BatchPolicy::all()), noise, limit, out),
            InputError);
      EXPECT_EQ(out, Matrix::Constant(dim, dim, 7.0));
      EXPECT_TRUE(visited.records.read.empty());
      EXPECT_TRUE(visited.curator.ledger().entries().empty());
      EXPECT_EQ(visited.curator.remaining().share, 1.0);
      const Matrix a = ask_hessian(visited.curator, BatchPolicy::sample(3), {1, 0, fair});
      const Matrix b = ask_hessian(control.curator, BatchPolicy::sample(3), {1, 0, fair});
      EXPECT_EQ(a, b);  // the refusal drew no noise and no coins
    }
}

TEST(SecondOrderRefusal, RejectsForeignBatchesAndBadShapes) {
  const Noise fair = Noise::sensitivity_ratio(5);
  QuadraticHouse house(some()), other(some());
  Matrix out(dim, dim), small(dim, dim - 1);
  Vector short_v = Vector::Ones(dim - 1), product(dim);
  for (const auto& query : queries)
    EXPECT_THROW(query(house.curator, other.curator.draw(BatchPolicy::all()), fair, 1, out),
                 InputError);
  const Batch all = house.curator.draw(BatchPolicy::all());
  EXPECT_THROW(house.curator.hessian(Point(x), all, {1, 0, fair}, small), InputError);
  EXPECT_THROW(house.curator.hessian(Point(short_v), all, {1, 0, fair}, out), InputError);
  EXPECT_THROW(house.curator.hessian_product(Point(x), short_v, all, {1, fair}, product),
               InputError);
  for (const double length : {1e-160, 1e160, HUGE_VAL})
    EXPECT_THROW(house.curator.hessian_product(Point(x), length * v, all, {1, fair}, product),
                 InputError);
  for (const double gamma : {-0.1, 1.1, std::nan("")})
    EXPECT_THROW(house.curator.gradient_combination(gamma, Point(x), Point(x_before), all,
                                                    {1, 1, fair}, product),
                 InputError);
  EXPECT_TRUE(house.records.read.empty());
  House without(Data(d + d2, n));
  const Places places;
  Matrix three(d, d);
  EXPECT_THROW(without.curator.hessian(places.to(), without.curator.draw(BatchPolicy::all()),
                                       {1, 0, fair}, three),
               InputError);
}

TEST(SecondOrderDepartures, TakeEffectAndAreChargedTrueCost) {
  const Noise noise = Noise::sensitivity_ratio(2);
  const Quadratics data = some();
  Matrix clipped = Matrix::Zero(dim, dim), whole = Matrix::Zero(dim, dim);
  for (const Matrix& h : data.hessians) {
    clipped += std::min(1.0, M / operator_norm(h)) * h / n;
    whole += h / n;
  }
  const auto both = [&](const Departures& departures, const BatchPolicy& policy) {
    UnsoundQuadraticHouse house(data, departures);
    const Matrix h = ask_hessian(house.curator, policy, {M, 0, noise});
    const Vector p = ask_product(house.curator, policy, {M, noise});
    return std::tuple(h, p, house.curator.ledger());
  };
  const auto [exact_h, exact_p, exact_l] = both({.no_noise = true}, BatchPolicy::all());
  EXPECT_LT((exact_h - clipped).norm() + (exact_p - clipped * v).norm(), 1e-13);
  EXPECT_EQ(exact_l.spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
  const auto [whole_h, whole_p, whole_l] =
      both({.no_noise = true, .no_clipping = true}, BatchPolicy::all());
  EXPECT_LT((whole_h - whole).norm() + (whole_p - whole * v).norm(), 1e-11);
  const auto [none_h, none_p, none_l] =
      both({.no_noise = true, .no_data = true}, BatchPolicy::all());
  EXPECT_EQ(none_h.norm() + none_p.norm(), 0.0);
  // Hessians are weighed per record even where means of gradients are clipped: nothing is dearer.
  const auto [mean_h, mean_p, mean_l] = both({.clip_batch_mean = true}, BatchPolicy::all());
  for (const LedgerEntry& entry : mean_l.entries()) EXPECT_NEAR(zcdp_of(entry), 1.0 / 8, 1e-15);
  // a batch of one instead of four
  const auto [real_h, real_p, real_l] = both({.realised_divisor = true}, BatchPolicy::poisson(0.4));
  for (const LedgerEntry& entry : real_l.entries()) EXPECT_NEAR(zcdp_of(entry), 2.0, 1e-12);
  // a combination follows gradients: a clipped mean moves by 2 (γ C₁ + (1 − γ) C₂) in any batch
  UnsoundQuadraticHouse mean(data, {.clip_batch_mean = true});
  ask_combination(mean.curator, 0.3, BatchPolicy::all(), {0.9, 0.1, noise});
  EXPECT_NEAR(zcdp_of(mean.curator.ledger().entries()[0]), n * n / 8.0, 1e-10);
}

TEST(HessianQueries, ReadAndListZeroLimitWithoutClipping) {
  UnsoundQuadraticHouse house(some(), {.no_noise = true, .no_clipping = true});
  EXPECT_GT(ask_hessian(house.curator, BatchPolicy::all(), {0, 0, {}}).norm(), 0);
  EXPECT_GT(ask_product(house.curator, BatchPolicy::all(), {0, {}}).norm(), 0);
  EXPECT_EQ(house.curator.ledger().queries(), 2);
  EXPECT_EQ(house.curator.ledger().spent(1e-6).epsilon, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace dpsosp::second_order_test
