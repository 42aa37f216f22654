// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A finite cover of a box or a ball around `centre`: every point of it is within `radius` of a
/// point of the net. Points are computed from their index and never stored.
/// \source lowy-2024 notes, 2.5
class Net {
 public:
  /// Centres of the cells of the box |x_j − c_j| ≤ half_width, m = ⌈half_width √d/radius⌉ an axis.
  static Net box(const Vector& centre, double half_width, double radius);
  /// Lattice points of spacing 2 radius/√d within ball_radius + radius, projected onto the ball.
  static Net ball(const Vector& centre, double ball_radius, double radius);
  /// A net of a bounded domain, which lies around 0. \throws InputError for R^d
  static Net of(const Domain& domain, Index dimension, double radius);

  Index dimension() const { return centre_.size(); }
  const Vector& centre() const { return centre_; }
  /// The radius of the ball around the centre that holds all that is covered.
  double reach() const { return reach_; }
  /// The net is ball(centre, reach, radius) if this is true, and else box(centre, half_width,
  /// radius).
  bool is_ball() const { return width_ < 0; }
  double half_width() const { return width_; }
  double radius() const { return radius_; }
  /// Number of points per axis. A ball's lattice is counted with the cube around it.
  Index per_axis() const { return per_axis_; }
  /// Indices run over [0, per_axis^d), which must be below 2^62. \throws InputError
  Index indices() const;
  /// Writes point number k; false if no point has this index (a corner of a ball's cube).
  bool point(Index k, VectorRef out) const;
  /// ln N, N the number of points; for a ball in many dimensions its bound ln(per_axis^d).
  double log_size() const;
  /// N where it is known exactly and a double holds it, below 2^53; else none.
  std::optional<Index> size() const;

 private:
  /// True if N is counted. It is only bounded for balls in many dimensions.
  bool counted() const;
  /// N, counted, for a ball.
  double ball_points() const;

  Net(Vector centre, double width, double reach, double radius, Index per_axis, double spacing)
      : centre_(std::move(centre)),
        width_(width),
        reach_(reach),
        radius_(radius),
        per_axis_(per_axis),
        spacing_(spacing) {}

  Vector centre_;
  double width_;  // half of a box; negative: a ball of radius reach_
  double reach_;
  double radius_;
  Index per_axis_;
  double spacing_;
};

/// The grid of cell centres of a box, `cells` per axis: c_j − h + (k + ½) 2h/cells.
struct ProductGrid {
  Vector centre;
  double half_width = 0;  ///< h
  Index cells = 0;

  double value(Index coordinate, Index k) const;
  /// d ln(cells).
  double log_size() const;
};

}  // namespace dpsosp
