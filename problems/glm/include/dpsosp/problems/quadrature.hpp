// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Nodes and weights of ∫ f dμ ≈ Σ_k weights_k f(nodes_k); the weights sum to 1.
struct QuadratureRule {
  Vector nodes, weights;
};

/// Gauss's rule of the probability law on [0, 1] with density ∝ (1 − t)^alpha, alpha > −1: the
/// eigenvalues of its Jacobi matrix (Golub and Welsch, 1969). Exact for polynomials of degree
/// ≤ 2 size − 1. \throws InputError for size < 1 or alpha ≤ −1
QuadratureRule gauss_jacobi(Index size, double alpha);

}  // namespace dpsosp
