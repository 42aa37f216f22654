// SPDX-License-Identifier: Apache-2.0
#include "subjects/stand_ins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "dpsosp/problems/altered_records.hpp"

namespace dpsosp::audit {
namespace {

const BatchView alone(0, 1);

class Saturating final : public UncheckedRecords {
 public:
  Saturating(double size, Direction direction, bool separable, bool second_order, Index rank)
      : size_(size),
        direction_(direction),
        separable_(separable),
        second_order_(second_order),
        rank_(rank) {}

  Index size() const override { return 1; }
  bool separable() const override { return separable_; }
  bool has_second_order() const override { return second_order_; }
  ClipReport add(const Summand& s, const BatchView&, double limit, VectorRef out) const override {
    ClipReport report;
    const double length = length_at(limit);
    if (s.kind == Summand::Kind::coordinate_loss) {
      for (Index k = 0; k < out.size(); ++k) {
        const double most = limit * std::abs(s.v[k] - s.centre);
        const bool down = direction_ == Direction::outward || s.v[k] < s.centre;
        const double move = (down ? -1.0 : 1.0) * length_at(most);
        out[k] += report.weigh(std::abs(move), most) * move;
      }
      return report;
    }
    const double weighed = report.weigh(std::abs(length), limit) * length;
    if (s.kind == Summand::Kind::loss) {
      out[0] +=
          weighed * (direction_ == Direction::outward ? -1.0 : side(s.point.x - s.previous->x));
    } else if (s.kind == Summand::Kind::hessian_product) {
      // A multiple of the identity, or of the projector onto as many coordinates as the rank
      // allows.
      const Index rank = rank_ == 0 ? s.v.size() : std::min(rank_, s.v.size());
      out.head(rank) += weighed * s.v.head(rank);
    } else if (direction_ == Direction::first) {
      out[0] += turn(s.point.x) * weighed;
    } else {
      out.array() += turn(s.point.x) * weighed / std::sqrt(static_cast<double>(out.size()));
    }
    return report;
  }
  std::unique_ptr<const AnyRecords> projected(const Matrix&, double) const override {
    return std::make_unique<Saturating>(size_, direction_, separable_, second_order_, rank_);
  }

 private:
  double length_at(double limit) const { return size_ * (std::isfinite(limit) ? limit : 1.0); }
  /// Losses to either side of a plane through the centre have opposite signs, or their differences
  /// would not show.
  static double side(ConstVectorRef x) { return x.sum() < 0 ? -1.0 : 1.0; }
  /// 1, −1 or 0, of the point's bits.
  double turn(ConstVectorRef x) const {
    if (direction_ != Direction::alternating && direction_ != Direction::seldom) return 1.0;
    std::uint64_t hash = 1;
    for (const double entry : x)
      hash = (hash ^ std::bit_cast<std::uint64_t>(entry)) * 0x9e3779b97f4a7c15ULL;
    hash >>= 61;
    if (direction_ == Direction::seldom) return hash == 0 ? 1.0 : 0.0;
    return hash < 4 ? 1.0 : -1.0;
  }

  double size_;
  Direction direction_;
  bool separable_, second_order_;
  Index rank_;
};

}  // namespace

std::shared_ptr<const AnyRecords> announced(std::shared_ptr<const AnyRecords> record,
                                            std::function<void()> before) {
  return std::make_shared<AlteredRecords>(
      std::move(record), 1,
      [before = std::move(before)](const AnyRecords& of, const Summand& s, const BatchView&,
                                   double limit, VectorRef out) {
        before();
        return of.add(s, alone, limit, out);
      });
}

std::shared_ptr<const AnyRecords> one_of(const AnyRecords& records, Index index) {
  return std::make_shared<AlteredRecords>(
      std::shared_ptr<const AnyRecords>(std::shared_ptr<void>(), &records), 1,
      [one = BatchView(index, index + 1)](const AnyRecords& of, const Summand& s, const BatchView&,
                                          double limit,
                                          VectorRef out) { return of.add(s, one, limit, out); });
}

std::shared_ptr<const AnyRecords> scaled(std::shared_ptr<const AnyRecords> record, double factor) {
  return std::make_shared<AlteredRecords>(
      std::move(record), 1,
      [factor](const AnyRecords& of, const Summand& s, const BatchView&, double limit,
               VectorRef out) {
        Vector whole = Vector::Zero(out.size());
        const double bound =
            of.add(s, alone, std::numeric_limits<double>::infinity(), whole).largest_norm;
        whole *= factor;
        ClipReport report;
        if (s.kind == Summand::Kind::coordinate_loss)
          for (Index k = 0; k < out.size(); ++k)
            out[k] +=
                report.weigh(std::abs(whole[k]), limit * std::abs(s.v[k] - s.centre)) * whole[k];
        else if (s.kind == Summand::Kind::hessian_product)
          out += report.weigh(std::abs(factor) * bound, limit) * whole;
        else
          out += report.weigh(whole.norm(), limit) * whole;
        return report;
      });
}

std::unique_ptr<const AnyRecords> alike(std::shared_ptr<const AnyRecords> record, Index size) {
  return std::make_unique<AlteredRecords>(std::move(record), size,
                                          [](const AnyRecords& of, const Summand& s,
                                             const BatchView& batch, double limit, VectorRef out) {
                                            ClipReport report;
                                            for (Index k = 0; k < batch.size(); ++k)
                                              report.merge(of.add(s, alone, limit, out));
                                            return report;
                                          });
}

std::shared_ptr<const AnyRecords> saturating(const AnyRecords& like, double size,
                                             Direction direction) {
  return std::make_shared<Saturating>(size, direction, like.separable(), like.has_second_order(),
                                      like.hessian_rank());
}

}  // namespace dpsosp::audit
