// SPDX-License-Identifier: Apache-2.0
// Noisy products of a Hessian estimate that never leaves.
#include "dpsosp/privacy/hessian_stream.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "support.hpp"

namespace dpsosp::hessian_stream_test {
namespace {

using namespace testing;

constexpr Index n = 40;
constexpr double s = 0.3;

Problem saddle(std::uint64_t data_seed = 1) {
  return find_problem("cosine-saddle")
      ->make({.records = n, .dimension = 3, .data_seed = data_seed});
}

struct HessianHouse {
  explicit HessianHouse(Problem p, FilterRule rule = zcdp_rule(1e9))
      : problem(std::move(p)), curator(problem.facts, *problem.records, rule, {.seed = 1}) {}
  Problem problem;
  Curator curator;
};

Vector vector(double a, double b, double c) { return Vector{{a, b, c}}; }

/// What product() would give without its noise.
Vector noise_of(std::uint64_t draws_before, double deviation) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  stream.refresh(Point(vector(0, 0, 0)), house.curator.draw(BatchPolicy::all()), 1);
  Vector out(3);
  for (std::uint64_t k = 0; k <= draws_before; ++k)
    stream.product(vector(0, 0, 0), deviation, out);  // v = 0: the noise alone
  return out;
}

TEST(HessianStream, ProductIsMeanHessianProductPlusNoise) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  const Vector x = vector(0.3, -0.4, 2.0), x1 = vector(0.5, -0.4, 1.5), v = vector(1, -2, 0.5);
  stream.refresh(Point(x), house.curator.draw(BatchPolicy::all()), 1);
  Vector out(3), expected(3);
  stream.product(v, s, out);
  house.problem.empirical->hessian_product(x, v, expected);
  EXPECT_LT((out - expected - noise_of(0, s)).norm(), 1e-12);
  // a difference moves the estimate to the Hessian at the next point
  stream.add(Point(x1), Point(x), house.curator.draw(BatchPolicy::all()), 10);
  stream.product(v, s, out);
  house.problem.empirical->hessian_product(x1, v, expected);
  EXPECT_LT((out - expected - noise_of(1, s)).norm(), 1e-12);
}

TEST(HessianStream, CopyKeepsItsEstimate) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  const Vector x = vector(0.3, -0.4, 2.0), v = vector(1, 0, 0);
  stream.refresh(Point(x), house.curator.draw(BatchPolicy::all()), 1);
  HessianStream anchor = stream;
  stream.refresh(Point(vector(3, 3, 3)), house.curator.draw(BatchPolicy::all()), 1);
  Vector out(3), expected(3);
  anchor.product(v, s, out);
  house.problem.empirical->hessian_product(x, v, expected);
  EXPECT_LT((out - expected - noise_of(0, s)).norm(), 1e-12);
}

TEST(HessianStream, ChargesEachRecordForAllItsGroups) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  const Vector x = vector(0.3, -0.4, 2.0), x1 = vector(0.5, -0.4, 1.5), v = vector(3, 0, 4);
  stream.refresh(Point(x), house.curator.draw(BatchPolicy::fresh(10)), 1.0);        // 2·1·5/10
  stream.add(Point(x1), Point(x), house.curator.draw(BatchPolicy::fresh(5)), 0.2);  // 2·0.2·5/5
  stream.add(Point(x), Point(x1), house.curator.draw(BatchPolicy::all()), 0.4);     // 2·0.4·5/40
  Vector out(3);
  stream.product(v, s, out);
  const auto rho = zcdp_by_record(house.curator.ledger(), n);
  for (Index i = 0; i < n; ++i) {
    const double sensitivity = 0.1 + (i < 10 ? 1.0 : 0.0) + (i >= 10 && i < 15 ? 0.4 : 0.0);
    EXPECT_NEAR(rho[static_cast<std::size_t>(i)], sensitivity * sensitivity / (2 * s * s), 1e-12)
        << i;
  }
}

TEST(HessianStream, OneRecordMovesProductByAtMostSensitivity) {
  const Vector v = vector(1, -2, 0.5);
  Stream points({.seed = 5});
  for (int trial = 0; trial < 40; ++trial) {
    Vector x(3), x1(3);
    points.fill_normal(3.0, x);
    points.fill_normal(3.0, x1);
    for (const double limit : {0.01, 0.5}) {
      const auto product = [&](std::uint64_t data_seed, Index record) {
        HessianHouse house(saddle(data_seed));
        Curator one = house.curator.child({"one", 1.0, RecordRange{record, record + 1}});
        HessianStream stream(one);
        stream.refresh(Point(x), one.draw(BatchPolicy::all()), limit);
        stream.add(Point(x1), Point(x), one.draw(BatchPolicy::all()), limit);
        Vector out(3);
        stream.product(v, s, out);
        return out;
      };
      const double moved = (product(1, 3) - product(9, 3)).norm();
      EXPECT_LE(moved, 2 * (2 * limit * v.norm()) * (1 + 1e-9));
    }
  }
}

/// ∇²f = b 1 1ᵀ, of which it says that the norm is 0.
struct Understated {
  static constexpr std::string_view problem = "understated";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Index;
  using Gradients = DenseQuery<Facts>;
  using Products = Gradients;
  static Index dimension(const Facts& d) { return d; }
  static DenseGradient gradient(const Gradients&, const DenseRecord&, double*, VectorRef) {
    return {};
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    v.setConstant(z.label * at.direction.sum());
    return 0;
  }
};

TEST(HessianStream, OneRecordMovesProductByAtMostSensitivityWhateverBoundIsStated) {
  const Index d = 25;
  const Vector v = Vector::Constant(d, 1 / std::sqrt(static_cast<double>(d)));
  PublicFacts facts;
  facts.records = 2;
  facts.dimension = d;
  facts.initial_point = Vector::Zero(d);
  const auto product = [&](double label) {
    const auto records =
        admit<Understated>(d, RecordTable(RecordColumns{Matrix::Ones(1, 2), Vector{{label, 1.0}}}));
    Curator curator(facts, *records, zcdp_rule(1e9), {.seed = 1});
    HessianStream stream(curator, HessianMode::dense);
    stream.refresh(Point(facts.initial_point), curator.draw(BatchPolicy::all()), 0.5);
    Vector out(d);
    stream.product(v, s, out);
    return out;
  };
  EXPECT_NEAR((product(1e6) - product(-1e6)).norm(), 2 * 0.5 / 2, 1e-9);
}

TEST(HessianStream, ProductWithZeroIsFreeButStillNoisy) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  stream.refresh(Point(vector(1, 1, 1)), house.curator.draw(BatchPolicy::all()), 1);
  Vector first(3), second(3);
  stream.product(vector(0, 0, 0), s, first);
  stream.product(vector(0, 0, 0), s, second);
  EXPECT_NE(first, second);
  EXPECT_TRUE(house.curator.ledger().entries().empty());
}

TEST(HessianStream, OverBudgetProductLeavesNoTrace) {
  HessianHouse house(saddle(), zcdp_rule(0.01));
  HessianStream stream(house.curator);
  stream.refresh(Point(vector(1, 1, 1)), house.curator.draw(BatchPolicy::all()), 1);
  Vector out = vector(7, 7, 7);
  EXPECT_THROW(stream.product(vector(1, 0, 0), 1e-3, out), BudgetExhausted);
  EXPECT_EQ(out, vector(7, 7, 7));
  EXPECT_TRUE(house.curator.ledger().entries().empty());
  stream.product(vector(0, 0, 0), s, out);
  EXPECT_EQ(out, noise_of(0, s));  // nothing was drawn by the refused one
}

/// Hessians of 1 but for record 0, of 10⁶, whose bound is `bound`.
class OddRecords final : public test::WrittenRecords {
 public:
  explicit OddRecords(double bound) : WrittenRecords(n), bound_(bound) {}
  bool has_second_order() const override { return true; }

 private:
  Vector of(Index i, const Summand& s) const override { return (i == 0 ? 1e6 : 1.0) * s.v; }
  double bound(Index i, const Summand&) const override { return i == 0 ? bound_ : 1.0; }

  double bound_;
};

TEST(HessianStream, CountsRecordsWithNonFiniteBoundAsZero) {
  const PublicFacts facts = saddle().facts;
  const Vector v = vector(1, -2, 0.5);
  for (const double bound :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const OddRecords records(bound);
    Curator curator(facts, records, zcdp_rule(1e9), {.seed = 1});
    HessianStream stream(curator);
    stream.refresh(Point(vector(1, 1, 1)), curator.draw(BatchPolicy::all()), 1);
    Vector out(3);
    stream.product(v, s, out);
    EXPECT_LT((out - (n - 1.0) / n * v - noise_of(0, s)).norm(), 1e-12) << bound;
  }
}

// The squares of these entries overflow, and so would the sensitivity of the product.
TEST(HessianStream, RejectsVectorsWhoseChargeOverflows) {
  HessianHouse house(saddle());
  for (const HessianMode mode : {HessianMode::dense, HessianMode::lazy}) {
    HessianStream stream(house.curator, mode);
    stream.refresh(Point(vector(1, 1, 1)), house.curator.draw(BatchPolicy::all()), 1.0);
    Vector out = vector(7, 7, 7);
    EXPECT_THROW(stream.product(vector(1e308, 1e308, 0), 1.0, out), InputError);
    EXPECT_THROW(stream.product(vector(1e160, 0, 0), 1.0, out), InputError);
    EXPECT_EQ(out, vector(7, 7, 7));
  }
  EXPECT_EQ(house.curator.ledger().queries(), 0);
}

TEST(HessianStream, ChargesVectorsWhoseSquaresUnderflow) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  stream.refresh(Point(vector(1, 1, 1)), house.curator.draw(BatchPolicy::all()), 1e150);
  const Vector v = vector(1.6, 1.5, 1.5);
  Vector out(3);
  stream.product(1e-162 * v, 1e-13, out);
  const double ratio = 2 * v.norm() * 1e-12 / n / 1e-13;
  EXPECT_NEAR(zcdp_by_record(house.curator.ledger(), n)[0] / (0.5 * ratio * ratio), 1.0, 1e-9);
}

TEST(HessianStream, ReadsAndListsZeroLimitGroupsWithoutClipping) {
  const Problem problem = saddle();
  const Vector x = vector(0.3, -0.4, 2.0), v = vector(1, -2, 0.5);
  for (const bool no_data : {false, true}) {
    UnsoundCurator curator(problem.facts, *problem.records, {.seed = 1},
                           {.no_noise = true, .no_data = no_data, .no_clipping = true});
    HessianStream stream(curator);
    stream.refresh(Point(x), curator.draw(BatchPolicy::all()), 0);
    Vector out(3), expected = Vector::Zero(3);
    stream.product(v, s, out);
    if (!no_data) problem.empirical->hessian_product(x, v, expected);
    EXPECT_LT((out - expected).norm(), 1e-12);
    ASSERT_EQ(curator.ledger().entries().size(), no_data ? 0U : 1U);
    for (const LedgerEntry& entry : curator.ledger().entries()) EXPECT_FALSE(entry.event);
  }
}

TEST(HessianStream, RejectsBadInput) {
  HessianHouse house(saddle());
  HessianStream stream(house.curator);
  Vector out(3), small(2);
  const Point at(house.problem.facts.initial_point);
  EXPECT_THROW(stream.product(vector(1, 0, 0), s, out), InputError);  // nothing to multiply
  const Batch all = house.curator.draw(BatchPolicy::all());
  EXPECT_THROW(stream.add(at, at, all, 1), InputError);
  EXPECT_THROW(stream.refresh(at, all, -1), InputError);
  EXPECT_THROW(stream.refresh(at, house.curator.draw(BatchPolicy::poisson(0.5)), 1), InputError);
  stream.refresh(at, all, 1);
  for (const double bad : {0.0, -1.0, 1e-151, 1e151, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(stream.product(vector(1, 0, 0), bad, out), InputError);
  EXPECT_THROW(stream.product(vector(1, 0, 0), s, small), InputError);
  House without(random_data(12, 1, *std::make_unique<Stream>(StreamKey{.seed = 2})));
  HessianStream none(without.curator);
  const Places places;
  EXPECT_THROW(none.refresh(places.to(), without.curator.draw(BatchPolicy::all()), 1), InputError);
}

}  // namespace
}  // namespace dpsosp::hessian_stream_test
