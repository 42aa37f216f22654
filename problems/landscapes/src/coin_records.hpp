// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "dpsosp/problems/sampling.hpp"
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

using Flips = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic>;  // k × n, 1 = heads

/// f(x; z) = −A Σ_j (1 − z_j) B(‖x − p_j‖/r) for given flips, one column a record.
std::unique_ptr<const Records> coin_records(const CoinCells& cells, Flips heads);

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
