// SPDX-License-Identifier: Apache-2.0
// Sums over rows are sums of single records, each clipped; gradients and Hessian products are
// derivatives of losses; equal columns counted once are those of the expanded table.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"
#include "losses.hpp"

namespace dpsosp::row_sums_test {
namespace {

using trusted_tests::every_row_loss;
using trusted_tests::Quartic;
constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr Index d = 5;

RecordColumns columns(Index n, std::uint64_t seed) {
  RecordColumns made{Matrix(d, n), Vector(n)};
  Stream stream({.seed = seed, .purpose = Purpose::test});
  stream.fill_normal(0.7, made.features.reshaped());
  stream.fill_normal(1.0, made.labels);
  return made;
}

Vector normals(Index size, std::uint64_t seed) {
  Vector made(size);
  Stream({.seed = seed, .purpose = Purpose::test}).fill_normal(1.0, made);
  return made;
}

double loss(const Records& records, const Vector& x, const Vector& centre, Index i) {
  double out = 0;
  records.add_loss_differences(Point(x), Point(centre), BatchView(i, i + 1), unlimited, out);
  return out;
}

Vector gradient(const AnyRecords& records, const Vector& x, const BatchView& batch, double limit) {
  Vector out = Vector::Zero(x.size());
  records.add_gradients(Point(x), Block::x, batch, limit, out);
  return out;
}

TEST(RowSums, GradientsAreDerivativesOfLosses) {
  const Vector x = normals(d, 1), centre = normals(d, 2), v = normals(d, 3);
  const double h = 1e-5;
  for (const RowLoss& form : every_row_loss()) {
    const auto records = admit(form, RecordTable(columns(3, 4)));
    for (Index i = 0; i < 3; ++i) {
      const BatchView one(i, i + 1);
      const Vector g = gradient(*records, x, one, unlimited);
      const double slope =
          (loss(*records, x + h * v, centre, i) - loss(*records, x - h * v, centre, i)) / (2 * h);
      EXPECT_NEAR(g.dot(v), slope, 1e-8 * (1 + std::abs(slope))) << form.problem;
      const Vector bend = (gradient(*records, x + h * v, one, unlimited) -
                           gradient(*records, x - h * v, one, unlimited)) /
                          (2 * h);
      Vector product = Vector::Zero(d), difference = product, at_centre = product;
      records->add_hessian_products(Point(x), v, one, unlimited, product);
      records->add_hessian_products(Point(centre), v, one, unlimited, at_centre);
      records->add_hessian_difference_products(Point(x), Point(centre), v, one, unlimited,
                                               difference);
      EXPECT_LE((product - bend).norm(), 1e-7 * (1 + bend.norm())) << form.problem;
      EXPECT_LE((product - at_centre - difference).norm(), 1e-12 * (1 + product.norm()));
      Vector moved = Vector::Zero(d);
      records->add_gradient_differences(Point(x), Point(centre), Block::x, one, unlimited, moved);
      EXPECT_LE((g - gradient(*records, centre, one, unlimited) - moved).norm(),
                1e-12 * (1 + g.norm()))
          << form.problem;
    }
  }
}

/// Ranges, lists and blocks of eight, with a limit that clips a half.
TEST(RowSums, AddUpClippedRecords) {
  constexpr Index n = 4000;  // two chunks of vectors
  const Vector x = normals(d, 1), before = normals(d, 2), v = normals(d, 3);
  std::vector<Index> list;
  Stream({.seed = 5}).bernoulli_subset(n, 0.4, list);
  for (const RowLoss& form : every_row_loss()) {
    const auto records = admit(form, RecordTable(columns(n, 4)));
    const auto sum_of = [&](int kind, const BatchView& batch, double limit, ClipReport* report) {
      Vector out = Vector::Zero(kind == 4 ? 1 : d);
      ClipReport made;
      const Point p(x), q(before);
      if (kind == 0) made = records->add_gradients(p, Block::x, batch, limit, out);
      if (kind == 1) made = records->add_gradient_differences(p, q, Block::x, batch, limit, out);
      if (kind == 2) made = records->add_hessian_products(p, v, batch, limit, out);
      if (kind == 3) made = records->add_hessian_difference_products(p, q, v, batch, limit, out);
      if (kind == 4) made = records->add_loss_differences(p, q, batch, limit, out[0]);
      if (report != nullptr) *report = made;
      return out;
    };
    for (int kind = 0; kind < 5; ++kind) {
      Vector norms(n);
      for (Index i = 0; i < n; ++i) {
        ClipReport report;
        sum_of(kind, BatchView(i, i + 1), unlimited, &report);
        norms[i] = report.largest_norm;
      }
      Vector sorted = norms;
      std::ranges::sort(sorted);
      const double limit = sorted[n / 2] * (1 + 1e-9);
      if (limit == 0) continue;
      Matrix each(sum_of(kind, BatchView(0, 1), limit, nullptr).size(), n);
      for (Index i = 0; i < n; ++i) {
        const Vector whole = sum_of(kind, BatchView(i, i + 1), unlimited, nullptr);
        each.col(i) = std::min(1.0, limit / std::max(norms[i], 1e-300)) * whole;
      }
      for (const BatchView& batch :
           {BatchView(0, n), BatchView(3, 4), BatchView(5, n - 2), BatchView(list)}) {
        ClipReport report;
        const Vector sum = sum_of(kind, batch, limit, &report);
        Vector expected = Vector::Zero(sum.size());
        Index clipped = 0;
        for (Index k = 0; k < batch.size(); ++k) {
          expected += each.col(batch[k]);
          clipped += norms[batch[k]] > limit ? 1 : 0;
        }
        EXPECT_LE((sum - expected).norm(), 1e-11 * limit * static_cast<double>(batch.size()))
            << form.problem << ' ' << kind;
        EXPECT_EQ(report.clipped, clipped) << form.problem << ' ' << kind;
      }
    }
  }
}

/// Nineteen values, two blocks and more, of which no record has the two longest, against the table
/// that repeats them.
TEST(RowSums, CountEqualColumnsAsOftenAsTheyOccur) {
  constexpr Index n = 400, values = 19;
  RecordColumns few = columns(values, 6);
  few.features.col(values - 1) *= 2;
  few.features.col(values - 2) *= 20;
  std::vector<std::int32_t> list;
  RecordColumns all{Matrix(d, n), Vector(n)};
  Stream stream({.seed = 7, .purpose = Purpose::test});
  for (Index i = 0; i < n; ++i) {
    list.push_back(static_cast<std::int32_t>(stream.below(values - 2)));
    all.features.col(i) = few.features.col(list.back());
    all.labels[i] = few.labels[list.back()];
  }
  const Vector x = normals(d, 1), before = normals(d, 2), v = normals(d, 3);
  const Vector grid = Vector::LinSpaced(9, -1, 1);
  for (const RowLoss& form : every_row_loss()) {
    const auto repeated = admit(form, RecordTable(few, list)),
               one_by_one = admit(form, RecordTable(all));
    ASSERT_EQ(repeated->size(), n);
    for (const double limit : {0.3, 2.0, unlimited})
      for (const BatchView& batch : {BatchView(0, n), BatchView(17, 201)}) {
        const auto same = [&](const auto& sum, Index entries) {
          Vector a = Vector::Zero(entries), b = a;
          const ClipReport first = sum(*repeated, a), second = sum(*one_by_one, b);
          EXPECT_LE((a - b).norm(), 1e-11 * (1 + b.norm())) << form.problem << ' ' << limit;
          EXPECT_EQ(first.clipped, second.clipped) << form.problem << ' ' << limit;
          EXPECT_DOUBLE_EQ(first.largest_norm, second.largest_norm);
        };
        const Point p(x), q(before);
        same([&](const Records& r,
                 VectorRef out) { return r.add_gradients(p, Block::x, batch, limit, out); },
             d);
        same(
            [&](const Records& r, VectorRef out) {
              return r.add_gradient_differences(p, q, Block::x, batch, limit, out);
            },
            d);
        same([&](const Records& r,
                 VectorRef out) { return r.add_hessian_products(p, v, batch, limit, out); },
             d);
        same([&](const Records& r,
                 VectorRef out) { return r.add_loss_differences(p, q, batch, limit, out[0]); },
             1);
        if (repeated->adds_hessians())
          same(
              [&](const Records& r, VectorRef out) { return r.add_hessians(p, batch, limit, out); },
              d * d);
        if (repeated->separable())
          same(
              [&](const Records& r, VectorRef out) {
                return r.add_coordinate_loss_differences(2, grid, 0.1, batch, limit, out);
              },
              grid.size());
      }
  }
}

/// By |φ″|‖a‖² and the bound of what all records share.
TEST(RowSums, WeighHessianProductsByBothParts) {
  const RecordColumns data = columns(1, 13);
  const Vector x = normals(d, 1), v = normals(d, 3);
  const auto records =
      admit({"curved", {0.0, 0.0, -2.0}, std::make_shared<Quartic>()}, RecordTable(data));
  const double norm = 2 * data.features.squaredNorm() + 3 * x.cwiseAbs2().maxCoeff();
  Vector whole = Vector::Zero(d), half = whole;
  records->add_hessian_products(Point(x), v, BatchView(0, 1), unlimited, whole);
  const ClipReport report =
      records->add_hessian_products(Point(x), v, BatchView(0, 1), norm / 2, half);
  EXPECT_DOUBLE_EQ(report.largest_norm, norm);
  EXPECT_LE((half - whole / 2).norm(), 1e-14 * whole.norm());
}

/// ⟨g, x⟩.
class Linear final : public CommonLoss {
 public:
  explicit Linear(Vector slope) : slope_(std::move(slope)) {}
  double value(ConstVectorRef x) const override { return slope_.dot(x); }
  void gradient(ConstVectorRef, VectorRef out) const override { out = slope_; }
  void hessian_product(const Point&, const Point*, ConstVectorRef, VectorRef out) const override {
    out.setZero();
  }
  double hessian_bound(const Point&, const Point*) const override { return 0; }

 private:
  Vector slope_;
};

/// What is left of a column and the part that cancels it is rounding, or all but underflows when it
/// is squared; it is measured and cut all the same.
TEST(RowSums, ExceedNoLimitWhereTheCommonPartCancelsColumns) {
  struct Case {
    double size, left, limit;
  };
  for (const Case& c :
       {Case{1.0, 0x1p-52, 1e-17}, {1.0, 0x1p-52, 1e-19}, {3e-145, 2e-149, 1.5e-150}}) {
    RecordColumns data = columns(16, 12);
    data.features *= c.size;
    data.features.col(3).setConstant(c.size);
    data.features(1, 3) += c.size == 1.0 ? c.left : 0;
    Vector slope = Vector::Constant(d, -c.size);
    if (c.size != 1.0) {
      data.features(1, 3) = c.left;
      slope[1] = 0;
    }
    const auto records = admit(
        RowLoss{.problem = "linear", .common = std::make_shared<Linear>(slope), .tilted = true},
        RecordTable(data));
    const Vector x = Vector::Zero(d);
    const Vector one = gradient(*records, x, BatchView(3, 4), c.limit);
    EXPECT_LE((one - c.limit * Vector::Unit(d, 1)).stableNorm(), 1e-6 * c.limit)
        << c.size << ' ' << c.limit;
    Vector expected = Vector::Zero(d);
    for (Index i = 0; i < 16; ++i) expected += gradient(*records, x, BatchView(i, i + 1), c.limit);
    EXPECT_LE((gradient(*records, x, BatchView(0, 16), c.limit) - expected).stableNorm(),
              1e-6 * c.limit);
  }
}

TEST(RowSums, ProjectEachColumnAndCapIt) {
  const RecordColumns data = columns(30, 9);
  Matrix map(3, d);
  Stream({.seed = 10}).fill_normal(2.0, map.reshaped());
  const Vector w = normals(3, 11);
  for (const RowLoss& form : every_row_loss()) {
    const auto records = admit(form, RecordTable(data));
    if (form.common) {
      EXPECT_THROW(records->projected(map, 1.0), InputError);
      continue;
    }
    RecordColumns mapped{map * data.features, data.labels};
    for (Index i = 0; i < 30; ++i)
      mapped.features.col(i) *= std::min(1.0, 1.5 / mapped.features.col(i).norm());
    const auto expected = admit(form, RecordTable(mapped));
    const auto projected = records->projected(map, 1.5);
    const std::vector<std::int32_t> list{7, 2, 7, 7, 29};
    EXPECT_LE((gradient(*admit(form, RecordTable(data, list))->projected(map, 1.5), w,
                        BatchView(1, 5), 0.7) -
               gradient(*admit(form, RecordTable(mapped, list)), w, BatchView(1, 5), 0.7))
                  .norm(),
              1e-12);
    EXPECT_LE((gradient(*projected, w, BatchView(0, 30), 0.7) -
               gradient(*expected, w, BatchView(0, 30), 0.7))
                  .norm(),
              1e-12);
    EXPECT_THROW(records->projected(map.leftCols(2), 1.0), InputError);
    EXPECT_THROW(records->projected(map, 0.0), InputError);
  }
  const auto tilted = admit(RowLoss{.problem = "tilted", .tilted = true}, RecordTable(data));
  EXPECT_THROW(tilted->projected(map, 1.0), InputError);
}

/// A record is kept with a length in [1e-150, 1e150] and a label up to 1e150.
TEST(RecordTable, KeepsWhatIsInRange) {
  const auto kept = [](double entry, double label) {
    const auto records = admit(
        RowLoss{.problem = "label times score", .derivatives = {0.0, Expression::label(), 0.0}},
        RecordTable({Matrix::Constant(1, 1, entry), Vector::Constant(1, label)}));
    return gradient(*records, Vector::Zero(1), BatchView(0, 1), unlimited)[0] != 0;
  };
  for (const double sign : {-1.0, 1.0}) {
    for (const double entry : {1e-150, 1.0, 1e150}) EXPECT_TRUE(kept(sign * entry, 1.0)) << entry;
    for (const double entry : {1e-151, 1.1e150, unlimited}) EXPECT_FALSE(kept(sign * entry, 1.0));
    EXPECT_TRUE(kept(1e-150, sign * 1e150));
    EXPECT_FALSE(kept(1e-150, sign * 1.1e150));
  }
}

TEST(Summand, HasTheEntriesOfItsBlock) {
  const Vector x = Vector::Ones(3), y = Vector::Ones(2);
  const Point point(x, y);
  EXPECT_EQ(Summand::gradient(point, Block::x).entries(), 3);
  EXPECT_EQ(Summand::gradient(point, Block::y).entries(), 2);
  EXPECT_EQ(Summand::gradient(point, Block::joint).entries(), 5);
  EXPECT_EQ(Summand::loss(point, point).entries(), 1);
  EXPECT_EQ(Summand::hessian_product(point, x).entries(), 3);
  EXPECT_EQ(Summand::coordinate_loss(0, y, 0.0).entries(), 2);
}

TEST(Summand, IsFiniteWhereAllOfItIs) {
  const Vector x = Vector::Ones(2), wrong{{1.0, std::nan("")}}, endless{{unlimited, 1.0}};
  const Point good(x), with_dual(x, x);
  EXPECT_TRUE(Summand::gradient(with_dual, Block::joint, &with_dual).finite());
  EXPECT_TRUE(Summand::hessian_product(good, x).finite());
  for (const Vector& bad : {wrong, endless}) {
    EXPECT_FALSE(Summand::gradient(Point(bad), Block::x).finite());
    EXPECT_FALSE(Summand::gradient(Point(x, bad), Block::joint).finite());
    for (const Point& before : {Point(bad), Point(x, bad)})
      EXPECT_FALSE(Summand::gradient(good, Block::x, &before).finite());
    EXPECT_FALSE(Summand::loss(good, Point(bad)).finite());
    EXPECT_FALSE(Summand::hessian_product(good, bad).finite());
    EXPECT_FALSE(Summand::coordinate_loss(0, bad, 0.0).finite());
  }
}

static_assert(!std::is_constructible_v<Records, std::unique_ptr<const ClippedSums>> &&
              !std::is_default_constructible_v<Records>);  // admit() alone makes them

TEST(RowSums, RefuseWrongSizesAndBlocks) {
  for (const RowLoss& form : every_row_loss()) {
    const auto records = admit(form, RecordTable(columns(4, 1)));
    const Vector x = normals(d, 1), longer = normals(d + 1, 1);
    Vector out = Vector::Zero(d), more = Vector::Zero(d + 1);
    const BatchView all(0, 4);
    EXPECT_THROW(records->add_gradients(Point(x), Block::y, all, 1, out), InputError);
    EXPECT_THROW(records->add_gradients(Point(longer), Block::x, all, 1, more), InputError);
    EXPECT_THROW(records->add_gradients(Point(x), Block::x, all, 1, more), InputError);
    EXPECT_THROW(records->add_gradient_differences(Point(x), Point(longer), Block::x, all, 1, out),
                 InputError);
    EXPECT_THROW(records->add_hessian_products(Point(longer), x, all, 1, out), InputError);
    EXPECT_THROW(records->add_hessian_products(Point(x), longer, all, 1, out), InputError);
    double loss = 0;
    EXPECT_THROW(records->add_loss_differences(Point(x), Point(longer), all, 1, loss), InputError);
  }
  EXPECT_THROW(RecordTable(RecordColumns{Matrix(2, 3), Vector(2)}), InputError);
  EXPECT_THROW(RecordTable(columns(3, 1), {0, 3}), InputError);
  EXPECT_THROW(RecordTable(columns(3, 1), {-1}), InputError);
}

}  // namespace
}  // namespace dpsosp::row_sums_test
