// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "dpsosp/core/discrete_gaussian.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A vector whose entries are integers times a power of two, with the noise that belongs to it.
/// Sums are exact in any order, so rounding reveals nothing about a record.
///
/// A contribution is cut to the lattice toward zero, so it does not become longer, and its length
/// is checked in integers: one beyond `limit`·(1 + 2^−30) counts as zero. The noise is a discrete
/// Gaussian of at least `deviation`·(1 + 2^−29). So k exchanged contributions with limits C_j cost
/// (2 ΣC_j)²/(2 deviation²) of zCDP at most, and less by a relative 2^−29: more than what
/// rounding does to that number where it is charged. (Where one record is in groups whose limits
/// differ by 10^14, SensitivitySteps leaves up to 1e-21 of zCDP a query uncharged, here as
/// elsewhere.) \source Canonne, Kamath and Steinke (2020), Proposition 5, a coordinate at a time
class LatticeVector {
 public:
  /// \param deviation  of the noise, in the unit of the contributions; in [1e-250, 1e250]
  LatticeVector(double deviation, Index entries);

  /// \param limit  at most 1000 deviations, so that its square fits the integers
  void add(ConstVectorRef contribution, double limit);
  /// \param other  of the same deviation and size
  void add(const LatticeVector& other);
  void add_noise(WordSource& words);
  void write(VectorRef out) const;
  Index size() const { return static_cast<Index>(entries_.size()); }

 private:
  __extension__ using Integer = __int128;
  double spacing_;
  std::int64_t sigma_;
  std::vector<Integer> entries_;
  std::vector<std::int64_t> scratch_;
};

}  // namespace dpsosp
