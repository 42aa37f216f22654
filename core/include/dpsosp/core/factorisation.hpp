// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

// Dense factorisations by Eigen, compiled once, because its templates cost seconds in every source
// that instantiates them. Each function is one algorithm of Eigen with one choice of options.
// Matrices have at least one row, one column and finite entries; nothing is checked. Eigenvalues
// that do not converge throw std::runtime_error.

/// Eigenvalues and an orthonormal basis of eigenvectors.
struct SymmetricEigen {
  Vector values;   ///< d, ascending
  Matrix vectors;  ///< d × d; column k belongs to values[k]
};

/// The d eigenvalues, ascending, of a symmetric d × d matrix; the upper triangle is not read. They
/// may differ from those of `symmetric_eigen` by rounding.
Vector symmetric_eigenvalues(const Matrix& a);

/// Eigenvalues and eigenvectors of a symmetric d × d matrix; the upper triangle is not read.
SymmetricEigen symmetric_eigen(const Matrix& a);

/// Eigenvalues and eigenvectors of the symmetric tridiagonal matrix with d entries on its diagonal
/// and d − 1 beside it.
SymmetricEigen tridiagonal_eigen(ConstVectorRef diagonal, ConstVectorRef off_diagonal);

/// Householder's A = Q R for an m × n matrix, m ≥ n.
struct QrFactors {
  Matrix q;           ///< orthonormal columns
  Vector r_diagonal;  ///< n; of either sign
};

/// Q is m × n: the reflectors applied to the first n columns of the identity.
QrFactors thin_qr(const Matrix& a);

/// Q is m × m: the product of the reflectors. For m = n it equals the Q of `thin_qr` bit for bit,
/// except at n = 48: there Eigen applies the reflectors to a matrix in blocks, but multiplies them
/// one by one.
QrFactors full_qr(const Matrix& a);

/// The min(m, n) singular values of an m × n matrix, descending, by two-sided Jacobi rotations.
Vector singular_values(const Matrix& a);

/// A = U diag(values) Vᵀ for an m × n matrix, k = min(m, n).
struct ThinSvd {
  Matrix u;       ///< m × k, orthonormal columns
  Vector values;  ///< k, descending
  Matrix v;       ///< n × k, orthonormal columns
};

/// Computed by divide and conquer; the values may differ from those of `singular_values` by
/// rounding.
ThinSvd thin_svd(const Matrix& a);

/// The shortest x ∈ R^n that minimises ‖Ax − b‖, A of size m × n and any rank, b ∈ R^m: complete
/// orthogonal decomposition.
Vector least_squares(const Matrix& a, const Vector& b);

/// The solution of Ax = b for a symmetric, definite or semi-definite n × n matrix, b ∈ R^n: LDLᵀ
/// with pivots. The upper triangle is not read.
Vector symmetric_solve(const Matrix& a, const Vector& b);

}  // namespace dpsosp
