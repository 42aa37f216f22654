// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/point.hpp"
#include "dpsosp/trusted/record_table.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// The sums of RecordSums over columns of a table, each counted as often as it occurs and clipped
/// on its own.
class ClippedSums {
 public:
  virtual ~ClippedSums() = default;

  virtual const RecordTable& table() const = 0;
  virtual bool separable() const { return false; }
  virtual bool has_second_order() const { return false; }
  virtual Index hessian_rank() const { return 0; }

  /// Gradients, less those at `previous` unless it is null.
  virtual ClipReport add_gradients(const Point& point,
                                   const Point* previous,
                                   Block block,
                                   const Members& members,
                                   double limit,
                                   VectorRef out) const = 0;
  virtual ClipReport add_losses(const Point& point,
                                const Point& centre,
                                const Members& members,
                                double limit,
                                double& out) const;
  virtual ClipReport add_coordinate_losses(Index coordinate,
                                           ConstVectorRef values,
                                           double centre,
                                           const Members& members,
                                           double limit,
                                           VectorRef out) const;
  /// Hessian products, less those at `previous` unless it is null.
  virtual ClipReport add_products(const Point& point,
                                  const Point* previous,
                                  ConstVectorRef v,
                                  const Members& members,
                                  double limit,
                                  VectorRef out) const;
  /// The same sums of projected features, as Records::projected.
  virtual std::unique_ptr<const ClippedSums> projected(const Matrix& map, double cap) const;
};

/// Answers RecordSums by ClippedSums over the columns that a batch consists of.
/// \tparam Interface  Records or SimulatedSums
template <class Interface>
class AnsweredBy : public Interface {
 public:
  bool separable() const final { return sums_->separable(); }
  bool has_second_order() const final { return sums_->has_second_order(); }
  Index hessian_rank() const final { return sums_->hessian_rank(); }

  ClipReport add_gradients(const Point& point,
                           Block block,
                           const BatchView& batch,
                           double limit,
                           VectorRef out) const final {
    return sums_->add_gradients(point, nullptr, block, members_of(batch), limit, out);
  }
  ClipReport add_gradient_differences(const Point& point,
                                      const Point& previous,
                                      Block block,
                                      const BatchView& batch,
                                      double limit,
                                      VectorRef out) const final {
    return sums_->add_gradients(point, &previous, block, members_of(batch), limit, out);
  }
  ClipReport add_loss_differences(const Point& point,
                                  const Point& centre,
                                  const BatchView& batch,
                                  double limit,
                                  double& out) const final {
    return sums_->add_losses(point, centre, members_of(batch), limit, out);
  }
  ClipReport add_coordinate_loss_differences(Index coordinate,
                                             ConstVectorRef values,
                                             double centre,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    return sums_->add_coordinate_losses(coordinate, values, centre, members_of(batch), limit, out);
  }
  ClipReport add_hessian_products(const Point& point,
                                  ConstVectorRef v,
                                  const BatchView& batch,
                                  double limit,
                                  VectorRef out) const final {
    return sums_->add_products(point, nullptr, v, members_of(batch), limit, out);
  }
  ClipReport add_hessian_difference_products(const Point& point,
                                             const Point& previous,
                                             ConstVectorRef v,
                                             const BatchView& batch,
                                             double limit,
                                             VectorRef out) const final {
    return sums_->add_products(point, &previous, v, members_of(batch), limit, out);
  }

 protected:
  explicit AnsweredBy(std::unique_ptr<const ClippedSums> sums) : sums_(std::move(sums)) {}
  const ClippedSums& sums() const { return *sums_; }

 private:
  virtual Members members_of(const BatchView& batch) const = 0;

  std::unique_ptr<const ClippedSums> sums_;
};

}  // namespace dpsosp
