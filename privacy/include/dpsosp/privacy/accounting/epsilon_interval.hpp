// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// Bounds of the least ε of a mechanism at a stated δ.
struct EpsilonInterval {
  double lower;  ///< some pair of data sets attains no smaller one
  double upper;  ///< proved for every pair
};

}  // namespace dpsosp
