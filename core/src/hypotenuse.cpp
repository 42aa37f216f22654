// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/hypotenuse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpsosp {
namespace {

/// √(large² + small²) with a step of Newton's method, whose residual large² + small² − h² is summed
/// from differences that are exact or nearly so (Borges, An improved algorithm for hypot, 2019).
double corrected_root(double large, double small) {
  const double h = std::sqrt(large * large + small * small);
  double first = 0, second = 0;
  if (h <= 2 * small) {
    const double rest = h - small;
    first = large * (2 * rest - large);
    second = (rest - 2 * (large - small)) * rest;
  } else {
    const double rest = h - large;
    first = 2 * rest * (large - 2 * small);
    second = (4 * rest - small) * small + rest * rest;
  }
  return h - (first + second) / (2 * h);
}

}  // namespace

double hypotenuse(double x, double y) {
  constexpr double far_apart = 0x1p54, huge = 0x1p511, tiny = 0x1p-459, scale = 0x1p600;
  x = std::abs(x);
  y = std::abs(y);
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
  if (std::isnan(x) || std::isnan(y)) return x + y;
  const double large = std::max(x, y), small = std::min(x, y);
  if (large >= small * far_apart) return large + small;
  if (large > huge) return corrected_root(large / scale, small / scale) * scale;
  if (small < tiny) return corrected_root(large * scale, small * scale) / scale;
  return corrected_root(large, small);
}

Vector norms_beside(const Vector& u) {
  Vector squares = Vector::Zero(u.size());
  double before = 0, after = 0;
  for (Index j = 0; j < u.size(); ++j) {
    const Index k = u.size() - 1 - j;
    squares[j] += before;
    squares[k] += after;
    before += u[j] * u[j];
    after += u[k] * u[k];
  }
  return squares.cwiseSqrt();
}

}  // namespace dpsosp
