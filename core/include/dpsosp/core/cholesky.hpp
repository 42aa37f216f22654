// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Cholesky's A − sI = L Lᵀ of symmetric d × d matrices. The same bits with every instruction set:
/// each entry of L and of a solution is formed in one order, without fused operations.
class Cholesky {
 public:
  /// Room for one factor of d × d matrices, d ≥ 1.
  explicit Cholesky(Index d);

  /// Factors A − shift·I; the upper triangle of A is not read.
  /// \return whether the factorisation came to its end with finite numbers. If it did,
  ///         λ_min(A − shift·I) > −(d + 2) ε trace(A − shift·I).
  /// \source Higham (2002), Accuracy and Stability of Numerical Algorithms, theorem 10.3: factors
  /// are those of A + E, |E| ≤ γ |R|ᵀ|R| with γ = (d + 1)ε/(1 − (d + 1)ε), and ‖ |R|ᵀ|R| ‖ ≤
  /// ‖R‖_F², which is trace(A + E).
  bool factor(const Matrix& a, double shift);

  /// b becomes (A − shift·I)⁻¹ b of the last matrix that was factored; d entries.
  void solve(VectorRef b);

 private:
  struct Free {
    void operator()(double* entries) const;
  };

  Index d_;
  Index stride_;                       // between columns, a whole number of vectors
  std::unique_ptr<double[], Free> l_;  // then 1/L_jj, and a column to solve in
};

}  // namespace dpsosp
