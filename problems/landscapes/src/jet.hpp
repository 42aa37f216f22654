// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// A function of one variable and its first three derivatives at a point.
struct Jet {
  double value = 0, first = 0, second = 0, third = 0;
};

/// The quintic S(t) = 10t³ − 15t⁴ + 6t⁵ from 0 (t ≤ 0) to 1 (t ≥ 1): C², S″ Lipschitz.
/// sup S′ = 15/8, sup |S″| = 10/√3, sup |S‴| = 60, sup |S⁗| = 360.
inline Jet smooth_step(double t) {
  if (t <= 0) return {};
  if (t >= 1) return {1, 0, 0, 0};
  const double s = 1 - t;
  return {t * t * t * (10 - 15 * t + 6 * t * t), 30 * t * t * s * s, 60 * t * s * (1 - 2 * t),
          60 - 360 * t * s};
}

/// The septic S(t) = 35t⁴ − 84t⁵ + 70t⁶ − 20t⁷ from 0 (t ≤ 0) to 1 (t ≥ 1): C³.
/// sup S′ = 35/16, sup |S‴| = 105/2, sup |S⁗| = 840.
inline Jet smoother_step(double t) {
  if (t <= 0) return {};
  if (t >= 1) return {1, 0, 0, 0};
  const double p = t * (1 - t);
  return {t * t * t * t * (35 + t * (-84 + t * (70 - 20 * t))), 140 * p * p * p,
          420 * p * p * (1 - 2 * t), 840 * p * (1 - 5 * p)};
}

}  // namespace dpsosp
