// SPDX-License-Identifier: Apache-2.0
#include "least_eigenpair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dpsosp/core/cholesky.hpp"
#include "dpsosp/evaluator/lanczos.hpp"
#include "restarted_lanczos.hpp"

// Inverse Lanczos: twelve Lanczos steps find a shift just below λ_min, and Cholesky's factors are
// both the test that nothing is below and the inverse. At dimension 120 this takes a sixth to a
// half of the time of all eigenvalues, also where many are almost zero, which a restarted method
// does not resolve.

namespace dpsosp {
namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
constexpr Index direct_steps = 12, inverse_steps = 6;
constexpr int most_factors = 24;
constexpr double least_norm = 1e-280;  // the inverse of less would overflow

/// θ and the residual of a unit vector.
LeastEigenpair pair_of(HessianOperator& hessian, Vector v) {
  Vector w(v.size());
  hessian.apply(v, w);
  LeastEigenpair pair;
  pair.value = v.dot(w);
  pair.residual = (w - pair.value * v).stableNorm();
  pair.direction = std::move(v);
  return pair;
}

/// Lower bound of λ_min(H) near `bound`, if Cholesky's factorisation proves it.
std::optional<double> proven_bound(Cholesky& cholesky, const Matrix& h, double bound) {
  const auto d = static_cast<double>(h.rows());
  const double trace = h.trace() - d * bound;
  const double rounding = (d + 2) * machine_epsilon * std::abs(trace);
  if (!std::isfinite(rounding) || !cholesky.factor(h, bound - 2 * rounding)) return {};
  return bound - 4 * rounding;
}

}  // namespace

std::optional<LeastEigenpair> least_eigenpair(HessianOperator& hessian, const StreamKey& key,
                                              const Vector& warm_start) {
  const Matrix& h = hessian.matrix();
  const Index d = h.rows();
  if (hessian.norm() < least_norm) return {};
  const Vector start = lanczos_start(d, key, warm_start);
  LeastEigenpair pair =
      pair_of(hessian, extreme_ritz(lanczos(hessian, start, direct_steps)).direction);

  Cholesky cholesky(d);
  const auto inverse = [&](ConstVectorRef v, VectorRef out) {
    out = -v;
    cholesky.solve(out);
  };
  const double enough = 1e-13 * hessian.norm();
  double gap = pair.residual;
  for (int k = 0; k < most_factors; ++k) {
    gap = std::max(gap, 4 * static_cast<double>(d) * machine_epsilon * hessian.norm());
    if (!cholesky.factor(h, pair.value - gap)) {  // something is below
      gap *= 8;
      continue;
    }
    pair =
        pair_of(hessian, extreme_ritz(lanczos(inverse, pair.direction, inverse_steps)).direction);
    if (pair.residual <= enough) {
      const auto lower = proven_bound(cholesky, h, pair.value - pair.residual);
      if (!lower) return {};
      pair.lower = *lower;
      return pair;
    }
    gap = pair.residual;
  }
  return {};
}

}  // namespace dpsosp
