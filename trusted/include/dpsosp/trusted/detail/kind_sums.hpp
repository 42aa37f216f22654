// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "dpsosp/trusted/detail/clipped_sums.hpp"
#include "dpsosp/trusted/kind_loss.hpp"

namespace dpsosp {

/// Clipped sums of a loss of kinds: the records of each are counted, and the vector of a kind is
/// measured and cut here.
class KindSums final : public ClippedSums {
 public:
  /// \throws InputError unless the axes of the loss are orthonormal
  KindSums(std::unique_ptr<const KindLoss> loss, RecordTable table);

  const RecordTable& table() const override { return table_; }
  bool has_second_order() const override { return true; }

  ClipReport add(const Summand& summand, const Members& members, double limit,
                 VectorRef out) const override;

 private:
  KindShares shares_of(const Summand& summand) const;
  std::vector<Index> count(const KindShares& shares, const Members& members) const;
  ClipReport add_along_axes(const KindShares& shares, const std::vector<Index>& counts,
                            double limit, const Vector* direction, VectorRef out) const;
  Vector in_axes(const Vector& v) const;
  Vector from_axes(const Vector& u) const;

  std::unique_ptr<const KindLoss> loss_;
  RecordTable table_;
  Index dimension_;
  Matrix axes_;
};

}  // namespace dpsosp
