// SPDX-License-Identifier: Apache-2.0
// Sums over dense records are sums of single records, each clipped; whatever a function answers,
// states or leaves behind, exchanging one record moves a sum by no more than the charge.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "dense_losses.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp::dense_sums_test {
namespace {

using trusted_tests::Bowl;
using trusted_tests::Busy;
using trusted_tests::Curved;
using trusted_tests::OwnDual;
using trusted_tests::SharedDual;
using trusted_tests::Size;
using trusted_tests::Wild;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Index d = 4;

RecordColumns columns(Stream& stream, Index n) {
  RecordColumns made{Matrix(d, n), Vector(n)};
  stream.fill_normal(1.0, made.features.reshaped());
  for (double& label : made.labels) label = 12 * stream.uniform();
  return made;
}

Vector normals(Stream& stream, Index size) {
  Vector made(size);
  stream.fill_normal(1.0, made);
  return made;
}

/// A sum that a curator may ask for, of which one record moves at most 2·limit·scale.
struct Asked {
  enum Kind { gradients, differences, losses, products, product_differences, coordinates };
  Kind kind;
  Block block = Block::x;
  Index entries = d;
  double scale = 1;
};

/// Two points, a direction, and all sums that are answered there.
struct Queries {
  Queries(Stream& stream, const Records& records, Index duals, bool with_dual = true)
      : x(normals(stream, d)),
        before(normals(stream, d)),
        v(normals(stream, d)),
        y(normals(stream, duals)),
        y_before(normals(stream, duals)) {
    for (const Block block : {Block::x, Block::y, Block::joint}) {
      if (block != Block::x && (duals == 0 || !with_dual)) continue;
      const Index entries = (block == Block::y ? 0 : d) + (block == Block::x ? 0 : duals);
      for (const auto kind : {Asked::gradients, Asked::differences})
        asked.push_back({kind, block, entries});
    }
    if (!with_dual) y = y_before = Vector();
    if (records.has_second_order()) {
      asked.push_back({.kind = Asked::products, .scale = v.norm()});
      asked.push_back({.kind = Asked::product_differences, .scale = v.norm()});
    }
    if (records.separable()) {
      asked.push_back({.kind = Asked::losses, .entries = 1});
      asked.push_back({.kind = Asked::coordinates, .entries = 1, .scale = std::abs(v[0] - x[1])});
    }
  }

  Vector sum(const Records& records, const Asked& a, const BatchView& batch, double limit,
             ClipReport* report = nullptr) const {
    const Point to = y.size() > 0 ? Point(x, y) : Point(x);
    const Point from = y.size() > 0 ? Point(before, y_before) : Point(before);
    Vector out = Vector::Zero(a.entries);
    const auto ask = [&]() -> ClipReport {
      switch (a.kind) {
        case Asked::gradients:
          return records.add_gradients(to, a.block, batch, limit, out);
        case Asked::differences:
          return records.add_gradient_differences(to, from, a.block, batch, limit, out);
        case Asked::losses:
          return records.add_loss_differences(to, from, batch, limit, out[0]);
        case Asked::products:
          return records.add_hessian_products(to, v, batch, limit, out);
        case Asked::product_differences:
          return records.add_hessian_difference_products(to, from, v, batch, limit, out);
        case Asked::coordinates:
          return records.add_coordinate_loss_differences(1, v.head(1), x[1], batch, limit, out);
      }
      return {};
    };
    const ClipReport made = ask();
    if (report != nullptr) *report = made;
    return out;
  }

  Vector x, before, v, y, y_before;
  std::vector<Asked> asked;
};

/// Records and queries of every form: without a dual, with one of each record's own, given or left
/// to the record, and with a shared one.
template <class Use>
void for_every_form(Stream& stream, const RecordColumns& data, const Use& use) {
  const Index n = data.labels.size();
  const auto bowl = admit<Bowl>({d}, RecordTable(data));
  use(*bowl, Queries(stream, *bowl, 0));
  const auto own = admit<OwnDual>({d}, RecordTable(data));
  use(*own, Queries(stream, *own, n));
  use(*own, Queries(stream, *own, n, false));
  const auto shared = admit<SharedDual>({d}, RecordTable(data));
  use(*shared, Queries(stream, *shared, d));
}

TEST(DenseSums, AddUpClippedRecords) {
  constexpr Index n = 600;  // three chunks, where each has a dual
  Stream stream({.seed = 1, .purpose = Purpose::test});
  const RecordColumns data = columns(stream, n);
  std::vector<Index> list;
  stream.bernoulli_subset(n, 0.4, list);
  for_every_form(stream, data, [&](const Records& records, const Queries& queries) {
    for (const Asked& a : queries.asked) {
      Matrix each(a.entries, n);
      Vector norms(n);
      for (Index i = 0; i < n; ++i) {
        ClipReport report;
        each.col(i) = queries.sum(records, a, BatchView(i, i + 1), inf, &report);
        norms[i] = report.largest_norm;
        if (a.entries >= n) {  // the dual of a record is at its own place
          Vector elsewhere = each.col(i).tail(n);
          elsewhere[i] = 0;
          EXPECT_EQ(elsewhere, Vector::Zero(n));
        }
        if (a.kind < Asked::products) {
          EXPECT_NEAR(each.col(i).norm(), norms[i], 1e-9 * norms[i]);
        }
      }
      Vector sorted = norms;
      std::ranges::sort(sorted);
      const double limit = sorted[n / 2] * (1 + 1e-9);
      for (const BatchView& batch : {BatchView(0, n), BatchView(7, 8), BatchView(list)}) {
        ClipReport report;
        const Vector sum = queries.sum(records, a, batch, limit, &report);
        Index clipped = 0;
        Vector expected = Vector::Zero(a.entries);
        for (Index k = 0; k < batch.size(); ++k) {
          const double norm = norms[batch[k]];
          expected += std::min(1.0, limit / norm) * each.col(batch[k]);
          clipped += norm > limit ? 1 : 0;
        }
        EXPECT_LE((sum - expected).norm(),
                  1e-12 * limit * a.scale * static_cast<double>(batch.size()))
            << a.kind;
        EXPECT_EQ(report.clipped, clipped) << a.kind;
      }
    }
  });
}

TEST(DenseSums, AreThoseOfTheLoss) {
  constexpr Index n = 3;
  Stream stream({.seed = 11, .purpose = Purpose::test});
  const RecordColumns data = columns(stream, n);
  const auto bowl = admit<Bowl>({d}, RecordTable(data));
  const Queries at(stream, *bowl, 0);
  const auto of_record = [&](const Asked& a, Index i) -> Vector {
    const double entry = data.features(1, i);
    const Vector to = at.x - data.features.col(i), from = at.before - data.features.col(i);
    switch (a.kind) {
      case Asked::gradients:
        return to.array().cube();
      case Asked::differences:
        return to.array().cube() - from.array().cube();
      case Asked::losses:
        return Vector::Constant(1, (to.array().pow(4) - from.array().pow(4)).sum() / 4);
      case Asked::products:
        return 3 * to.array().square() * at.v.array();
      case Asked::product_differences:
        return 3 * (to.array().square() - from.array().square()) * at.v.array();
      case Asked::coordinates:
        return Vector::Constant(1, (std::pow(at.v[0] - entry, 4) - std::pow(to[1], 4)) / 4);
    }
    return {};
  };
  EXPECT_EQ(at.asked.size(), 6);
  for (const Asked& a : at.asked) {
    Vector expected = Vector::Zero(a.entries);
    for (Index i = 0; i < n; ++i) expected += of_record(a, i);
    EXPECT_LE((at.sum(*bowl, a, BatchView(0, n), inf) - expected).norm(), 1e-11 * expected.norm())
        << a.kind;
  }
}

/// A vector 10^b · 10^(c − b) e_0 in two factors, with b and c of its record, and the Hessian
/// b·10^300 I, stated to be 0.
struct Factored {
  static constexpr std::string_view problem = "factored";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  using Products = Gradients;
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients&, const DenseRecord& z, double*, VectorRef v) {
    v[0] = std::pow(10, z.column[0] - z.label);
    return {std::pow(10, z.label), 0};
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    v = 1e300 * z.label * at.direction;
    return 0;
  }
};

TEST(DenseSums, ClipByTheLengthOfTheProductWhateverItsFactorsAre) {
  for (double c = -220; c <= 280; c += 20)
    for (double b = std::max(-280.0, c - 280); b <= std::min(280.0, c + 280); b += 20)
      for (const double limit : {1e-100, 1.0, 1e140}) {
        const auto records =
            admit<Factored>({d}, RecordTable({Matrix::Constant(d, 1, c), Vector::Constant(1, b)}));
        Vector sum = Vector::Zero(d);
        const Vector x = sum;
        const ClipReport report =
            records->add_gradients(Point(x), Block::x, BatchView(0, 1), limit, sum);
        EXPECT_NEAR(report.largest_norm, std::pow(10, c), 1e-9 * std::pow(10, c)) << b;
        // More than 1e300 limits are not told apart from an infinite length.
        const double expected =
            c - std::log10(limit) > 300 ? 0.0 : std::min(limit, std::pow(10, c));
        EXPECT_NEAR(sum[0], expected, 1e-9 * expected) << c << ' ' << b << ' ' << limit;
      }
}

/// A product of length 10^300 is cut, a longer one dropped; of a record out of range it is that of
/// zeros.
TEST(DenseSums, CutProductsUpToTheGreatestLength) {
  struct Case {
    double entry, label, limit, expected;
  };
  for (const Case& one :
       {Case{1, 1, 2, 2}, Case{1, 1.1, 2, 0}, Case{1, 0.5, inf, 5e299}, Case{1e160, 0.5, inf, 0}}) {
    const auto records = admit<Factored>(
        {1}, RecordTable({Matrix::Constant(1, 1, one.entry), Vector::Constant(1, one.label)}));
    Vector sum = Vector::Zero(1);
    const Vector v = Vector::Ones(1);
    records->add_hessian_products(Point(v), v, BatchView(0, 1), one.limit, sum);
    EXPECT_DOUBLE_EQ(sum[0], one.expected) << one.entry << ' ' << one.label;
  }
}

TEST(DenseSums, CountNoLossOfACoordinateAtALimitBelow1eMinus150) {
  RecordColumns data{Matrix::Ones(d, 1), Vector::Zero(1)};
  data.features(1, 0) = 1e-200;
  const auto wild = admit<Wild<DenseDual::none>>({d}, RecordTable(data));
  for (const double limit : {1e-190, 1e-150}) {
    Vector rise = Vector::Zero(1);
    wild->add_coordinate_loss_differences(1, Vector::Ones(1), 0, BatchView(0, 1), limit, rise);
    EXPECT_EQ(rise[0] != 0, limit == 1e-150);
  }
}

/// (2 y_i t a, t² − b − y_i) with t = ⟨a, x⟩, less that of the point before.
TEST(DenseSums, GiveEachRecordItsOwnDual) {
  constexpr Index n = 5;
  Stream stream({.seed = 9, .purpose = Purpose::test});
  const RecordColumns data = columns(stream, n);
  const auto records = admit<OwnDual>({d}, RecordTable(data));
  const Queries at(stream, *records, n);
  const auto gradient = [&](Index i, const Vector& x, const Vector& y) {
    const Vector a = data.features.col(i);
    const double t = a.dot(x);
    Vector made = Vector::Zero(d + n);
    made.head(d) = 2 * y[i] * t * a;
    made[d + i] = t * t - data.labels[i] - y[i];
    return made;
  };
  for (Index i = 0; i < n; ++i) {
    const Vector here = gradient(i, at.x, at.y), before = gradient(i, at.before, at.y_before);
    const Asked joint{Asked::gradients, Block::joint, d + n};
    const Asked change{Asked::differences, Block::joint, d + n};
    EXPECT_LE((at.sum(*records, joint, BatchView(i, i + 1), inf) - here).norm(), 1e-12);
    EXPECT_LE((at.sum(*records, change, BatchView(i, i + 1), inf) - (here - before)).norm(), 1e-12);
  }
}

/// A table that says how often each column occurs has the sums of one that repeats them.
TEST(DenseSums, CountRepeatedColumns) {
  Stream stream({.seed = 2, .purpose = Purpose::test});
  const RecordColumns data = columns(stream, 5);
  std::vector<std::int32_t> values;
  RecordColumns expanded{Matrix(d, 40), Vector(40)};
  for (Index i = 0; i < 40; ++i) {
    const Index value = stream.below(4);  // one of the five never
    values.push_back(static_cast<std::int32_t>(value));
    expanded.features.col(i) = data.features.col(value);
    expanded.labels[i] = data.labels[value];
  }
  const auto compare = [&](const Records& one, const Records& other, Index duals) {
    const Queries queries(stream, one, duals);
    for (const Asked& a : queries.asked)
      for (const double limit : {inf, 0.5}) {
        ClipReport here, there;
        const Vector sum = queries.sum(one, a, BatchView(3, 33), limit, &here);
        const Vector expected = queries.sum(other, a, BatchView(3, 33), limit, &there);
        EXPECT_LE((sum - expected).norm(), 1e-12 * (1 + expected.norm())) << a.kind;
        EXPECT_EQ(here.clipped, there.clipped) << a.kind;
        EXPECT_DOUBLE_EQ(here.largest_norm, there.largest_norm) << a.kind;
      }
  };
  compare(*admit<Bowl>({d}, RecordTable(data, values)), *admit<Bowl>({d}, RecordTable(expanded)),
          0);
  compare(*admit<SharedDual>({d}, RecordTable(data, values)),
          *admit<SharedDual>({d}, RecordTable(expanded)), d);
}

template <class Loss>
void compare_neighbours(Stream& stream, const RecordColumns& data, const RecordColumns& exchanged,
                        Index duals, double limit, double& largest, Index& compared) {
  const auto one = admit<Loss>({d}, RecordTable(data));
  const auto other = admit<Loss>({d}, RecordTable(exchanged));
  const Queries queries(stream, *one, duals);
  const BatchView all(0, one->size());
  for (const Asked& a : queries.asked) {
    const Vector here = queries.sum(*one, a, all, limit);
    const Vector there = queries.sum(*other, a, all, limit);
    const double moved = (here - there).stableNorm() / (2 * limit * a.scale);
    EXPECT_LE(moved, 1 + 1e-8) << Loss::problem << ", kind " << a.kind;
    EXPECT_FALSE((here - there).array().isNaN().any()) << Loss::problem << ", kind " << a.kind;
    largest = std::max(largest, moved);
    ++compared;
  }
}

TEST(DenseSums, MoveByNoMoreThanTheChargeWhateverIsAnswered) {
  Stream stream({.seed = 3, .purpose = Purpose::test});
  Index compared = 0;
  double largest = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Index n = 1 + stream.below(8), i = stream.below(n);
    const RecordColumns data = columns(stream, n);
    RecordColumns exchanged = data;
    exchanged.features.col(i) = normals(stream, d) * std::pow(10.0, 300 * stream.uniform() - 150);
    if (trial % 2 == 0) exchanged.features.col(i) = -data.features.col(i);
    if (trial % 9 == 0) exchanged.features(0, i) = trial % 2 == 0 ? inf : std::nan("");
    exchanged.labels[i] = 12 * stream.uniform();
    const double limit =
        std::pow(10.0, trial % 3 == 0 ? 4 * stream.uniform() - 2 : 160 * stream.uniform() - 145);
    const auto compare = [&]<class Loss>(Index duals) {
      compare_neighbours<Loss>(stream, data, exchanged, duals, limit, largest, compared);
    };
    compare.operator()<Wild<DenseDual::none>>(0);
    compare.operator()<Wild<DenseDual::own>>(n);
    compare.operator()<Wild<DenseDual::own, DenseLength::by_factor>>(n);
    compare.operator()<Wild<DenseDual::shared>>(3);
    compare.operator()<Wild<DenseDual::shared, DenseLength::by_block>>(3);
    compare.operator()<Bowl>(0);
    compare.operator()<Busy>(0);
    compare.operator()<Curved>(0);
    compare.operator()<OwnDual>(n);
    compare.operator()<SharedDual>(d);
  }
  EXPECT_GE(compared, 100000);
  EXPECT_GE(largest, 0.999) << "no pair comes near the charge";
}

/// What an algorithm asks about, and the records, are as before, whatever a function writes or
/// throws; one that throws contributes nothing.
TEST(DenseSums, LeaveNothingOfARecordBehind) {
  Stream stream({.seed = 6, .purpose = Purpose::test});
  constexpr Index n = 20;
  RecordColumns data = columns(stream, n);
  const auto busy = admit<Busy>({d}, RecordTable(data));
  const Queries queries(stream, *busy, 0);
  const Vector x = queries.x, before = queries.before, v = queries.v;
  for (const Asked& a : queries.asked) {
    const Vector sum = queries.sum(*busy, a, BatchView(0, n), 1);
    EXPECT_EQ(queries.sum(*busy, a, BatchView(0, n), 1), sum) << a.kind;
    EXPECT_EQ(queries.x, x) << a.kind;
    EXPECT_EQ(queries.before, before) << a.kind;
    EXPECT_EQ(queries.v, v) << a.kind;
  }
  for (Index i = 0; i < n; ++i) {
    const Vector sum = queries.sum(*busy, {Asked::gradients}, BatchView(i, i + 1), inf);
    EXPECT_EQ(sum, data.labels[i] > 6 ? Vector(Vector::Zero(d)) : Vector(data.features.col(i)));
  }
}

/// Nobody changes records that were admitted, not even who made them.
TEST(DenseSums, AreOfTheRecordsThatWereAdmitted) {
  Stream stream({.seed = 7, .purpose = Purpose::test});
  const auto data = std::make_shared<RecordColumns>(columns(stream, 9));
  RecordColumns moved = *data;
  double* const place = moved.features.data();
  const auto one = admit<Bowl>({d}, RecordTable(data));
  const auto other = admit<Bowl>({d}, RecordTable(std::move(moved)));
  const Queries queries(stream, *one, 0);
  const Vector sum = queries.sum(*one, {Asked::gradients}, BatchView(0, 9), 1);
  data->features *= -1;
  *place = 1e9;
  EXPECT_EQ(queries.sum(*one, {Asked::gradients}, BatchView(0, 9), 1), sum);
  EXPECT_EQ(queries.sum(*other, {Asked::gradients}, BatchView(0, 9), 1), sum);

  const RecordTable table(data);
  data->features.col(4).setConstant(std::numeric_limits<double>::quiet_NaN());
  data->features.col(5).setConstant(1e-170);
  const auto late = admit<Bowl>({d}, table);
  data->features.middleCols(4, 2).setZero();
  data->labels.segment(4, 2).setZero();
  const auto zeros = admit<Bowl>({d}, RecordTable(data));
  EXPECT_EQ(queries.sum(*late, {Asked::gradients}, BatchView(0, 9), 1),
            queries.sum(*zeros, {Asked::gradients}, BatchView(0, 9), 1));
}

/// A gradient of the entry behind the column, and a term by the sign of an entry.
struct Stray {
  static constexpr std::string_view problem = "stray";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  using Coordinates = Bowl::Coordinates;
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients&, const DenseRecord& z, double*, VectorRef v) {
    v.setConstant(z.column.data()[z.column.size()]);
    return {};
  }
  static double coordinate_loss(const Coordinates& at, double a, Index k) {
    return std::copysign(at.values[k] - at.centre, a);
  }
};

/// No record is read behind another, and -0.0 is not told from 0.0.
TEST(DenseSums, ShowNothingOfOtherRecords) {
  for (const Index width : {1, 2, 3, 4}) {
    const auto records =
        admit<Stray>({1}, RecordTable(RecordColumns{Matrix::Ones(width, 9), Vector::Ones(9)}));
    Vector sum = Vector::Zero(1);
    records->add_gradients(Point(Vector::Zero(1)), Block::x, BatchView(0, 9), 1, sum);
    EXPECT_EQ(sum[0], 0) << width;
  }
  Matrix zeros = Matrix::Zero(1, 9);
  for (Index signs = 0; signs < 3; ++signs) {
    const auto records = admit<Stray>({1}, RecordTable(RecordColumns{zeros, Vector::Ones(9)}));
    Vector sum = Vector::Zero(1);
    records->add_coordinate_loss_differences(0, Vector::Ones(1), 0, BatchView(0, 9), 1, sum);
    EXPECT_EQ(sum[0], 9) << signs;
    zeros(0, 4 * signs) = -0.0;
  }
}

/// A record's Hessian has rank one, so that 2·limit bounds what it moves in Frobenius norm, too.
TEST(DenseSums, OfOneCurvatureMoveWholeHessiansByTheCharge) {
  Stream stream({.seed = 8, .purpose = Purpose::test});
  double largest = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    RecordColumns data = columns(stream, 3);
    const auto hessian = [&] {
      const auto records = admit<Curved>({d}, RecordTable(data));
      EXPECT_EQ(records->hessian_rank(), 1);
      const Vector x = Vector::Zero(d);
      Matrix sum = Matrix::Zero(d, d), whole = sum;
      for (Index j = 0; j < d; ++j)
        records->add_hessian_products(Point(x), Vector::Unit(d, j), BatchView(0, 3), 0.5,
                                      sum.col(j));
      records->add_hessians(Point(x), BatchView(0, 3), 0.5, whole.reshaped());
      EXPECT_LE((sum - whole).norm(), 1e-14);
      return whole;
    };
    const Matrix here = hessian();
    data.features.col(1) = normals(stream, d);
    data.labels[1] *= -1;
    largest = std::max(largest, (hessian() - here).norm());
  }
  EXPECT_LE(largest, 1 + 1e-12);
  EXPECT_GE(largest, 0.6) << "no pair comes near the charge";
}

/// u = a_0 a, c = b|b|.
struct FarCurved {
  static constexpr std::string_view problem = "far curved";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients&, const DenseRecord&, double*, VectorRef) {
    return {};
  }
  static double curvature(const Gradients&, const DenseRecord& z, double*, VectorRef u) {
    u = z.column[0] * z.column;
    return z.label * std::abs(z.label);
  }
};

/// By |c|‖u‖², also where ‖u‖² is not a normal number.
TEST(DenseSums, WeighProductsByTheNormOfTheirCurvature) {
  struct Case {
    double entry, label;
  };
  for (const Case& one : {Case{2, -1.5}, Case{1e-80, 1e150}, Case{1e80, -1e-150}}) {
    const auto records = admit<FarCurved>(
        {d}, RecordTable({one.entry * Matrix::Identity(d, 1), Vector::Constant(1, one.label)}));
    Vector sum = Vector::Zero(d);
    const Vector x = sum, v = Vector::Ones(d);
    const double root = one.label * one.entry * one.entry, norm = root * root, limit = norm / 4;
    records->add_hessian_products(Point(x), v, BatchView(0, 1), limit, sum);
    EXPECT_NEAR(sum[0], std::copysign(limit, one.label), 1e-9 * limit) << one.entry;
    EXPECT_TRUE(sum.tail(d - 1).isZero(0));
  }
}

/// What is the same for all is computed of no record: it cannot bring one in.
TEST(DenseSums, OfWhatIsTheSameForAllReadNoRecord) {
  Stream stream({.seed = 4, .purpose = Purpose::test});
  const auto one = admit<SharedDual>({d}, RecordTable(columns(stream, 30)));
  const auto other = admit<SharedDual>({d}, RecordTable(columns(stream, 30)));
  const Queries queries(stream, *one, d);
  Index alike = 0;
  for (const Asked& a : queries.asked) {
    if (SharedDual::reads_record(a.block, a.kind == Asked::differences)) continue;
    ++alike;
    EXPECT_EQ(queries.sum(*one, a, BatchView(0, 30), 1),
              queries.sum(*other, a, BatchView(0, 30), 1));
    EXPECT_EQ(queries.sum(*one, a, BatchView(4, 4), 1), Vector::Zero(a.entries));
  }
  EXPECT_EQ(alike, 4);
  const Vector thirty = queries.sum(*one, {Asked::gradients}, BatchView(0, 30), inf);
  EXPECT_LE((thirty - 30 * queries.y).norm(), 1e-13);
}

TEST(DenseSums, RefuseWhatTheyCannotAnswer) {
  Stream stream({.seed = 5, .purpose = Purpose::test});
  const RecordColumns data = columns(stream, 5);
  const auto bowl = admit<Bowl>({d}, RecordTable(data));
  const auto own = admit<OwnDual>({d}, RecordTable(data));
  const auto shared = admit<SharedDual>({d}, RecordTable(data));
  const Vector x = normals(stream, d), longer = normals(stream, d + 1), y = normals(stream, 5);
  Vector out = Vector::Zero(d), of_y = Vector::Zero(5), more = Vector::Zero(d + 1);
  const BatchView all(0, 5);
  const auto refused = [&](const Records& of, const Point& point, Block block, VectorRef sum) {
    EXPECT_THROW(of.add_gradients(point, block, all, 1, sum), InputError);
  };
  refused(*own, Point(x), Block::y, of_y);
  refused(*own, Point(longer), Block::x, out);
  refused(*own, Point(x, x), Block::x, out);
  refused(*own, Point(x, y), Block::joint, out);
  refused(*shared, Point(x), Block::x, out);
  refused(*shared, Point(x, y), Block::x, out);
  refused(*bowl, Point(x), Block::y, out);
  refused(*bowl, Point(x), Block::x, more);
  EXPECT_THROW(bowl->add_gradient_differences(Point(x), Point(longer), Block::x, all, 1, out),
               InputError);
  EXPECT_THROW(bowl->add_hessian_products(Point(x), longer, all, 1, out), InputError);
  EXPECT_THROW(bowl->add_hessian_products(Point(longer), x, all, 1, out), InputError);
  EXPECT_THROW(bowl->add_loss_differences(Point(x), Point(longer), all, 1, out[0]), InputError);
  EXPECT_THROW(bowl->add_coordinate_loss_differences(d, x, 0, all, 1, out), InputError);
  for (const Index dimension : {d - 1, d + 1}) {  // of the point, where records have d entries
    const auto other = admit<Bowl>({dimension}, RecordTable(data));
    EXPECT_NO_THROW(other->add_coordinate_loss_differences(d - 2, x, 0, all, 1, out));
    for (const Index j : {std::min(d, dimension), d + 1})
      EXPECT_THROW(other->add_coordinate_loss_differences(j, x, 0, all, 1, out), InputError);
  }
  EXPECT_THROW(own->add_hessian_products(Point(x), x, all, 1, out), InputError);
  EXPECT_THROW(own->add_loss_differences(Point(x), Point(x), all, 1, out[0]), InputError);
  EXPECT_THROW(own->projected(Matrix::Ones(2, d), 1.0), InputError);
  EXPECT_THROW(admit<OwnDual>({d}, RecordTable(data, {0, 1, 1})), InputError);
}

}  // namespace
}  // namespace dpsosp::dense_sums_test
