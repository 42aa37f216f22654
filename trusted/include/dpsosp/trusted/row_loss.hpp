// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>

#include "dpsosp/core/point.hpp"
#include "dpsosp/core/vector.hpp"
#include "dpsosp/trusted/expression.hpp"

namespace dpsosp {

/// g, the part of a loss that all records share: a function of public points, which no record
/// reaches.
class CommonLoss {
 public:
  virtual ~CommonLoss() = default;

  /// g(x).
  virtual double value(ConstVectorRef x) const = 0;
  /// out = ∇g(x).
  virtual void gradient(ConstVectorRef x, VectorRef out) const = 0;
  /// Whether the bound below is finite.
  virtual bool has_hessian_bound() const { return true; }
  /// out = ∇²g(point) v, less the same at `previous` unless it is null.
  virtual void hessian_product(const Point& point, const Point* previous, ConstVectorRef v,
                               VectorRef out) const = 0;
  /// Of the norm of that matrix. Weighs Hessian products, which are cut to the charge whatever it
  /// is.
  virtual double hessian_bound(const Point& point, const Point* previous) const = 0;
  /// Whether g is a sum over coordinates.
  virtual bool separable() const { return false; }
  /// The term of coordinate j at t, of a separable g.
  virtual double coordinate_value(Index /*j*/, double /*t*/) const { return 0; }
};

/// f(x; a, b) = φ(⟨a, x⟩; b) + g(x) of a record with column a ∈ R^d and label b.
struct RowLoss {
  std::string problem;  ///< for messages
  /// φ, φ′ and φ″ in the score ⟨a, x⟩.
  std::array<Expression, 3> derivatives{0.0, 0.0, 0.0};
  std::shared_ptr<const CommonLoss> common;  ///< g; null for none
  /// φ is the score itself, and `derivatives` is not used.
  bool tilted = false;
};

}  // namespace dpsosp
