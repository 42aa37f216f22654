// SPDX-License-Identifier: Apache-2.0
// Problems that do their worst: whatever they answer and whatever the records are, exchanging one
// record moves a sum by at most twice its limit, which is what is charged.
#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "losses.hpp"
#include "neighbours.hpp"
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace dpsosp::hostile_test {
namespace {

using namespace trusted_tests;

/// States a bound of its Hessian that says nothing, answers otherwise at each call, and gives NaN,
/// infinities and huge numbers.
class Liar final : public CommonLoss {
 public:
  explicit Liar(std::uint64_t seed) : seed_(seed), stream_({.seed = seed}) {}
  void forget() const { stream_ = Stream({.seed = seed_}); }

  double value(ConstVectorRef) const override { return any_number(stream_, -150, 150); }
  void gradient(ConstVectorRef x, VectorRef out) const override {
    out = any_vector(stream_, x.size(), -150, 150);
  }
  void hessian_product(const Point&, const Point*, ConstVectorRef v, VectorRef out) const override {
    out = any_vector(stream_, v.size(), -150, 150);
  }
  double hessian_bound(const Point&, const Point*) const override {
    return stream_.bernoulli(0.5) ? 0.0 : any_number(stream_, -150, 150);
  }
  bool separable() const override { return true; }
  double coordinate_value(Index, double) const override { return any_number(stream_, -150, 150); }

 private:
  std::uint64_t seed_;
  mutable Stream stream_;
};

std::vector<RowLoss> hostile_losses(const std::shared_ptr<const Liar>& liar) {
  const Expression t = Expression::score(), y = Expression::label();
  const std::array<Expression, 3> wild{exp(exp(t * y)) / (t - t), exp(square(t) * y * 50.0),
                                       y / (t * 0.0 + 1e-3)};
  const std::array<Expression, 3> huge{1e300 * t, 1e300 * y, 1e300 * (t + y)};
  const std::array<Expression, 3> tiny{1e-300 * t, 1e-300 * y, 1e-300 * t};
  std::vector<RowLoss> all = every_row_loss();
  for (const auto& derivatives : {wild, huge, tiny, all[0].derivatives}) {
    all.push_back({"hostile", derivatives, nullptr});
    all.push_back({"hostile with a lie", derivatives, liar});
  }
  all.push_back({.problem = "tilted with a lie", .common = liar, .tilted = true});
  all.push_back({.problem = "tilted alone", .tilted = true});
  return all;
}

TEST(HostileProblems, MoveNoSumByMoreThanTheCharge) {
  Stream stream({.seed = 3, .purpose = Purpose::test});
  Index compared = 0;
  double largest = 0;
  for (std::uint64_t trial = 0; trial < 2500; ++trial) {
    const auto liar = std::make_shared<const Liar>(trial);
    const Index n = stream.bernoulli(0.8) ? 1 + stream.below(6) : 8 + stream.below(40);
    const RecordColumns data = any_columns(stream, n);
    RecordColumns exchanged = data;
    const Index i = stream.below(n);
    exchanged.features.col(i) =
        stream.bernoulli(0.3) ? Vector(-data.features.col(i)) : any_vector(stream, d, -160, 160);
    exchanged.labels[i] = any_number(stream, -160, 160);
    const double limit = std::pow(
        10.0, stream.bernoulli(0.5) ? -2 + 4 * stream.uniform() : -145 + 165 * stream.uniform());
    for (const RowLoss& loss : hostile_losses(liar)) {
      const auto one = admit(loss, RecordTable(data)), other = admit(loss, RecordTable(exchanged));
      const Pairs pairs(
          *one, *other, [&] { liar->forget(); }, stream, limit);
      EXPECT_LE(pairs.largest_move(), 1 + 1e-8) << loss.problem << ", trial " << trial;
      largest = std::max(largest, pairs.largest_move());
      compared += pairs.compared();
    }
  }
  EXPECT_GE(compared, 100000);
  EXPECT_GE(largest, 0.999) << "no pair comes near the charge";
}

/// One record of a list takes another value, or the columns are other ones.
TEST(HostileProblems, MoveNoSumOfRepeatedColumnsByMoreThanTheCharge) {
  Stream stream({.seed = 4, .purpose = Purpose::test});
  double largest = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const auto liar = std::make_shared<const Liar>(trial);
    const Index values = 2 + stream.below(4), n = 1 + stream.below(20);
    const RecordColumns data = any_columns(stream, values);
    std::vector<std::int32_t> list;
    for (Index i = 0; i < n; ++i) list.push_back(static_cast<std::int32_t>(stream.below(values)));
    std::vector<std::int32_t> exchanged = list;
    exchanged[static_cast<std::size_t>(stream.below(n))] =
        static_cast<std::int32_t>(stream.below(values));
    const double limit = std::pow(10.0, -3 + 5 * stream.uniform());
    for (const RowLoss& loss : hostile_losses(liar)) {
      const auto one = admit(loss, RecordTable(data, list));
      const auto other = admit(loss, RecordTable(data, exchanged));
      const Pairs pairs(
          *one, *other, [&] { liar->forget(); }, stream, limit);
      EXPECT_LE(pairs.largest_move(), 1 + 1e-8) << loss.problem << ", trial " << trial;
      largest = std::max(largest, pairs.largest_move());
    }
  }
  EXPECT_GE(largest, 0.999) << "no pair comes near the charge";
}

/// The gradient or coordinate sums at 0 of rows with the loss t²/2 or t.
Vector sum_at_zero(const RecordColumns& data, const RowLoss& loss, Index coordinate) {
  const auto records = admit(loss, RecordTable(data));
  const BatchView all(0, records->size());
  if (coordinate < 0) {
    Vector sum = Vector::Zero(data.features.rows());
    records->add_gradients(Point(Vector::Ones(sum.size())), Block::x, all, 1, sum);
    return sum;
  }
  Vector sum = Vector::Zero(1);
  records->add_coordinate_loss_differences(coordinate, Vector::Ones(1), 0, all, 1, sum);
  return sum;
}

/// Eigen's stableNorm is 0 of some of these.
TEST(HostileRecords, ANaNAmongZerosIsARecordOfZeros) {
  const Expression t = Expression::score();
  const RowLoss rows{"rows", {0.5 * square(t), t, 1.0}, nullptr};
  const RowLoss tilted{.problem = "tilted", .common = std::make_shared<Quartic>(), .tilted = true};
  for (Index size = 1; size < 10; ++size)
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < size; ++j) {
        RecordColumns data{Matrix::Constant(size, 4, 0.25), Vector::Zero(4)};
        data.features.row(0) << 0.1, 0.2, 0.3, 0.4;
        data.features.col(i).setZero();
        RecordColumns hostile = data;
        hostile.features(j, i) = std::nan("");
        for (const Index coordinate : {Index{-1}, j}) {
          EXPECT_EQ(sum_at_zero(data, tilted, coordinate), sum_at_zero(hostile, tilted, coordinate))
              << size << ' ' << i << ' ' << j;
          if (coordinate < 0) {
            EXPECT_EQ(sum_at_zero(data, rows, coordinate), sum_at_zero(hostile, rows, coordinate));
          }
        }
      }
}

/// Whether a record's Hessian counts is decided for one record, not for all that share a column.
TEST(HostileRecords, HowManyShareAColumnDecidesNothing) {
  struct Case {
    double c, length, limit;
  };
  for (const Case& one :
       {Case{1e306, 1e-150, 1e6}, Case{1e304, 1e-140, 1e24}, Case{1.005e278, 1e-140, 1e-2},
        Case{1e-311, 1e150, 1e-11}, Case{1.2e308, 1e-150, 1e6}, Case{2, 3, 1}}) {
    const Expression zero = 0.0, slope = one.c;
    const RecordColumns data{one.length * Matrix::Identity(2, 3), Vector::Zero(3)};
    Vector before[3];
    for (const Index count : {1, 100, 101, 102, 400, 4000, 20000})
      for (const Index more : {0, 1}) {
        std::vector<std::int32_t> values(20002, 1);
        std::fill_n(values.begin(), count + more, 0);
        values.back() = values.front() = 2;  // two records of zeros
        const auto curved = admit(RowLoss{.problem = "curved", .derivatives = {zero, zero, slope}},
                                  RecordTable(data, values));
        const auto steep = admit(RowLoss{.problem = "steep", .derivatives = {zero, slope, slope}},
                                 RecordTable(data, values));
        const BatchView all(0, curved->size());
        const Vector x = Vector::Zero(2), v = Vector::Ones(2);
        Vector sums[3] = {Vector::Zero(4), Vector::Zero(2), Vector::Zero(2)};
        curved->add_hessians(Point(x), all, one.limit, sums[0]);
        steep->add_gradients(Point(x), Block::x, all, one.limit, sums[1]);
        curved->add_hessian_products(Point(x), v, all, one.limit, sums[2]);
        const double charges[3] = {2, 2, 2 * v.norm()};
        for (int k = 0; k < 3; ++k) {
          EXPECT_TRUE(sums[k].allFinite()) << k << ' ' << one.c << ' ' << count;
          if (more == 1) {
            EXPECT_LE((sums[k] - before[k]).stableNorm(), charges[k] * one.limit * (1 + 1e-9))
                << k << ' ' << one.c << ' ' << count;
          }
          before[k] = sums[k];
        }
      }
  }
}

TEST(HostileRecords, AProjectionThatCannotBeCappedIsZero) {
  const Expression t = Expression::score();
  struct Case {
    double entry, cap;
  };
  // The first overflows; the second has a share of the cap, the third a cap that is too small.
  for (const Case& one : {Case{1.2e308, 1.0}, Case{5e307, 1e-15}, Case{1, 1e-160}}) {
    Matrix map(2, 2);
    map << 0, 0, one.entry, one.entry;
    const RecordColumns data{Matrix::Constant(2, 3, 0.9), Vector::Zero(3)};
    const auto projected = admit({"rows", {0.5 * square(t), t, 1.0}, nullptr}, RecordTable(data))
                               ->projected(map, one.cap);
    Vector sum = Vector::Zero(2);
    projected->add_gradients(Point(Vector::Ones(2)), Block::x, BatchView(0, 3), 1, sum);
    EXPECT_EQ(sum, Vector::Zero(2));
  }
}

/// The same answers everywhere; writes nothing where they are 0.
class Steady final : public CommonLoss {
 public:
  Steady(double entries, double bound) : entries_(entries), bound_(bound) {}
  double value(ConstVectorRef) const override { return 0; }
  void gradient(ConstVectorRef, VectorRef out) const override {
    if (entries_ != 0) out.setConstant(entries_);
  }
  void hessian_product(const Point& point, const Point*, ConstVectorRef,
                       VectorRef out) const override {
    gradient(point.x, out);
  }
  double hessian_bound(const Point&, const Point*) const override { return bound_; }
  bool separable() const override { return true; }
  double coordinate_value(Index, double) const override { return 0; }

 private:
  double entries_, bound_;
};

/// Of what all records share one of 1e300 is cut, a longer one dropped.
TEST(HostileProblems, CutVectorsUpToTheGreatestLength) {
  for (const double length : {1e300, 1.1e300}) {
    const auto records = admit({"steady", {0.0, 0.0, 0.0}, std::make_shared<Steady>(length, 0)},
                               RecordTable(RecordColumns{Matrix::Zero(1, 1), Vector::Zero(1)}));
    Vector gradient = Vector::Zero(1), product = gradient;
    const Vector v = Vector::Ones(1);
    records->add_gradients(Point(v), Block::x, BatchView(0, 1), 2, gradient);
    records->add_hessian_products(Point(v), v, BatchView(0, 1), 2, product);
    const double expected = length == 1e300 ? 2 : 0;
    EXPECT_NEAR(gradient[0], expected, 1e-12);
    EXPECT_NEAR(product[0], expected, 1e-12);
  }
}

/// Where squares overflow, too, a range has the sum of the list of its records.
TEST(HostileProblems, OfHugeTiltsSumRangesAsLists) {
  std::vector<Index> list(64);
  std::iota(list.begin(), list.end(), 0);
  for (const double entries : {1e100, 1e157, 1e200})
    for (const double limit : {1e-140, 1.0, inf}) {
      const auto records = admit(
          RowLoss{
              .problem = "tilted", .common = std::make_shared<Steady>(entries, 0), .tilted = true},
          RecordTable(RecordColumns{Matrix::Ones(1, 64), Vector::Zero(64)}));
      const double expected = 64 * (entries / 1e300 <= limit ? std::min(limit, entries) : 0.0);
      for (const BatchView& batch : {BatchView(0, 64), BatchView(list)}) {
        Vector sum = Vector::Zero(1);
        const ClipReport report =
            records->add_gradients(Point(Vector::Ones(1)), Block::x, batch, limit, sum);
        EXPECT_NEAR(sum[0], expected, 1e-12 * expected) << entries << ' ' << limit;
        EXPECT_EQ(report.clipped, limit < entries ? 64 : 0) << entries << ' ' << limit;
      }
    }
}

/// Factors of 1e280 count, and nothing counts at a limit below 1e-150.
TEST(HostileProblems, CountFactorsAndLimitsUpToTheirEnds) {
  const auto records = admit({"steep", {0.0, 1e280, 1e280}, nullptr},
                             RecordTable({Matrix::Constant(1, 1, 1e-150), Vector::Zero(1)}));
  Vector gradient = Vector::Zero(1), product = gradient;
  const BatchView all(0, 1);
  records->add_gradients(Point(gradient), Block::x, all, 1, gradient);
  records->add_hessian_products(Point(Vector::Zero(1)), Vector::Constant(1, 1e150), all, 1,
                                product);
  EXPECT_DOUBLE_EQ(gradient[0], 1);
  EXPECT_DOUBLE_EQ(product[0], 1e130);

  Matrix column = Matrix::Ones(2, 1);
  column(0, 0) = 1e-320;
  const auto tilted =
      admit(RowLoss{.problem = "tilted", .common = std::make_shared<Steady>(0, 0), .tilted = true},
            RecordTable({column, Vector::Zero(1)}));
  for (const double limit : {1e-200, 1e-150}) {
    Vector rise = Vector::Zero(1);
    tilted->add_coordinate_loss_differences(0, Vector::Constant(1, 1e150), 0, all, limit, rise);
    EXPECT_EQ(rise[0] != 0, limit == 1e-150);
  }
}

/// A bound far below 0 leaves all to the second cut, whose weight must not underflow.
TEST(HostileProblems, OfAnyBoundCutHessianProductsToTheCharge) {
  Stream stream({.seed = 5, .purpose = Purpose::test});
  for (int trial = 0; trial < 20000; ++trial) {
    const double limit = std::pow(10.0, -140 + 280 * stream.uniform());
    const double v = std::pow(10.0, -60 + 70 * stream.uniform());
    const double a = std::pow(10.0, -60 + 120 * stream.uniform());
    const double root = std::pow(10.0, 161 * stream.uniform());
    const double phi = limit * root * root / (a * a);
    Vector sums[2];
    for (const int sign : {0, 1}) {
      RecordColumns data{Matrix::Constant(1, 1, a), Vector::Constant(1, 2.0 * sign - 1)};
      const auto records =
          admit({"p", {0.0, 0.0, phi * Expression::label()}, std::make_shared<Steady>(0, -1e300)},
                RecordTable(std::move(data)));
      sums[sign] = Vector::Zero(1);
      records->add_hessian_products(Point(Vector::Zero(1)), Vector::Constant(1, v), BatchView(0, 1),
                                    limit, sums[sign]);
    }
    EXPECT_LE(std::abs(sums[0][0] - sums[1][0]), 2 * limit * v * (1 + 1e-8))
        << "limit " << limit << ", v " << v << ", a " << a << ", φ″ " << phi;
  }
}

/// What a record raised stays in no flag, and g sets no rounding mode for others.
TEST(HostileProblems, SeeNoFlagsOfRecords) {
  class Watcher final : public CommonLoss {
   public:
    struct Seen {
      bool first = true;  // call of a sum: later ones see what the first has left
      Index traces = 0;
    };
    explicit Watcher(Seen& seen) : seen_(seen) {}
    double value(ConstVectorRef) const override { return look(); }
    void gradient(ConstVectorRef, VectorRef) const override { look(); }
    void hessian_product(const Point&, const Point*, ConstVectorRef, VectorRef) const override {
      look();
    }
    double hessian_bound(const Point&, const Point*) const override { return look(); }

   private:
    double look() const {
      volatile double small = std::numeric_limits<double>::min();
      if (std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) != 0 || errno != 0 ||
          std::fegetround() != FE_TONEAREST || small / 2 == 0)
        seen_.traces += seen_.first;
      seen_.first = false;
      std::fesetround(FE_UPWARD);
#ifdef __SSE2__
      _mm_setcsr(_mm_getcsr() | 0x8040);  // denormal numbers become zero
#endif
      errno = ERANGE;
      return 0;
    }
    Seen& seen_;
  };
  Watcher::Seen seen;
  const Expression t = Expression::score();
  const Expression wild = exp(exp(t * t * 1e3)) / (t - t);
  const auto records = admit({"p", {wild, wild, wild}, std::make_shared<Watcher>(seen)},
                             RecordTable(RecordColumns{Matrix::Ones(2, 3), Vector::Zero(3)}));
  const BatchView all(0, 3);
  const Point x(Vector::Ones(2)), y(Vector::Constant(2, 2.0));
  for (int round = 0; round < 2; ++round) {
    Vector sum = Vector::Zero(2);
    double losses = 0;
    records->add_gradients(x, Block::x, all, 1, sum);
    seen.first = true;
    records->add_loss_differences(x, y, all, 1, losses);
    seen.first = true;
    records->add_hessian_products(x, Vector::Ones(2), all, 1, sum);
    seen.first = true;
    EXPECT_EQ(seen.traces, 0);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(errno, 0);
  }
}

/// g is shown copies: what it writes into them moves no sum by more than the charge.
TEST(HostileProblems, WriteIntoNothingOfTheAskers) {
  class Writer final : public CommonLoss {
   public:
    double value(ConstVectorRef x) const override { return write(x); }
    void gradient(ConstVectorRef x, VectorRef) const override { write(x); }
    void hessian_product(const Point& point, const Point*, ConstVectorRef v,
                         VectorRef) const override {
      write(point.x);
      write(v);
    }
    double hessian_bound(const Point&, const Point*) const override { return 0; }

   private:
    static double write(ConstVectorRef x) {
      const_cast<double*>(x.data())[0] = 1e6;
      return 0;
    }
  };
  const Vector x{{0.25, 1.0}}, v{{1.0, -1.0}};
  const auto product = [&](double label) {
    const Expression y = Expression::label();
    const auto records = admit({"p", {y, y, y}, std::make_shared<Writer>()},
                               RecordTable(RecordColumns{Matrix::Ones(2, 1), Vector{{label}}}));
    Vector sum = Vector::Zero(2);
    records->add_gradients(Point(x), Block::x, BatchView(0, 1), 0.5, sum);
    sum.setZero();
    records->add_hessian_products(Point(x), v, BatchView(0, 1), 0.5, sum);
    return sum;
  };
  EXPECT_LE((product(1e9) - product(-1e9)).norm(), 2 * 0.5 * v.norm() * (1 + 1e-8));
  EXPECT_EQ(x[0], 0.25);
  EXPECT_EQ(v[0], 1.0);
}

}  // namespace
}  // namespace dpsosp::hostile_test
