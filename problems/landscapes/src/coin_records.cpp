// SPDX-License-Identifier: Apache-2.0
#include "coin_records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bump.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/trusted/clip.hpp"

namespace dpsosp {
namespace {

/// What one tail contributes to a sum, and what it is weighed by.
struct Share {
  Vector v;
  double bound;
  /// ‖v‖ over the length of the direction. Between points that nearly agree the difference is
  /// rounding, which no bound knows of.
  double reached = 0;
};

Share by_norm(Vector v) {
  const double norm = v.norm();
  return {std::move(v), norm};
}

/// Sums over the two coins that a query meets: x's, and that of the point it is compared with. The
/// contribution of a record is the sum of the shares of those among the two that are tails.
template <class Sums>
class CoinSums : public Sums {
 public:
  explicit CoinSums(const CoinCells& cells) : cells_(cells) {}

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    check_minimisation("coins", block);
    const Index j = cells_.find(point.x);
    return add_one(batch, j, by_norm(-cells_.slope(point.x, j)), limit, out);
  }

  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    check_minimisation("coins", block);
    const Index j = cells_.find(point.x), l = cells_.find(previous.x);
    return add_norms(
        batch, j, -cells_.slope(point.x, j), l, cells_.slope(previous.x, l), limit, out);
  }

  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const final {
    const Index j = cells_.find(point.x), l = cells_.find(centre.x);
    Eigen::Map<Vector> sum(&out, 1);
    return add_norms(batch,
                     j,
                     Vector::Constant(1, -cells_.height(point.x, j)),
                     l,
                     Vector::Constant(1, cells_.height(centre.x, l)),
                     limit,
                     sum);
  }

  bool has_second_order() const final { return true; }

  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    const Index j = cells_.find(point.x);
    return add_one(
        batch, j, {-cells_.bend(point.x, j, v), cells_.curvature(point.x, j)}, limit, out);
  }

  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    const Index j = cells_.find(point.x), l = cells_.find(previous.x);
    const Share now{-cells_.bend(point.x, j, v), cells_.curvature(point.x, j)};
    const Share then{cells_.bend(previous.x, l, v), cells_.curvature(previous.x, l)};
    const double by_distance = cells_.third() * point.distance(previous);
    Share both{now.v + then.v, std::min(now.bound + then.bound, by_distance)};
    if (const double length = v.stableNorm(); length > 0)
      both.reached = both.v.stableNorm() / length;
    if (j == l) return add_one(batch, j, both, limit, out);
    return add_two(batch, j, now, l, then, both, limit, out);
  }

 protected:
  virtual ClipReport add_one(
      const BatchView& batch, Index j, const Share& share, double limit, VectorRef out) const = 0;
  /// j ≠ l; `both` is the contribution of a record with two tails.
  virtual ClipReport add_two(const BatchView& batch,
                             Index j,
                             const Share& of_j,
                             Index l,
                             const Share& of_l,
                             const Share& both,
                             double limit,
                             VectorRef out) const = 0;

 private:
  ClipReport add_norms(const BatchView& batch,
                       Index j,
                       const Vector& v,
                       Index l,
                       const Vector& w,
                       double limit,
                       VectorRef out) const {
    if (j == l) return add_one(batch, j, by_norm(v + w), limit, out);
    return add_two(batch, j, by_norm(v), l, by_norm(w), by_norm(v + w), limit, out);
  }

  CoinCells cells_;
};

class StoredCoins final : public CoinSums<Records> {
 public:
  StoredCoins(const CoinCells& cells, Flips heads) : CoinSums(cells), heads_(std::move(heads)) {}

  Index size() const override { return heads_.cols(); }

 private:
  /// `count` records with the same contribution.
  static void add(Index count, const Share& share, double limit, VectorRef out, ClipReport& total) {
    if (count == 0) return;
    out += clip_weight(total, std::max(share.bound, share.reached), limit, count) * share.v;
  }

  ClipReport add_one(const BatchView& batch,
                     Index j,
                     const Share& share,
                     double limit,
                     VectorRef out) const override {
    Index tails = 0;
    for (Index k = 0; k < batch.size(); ++k) tails += 1 - heads_(j, batch[k]);
    ClipReport report;
    add(tails, share, limit, out, report);
    return report;
  }

  ClipReport add_two(const BatchView& batch,
                     Index j,
                     const Share& of_j,
                     Index l,
                     const Share& of_l,
                     const Share& both,
                     double limit,
                     VectorRef out) const override {
    Index tails_j = 0, tails_l = 0, tails_both = 0;
    for (Index k = 0; k < batch.size(); ++k) {
      const Index a = 1 - heads_(j, batch[k]), b = 1 - heads_(l, batch[k]);
      tails_j += a;
      tails_l += b;
      tails_both += a * b;
    }
    ClipReport report;
    add(tails_j - tails_both, of_j, limit, out, report);
    add(tails_l - tails_both, of_l, limit, out, report);
    add(tails_both, both, limit, out, report);
    return report;
  }

  Flips heads_;
};

class SimulatedFlips final : public CoinSums<SimulatedSums> {
 public:
  SimulatedFlips(const CoinCells& cells, const SimulatedCoins& coins)
      : CoinSums(cells), coins_(coins) {}

  Index size() const override { return coins_.records; }

 private:
  ClipReport add_one(const BatchView& batch,
                     Index j,
                     const Share& share,
                     double limit,
                     VectorRef out) const override {
    check_simulated_batch("coins", coins_.sampling, batch, coins_.records);
    check_simulated_limit("coins", share.bound, limit);
    out += coins_.tails(batch.begin(), batch.size(), j) * share.v;
    return {};
  }

  ClipReport add_two(const BatchView& batch,
                     Index j,
                     const Share& of_j,
                     Index l,
                     const Share& of_l,
                     const Share& both,
                     double limit,
                     VectorRef out) const override {
    check_simulated_batch("coins", coins_.sampling, batch, coins_.records);
    check_simulated_limit("coins", std::max({of_j.bound, of_l.bound, both.bound}), limit);
    out += coins_.tails(batch.begin(), batch.size(), j) * of_j.v +
           coins_.tails(batch.begin(), batch.size(), l) * of_l.v;
    return {};
  }

  SimulatedCoins coins_;
};

}  // namespace

Index CoinCells::find(ConstVectorRef x) const {
  Index cell = 0;
  for (Index i = dimension - 1; i >= 0; --i) {
    const double place = std::floor((x[i] + half_width) / (2 * radius()));
    const double inside = std::clamp(place, 0.0, static_cast<double>(per_axis - 1));
    cell = cell * per_axis + static_cast<Index>(inside);
  }
  return cell;
}

Vector CoinCells::centre(Index cell) const {
  Vector p(dimension);
  for (Index i = 0; i < dimension; ++i, cell /= per_axis)
    p[i] = -half_width + static_cast<double>(2 * (cell % per_axis) + 1) * radius();
  return p;
}

double CoinCells::height(ConstVectorRef x, Index cell) const {
  return amplitude * bump((x - centre(cell)).norm() / radius()).value;
}

Vector CoinCells::slope(ConstVectorRef x, Index cell) const {
  const Vector t = (x - centre(cell)) / radius();
  const double s = std::max(0.0, 1 - t.squaredNorm());
  return (-8 * amplitude / radius() * s * s * s) * t;
}

double CoinCells::curvature(ConstVectorRef x, Index cell) const {
  const double t = (x - centre(cell)).norm() / radius(), s = std::max(0.0, 1 - t * t);
  return amplitude / (radius() * radius()) *
         std::max(std::abs(bump(t).second), dimension > 1 ? 8 * s * s * s : 0.0);
}

double CoinCells::third() const {
  return amplitude / (radius() * radius() * radius()) * bump_third;
}
Vector CoinCells::bend(ConstVectorRef x, Index cell, ConstVectorRef v) const {
  const Vector t = (x - centre(cell)) / radius();
  const double s = std::max(0.0, 1 - t.squaredNorm());
  return (8 * amplitude / (radius() * radius()) * s * s) * (6 * t.dot(v) * t - s * v);
}

double SimulatedCoins::tails(Index begin, Index size, Index j) const {
  Stream stream = range_stream(data_seed, begin, size).child(static_cast<std::uint64_t>(j));
  return static_cast<double>(size - stream.binomial(size, j == planted ? probability : 0.5));
}

std::unique_ptr<const Records> coin_records(const CoinCells& cells, Flips heads) {
  return std::make_unique<StoredCoins>(cells, std::move(heads));
}

std::unique_ptr<const SimulatedSums> coin_sums(const CoinCells& cells,
                                               const SimulatedCoins& coins) {
  return std::make_unique<SimulatedFlips>(cells, coins);
}

}  // namespace dpsosp
