// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dpsosp {

/// Nodes of a binary tree over `leaves` >= 1 leaves that hold one given leaf: ceil(log2(leaves +
/// 1)).
std::int64_t tree_depth(std::int64_t leaves);

/// zCDP of one epoch with a record in one leaf: depth/(2z²), z = node noise std / leaf sensitivity.
/// \source Kairouz et al. (2021), arXiv:2103.00039, appendix D.
double tree_rho(std::int64_t leaves, double noise_multiplier);

}  // namespace dpsosp
