// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "dpsosp/problems/sampling.hpp"
#include "dpsosp/trusted/kind_loss.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// The m^d cells of the box |x_i| ≤ h with a ball of radius r = h/m each, and the heights
/// A B(‖x − p_j‖/r) over them.
struct CoinCells {
  Index dimension, per_axis;
  double half_width, amplitude;

  double radius() const { return half_width / static_cast<double>(per_axis); }
  /// The one cell whose ball can contain x.
  Index find(ConstVectorRef x) const;
  Vector centre(Index cell) const;
  double height(ConstVectorRef x, Index cell) const;
  /// ∇ of the height.
  Vector slope(ConstVectorRef x, Index cell) const;
  /// ∇² of the height times v.
  Vector bend(ConstVectorRef x, Index cell, ConstVectorRef v) const;
  /// Operator norm of that ∇².
  double curvature(ConstVectorRef x, Index cell) const;
  /// Bound of the third derivative.
  double third() const;
};

/// f(x; z) = −A Σ_j (1 − z_j) B(‖x − p_j‖/r), a query of which meets two coins at most: x's, and
/// that of the point it is compared with.
class CoinLoss final : public KindLoss {
 public:
  explicit CoinLoss(const CoinCells& cells) : cells_(cells) {}

  std::string problem() const override { return "coins"; }
  Index dimension() const override { return cells_.dimension; }
  KindShares gradients(const Point& point, const Point* previous) const override;
  KindShares losses(const Point& point, const Point& centre) const override;
  KindShares products(const Point& point, const Point* previous, ConstVectorRef v) const override;

 private:
  CoinCells cells_;
};

/// \param tails  k × n, 1 − z_j of a record in a column
std::unique_ptr<const AnyRecords> coin_records(const CoinCells& cells, Matrix tails);

/// Records of which only sums exist: the tails of coin j among the records of a range are
/// Bin(size, 1 − p_j), independent over coins and over disjoint ranges, and the same whenever the
/// range is asked again.
struct SimulatedCoins {
  RecordSampling sampling = RecordSampling::whole;
  Index records = 0;
  std::uint64_t data_seed = 0;
  Index planted = 0;       ///< the coin that is not fair
  double probability = 0;  ///< of its heads

  double tails(Index begin, Index size, Index j) const;
};
std::unique_ptr<const SimulatedSums> coin_sums(const CoinCells& cells, const SimulatedCoins& coins);

}  // namespace dpsosp
