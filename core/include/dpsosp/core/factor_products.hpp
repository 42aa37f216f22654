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

  /// Numbers of space that products need. They overwrite them.
  static Index space(Index rows, Index rank);
  /// out = (vec A V, vec Aᵀ U); A is column-major.
  void apply(const double* A, double* space, VectorRef out) const;
  /// With other factors than those that were set.
  void apply(ConstVectorRef factors, const double* A, double* space, VectorRef out) const;
  /// out = JᵀSJ for J, the derivative of (U, V) ↦ vec UVᵀ (pq × (p + q) r), and a symmetric S, of
  /// which the upper triangle of the first pq rows is read. Exactly symmetric, and the same bits
  /// with every instruction set: each sum runs in one lane.
  void congruence(const Matrix& S, MatrixRef out) const;
  /// ⟨A, UVᵀ⟩ from what `apply` gave: ⟨A V, U⟩.
  double inner_product(ConstVectorRef products) const;

 private:
  void apply(const double* U, const double* V, const double* A, double* left, VectorRef out) const;

  Index rows_, cols_, rank_;
  Matrix U_;  // with rows of zeros, up to a multiple of eight
  Matrix V_;
};

}  // namespace dpsosp
