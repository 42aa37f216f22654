// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace dpsosp {

/// A function of one variable and its derivative at a point.
struct ScalarJet {
  double value = 0;
  double slope = 0;
};

struct CertifiedMinimum {
  double point = 0;  ///< where `value` is taken
  double value = 0;
  double lower = 0;  ///< ≤ the least value, but for rounding
};

/// Least value of f on [from, to] within `tolerance` by branch and bound, where `jet(u)` is f and
/// f′ at u and |f″| ≤ curvature: on [m − r, m + r], f ≥ f(m) − |f′(m)| r − curvature r²/2.
template <class Jet>
CertifiedMinimum certified_minimum(const Jet& jet, double from, double to, double curvature,
                                   double tolerance = 1e-12) {
  struct Cell {
    double middle, radius;
  };
  constexpr int first_cells = 64;
  std::vector<Cell> open;
  const double radius = (to - from) / (2 * first_cells);
  for (int k = 0; k < first_cells; ++k) open.push_back({from + (2 * k + 1) * radius, radius});
  CertifiedMinimum found{.point = from, .value = jet(from).value};
  const auto try_point = [&](double u, double value) {
    if (value < found.value) {
      found.point = u;
      found.value = value;
    }
  };
  try_point(to, jet(to).value);
  for (const Cell& cell : open) try_point(cell.middle, jet(cell.middle).value);
  found.lower = found.value;
  while (!open.empty()) {
    const Cell cell = open.back();
    open.pop_back();
    const ScalarJet at = jet(cell.middle);
    try_point(cell.middle, at.value);
    const double bound =
        at.value - cell.radius * (std::abs(at.slope) + curvature * cell.radius / 2);
    if (bound >= found.value - tolerance) {
      found.lower = std::min(found.lower, bound);
      continue;
    }
    open.push_back({cell.middle - cell.radius / 2, cell.radius / 2});
    open.push_back({cell.middle + cell.radius / 2, cell.radius / 2});
  }
  found.lower = std::min(found.lower, found.value);
  return found;
}

/// An upper bound, within `tolerance`, on the largest value of f on [from, to].
template <class Jet>
double certified_maximum(const Jet& jet, double from, double to, double curvature,
                         double tolerance = 1e-12) {
  return -certified_minimum(
              [&](double u) {
                const ScalarJet at = jet(u);
                return ScalarJet{-at.value, -at.slope};
              },
              from, to, curvature, tolerance)
              .lower;
}

/// A zero of a continuous function between `from` and `to`, where its signs differ.
template <class Function>
double bisected_zero(const Function& function, double from, double to) {
  const bool rises = function(from) < 0;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (from + to);
    if (middle == from || middle == to) break;
    ((function(middle) < 0) == rises ? from : to) = middle;
  }
  return 0.5 * (from + to);
}

}  // namespace dpsosp
