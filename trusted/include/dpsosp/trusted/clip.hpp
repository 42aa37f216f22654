// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Longer vectors, and larger ratios of a norm to its limit, are not told apart from infinite ones.
inline constexpr double longest = 1e300;

/// What a contribution that `times` records make is multiplied with: times·min(1, limit/norm). 0
/// where the norm is NaN, above 1e300 or above 1e300 limits, since the product would be rounding.
inline double clip_weight(ClipReport& report, double norm, double limit, Index times = 1) {
  report.largest_norm = std::max(report.largest_norm, norm);
  const auto records = static_cast<double>(times);
  if (norm <= limit && norm <= longest) return records;
  report.clipped += times;
  return norm <= longest && norm * (1 / longest) <= limit ? limit / norm * records : 0.0;
}

/// ‖v‖, also where squares underflow or overflow.
inline double length_of(ConstVectorRef v) {
  constexpr double least = 1e-280, most = 1e280;
  const double squares = v.squaredNorm();
  return squares > least && squares < most ? std::sqrt(squares) : v.stableNorm();
}

}  // namespace dpsosp
