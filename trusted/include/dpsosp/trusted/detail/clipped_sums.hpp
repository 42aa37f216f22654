// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/point.hpp"
#include "dpsosp/trusted/record_table.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// What a loss is shown of a summand: copies, so that nothing reaches the vectors of who asked.
struct ShownSummand {
  explicit ShownSummand(const Summand& s)
      : x(s.point.x),
        y(s.point.y),
        x_before(s.previous ? Vector(s.previous->x) : Vector()),
        y_before(s.previous ? Vector(s.previous->y) : Vector()),
        v(s.v),
        summand{s.kind, Point(x, y), {}, v, s.block, s.coordinate, s.centre} {
    if (s.previous) summand.previous.emplace(x_before, y_before);
  }

  Vector x, y, x_before, y_before, v;
  Summand summand;
};

/// The sums of RecordSums over columns of a table, each counted as often as it occurs and clipped
/// on its own.
class ClippedSums {
 public:
  virtual ~ClippedSums() = default;

  virtual const RecordTable& table() const = 0;
  virtual bool separable() const { return false; }
  virtual bool has_second_order() const { return false; }
  virtual Index hessian_rank() const { return 0; }
  virtual bool adds_hessians() const { return false; }
  virtual bool sums_to_hessians() const { return false; }

  /// As RecordSums::add.
  virtual ClipReport add(const Summand& summand, const Members& members, double limit,
                         VectorRef out) const = 0;
  /// As RecordSums::add_hessians.
  virtual ClipReport add_hessians(const Point& point, const Members& members, double limit,
                                  VectorRef out) const;
  /// The same sums of projected features, as AnyRecords::projected.
  virtual std::unique_ptr<const ClippedSums> projected(const Matrix& map, double cap) const;
};

}  // namespace dpsosp
