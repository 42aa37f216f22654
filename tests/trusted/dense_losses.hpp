// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "dpsosp/trusted/dense_loss.hpp"

namespace dpsosp::trusted_tests {

struct Size {
  mutable Index d;
};

/// f(x; a) = Σ_j (x_j − a_j)⁴/4.
struct Bowl {
  static constexpr std::string_view problem = "bowl";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  using Losses = Gradients;
  using Products = Gradients;
  struct Coordinates {
    Coordinates(const Facts&, Index, ConstVectorRef to, double from) : values(to), centre(from) {}
    Vector values;
    double centre;
  };
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = (at.x - z.column).array().cube();
    if (at.difference) v.array() -= (at.x_before - z.column).array().cube();
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    return ((at.x - z.column).array().pow(4) - (at.x_before - z.column).array().pow(4)).sum() / 4;
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    v = 3 * (at.x - z.column).array().square();
    if (at.difference) v.array() -= 3 * (at.x_before - z.column).array().square();
    const double bound = v.cwiseAbs().maxCoeff();
    v.array() *= at.direction.array();
    return bound;
  }
  static double coordinate_loss(const Coordinates& at, double a, Index k) {
    return (std::pow(at.values[k] - a, 4) - std::pow(at.centre - a, 4)) / 4;
  }
};

/// f(x, y; a, b) = y (⟨a, x⟩² − b) − y²/2 with y of the record's own; scale and v are apart.
struct OwnDual {
  static constexpr std::string_view problem = "own dual";
  static constexpr DenseDual dual = DenseDual::own;
  static constexpr DenseLength length = DenseLength::by_factor;
  using Facts = Size;
  using Gradients = Bowl::Gradients;
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = z.column;
    const auto parts = [&](const Vector& x, bool given, double dual) {
      const double t = z.column.dot(x), residual = t * t - z.label, y = given ? dual : residual;
      return DenseGradient{2 * y * t, residual - y};
    };
    const DenseGradient to = parts(at.x, at.y.size() > 0, z.dual);
    if (!at.difference) return to;
    const DenseGradient from = parts(at.x_before, at.y_before.size() > 0, z.dual_before);
    return {to.scale - from.scale, to.dual - from.dual};
  }
};

/// f(x, y; a) = ⟨y, x⟩ + ⟨a, x + y⟩ − ‖y‖²/2 with x, y ∈ R^d. It says of ∇_x, falsely, and of
/// differences that they are the same for all records, and adds a whatever is asked.
struct SharedDual {
  static constexpr std::string_view problem = "shared dual";
  static constexpr DenseDual dual = DenseDual::shared;
  static constexpr DenseLength length = DenseLength::by_block;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  static Index dimension(const Facts& facts) { return facts.d; }
  static Index dual_dimension(const Facts& facts) { return facts.d; }
  static bool reads_record(Block block, bool difference) {
    return block != Block::x && !difference;
  }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    const Index d = at.x.size();
    if (at.block != Block::y) v.head(d) = at.y;
    if (at.block != Block::x) v.tail(d) = at.x - at.y;
    if (at.difference && at.block != Block::y) v.head(d) -= at.y_before;
    if (at.difference && at.block != Block::x) v.tail(d) -= at.x_before - at.y_before;
    v += z.column.replicate(v.size() / d, 1);
    v *= 0.5;
    return {.scale = 2};
  }
};

/// Hessians of rank one that are huge, c u uᵀ with u = a and c = b.
struct Curved {
  static constexpr std::string_view problem = "curved";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  using Gradients = DenseQuery<Facts>;
  static Index dimension(const Facts& facts) { return facts.d; }
  static DenseGradient gradient(const Gradients&, const DenseRecord&, double*, VectorRef) {
    return {};
  }
  static double curvature(const Gradients&, const DenseRecord& z, double*, VectorRef u) {
    u = z.column;
    return z.label;
  }
};

/// Changes everything that it is given, and throws what its record says.
struct Busy {
  static constexpr std::string_view problem = "busy";
  static constexpr DenseDual dual = DenseDual::none;
  using Facts = Size;
  struct Gradients {
    Gradients(const Facts&, const Point& point, const Point*, Block)
        : x(const_cast<double*>(point.x.data())) {}
    double* x;
  };
  struct Losses : Gradients {
    Losses(const Facts& facts, const Point& point, const Point& centre)
        : Gradients(facts, point, &centre, Block::x) {}
  };
  struct Products : Gradients {
    Products(const Facts& facts, const Point& point, const Point* previous, ConstVectorRef v)
        : Gradients(facts, point, previous, Block::x), along(const_cast<double*>(v.data())) {
      along[0] *= 1e9;
    }
    double* along;
  };
  struct Coordinates {
    Coordinates(const Facts&, Index, ConstVectorRef to, double)
        : values(const_cast<double*>(to.data())) {}
    double* values;
  };
  static Index dimension(const Facts& facts) { return facts.d++; }
  static DenseGradient gradient(const Gradients& at, const DenseRecord& z, double*, VectorRef v) {
    v = z.column;
    at.x[0] = z.column[0];
    *const_cast<double*>(z.column.data()) *= 1e6;
    if (z.label > 6) throw z.label;
    return {};
  }
  static double loss(const Losses& at, const DenseRecord& z, double*) {
    at.x[1] = z.column[0];
    if (z.label > 6) throw z.label;
    return z.column[0];
  }
  static double product(const Products& at, const DenseRecord& z, double*, VectorRef v) {
    v = 1e9 * z.column;
    at.along[0] *= 2;
    if (z.label > 6) throw z.label;
    return 0;
  }
  static double coordinate_loss(const Coordinates& at, double entry, Index k) {
    at.values[k] *= 1e6;
    if (entry > 0) throw entry;
    return 1e6 * entry;
  }
};

/// Answers NaN, infinities, 1e308, denormals and wild factors, as the label says, states bounds
/// that are false, leaves v unwritten, and adds what an earlier record may have left in v and
/// scratch.
template <DenseDual kind, DenseLength how = DenseLength::whole>
struct Wild {
  static constexpr std::string_view problem = "wild";
  static constexpr DenseDual dual = kind;
  static constexpr DenseLength length = how;
  using Facts = Size;
  struct Query {
    Index d;
  };
  struct Gradients : Query {
    Gradients(const Facts& facts, const Point&, const Point*, Block) : Query{facts.d} {}
  };
  struct Losses : Query {
    Losses(const Facts& facts, const Point&, const Point&) : Query{facts.d} {}
  };
  struct Products : Query {
    Products(const Facts& facts, const Point&, const Point*, ConstVectorRef) : Query{facts.d} {}
  };
  struct Coordinates : Query {
    Coordinates(const Facts& facts, Index, ConstVectorRef, double) : Query{facts.d} {}
  };
  static Index dimension(const Facts& facts) { return facts.d; }
  static Index dual_dimension(const Facts&) { return 3; }
  static Index scratch(const Query&) { return 3; }

  static int answer(double label) { return static_cast<int>(std::min(std::abs(label), 1e6)) % 12; }
  static double number(double label, double entry) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    switch (answer(label)) {
      case 1:
        return std::nan("");
      case 2:
        return -inf;
      case 3:
        return 1e308;
      case 4:
        return 1e-310;
      case 5:
        return -1e300;
      default:
        return entry;
    }
  }

  static DenseGradient gradient(const Gradients&, const DenseRecord& z, double* scratch,
                                VectorRef v) {
    const double left = scratch[0] + scratch[2] + v.sum();
    scratch[0] = scratch[2] = 1e6 * z.column[0];
    if (answer(z.label) != 6)
      for (Index j = 0; j < v.size(); ++j) v[j] = z.column[j % z.column.size()];
    if (v.size() > 0) v[0] += left;
    if (v.size() > 1) v[1] = number(z.label, v[1]);
    switch (answer(z.label)) {
      case 7:
        return {1e200, -1e250};
      case 8:
        return {std::nan(""), 1.0};
      case 9:
        return {1e-200, std::numeric_limits<double>::infinity()};
      case 10:
        v *= 1e-305;
        return {1e308, 1e-308};
      case 11:
        v *= 1e300;
        return {1e-320, z.column[0]};
      default:
        return {1e3, z.label};
    }
  }
  static double loss(const Losses&, const DenseRecord& z, double* scratch) {
    const double left = scratch[1];
    scratch[1] = z.column[0];
    return number(z.label, 1e3 * z.column[0]) + left;
  }
  static double product(const Products&, const DenseRecord& z, double* scratch, VectorRef v) {
    const double left = scratch[1] + v.sum();
    scratch[1] = z.column[0];
    v = z.column;
    v[0] += left;
    if (answer(z.label) > 6) v[1] = number(z.column[0], v[1]);
    return number(z.label, 1e-3 * z.column[1]);  // also less than nothing
  }
  static double coordinate_loss(const Coordinates&, double entry, Index) {
    return number(entry, 10 * entry);
  }
};

}  // namespace dpsosp::trusted_tests
