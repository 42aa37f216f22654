// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Longer vectors, and larger ratios of a norm to its limit, are not told apart from infinite ones.
inline constexpr double longest = 1e300;
/// A smaller limit counts as 0: weights would be rounded by as much as they are.
inline constexpr double shortest_limit = 1e-150;
/// A larger factor of a vector is taken as one that overflows: what it makes times the number of
/// records that share the vector is finite.
inline constexpr double largest_factor = 1e280;
/// Where a record's own part cancels what all share almost, by so many limits, their sums must not
/// be made apart: they would be rounded by more than the limit.
inline constexpr double most_cancelled = 0x1p20;

/// Whether limit/norm is a number to multiply with.
inline bool can_clip(double norm, double limit) {
  return norm <= longest && norm * (1 / longest) <= limit && limit >= shortest_limit;
}

/// What a contribution that `times` records make is multiplied with: times·min(1, limit/norm). 0
/// where the norm is NaN, above 1e300 or above 1e300 limits, since the product would be rounding,
/// and where it is clipped to a limit below 1e−150.
inline double clip_weight(ClipReport& report, double norm, double limit, Index times = 1) {
  report.largest_norm = std::max(report.largest_norm, norm);
  const auto records = static_cast<double>(times);
  if (norm <= limit && norm <= longest) return records;
  report.clipped += times;
  return can_clip(norm, limit) ? limit / norm * records : 0.0;
}

/// weight·c as a factor of the outer product of a vector of this length that `times` records share,
/// or 0 where it would be rounding for one of them: how many they are must not decide.
inline double outer_factor(double weight, double c, double length, Index times) {
  if (!(weight > 0)) return 0.0;
  const double of_one = weight / static_cast<double>(times) * c, factor = std::abs(of_one);
  return std::isnormal(of_one) && factor <= largest_factor && factor * length <= largest_factor
             ? weight * c
             : 0.0;
}

/// `weight`, or less where it would leave more than `times`·`most` of a vector of this norm: for
/// weights by a bound that a problem states and that may be false. 0 as above.
inline double cut_weight(double weight, double norm, double most, Index times) {
  constexpr double slack = 1e-9;  // rounding of a bound that is exact
  if (norm > 0 && !can_clip(norm, most)) return 0.0;
  const double all = most * static_cast<double>(times);
  return weight * norm > all * (1 + slack) ? all / norm : weight;
}

/// ‖v‖, also where squares underflow or overflow; NaN where an entry is. stableNorm alone forgets a
/// NaN among zeros.
inline double length_of(ConstVectorRef v) {
  constexpr double least = 1e-280, most = 1e280;
  const double squares = v.squaredNorm();
  if (squares > least && squares < most) return std::sqrt(squares);
  return std::isnan(squares) ? squares : v.stableNorm();
}

}  // namespace dpsosp
