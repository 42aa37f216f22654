// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dpsosp/core/vector.hpp"

namespace dpsosp::plots {

/// A point marked on a contour map.
struct MapPoint {
  std::string label;      ///< in the legend, once for all points of that label
  std::size_t style = 0;  ///< colour and shape
  double x = 0;
  double y = 0;
};

/// A function of two variables by its level lines, which are at quantiles of the values: equal
/// areas lie between neighbouring lines.
struct ContourMap {
  std::string id;     ///< file stem
  std::string title;  ///< alternative text; not drawn
  std::string x_label;
  std::string y_label;
  Vector x;       ///< ascending, m ≥ 2
  Vector y;       ///< ascending, n ≥ 2
  Matrix values;  ///< n × m, finite
  std::vector<MapPoint> points;
};

}  // namespace dpsosp::plots
