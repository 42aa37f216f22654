// SPDX-License-Identifier: Apache-2.0
#include "stand_ins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace dpsosp::audit {
namespace {

const BatchView alone(0, 1);
constexpr double unlimited = std::numeric_limits<double>::infinity();

class OneOf final : public Records {
 public:
  OneOf(const Records& records, Index index) : records_(records), one_(index, index + 1) {}
  /// One record of a projected view, which it owns.
  OneOf(std::unique_ptr<const Records> records, Index index)
      : owned_(std::move(records)), records_(*owned_), one_(index, index + 1) {}

  Index size() const override { return 1; }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView&,
                           double limit,
                           VectorRef out) const override {
    return records_.add_gradients(point, block, one_, limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView&,
                                      double limit,
                                      VectorRef out) const override {
    return records_.add_gradient_differences(point, previous, block, one_, limit, out);
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView&,
                                  double limit,
                                  double& out) const override {
    return records_.add_loss_differences(point, centre, one_, limit, out);
  }
  bool separable() const override { return records_.separable(); }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    return records_.add_coordinate_loss_differences(coordinate, values, centre, one_, limit, out);
  }
  bool has_second_order() const override { return records_.has_second_order(); }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView&,
                                  double limit,
                                  VectorRef out) const override {
    return records_.add_hessian_products(point, v, one_, limit, out);
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    return records_.add_hessian_difference_products(point, previous, v, one_, limit, out);
  }
  std::unique_ptr<const Records> projected(const Matrix& map, double cap) const override {
    return std::make_unique<OneOf>(records_.projected(map, cap), one_.begin());
  }

 private:
  std::unique_ptr<const Records> owned_;
  const Records& records_;
  BatchView one_;
};

/// A record whose loss is a multiple of another's.
class Scaled final : public Records {
 public:
  Scaled(std::shared_ptr<const Records> record, double factor)
      : record_(std::move(record)), factor_(factor) {}

  Index size() const override { return 1; }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView&,
                           double limit,
                           VectorRef out) const override {
    return add(limit, out, [&](VectorRef whole) {
      return record_->add_gradients(point, block, alone, unlimited, whole);
    });
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView&,
                                      double limit,
                                      VectorRef out) const override {
    return add(limit, out, [&](VectorRef whole) {
      return record_->add_gradient_differences(point, previous, block, alone, unlimited, whole);
    });
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView&,
                                  double limit,
                                  double& out) const override {
    double whole = 0;
    ClipReport report;
    record_->add_loss_differences(point, centre, alone, unlimited, whole);
    out += report.weigh(std::abs(factor_ * whole), limit) * factor_ * whole;
    return report;
  }
  bool separable() const override { return record_->separable(); }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    ClipReport report;
    Vector whole = Vector::Zero(out.size());
    record_->add_coordinate_loss_differences(coordinate, values, centre, alone, unlimited, whole);
    for (Index k = 0; k < out.size(); ++k) {
      const double move = factor_ * whole[k];
      out[k] += report.weigh(std::abs(move), limit * std::abs(values[k] - centre)) * move;
    }
    return report;
  }
  bool has_second_order() const override { return record_->has_second_order(); }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView&,
                                  double limit,
                                  VectorRef out) const override {
    return add_product(limit, out, [&](VectorRef whole) {
      return record_->add_hessian_products(point, v, alone, unlimited, whole);
    });
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    return add_product(limit, out, [&](VectorRef whole) {
      return record_->add_hessian_difference_products(point, previous, v, alone, unlimited, whole);
    });
  }
  std::unique_ptr<const Records> projected(const Matrix& map, double cap) const override {
    return std::make_unique<Scaled>(record_->projected(map, cap), factor_);
  }

 private:
  template <class Whole>
  ClipReport add(double limit, VectorRef out, const Whole& whole_of) const {
    ClipReport report;
    Vector whole = Vector::Zero(out.size());
    whole_of(whole);
    whole *= factor_;
    out += report.weigh(whole.norm(), limit) * whole;
    return report;
  }
  template <class Whole>
  ClipReport add_product(double limit, VectorRef out, const Whole& whole_of) const {
    ClipReport report;
    Vector whole = Vector::Zero(out.size());
    const ClipReport unclipped = whole_of(whole);
    out += report.weigh(std::abs(factor_) * unclipped.largest_norm, limit) * factor_ * whole;
    return report;
  }

  std::shared_ptr<const Records> record_;
  double factor_;
};

class Alike final : public Records {
 public:
  Alike(std::shared_ptr<const Records> record, Index size)
      : record_(std::move(record)), size_(size) {}

  Index size() const override { return size_; }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const override {
    return each(batch, [&] { return record_->add_gradients(point, block, alone, limit, out); });
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const override {
    return each(batch, [&] {
      return record_->add_gradient_differences(point, previous, block, alone, limit, out);
    });
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const override {
    return each(batch,
                [&] { return record_->add_loss_differences(point, centre, alone, limit, out); });
  }
  bool separable() const override { return record_->separable(); }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    return each(batch, [&] {
      return record_->add_coordinate_loss_differences(
          coordinate, values, centre, alone, limit, out);
    });
  }
  bool has_second_order() const override { return record_->has_second_order(); }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const override {
    return each(batch, [&] { return record_->add_hessian_products(point, v, alone, limit, out); });
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const override {
    return each(batch, [&] {
      return record_->add_hessian_difference_products(point, previous, v, alone, limit, out);
    });
  }
  std::unique_ptr<const Records> projected(const Matrix& map, double cap) const override {
    return std::make_unique<Alike>(record_->projected(map, cap), size_);
  }

 private:
  template <class Add>
  static ClipReport each(const BatchView& batch, const Add& add) {
    ClipReport report;
    for (Index k = 0; k < batch.size(); ++k) report.merge(add());
    return report;
  }

  std::shared_ptr<const Records> record_;
  Index size_;
};

class Saturating final : public Records {
 public:
  Saturating(double size, Direction direction, bool separable, bool second_order, Index rank)
      : size_(size),
        direction_(direction),
        separable_(separable),
        second_order_(second_order),
        rank_(rank) {}

  Index size() const override { return 1; }
  ClipReport add_gradients(
      const Point& point, Block, const BatchView&, double limit, VectorRef out) const override {
    return add(point, limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point&,
                                      Block,
                                      const BatchView&,
                                      double limit,
                                      VectorRef out) const override {
    return add(point, limit, out);
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView&,
                                  double limit,
                                  double& out) const override {
    ClipReport report;
    const double move =
        (direction_ == Direction::outward ? -1.0 : side(point.x - centre.x)) * length(limit);
    out += report.weigh(std::abs(move), limit) * move;
    return report;
  }
  bool separable() const override { return separable_; }
  ClipReport add_coordinate_loss_differences(Index,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    ClipReport report;
    for (Index k = 0; k < out.size(); ++k) {
      const double most = limit * std::abs(values[k] - centre);
      const bool down = direction_ == Direction::outward || values[k] < centre;
      const double move = (down ? -1.0 : 1.0) * length(most);
      out[k] += report.weigh(std::abs(move), most) * move;
    }
    return report;
  }
  bool has_second_order() const override { return second_order_; }
  ClipReport add_hessian_products(const Point&,
                                  ConstVectorRef v,
                                  const BatchView&,
                                  double limit,
                                  VectorRef out) const override {
    return add_product(v, limit, out);
  }
  ClipReport add_hessian_difference_products(const Point&,
                                             const Point&,
                                             ConstVectorRef v,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    return add_product(v, limit, out);
  }
  std::unique_ptr<const Records> projected(const Matrix&, double) const override {
    return std::make_unique<Saturating>(size_, direction_, separable_, second_order_, rank_);
  }

 private:
  double length(double limit) const { return size_ * (std::isfinite(limit) ? limit : 1.0); }
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
  ClipReport add(const Point& point, double limit, VectorRef out) const {
    ClipReport report;
    const double norm = std::abs(length(limit));
    const double weighed = turn(point.x) * report.weigh(norm, limit) * length(limit);
    if (direction_ == Direction::first)
      out[0] += weighed;
    else
      out.array() += weighed / std::sqrt(static_cast<double>(out.size()));
    return report;
  }
  /// A multiple of the identity, or of the projector onto as many coordinates as the rank allows.
  ClipReport add_product(ConstVectorRef v, double limit, VectorRef out) const {
    ClipReport report;
    const Index rank = rank_ == 0 ? v.size() : std::min(rank_, v.size());
    const double weight = report.weigh(std::abs(length(limit)), limit) * length(limit);
    out.head(rank) += weight * v.head(rank);
    return report;
  }

  double size_;
  Direction direction_;
  bool separable_, second_order_;
  Index rank_;
};

class Announced final : public Records {
 public:
  Announced(std::shared_ptr<const Records> record, std::function<void()> before)
      : record_(std::move(record)), before_(std::move(before)) {}

  Index size() const override { return 1; }
  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView&,
                           double limit,
                           VectorRef out) const override {
    before_();
    return record_->add_gradients(point, block, alone, limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView&,
                                      double limit,
                                      VectorRef out) const override {
    before_();
    return record_->add_gradient_differences(point, previous, block, alone, limit, out);
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView&,
                                  double limit,
                                  double& out) const override {
    before_();
    return record_->add_loss_differences(point, centre, alone, limit, out);
  }
  bool separable() const override { return record_->separable(); }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    before_();
    return record_->add_coordinate_loss_differences(coordinate, values, centre, alone, limit, out);
  }
  bool has_second_order() const override { return record_->has_second_order(); }
  Index hessian_rank() const override { return record_->hessian_rank(); }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView&,
                                  double limit,
                                  VectorRef out) const override {
    before_();
    return record_->add_hessian_products(point, v, alone, limit, out);
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView&,
                                             double limit,
                                             VectorRef out) const override {
    before_();
    return record_->add_hessian_difference_products(point, previous, v, alone, limit, out);
  }

 private:
  std::shared_ptr<const Records> record_;
  std::function<void()> before_;
};

}  // namespace

std::shared_ptr<const Records> announced(std::shared_ptr<const Records> record,
                                         std::function<void()> before) {
  return std::make_shared<Announced>(std::move(record), std::move(before));
}

std::shared_ptr<const Records> one_of(const Records& records, Index index) {
  return std::make_shared<OneOf>(records, index);
}

std::shared_ptr<const Records> scaled(std::shared_ptr<const Records> record, double factor) {
  return std::make_shared<Scaled>(std::move(record), factor);
}

std::unique_ptr<const Records> alike(std::shared_ptr<const Records> record, Index size) {
  return std::make_unique<Alike>(std::move(record), size);
}

std::shared_ptr<const Records> saturating(const Records& like, double size, Direction direction) {
  return std::make_shared<Saturating>(
      size, direction, like.separable(), like.has_second_order(), like.hessian_rank());
}

}  // namespace dpsosp::audit
