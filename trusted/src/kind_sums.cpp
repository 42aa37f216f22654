// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/detail/kind_sums.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/hypotenuse.hpp"
#include "dpsosp/trusted/clip.hpp"
#include "dpsosp/trusted/detail/no_traces.hpp"

namespace dpsosp {
namespace {

constexpr std::size_t most_flags = 2;

/// min(1, limit/norm) for as many records, or, with a bound, that of the bound and no more than
/// what leaves `most` of the vector.
double weight_of(ClipReport& report, const Vector& bounds, Index kind, double norm, double limit,
                 double most, Index count) {
  if (bounds.size() == 0) return clip_weight(report, norm, limit, count);
  const double stated = clip_weight(report, bounds[kind], limit, count);
  return norm <= longest ? cut_weight(stated, norm, most, count) : 0.0;
}

/// What a vector that `limit` clips may be long.
double most_of(double limit, const Vector* direction) {
  return direction != nullptr ? limit * direction->stableNorm() : limit;
}

}  // namespace

KindSums::KindSums(std::unique_ptr<const KindLoss> loss, RecordTable table)
    : loss_(std::move(loss)),
      table_(std::move(table)),
      dimension_(loss_->dimension()),
      axes_(loss_->axes()) {
  const Index d = dimension_;
  const double rounding = 4e-15 * static_cast<double>(d);
  if (axes_.size() > 0 &&
      !(axes_.rows() == d && axes_.cols() == d &&
        (axes_.transpose() * axes_ - Matrix::Identity(d, d)).norm() <= rounding))
    throw InputError(loss_->problem() + ": axes that are not orthonormal");
}

KindShares KindSums::shares_of(const Summand& s) const {
  if (s.kind == Summand::Kind::gradient) return loss_->gradients(s.point, s.before());
  if (s.kind == Summand::Kind::loss) return loss_->losses(s.point, *s.previous);
  if (s.kind != Summand::Kind::hessian_product) refuse(s);
  KindShares shares = loss_->products(s.point, s.before(), s.v);
  if (shares.bounds.size() == 0)
    throw InputError(loss_->problem() + ": Hessian products without bounds");
  return shares;
}

/// How many of the records are of each kind.
std::vector<Index> KindSums::count(const KindShares& shares, const Members& members) const {
  const std::vector<Index>& flags = shares.flags;
  std::vector<Index> counts(
      flags.empty() ? static_cast<std::size_t>(table_.columns()) : std::size_t{1} << flags.size(),
      0);
  for (Index k = 0; k < members.columns.size(); ++k) {
    const Index i = members.columns[k];
    const double* const column = table_.column(i);
    std::size_t kind = flags.empty() ? static_cast<std::size_t>(i) : 0;
    for (std::size_t b = 0; b < flags.size(); ++b)
      kind |= static_cast<std::size_t>(column[flags[b]] != 0) << b;
    counts[kind] += members.times(i);
  }
  return counts;
}

ClipReport KindSums::add(const Summand& asked, const Members& members, double limit,
                         VectorRef out) const {
  const ShownSummand shown(asked);
  const Summand& s = shown.summand;
  const bool product = s.kind == Summand::Kind::hessian_product;
  const Index d = dimension_;
  check_minimisation(loss_->problem(), s.block);
  for (const Index size :
       {s.point.x.size(), s.previous ? s.previous->x.size() : d, product ? s.v.size() : d,
        s.kind == Summand::Kind::loss ? d : out.size()})
    if (size != d)
      throw InputError(loss_->problem() + ": a vector of " + std::to_string(size) +
                       " numbers, expected " + std::to_string(d));
  const NoTraces before_and_after;
  const KindShares shares = shares_of(s);
  const Vector along = asked.v;
  const Vector* const direction = product ? &along : nullptr;
  bool fits = shares.flags.size() <= most_flags;
  for (const Index flag : shares.flags) fits = fits && flag >= 0 && flag < table_.width();
  const Index kinds = shares.flags.empty() ? table_.columns()
                                           : Index{1} << std::min(shares.flags.size(), most_flags);
  fits = fits && (shares.bounds.size() == 0 || shares.bounds.size() == kinds);
  fits =
      fits && (shares.axes ? kinds == d && out.size() == d && shares.along.size() == d &&
                                 shares.common.size() == d
                           : shares.vectors.rows() == out.size() && shares.vectors.cols() == kinds);
  if (!fits) throw InputError(loss_->problem() + ": shares of kinds that do not fit the records");
  const std::vector<Index> counts = count(shares, members);
  if (shares.axes) return add_along_axes(shares, counts, limit, direction, out);
  const double most = most_of(limit, direction);
  ClipReport report;
  for (Index k = 0; k < kinds; ++k) {
    const Index of_kind = counts[static_cast<std::size_t>(k)];
    if (of_kind == 0) continue;
    const double norm = length_of(shares.vectors.col(k));
    const double weight = weight_of(report, shares.bounds, k, norm, limit, most, of_kind);
    if (weight > 0) out += weight * shares.vectors.col(k);
  }
  return report;
}

/// The records' own parts are added at once, the common part as often as all weights say.
ClipReport KindSums::add_along_axes(const KindShares& shares, const std::vector<Index>& counts,
                                    double limit, const Vector* direction, VectorRef out) const {
  const double most = most_of(limit, direction);
  const Vector factors =
      direction != nullptr ? in_axes(*direction) : Vector(Vector::Ones(out.size()));
  const Vector common = direction != nullptr ? in_axes(shares.common) : shares.common;
  const double common_norm = length_of(common);
  ClipReport report;
  if (!(common_norm <= longest)) return report;
  const Vector beside = norms_beside(common);
  Vector total = Vector::Zero(out.size()), apart = Vector::Zero(out.size());  // in the axes
  double total_weight = 0;
  for (Index k = 0; k < total.size(); ++k) {
    const Index of_kind = counts[static_cast<std::size_t>(k)];
    if (of_kind == 0) continue;
    const double here = shares.along[k] * factors[k] + common[k];
    const double norm = hypotenuse(here, beside[k]);
    const double weight = weight_of(report, shares.bounds, k, norm, limit, most, of_kind);
    if (!(weight > 0)) continue;
    const bool cancels =
        weight * common_norm > most_cancelled * most * static_cast<double>(of_kind);
    if (cancels || !std::isfinite(weight * shares.along[k])) {
      Vector whole = common;
      whole[k] = here;
      apart += weight * whole;
    } else {
      total[k] = factors[k] * (weight * shares.along[k]);
      total_weight += weight;
    }
  }
  if (direction != nullptr)
    out += from_axes(total) + total_weight * shares.common;
  else
    out += from_axes(total + total_weight * common);
  if (!apart.isZero(0)) out += from_axes(apart);
  return report;
}

Vector KindSums::in_axes(const Vector& v) const {
  return axes_.size() == 0 ? v : Vector(axes_.transpose() * v);
}
Vector KindSums::from_axes(const Vector& u) const {
  return axes_.size() == 0 ? u : Vector(axes_ * u);
}

}  // namespace dpsosp
