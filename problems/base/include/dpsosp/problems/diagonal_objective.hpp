// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// F with a diagonal Hessian, so that λ_min is known everywhere.
class DiagonalObjective : public Objective {
 public:
  bool diagonal() const final { return true; }
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override = 0;
  void hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const final;
  double lambda_min(ConstVectorRef x) const;
};

/// F(x) = Σ_j F_j(x_j).
class SeparableObjective : public DiagonalObjective {
 public:
  /// F_j(t).
  virtual double coordinate_value(Index coordinate, double t) const = 0;
  /// True if the F_j are one function, so that sup |F_j′| = sup ‖∇F‖/√d on a box.
  virtual bool coordinates_alike() const { return false; }
};

}  // namespace dpsosp
