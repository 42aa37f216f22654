// SPDX-License-Identifier: Apache-2.0
// Sums of losses of kinds: those of single records, each measured and cut, whatever the kinds say.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp::kind_sums_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr Index d = 4;

/// Answers what a test says.
class Scripted : public KindLoss {
 public:
  using Make = std::function<KindShares(Index entries)>;
  explicit Scripted(Make make, Matrix axes = {}) : make_(std::move(make)), axes_(std::move(axes)) {}

  std::string problem() const override { return "scripted"; }
  Index dimension() const override { return d; }
  Matrix axes() const override { return axes_; }
  KindShares gradients(const Point&, const Point*) const override { return make_(d); }
  KindShares losses(const Point&, const Point&) const override { return make_(1); }
  KindShares products(const Point&, const Point*, ConstVectorRef) const override {
    return make_(d);
  }

 private:
  Make make_;
  Matrix axes_;
};

Matrix rotation() {
  Matrix made(d, d);
  made << 1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1;
  return made / 2;
}

std::unique_ptr<const Records> records_of(const Scripted::Make& make, RecordTable table,
                                          const Matrix& axes = {}) {
  return admit(std::make_unique<const Scripted>(make, axes), std::move(table));
}

Vector gradients(const Records& records, const BatchView& batch, double limit) {
  Vector sum = Vector::Zero(d);
  records.add_gradients(Point(Vector::Zero(d)), Block::x, batch, limit, sum);
  return sum;
}
double losses(const Records& records, double limit) {
  double sum = 0;
  const Vector zero = Vector::Zero(d);
  records.add_loss_differences(Point(zero), Point(zero), BatchView(0, records.size()), limit, sum);
  return sum;
}
Vector products(const Records& records, const Vector& v, double limit) {
  Vector sum = Vector::Zero(d);
  records.add_hessian_products(Point(Vector::Zero(d)), v, BatchView(0, records.size()), limit, sum);
  return sum;
}

/// Flags of seven records in two entries of three.
RecordColumns flags() {
  RecordColumns made{Matrix::Zero(3, 7), Vector::Zero(7)};
  made.features.row(0) << 1, 0, 1, 0, 1, 1, 0;
  made.features.row(2) << 0, 1, 1, 0, 1, 0, 0;
  return made;
}

TEST(KindSums, CountRecordsByTwoFlagsAndClipEachKind) {
  Matrix vectors(d, 4);
  vectors << 0, 3, 0, 3, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0;
  const auto records = records_of(
      [&](Index) {
        return KindShares{.flags = {0, 2}, .vectors = vectors};
      },
      RecordTable(flags()));
  const BatchView all(0, 7);
  EXPECT_EQ(gradients(*records, all, inf), (Eigen::Vector4d(12, 12, 0, 0)));
  // Kinds 1, 2 and 3 have lengths 3, 4 and 5, and 2, 1 and 2 records.
  const Vector expected = Eigen::Vector4d(2 * 2 + 2 * 2 * 0.6, 2 + 2 * 2 * 0.8, 0, 0);
  EXPECT_LE((gradients(*records, all, 2) - expected).norm(), 1e-14);
  std::vector<Index> list{2, 3, 4};
  EXPECT_EQ(gradients(*records, BatchView(list), inf), (Eigen::Vector4d(6, 8, 0, 0)));
}

/// By hand: along_k a_k + common, or along_k ⟨a_k, v⟩ a_k + common.
TEST(KindSums, OfAxesAreThoseOfWholeVectors) {
  Stream stream({.seed = 2, .purpose = Purpose::test});
  for (const Matrix& axes : {Matrix(), rotation()}) {
    const Matrix a = axes.size() == 0 ? Matrix(Matrix::Identity(d, d)) : axes;
    Vector along(d), common(d), v(d);
    for (Vector* each : {&along, &common, &v}) stream.fill_normal(1.0, *each);
    const std::vector<std::int32_t> list{3, 1, 1, 0, 3, 3};
    const auto records = records_of(
        [&](Index) {
          return KindShares{.bounds = {}, .axes = true, .along = along, .common = common};
        },
        RecordTable(RecordColumns{Matrix::Zero(1, d), Vector::Zero(d)}, list), axes);
    const auto bounded = records_of(
        [&](Index) {
          return KindShares{
              .bounds = Vector::Constant(d, 1e-9), .axes = true, .along = along, .common = common};
        },
        RecordTable(RecordColumns{Matrix::Zero(1, d), Vector::Zero(d)}, list), axes);
    for (const double limit : {1.0, inf}) {
      Vector sum = Vector::Zero(d), cut = Vector::Zero(d);
      for (const std::int32_t k : list) {
        const Vector gradient = a * common + along[k] * a.col(k);
        sum += std::min(1.0, limit / gradient.norm()) * gradient;
        const Vector product = common + along[k] * a.col(k).dot(v) * a.col(k);
        cut += std::min(1.0, limit * v.norm() / product.norm()) * product;
      }
      EXPECT_LE((gradients(*records, BatchView(0, 6), limit) - sum).norm(), 1e-13);
      // The stated bound is false: the products are measured all the same.
      EXPECT_LE((products(*bounded, v, limit) - cut).norm(), 1e-13);
    }
  }
}

/// A part that overflows before the direction makes it small is added as it was measured.
TEST(KindSums, AreFiniteHoweverManyRecordsShareAKind) {
  for (const double small : {0.0, 1e-308})
    for (const Index count : {1, 2, 5}) {
      Vector v = Vector::Unit(d, 0), along = Vector::Ones(d);
      along[2] = 1e308;
      v[2] = small;
      const auto records = records_of(
          [&](Index) {
            return KindShares{
                .bounds = Vector::Ones(d), .axes = true, .along = along, .common = Vector::Zero(d)};
          },
          RecordTable(RecordColumns{Matrix::Zero(1, d), Vector::Zero(d)},
                      std::vector<std::int32_t>(static_cast<std::size_t>(count), 2)));
      const Vector sum = products(*records, v, 1);
      EXPECT_NEAR(sum[2], static_cast<double>(count) * (1e308 * small), 1e-9) << small << count;
      EXPECT_TRUE(sum.allFinite());
    }
}

TEST(KindSums, WeighHessianProductsByTheBoundThatIsStated) {
  const auto records = records_of(
      [](Index) {
        KindShares made{.flags = {0}, .vectors = Matrix::Zero(d, 2), .bounds = Vector(2)};
        made.vectors.col(1).setOnes();
        made.bounds << 0, 8;
        return made;
      },
      RecordTable(flags()));
  EXPECT_EQ(products(*records, Vector::Ones(d), 2), Vector::Ones(d));  // four records, 2/8 of each
}

TEST(KindSums, CutVectorsUpToTheGreatestLength) {
  for (const double length : {1e300, 1.1e300})
    for (const bool axes : {false, true}) {
      const Vector vector = length * Vector::Unit(d, 0), zero = Vector::Zero(d);
      const auto records = records_of(
          [&](Index) {
            return axes ? KindShares{.bounds = zero, .axes = true, .along = zero, .common = vector}
                        : KindShares{.vectors = vector.replicate(1, d), .bounds = zero};
          },
          RecordTable(RecordColumns{Matrix::Zero(1, d), zero}, {0}));
      EXPECT_NEAR(products(*records, Vector::Unit(d, 0), 2)[0], length == 1e300 ? 2 : 0, 1e-12);
    }
}

TEST(KindSums, RefuseWhatDoesNotFit) {
  const auto refused = [](const KindShares& shares, Index columns) {
    const auto records =
        records_of([&](Index) { return shares; },
                   RecordTable(RecordColumns{Matrix::Zero(2, columns), Vector::Zero(columns)}));
    EXPECT_THROW(gradients(*records, BatchView(0, columns), 1), InputError);
    EXPECT_THROW(products(*records, Vector::Ones(d), 1), InputError);
  };
  const auto all = [](Index size) { return Vector(Vector::Zero(size)); };
  refused({.flags = {2}, .vectors = Matrix::Zero(d, 2)}, d);
  refused({.flags = {-1}, .vectors = Matrix::Zero(d, 2)}, d);
  refused({.flags = {0, 1, 0}, .vectors = Matrix::Zero(d, 8)}, d);
  refused({.flags = {0, 1}, .vectors = Matrix::Zero(d, 2)}, d);
  refused({.flags = {0}, .vectors = Matrix::Zero(d + 1, 2)}, d);
  refused({.flags = {0}, .vectors = Matrix::Zero(d, 2), .bounds = all(1)}, d);
  refused({.vectors = Matrix::Zero(d, d)}, d + 1);
  refused({.axes = true, .along = all(d - 1), .common = all(d)}, d);
  refused({.axes = true, .along = all(d), .common = all(d + 1)}, d);
  refused({.axes = true, .along = all(d + 1), .common = all(d + 1)}, d + 1);
  refused({.flags = {0}, .axes = true, .along = all(2), .common = all(2)}, d);

  const auto one_column = records_of(
      [&](Index entries) {
        return KindShares{.axes = true, .along = all(entries), .common = all(entries)};
      },
      RecordTable(RecordColumns{Matrix::Zero(1, 1), Vector::Zero(1)}), rotation());
  EXPECT_THROW(losses(*one_column, 1), InputError);

  const auto with_axes = [](const Matrix& axes) {
    return records_of([](Index) { return KindShares{}; },
                      RecordTable(RecordColumns{Matrix::Zero(1, d), Vector::Zero(d)}), axes);
  };
  EXPECT_NO_THROW(with_axes((1 + 1e-15) * rotation()));
  for (const Matrix& axes :
       {Matrix((1 + 8e-15) * rotation()), Matrix(rotation().leftCols(2)),
        Matrix(Matrix::Identity(d + 1, d + 1)), Matrix(Matrix::Constant(d, d, std::nan("")))})
    EXPECT_THROW(with_axes(axes), InputError);
}

/// Its dimension grows once the records are admitted.
class Growing final : public Scripted {
 public:
  using Scripted::Scripted;
  Index dimension() const override { return d + calls_++; }

 private:
  mutable Index calls_ = 0;
};

TEST(KindSums, KeepTheDimensionTheyWereAdmittedWith) {
  const auto ones = [](Index entries) {
    return KindShares{.flags = {0}, .vectors = Matrix::Ones(entries, 2)};
  };
  const auto records = admit(std::make_unique<const Growing>(ones), RecordTable(flags()));
  EXPECT_EQ(gradients(*records, BatchView(0, 7), inf), Vector::Constant(d, 7));
  EXPECT_EQ(gradients(*records, BatchView(0, 7), inf), Vector::Constant(d, 7));
}

/// NaN, infinities, huge and tiny numbers, parts that cancel, bounds that are false.
class HostileKinds {
 public:
  HostileKinds(std::uint64_t seed, Index columns) : stream_({.seed = seed}), columns_(columns) {}

  KindShares operator()(Index entries) {
    KindShares made;
    const Index flags = entries == d && columns_ == d ? stream_.below(4) : 1 + stream_.below(2);
    made.axes = flags == 3;
    for (Index b = 0; b < (made.axes ? 0 : flags); ++b) made.flags.push_back(stream_.below(2));
    const Index kinds = made.flags.empty() ? columns_ : Index{1} << made.flags.size();
    made.bounds = Vector(kinds);
    for (double& bound : made.bounds) bound = stream_.bernoulli(0.5) ? 0.0 : number();
    if (made.axes) {
      made.along = vector(kinds);
      made.common = vector(kinds);
      const Index k = stream_.below(kinds);
      if (stream_.bernoulli(0.5)) made.along[k] = -made.common[k] * (1 + 1e-14 * stream_.normal());
    } else {
      made.vectors.resize(entries, kinds);
      for (Index k = 0; k < kinds; ++k) made.vectors.col(k) = vector(entries);
    }
    return made;
  }

 private:
  double number() {
    switch (stream_.below(30)) {
      case 0:
        return std::nan("");
      case 1:
        return stream_.bernoulli(0.5) ? inf : -inf;
      case 2:
        return stream_.bernoulli(0.5) ? 1e308 : -5e-324;
      default:
        return stream_.normal() * std::pow(10.0, -150 + 300 * stream_.uniform());
    }
  }
  Vector vector(Index size) {
    Vector made(size);
    const double scale =
        std::pow(10.0, -3 + (stream_.bernoulli(0.2) ? 150 : 20) * stream_.uniform());
    for (double& entry : made) entry = stream_.below(30) == 0 ? number() : scale * stream_.normal();
    return made;
  }

  Stream stream_;
  Index columns_;
};

TEST(HostileKinds, MoveNoSumByMoreThanTheCharge) {
  Stream stream({.seed = 6, .purpose = Purpose::test});
  double largest = 0;
  for (std::uint64_t trial = 0; trial < 20000; ++trial) {
    const bool listed = stream.bernoulli(0.5);
    const Index columns = listed ? d : 1 + stream.below(6),
                n = listed ? 1 + stream.below(6) : columns;
    RecordColumns data{Matrix(2, columns), Vector::Zero(columns)};
    for (double& flag : data.features.reshaped()) flag = stream.bernoulli(0.5) ? 1 : 0;
    RecordColumns exchanged = data;
    std::vector<std::int32_t> list, other_list;
    for (Index i = 0; i < n; ++i) list.push_back(static_cast<std::int32_t>(stream.below(columns)));
    other_list = list;
    if (listed)
      other_list[static_cast<std::size_t>(stream.below(n))] =
          static_cast<std::int32_t>(stream.below(columns));
    else
      exchanged.features.col(stream.below(n)) =
          Eigen::Vector2d(stream.normal(), stream.bernoulli(0.5) ? std::nan("") : 0.0);
    const auto table = [&](const RecordColumns& of, const std::vector<std::int32_t>& values) {
      return listed ? RecordTable(of, values) : RecordTable(of);
    };
    const double limit = std::pow(
        10.0, stream.bernoulli(0.5) ? -2 + 4 * stream.uniform() : -145 + 165 * stream.uniform());
    const Vector v = Vector::Constant(d, 0.5) * std::pow(10.0, -5 + 10 * stream.uniform());
    const Matrix axes = stream.bernoulli(0.5) ? rotation() : Matrix();
    // The same answers of both: they are public.
    const auto make = [&](Index entries) { return HostileKinds(trial, columns)(entries); };
    const auto one = records_of(make, table(data, list), axes);
    const auto other = records_of(make, table(exchanged, other_list), axes);
    const BatchView all(0, n);
    const double moves[] = {
        (gradients(*one, all, limit) - gradients(*other, all, limit)).stableNorm() / limit,
        std::abs(losses(*one, limit) - losses(*other, limit)) / limit,
        (products(*one, v, limit) - products(*other, v, limit)).stableNorm() / (limit * v.norm())};
    for (const double moved : moves) {
      EXPECT_LE(moved, 2 * (1 + 1e-8)) << trial;
      largest = std::max(largest, moved);
    }
  }
  EXPECT_GE(largest, 2 * 0.999) << "no pair comes near the charge";
}

}  // namespace
}  // namespace dpsosp::kind_sums_test
