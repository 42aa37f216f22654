// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Vectors of few entries, eight in a block, entry by entry: sums over them fill registers that
/// rows of ten entries leave half empty. The same bits with every instruction set: vector i is
/// added to partial sum i mod 8, in the order of the vectors.
class VectorBlocks {
 public:
  static constexpr Index in_block = 8;
  static constexpr Index most_entries = 32;

  VectorBlocks() = default;
  /// \param vectors  d × n, d ≤ most_entries; the last n mod 8 are left out
  explicit VectorBlocks(const Matrix& vectors);

  struct Weighed {
    double weight = 0;        ///< Σ w_i
    Index clipped = 0;        ///< of how many w_i < 1
    double largest_norm = 0;  ///< of z_i + shift
  };
  /// out += Σ w_i z_i, w_i = min(1, limit/‖z_i + shift‖), over the blocks [first, last).
  Weighed add_weighed(Index first, Index last, ConstVectorRef shift, double limit,
                      VectorRef out) const;

 private:
  std::vector<double> entries_;  // entry j of vector 8b + k is number (b d + j) 8 + k
};

}  // namespace dpsosp
