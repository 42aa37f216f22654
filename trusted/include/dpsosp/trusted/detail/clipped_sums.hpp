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
  virtual bool adds_hessians() const { return false; }

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
