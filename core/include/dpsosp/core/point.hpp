// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Which part of ∇f(x, y) a query asks for. Minimisation problems have the block x alone.
enum class Block { x, y, joint };

/// Where a query is made: x ∈ R^d, and y ∈ R^{d₂} for minimax problems. A view: the vectors must
/// outlive it. Without y, a problem with per-record duals lets record i answer with its own
/// maximiser y_i*(x), which stays with the record; a problem with a shared dual refuses.
struct Point {
  explicit Point(ConstVectorRef x_) : x(x_), y(Eigen::Map<const Vector>(nullptr, 0)) {}
  Point(ConstVectorRef x_, ConstVectorRef y_) : x(x_), y(y_) {}

  bool has_dual() const { return y.size() > 0; }
  /// ‖(x, y) − (x′, y′)‖.
  double distance(const Point& other) const {
    double squared = (x - other.x).squaredNorm();
    if (has_dual()) squared += (y - other.y).squaredNorm();
    return std::sqrt(squared);
  }

  Eigen::Ref<const Vector> x;
  Eigen::Ref<const Vector> y;
};

}  // namespace dpsosp
