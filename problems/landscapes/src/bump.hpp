// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "jet.hpp"

namespace dpsosp {

/// B(t) = (1 − t²)⁴ on [−1, 1], 0 outside: C³, largest at 0.
inline Jet bump(double t) {
  const double s = 1 - t * t;
  if (s <= 0) return {};
  return {s * s * s * s, -8 * t * s * s * s, 8 * s * s * (7 * t * t - 1),
          t * s * (144 - 336 * t * t)};
}

/// sup |B′| = 8 (6/7)³/√7, at t² = 1/7.
inline const double bump_slope = 1728 / (343 * std::sqrt(7.0));
/// sup |B″|, at 0.
inline constexpr double bump_curvature = 8;
/// sup |B‴| = 31.6207, at t² = (30 − √480)/70.
inline const double bump_third = [] {
  const double square = (30 - std::sqrt(480.0)) / 70;
  return bump(std::sqrt(square)).third;
}();

}  // namespace dpsosp
