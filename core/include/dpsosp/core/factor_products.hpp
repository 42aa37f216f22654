// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// (A V, Aᵀ U) of p × q matrices A for factors U (p × r) and V (q × r), in one sweep over A. The
/// same bits with every instruction set: row i of a dot product is in partial sum i mod 8.
class FactorProducts {
 public:
  FactorProducts(Index rows, Index cols, Index rank);
  /// factors = (vec U, vec V), (p + q) r entries.
  void set(ConstVectorRef factors);

  /// out = (vec A V, vec Aᵀ U); A is column-major. Uses space of its own: one object a thread.
  void apply(const double* A, VectorRef out);
  /// out = JᵀSJ for J, the derivative of (U, V) ↦ vec UVᵀ (pq × (p + q) r), and a symmetric S, of
  /// which the upper triangle of the first pq rows is read. Exactly symmetric, and the same bits
  /// with every instruction set: each sum runs in one lane.
  void congruence(const Matrix& S, MatrixRef out) const;
  /// ⟨A, UVᵀ⟩ from what `apply` gave: ⟨A V, U⟩.
  double inner_product(ConstVectorRef products) const;

 private:
  Index rows_, cols_, rank_;
  Matrix U_;  // with rows of zeros, up to a multiple of eight
  Matrix V_;
  Matrix left_;  // A V, as U
};

}  // namespace dpsosp
