// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// An upper bound on max f over [from, to] for an f whose slope is at most `lipschitz`: its largest
/// value at the midpoints of `cells` equal cells, plus what a cell's half can add.
template <class Function>
double certified_maximum(double from, double to, Index cells, double lipschitz, const Function& f) {
  const double width = (to - from) / static_cast<double>(cells);
  double largest = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < cells; ++k)
    largest = std::max(largest, f(from + (static_cast<double>(k) + 0.5) * width));
  return largest + 0.5 * width * lipschitz;
}

}  // namespace dpsosp
