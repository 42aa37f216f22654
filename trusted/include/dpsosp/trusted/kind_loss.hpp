// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dpsosp/core/point.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// What a record of each of K kinds adds to a sum of vectors of m entries. Public: made of points
/// before a record is read, which then says its kind and nothing else.
struct KindShares {
  /// The kind of a record is Σ_b 2^b [entry flags_b of its column is not 0]; at most two entries.
  /// Without any, kind k is column k of the table, and K the number of columns.
  std::vector<Index> flags = {};
  Matrix vectors = {};  ///< m × K: kind k adds column k, unless `axes` is set
  Vector bounds =
      {};  ///< K bounds of the norms of the Hessians whose products these are; else empty

  /// Kind k adds along_k a_k + common, or along_k ⟨a_k, v⟩ a_k + common to a product with v, where
  /// a_1, …, a_m are the loss's orthonormal axes and K = m. `common` has coordinates in the axes,
  /// of a product those of v.
  bool axes = false;
  Vector along = {};
  Vector common = {};
};

/// A loss of which a sum needs no more than how many records of each kind there are.
class KindLoss {
 public:
  virtual ~KindLoss() = default;

  virtual std::string problem() const = 0;  ///< for messages
  virtual Index dimension() const = 0;
  /// a_1, …, a_d, orthonormal columns; 0 × 0 is the identity.
  virtual Matrix axes() const { return {}; }
  /// Gradients, less those at `previous` unless it is null; m = d.
  virtual KindShares gradients(const Point& point, const Point* previous) const = 0;
  /// Losses less those at the centre; m = 1.
  virtual KindShares losses(const Point& point, const Point& centre) const = 0;
  /// Products of Hessians with v, less those at `previous` unless it is null, with bounds; m = d.
  virtual KindShares products(const Point& point, const Point* previous,
                              ConstVectorRef v) const = 0;
};

}  // namespace dpsosp
