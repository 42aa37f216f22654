// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Counts a contribution that `times` records make; returns times·min(1, limit/norm).
inline double weigh_repeated(ClipReport& report, double norm, double limit, Index times) {
  const Index before = report.clipped;
  const double weight = report.weigh(norm, limit);
  if (report.clipped > before) report.clipped += times - 1;
  return weight * static_cast<double>(times);
}

}  // namespace dpsosp
