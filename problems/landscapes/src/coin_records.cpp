// SPDX-License-Identifier: Apache-2.0
#include "coin_records.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bump.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/trusted/admit.hpp"

namespace dpsosp {
namespace {

/// Of records whose one tail adds v.
KindShares of_one(Index j, const Vector& v) {
  KindShares made{.flags = {j}, .vectors = Matrix::Zero(v.size(), 2)};
  made.vectors.col(1) = v;
  return made;
}

/// Of records that add v where coin j is tails, and w where coin l is.
KindShares of_both(Index j, const Vector& v, Index l, const Vector& w) {
  if (j == l) return of_one(j, v + w);
  KindShares made{.flags = {j, l}, .vectors = Matrix::Zero(v.size(), 4)};
  made.vectors.col(1) = v;
  made.vectors.col(2) = w;
  made.vectors.col(3) = v + w;
  return made;
}

class SimulatedFlips final : public SimulatedSums {
 public:
  SimulatedFlips(const CoinCells& cells, const SimulatedCoins& coins)
      : loss_(cells), coins_(coins) {}

  Index size() const override { return coins_.records; }
  bool has_second_order() const override { return true; }

  ClipReport add(const Summand& s, const BatchView& batch, double limit,
                 VectorRef out) const override {
    check_minimisation("coins", s.block);
    check_simulated_batch("coins", coins_.sampling, batch, coins_.records);
    const KindShares shares = shares_of(s);
    check_simulated_limit("coins",
                          shares.bounds.size() > 0 ? shares.bounds.maxCoeff()
                                                   : shares.vectors.colwise().norm().maxCoeff(),
                          limit);
    Vector sum = Vector::Zero(out.size());
    for (std::size_t b = 0; b < shares.flags.size(); ++b)
      sum += coins_.tails(batch.begin(), batch.size(), shares.flags[b]) *
             shares.vectors.col(Index{1} << b);
    out += sum;
    return {};
  }

 private:
  KindShares shares_of(const Summand& s) const {
    switch (s.kind) {
      case Summand::Kind::gradient:
        return loss_.gradients(s.point, s.before());
      case Summand::Kind::loss:
        return loss_.losses(s.point, *s.previous);
      case Summand::Kind::hessian_product:
        return loss_.products(s.point, s.before(), s.v);
      case Summand::Kind::coordinate_loss:
        break;
    }
    refuse(s);
  }

  CoinLoss loss_;
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

KindShares CoinLoss::gradients(const Point& point, const Point* previous) const {
  const Index j = cells_.find(point.x);
  if (previous == nullptr) return of_one(j, -cells_.slope(point.x, j));
  const Index l = cells_.find(previous->x);
  return of_both(j, -cells_.slope(point.x, j), l, cells_.slope(previous->x, l));
}

KindShares CoinLoss::losses(const Point& point, const Point& centre) const {
  const Index j = cells_.find(point.x), l = cells_.find(centre.x);
  return of_both(j, Vector::Constant(1, -cells_.height(point.x, j)), l,
                 Vector::Constant(1, cells_.height(centre.x, l)));
}

KindShares CoinLoss::products(const Point& point, const Point* previous, ConstVectorRef v) const {
  const Index j = cells_.find(point.x);
  const Vector now = -cells_.bend(point.x, j, v);
  const double bound = cells_.curvature(point.x, j);
  if (previous == nullptr) {
    KindShares made = of_one(j, now);
    made.bounds = Eigen::Vector2d(0, bound);
    return made;
  }
  const Index l = cells_.find(previous->x);
  const Vector then = cells_.bend(previous->x, l, v);
  const double bound_then = cells_.curvature(previous->x, l);
  double both = std::min(bound + bound_then, cells_.third() * point.distance(*previous));
  // Between points that nearly agree the difference is rounding, which no bound knows of.
  if (const double length = v.stableNorm(); length > 0)
    both = std::max(both, (now + then).stableNorm() / length);
  KindShares made = of_both(j, now, l, then);
  if (j == l)
    made.bounds = Eigen::Vector2d(0, both);
  else
    made.bounds = Eigen::Vector4d(0, bound, bound_then, both);
  return made;
}

std::unique_ptr<const AnyRecords> coin_records(const CoinCells& cells, Matrix tails) {
  Vector labels = Vector::Zero(tails.cols());
  return admit(std::make_unique<const CoinLoss>(cells),
               RecordTable(RecordColumns{std::move(tails), std::move(labels)}));
}

std::unique_ptr<const SimulatedSums> coin_sums(const CoinCells& cells,
                                               const SimulatedCoins& coins) {
  return std::make_unique<SimulatedFlips>(cells, coins);
}

}  // namespace dpsosp
