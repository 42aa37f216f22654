// SPDX-License-Identifier: Apache-2.0
// Records of any contents, and how far the sums of two neighbouring data sets are from each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/trusted/record_table.hpp"
#include "dpsosp/trusted/records.hpp"

namespace dpsosp::trusted_tests {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr Index d = 4;

/// NaN, an infinity, zero, or a normal number times 10^u with u uniform in [least, most].
inline double any_number(Stream& stream, double least, double most) {
  switch (stream.below(40)) {
    case 0:
      return std::nan("");
    case 1:
      return stream.bernoulli(0.5) ? inf : -inf;
    case 2:
      return 0;
    case 3:
      return stream.bernoulli(0.5) ? 1e308 : -5e-324;
    default:
      return stream.normal() * std::pow(10.0, least + (most - least) * stream.uniform());
  }
}

inline Vector any_vector(Stream& stream, Index size, double least, double most) {
  Vector made(size);
  const double scale = std::pow(10.0, least + (most - least) * stream.uniform());
  for (double& entry : made)
    entry = stream.below(30) == 0 ? any_number(stream, least, most) : scale * stream.normal();
  return made;
}

/// Records of any size, of which most are like each other.
inline RecordColumns any_columns(Stream& stream, Index n) {
  RecordColumns made{Matrix(d, n), Vector(n)};
  const double least = stream.bernoulli(0.5) ? -0.5 : -160, most = -least;
  for (Index i = 0; i < n; ++i) {
    made.features.col(i) = any_vector(stream, d, least, most);
    made.labels[i] = any_number(stream, 0.1 * least, 0.1 * most);
  }
  return made;
}

/// Every sum of two neighbouring data sets.
class Pairs {
 public:
  /// \param forget  called before each sum
  Pairs(const AnyRecords& one, const AnyRecords& other, std::function<void()> forget,
        Stream& stream, double limit)
      : one_(one), other_(other), forget_(std::move(forget)), limit_(limit) {
    const double reach = stream.bernoulli(0.5) ? 1.0 : 30.0;
    const Vector x = any_vector(stream, d, -reach, reach);
    const Vector before =
        stream.bernoulli(0.3) ? Vector(x * (1 + 1e-15)) : any_vector(stream, d, -reach, reach);
    const Vector v = any_vector(stream, d, -reach, reach);
    const Vector grid = any_vector(stream, 3, -1, 1);
    const double length = v.stableNorm();
    const Index j = stream.below(d);
    const Point p(x), q(before);
    const BatchView all(0, one.size());
    compare(d, 1, [&](const AnyRecords& r, VectorRef out) {
      r.add_gradients(p, Block::x, all, limit, out);
    });
    compare(d, 1, [&](const AnyRecords& r, VectorRef out) {
      r.add_gradient_differences(p, q, Block::x, all, limit, out);
    });
    compare(1, 1, [&](const AnyRecords& r, VectorRef out) {
      r.add_loss_differences(p, q, all, limit, out[0]);
    });
    if (one.has_second_order()) {
      compare(d, length, [&](const AnyRecords& r, VectorRef out) {
        r.add_hessian_products(p, v, all, limit, out);
      });
      compare(d, length, [&](const AnyRecords& r, VectorRef out) {
        r.add_hessian_difference_products(p, q, v, all, limit, out);
      });
    }
    if (one.adds_hessians())
      compare(d * d, 1,
              [&](const AnyRecords& r, VectorRef out) { r.add_hessians(p, all, limit, out); });
    if (one.separable())
      for (Index k = 0; k < grid.size(); ++k)
        compare(1, std::abs(grid[k] - x[j]), [&](const AnyRecords& r, VectorRef out) {
          r.add_coordinate_loss_differences(j, grid.segment(k, 1), x[j], all, limit, out);
        });
  }

  Index compared() const { return compared_; }
  /// Of what is charged.
  double largest_move() const { return largest_; }

 private:
  template <class Sum>
  void compare(Index entries, double scale, const Sum& sum) {
    Vector here = Vector::Zero(entries), there = here;
    forget_();
    sum(one_, here);
    forget_();
    sum(other_, there);
    ++compared_;
    const double charged = 2 * limit_ * scale;
    if (!(charged < inf)) return;  // a query at such a point is refused, or costs everything
    if (here.array().isNaN().any() || there.array().isNaN().any())
      largest_ = inf;
    else if (const double moved = (here - there).stableNorm(); moved > 0)
      largest_ = std::max(largest_, std::isfinite(moved) ? moved / charged : inf);
  }

  const AnyRecords &one_, &other_;
  std::function<void()> forget_;
  double limit_, largest_ = 0;
  Index compared_ = 0;
};

}  // namespace dpsosp::trusted_tests
