// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dpsosp/privacy/curator.hpp"

namespace dpsosp {
namespace door {
class TreeStream;
}

/// Dyadic decomposition of {1, …, t} into popcount(t) nodes (first, last), largest first.
/// \source liu-talwar-2025, Algorithm 1 (NODE); liu-talwar-2025 notes, 2.1. Corrected: the printed
///   loop starts at block size 2^{⌈log₂ Σ⌉−1} and so misses the node (1, Σ) for Σ a power of two
///   (docs/errata.md, L1).
std::vector<std::pair<std::int64_t, std::int64_t>> tree_nodes(std::int64_t t);

/// Private prefix sums: push adds a clipped mean to a running sum S_t and releases S_t plus the
/// noise of the nodes of NODE(t), N(0, σ² I) per node.
///
/// A node is charged when it is created, to the records of every leaf under it: a record whose
/// leaves under the node have sensitivities s_j pays (Σ_j s_j)²/(2σ²) of zCDP. Batches with secret
/// membership are refused: a tree has no amplification.
/// \source liu-talwar-2025, Algorithm 1 (TREE); privacy-accounting notes, 9 and 15.1
class TreeStream {
 public:
  /// \param sigma       per node and coordinate, unit of the pushed means; > 0
  /// \param max_leaves  pushes between restarts; ≥ 1
  /// \param curator     outlives the stream
  TreeStream(Curator& curator, double sigma, std::int64_t max_leaves);
  ~TreeStream();

  /// Forgets the sum and the nodes. The next push is leaf 1 of a new tree.
  void restart();
  /// Leaf t += mean of clipped gradients; out = noisy prefix sum. query.noise is not used.
  /// \throws BudgetExhausted (nothing pushed, out untouched), InputError beyond max_leaves
  void push_gradient(const Point& point, const Batch& batch, const GradientQuery& query,
                     VectorRef out);
  /// Leaf t += mean of clipped gradient differences.
  void push_difference(const Point& point, const Point& previous, const Batch& batch,
                       const GradientQuery& query, VectorRef out);

  std::int64_t leaves() const;

 private:
  std::unique_ptr<door::TreeStream> session_;
};

}  // namespace dpsosp
