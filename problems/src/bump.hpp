// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "jet.hpp"

namespace dpsosp {

/// B(t) = (1 − t²)³ on [−1, 1], 0 outside: C², largest at 0, with a Lipschitz second derivative.
inline Jet bump(double t) {
  const double s = 1 - t * t;
  if (s <= 0) return {};
  return {s * s * s, -6 * t * s * s, 6 * s * (5 * t * t - 1), t * (72 - 120 * t * t)};
}

inline const double bump_slope = 96 / (25 * std::sqrt(5.0));  ///< sup |B′|, at t² = 1/5
inline constexpr double bump_curvature = 6;                   ///< sup |B″|, at 0
inline constexpr double bump_third = 48;                      ///< sup |B‴|, at ±1

}  // namespace dpsosp
