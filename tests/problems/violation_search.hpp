// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp::testing_search {

/// Largest value of `score` that a random local search inside the domain meets: from points of
/// every size, steps that shrink after failures, one coordinate or all of them.
template <class Score>
double largest(Index dimension, const Domain& domain, double size, const Score& score,
               int restarts = 12, int steps = 1500) {
  double best = 0;
  for (int r = 0; r < restarts; ++r) {
    Stream stream({.seed = static_cast<std::uint64_t>(r), .purpose = Purpose::test});
    Vector x(dimension);
    stream.fill_normal(size * std::pow(2.0, -(r % 4)), x);
    domain.project(x);
    double value = score(x), step = 0.5 * size;
    for (int k = 0; k < steps; ++k) {
      Vector moved = x;
      if (k % 2 == 0)
        moved[stream.below(dimension)] += step * stream.normal();
      else
        stream.add_normal(step / std::sqrt(static_cast<double>(dimension)), moved);
      domain.project(moved);
      const double there = score(moved);
      step = std::clamp(step * (there > value ? 1.6 : 0.94), 1e-6 * size, size);
      if (there > value) {
        value = there;
        x = moved;
      }
    }
    best = std::max(best, value);
  }
  return best;
}

inline Matrix hessian(const Objective& F, ConstVectorRef x) {
  const Index d = F.dimension();
  Matrix H(d, d);
  for (Index j = 0; j < d; ++j) F.hessian_product(x, Vector::Unit(d, j), H.col(j));
  return H;
}

inline double operator_norm(const Matrix& symmetric) {
  return symmetric_eigenvalues(symmetric).cwiseAbs().maxCoeff();
}

inline double gradient_norm(const Objective& F, ConstVectorRef x) {
  Vector g(F.dimension());
  F.gradient(x, g);
  return g.norm();
}

inline double largest_gradient(const Objective& F, const Domain& domain, double size) {
  return largest(F.dimension(), domain, size, [&](const Vector& x) { return gradient_norm(F, x); });
}

inline double largest_hessian(const Objective& F, const Domain& domain, double size) {
  return largest(F.dimension(), domain, size,
                 [&](const Vector& x) { return operator_norm(hessian(F, x)); });
}

/// ‖∇²F(x) − ∇²F(y)‖/‖x − y‖ over pairs (x, y) close to each other, in the domain.
inline double largest_hessian_slope(const Objective& F, const Domain& domain, double size) {
  const Index d = F.dimension();
  return largest(2 * d, Domain{}, size, [&](const Vector& both) {
    Vector x = both.head(d);
    domain.project(x);
    Vector y = x + 1e-4 * size * both.tail(d).normalized();
    domain.project(y);
    const double distance = (x - y).norm();
    return distance > 1e-5 * size ? operator_norm(hessian(F, x) - hessian(F, y)) / distance : 0.0;
  });
}

inline double lambda_min(const Objective& F, ConstVectorRef x) {
  return symmetric_eigen(hessian(F, x)).values[0];
}

}  // namespace dpsosp::testing_search
