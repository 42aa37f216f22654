// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/accounting/tree.hpp"

#include <bit>

#include "numeric.hpp"

namespace dpsosp {

std::int64_t tree_depth(std::int64_t leaves) {
  expect(leaves >= 1, "tree_depth", "leaves", static_cast<double>(leaves), "at least 1");
  return static_cast<std::int64_t>(
      std::bit_width(static_cast<std::uint64_t>(leaves)));  // = ceil(log2(leaves + 1))
}

double tree_rho(std::int64_t leaves, double noise_multiplier) {
  expect_positive("tree_rho", "noise_multiplier", noise_multiplier);
  return static_cast<double>(tree_depth(leaves)) / (2 * noise_multiplier * noise_multiplier);
}

}  // namespace dpsosp
