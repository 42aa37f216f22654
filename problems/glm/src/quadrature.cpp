// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/quadrature.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

QuadratureRule gauss_jacobi(Index size, double alpha) {
  if (size < 1) reject("gauss_jacobi", "size", static_cast<double>(size), ">= 1");
  if (!(alpha > -1)) reject("gauss_jacobi", "alpha", alpha, "> -1");
  // Recurrence of the Jacobi polynomials P^(alpha, 0) on [−1, 1].
  Vector diagonal(size);
  Vector off_diagonal(size - 1);
  diagonal[0] = -alpha / (alpha + 2);
  for (Index k = 1; k < size; ++k) {
    const auto j = static_cast<double>(k);
    const double twice = 2 * j + alpha;
    diagonal[k] = -alpha * alpha / (twice * (twice + 2));
    off_diagonal[k - 1] = 2 * j * (j + alpha) / (twice * std::sqrt((twice - 1) * (twice + 1)));
  }
  const SymmetricEigen eigen = tridiagonal_eigen(diagonal, off_diagonal);
  return {(eigen.values.array() + 1) / 2, eigen.vectors.row(0).transpose().array().square()};
}

}  // namespace dpsosp
