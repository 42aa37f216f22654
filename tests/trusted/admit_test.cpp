// SPDX-License-Identifier: Apache-2.0
// What holds of the records of every form.
#include "dpsosp/trusted/admit.hpp"

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "dense_losses.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/clip.hpp"
#include "dpsosp/trusted/encode.hpp"
#include "losses.hpp"

namespace dpsosp::admit_test {
namespace {

constexpr Index d = 4, n = 9000;  // three chunks of vectors

RecordColumns columns(Index count) {
  RecordColumns made{Matrix(d, count), Vector(count)};
  Stream stream({.seed = 1, .purpose = Purpose::test});
  stream.fill_normal(1.0, made.features.reshaped());
  for (double& label : made.labels) label = stream.bernoulli(0.5) ? 1 : 0;
  return made;
}

std::vector<std::unique_ptr<const Records>> every_form() {
  std::vector<std::unique_ptr<const Records>> all;
  for (const RowLoss& loss : trusted_tests::every_row_loss())
    all.push_back(admit(loss, RecordTable(columns(n))));
  all.push_back(admit<trusted_tests::Bowl>({d}, RecordTable(columns(n))));
  return all;
}

const Vector& place() {
  static const Vector x{{0.4, -0.3, 0.8, -1.1}};
  return x;
}

Vector gradients(const RecordSums& records, const BatchView& batch, double limit) {
  Vector sum = Vector::Zero(d);
  records.add_gradients(Point(place()), Block::x, batch, limit, sum);
  return sum;
}

TEST(Records, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const auto& records : every_form()) {
    std::vector<Vector> sums;
    for (const std::size_t threads : {1U, 2U, 7U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      sums.push_back(gradients(*records, BatchView(0, n), 0.2));
      EXPECT_EQ(sums.back(), sums.front()) << threads;
    }
  }
}

TEST(Records, AddWholeHessiansOfWhichProductsAreColumns) {
  std::vector<Index> list;
  Stream({.seed = 2, .purpose = Purpose::test}).bernoulli_subset(n, 0.3, list);
  Index added = 0;
  for (const auto& records : every_form()) {
    Matrix whole = Matrix::Zero(d, d), columns = whole;
    const auto add = [&](const BatchView& batch, VectorRef out) {
      return records->add_hessians(Point(place()), batch, 0.2, out);
    };
    if (!records->adds_hessians()) {
      EXPECT_THROW(add(BatchView(0, n), whole.reshaped()), InputError);
      continue;
    }
    ++added;
    Vector longer = Vector::Zero(d * d + 1);
    EXPECT_THROW(add(BatchView(0, n), longer), InputError);
    for (const BatchView& batch : {BatchView(0, n), BatchView(7, 8), BatchView(list)}) {
      whole.setZero(), columns.setZero();
      const Index clipped = add(batch, whole.reshaped()).clipped;
      ClipReport report;
      for (Index j = 0; j < d; ++j)
        report.merge(records->add_hessian_products(Point(place()), Vector::Unit(d, j), batch, 0.2,
                                                   columns.col(j)));
      EXPECT_LE((whole - columns).norm(), 1e-13 * columns.norm());
      EXPECT_EQ(report.clipped, d * clipped);
    }
  }
  EXPECT_GE(added, 2);
}

TEST(Records, HaveLossesOfACoordinateWhereTheyAreSums) {
  Index compared = 0;
  for (const auto& records : every_form()) {
    if (!records->separable()) continue;
    ++compared;
    const Vector centre{{-0.2, 0.9, 0.1, 0.6}}, values{{0.7, -0.5, 1.3}};
    for (const BatchView& batch : {BatchView(0, n), BatchView(3, 4)})
      for (Index j = 0; j < d; ++j) {
        Vector rises = Vector::Zero(3);
        records->add_coordinate_loss_differences(j, values, centre[j], batch, 1e9, rises);
        for (Index k = 0; k < 3; ++k) {
          Vector moved = centre;
          moved[j] = values[k];
          double expected = 0;
          records->add_loss_differences(Point(moved), Point(centre), batch, 1e9, expected);
          EXPECT_NEAR(rises[k], expected, 1e-11 * std::abs(expected)) << j << k;
        }
      }
    for (const double limit : {0.01, 1e-150})
      for (Index j = 0; j < d; ++j) {
        Vector rises = Vector::Zero(3), free = rises;
        records->add_coordinate_loss_differences(j, values, centre[j], BatchView(3, 4), limit,
                                                 rises);
        records->add_coordinate_loss_differences(j, values, centre[j], BatchView(3, 4), 1e9, free);
        for (Index k = 0; k < 3; ++k) {
          const double most = limit * std::abs(values[k] - centre[j]);
          const double expected = std::clamp(free[k], -most, most);
          EXPECT_NEAR(rises[k], expected, 1e-9 * std::abs(expected)) << limit << j << k;
        }
      }
    Vector out = Vector::Zero(3);
    EXPECT_THROW(records->add_coordinate_loss_differences(d, values, 0, BatchView(0, n), 1.0, out),
                 InputError);
  }
  EXPECT_GE(compared, 2);
}

/// Writes its cells, half of them, and what it finds where nothing was written before; throws at 3.
struct Writer {
  struct Facts {
    Index width;
  };
  static Index width(const Facts& facts) { return facts.width; }
  static double encode(const Facts& facts, ConstVectorRef cells, double label, VectorRef column) {
    EXPECT_TRUE(column.isZero(0));
    column[0] = cells[0];
    if (label == 3) throw InputError("a label that is refused");
    if (label != 4) column.tail(facts.width - 1) = cells.tail(facts.width - 1);
    return -label;
  }
};

/// Looks for what the row before it left behind.
struct Tracker : Writer {
  static double encode(const Facts&, ConstVectorRef cells, double, VectorRef column) {
    column[0] = errno + 100 * std::fetestexcept(FE_ALL_EXCEPT) + 1e4 * std::fegetround();
    if (cells[0] != 7) return 0;
    errno = EDOM;
    std::fesetround(FE_UPWARD);
    std::feraiseexcept(FE_INEXACT);
    throw 7;
  }
};

/// An object that could keep rows.
struct Keeper : Writer {
  struct Function {
    double operator()(const Facts&, ConstVectorRef, double, VectorRef) const { return 0; }
  };
  static inline Function encode;
};
static_assert(RowEncoder<Writer> && RowEncoder<Tracker> && !RowEncoder<Keeper>);

TEST(Encoding, LeavesNoTraceOfARow) {
  Matrix cells = Matrix::Constant(3, 3, 7);
  cells.rightCols(1).setZero();
  const RecordColumns made = encoded<Tracker>({3}, cells, Vector(Vector::Zero(3)), {0, 1, 2});
  EXPECT_TRUE(made.features.isZero(0)) << made.features;
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Encoding, OfARowIsThatOfNoOther) {
  Eigen::Matrix<std::uint8_t, 3, Eigen::Dynamic> cells(3, 6);
  cells.setRandom();
  Vector labels{{1, 3, 2, 4, 2, 1}};
  const std::vector<Index> rows{5, 0, 1, 3, 2};
  const RecordColumns before = encoded<Writer>({3}, cells, labels, rows);
  ASSERT_EQ(before.features.cols(), 5);
  EXPECT_EQ(before.features.col(1), cells.col(0).cast<double>());
  EXPECT_EQ(before.labels, (Vector{{-1, -1, 0, -4, -2}}));
  EXPECT_TRUE(before.features.col(2).isZero(0)) << "it threw";
  for (Index k = 0; k < 5; ++k)
    for (const double label : {2.0, 3.0, 4.0}) {
      const Index row = rows[static_cast<std::size_t>(k)];
      auto other_cells = cells;
      Vector other_labels = labels;
      other_cells.col(row).setConstant(7);
      other_labels[row] = label;
      const RecordColumns after = encoded<Writer>({3}, other_cells, other_labels, rows);
      for (Index j = 0; j < 5; ++j)
        if (j != k) {
          EXPECT_EQ(after.features.col(j), before.features.col(j)) << j << k;
          EXPECT_EQ(after.labels[j], before.labels[j]) << j << k;
        }
    }
  for (const Index row : {-1, 6, 0})
    EXPECT_THROW(encoded<Writer>({3}, cells, labels, {0, row}), InputError) << row;
  EXPECT_THROW(encoded<Writer>({3}, cells, Vector(Vector::Zero(7)), {6}), InputError);
  EXPECT_THROW(encoded<Writer>({3}, cells, Vector(Vector::Zero(5)), {5}), InputError);
}

TEST(ClipReport, WeighsByTheLimit) {
  ClipReport report;
  EXPECT_EQ(report.weigh(2, 3), 1);
  EXPECT_EQ(report.weigh(0, 0), 1);
  EXPECT_EQ(report.weigh(8, 2), 0.25);
  EXPECT_TRUE(std::isnan(report.weigh(std::nan(""), 2)));
  EXPECT_EQ(report.clipped, 2);
  EXPECT_EQ(report.largest_norm, 8);
}

TEST(ClipWeight, HasTheEndsThatItStates) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  const auto weight = [](double norm, double limit, Index times = 1) {
    ClipReport report;
    return clip_weight(report, norm, limit, times);
  };
  EXPECT_EQ(weight(1, 1, 3), 3);
  ClipReport at_limit;
  clip_weight(at_limit, 1, 1);
  EXPECT_EQ(at_limit.clipped, 0);
  EXPECT_EQ(weight(4, 1, 3), 0.75);
  EXPECT_EQ(weight(longest, endless), 1);
  EXPECT_EQ(weight(1.01 * longest, endless), 0);
  EXPECT_EQ(weight(longest, 1), 1 / longest);
  EXPECT_EQ(weight(longest, 0.99), 0);
  EXPECT_EQ(weight(1, shortest_limit), shortest_limit);
  EXPECT_EQ(weight(1, 0.99 * shortest_limit), 0);
  EXPECT_EQ(weight(std::nan(""), 1), 0);
  EXPECT_EQ(cut_weight(1, 2, 1, 1), 0.5);
  EXPECT_EQ(cut_weight(6, 2, 1, 3), 1.5);
  EXPECT_EQ(cut_weight(0.25, 2, 1, 1), 0.25);
  EXPECT_EQ(cut_weight(1, 0, 1, 1), 1);
  EXPECT_EQ(cut_weight(1, 1.01 * longest, 1, 1), 0);
  EXPECT_EQ(outer_factor(0.5, largest_factor, 1, 1), 0.5 * largest_factor);
  EXPECT_EQ(outer_factor(2, largest_factor, 1, 2), 2 * largest_factor);
  EXPECT_EQ(outer_factor(1, 1e279, 10, 1), 1e279);
  EXPECT_EQ(outer_factor(1, 1.01 * largest_factor, 0.1, 1), 0);
  EXPECT_EQ(outer_factor(1, 1e279, 10.1, 1), 0);
}

// A copy would be called checked whatever its sums are.
static_assert(!std::is_copy_constructible_v<AnyRecords> && !std::is_copy_assignable_v<AnyRecords>);
static_assert(!std::is_move_constructible_v<Records> && !std::is_move_assignable_v<Records>);

TEST(Records, CountThoseWithLongerGradients) {
  for (const auto& records : every_form()) {
    Index longer = 0;
    const double limit = 0.7;
    for (Index i = 0; i < 60; ++i)
      longer += gradients(*records, BatchView(i, i + 1), 1e12).norm() > limit ? 1 : 0;
    EXPECT_EQ(records->longer(Summand::gradient(Point(place()), Block::x), BatchView(0, 60), limit),
              longer);
  }
}

}  // namespace
}  // namespace dpsosp::admit_test
