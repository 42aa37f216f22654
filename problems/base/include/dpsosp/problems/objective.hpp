// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Objective by which a point is judged: a twice differentiable F: R^d -> R. Never seen by an
/// algorithm. For a minimax problem this is the value function Φ(x) = max_y f(x, y).
class Objective {
 public:
  virtual ~Objective() = default;

  /// d.
  virtual Index dimension() const = 0;
  /// F(x); x has d entries.
  virtual double value(ConstVectorRef x) const = 0;
  /// out = ∇F(x); d entries.
  virtual void gradient(ConstVectorRef x, VectorRef out) const = 0;
  /// out = ∇²F(x) v, exact; x, v and out have d entries; out does not alias v.
  virtual void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const = 0;

  /// out = ∇²F(x), d × d; a product with each unit vector unless the problem knows a shorter way.
  virtual void hessian(ConstVectorRef x, MatrixRef out) const;
  /// About what `hessian` costs, in Hessian products.
  virtual Index hessian_cost() const { return dimension(); }

  /// True if ∇²F(x) is diagonal at every x; then `hessian_diagonal` is answered.
  virtual bool diagonal() const { return false; }
  /// out_j = ∂²F/∂x_j². \throws InputError unless `diagonal`
  virtual void hessian_diagonal(ConstVectorRef x, VectorRef out) const;
};

}  // namespace dpsosp
