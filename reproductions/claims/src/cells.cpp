// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/claims/cells.hpp"

#include <cmath>

namespace dpsosp {

plots::Cell number_cell(double value, int digits) {
  if (!std::isfinite(value)) return plots::text_cell("–");
  plots::Cell c;
  c.content = plots::Number{value, {.digits = digits}};
  return c;
}

plots::Cell spread_cell(const CellMetric& metric) {
  if (metric.values.empty() && metric.failed == 0) return plots::text_cell("–");
  plots::Cell c;
  c.content = plots::spread_of(metric.values, metric.failed, metric.failure, {.digits = 3});
  return c;
}

}  // namespace dpsosp
