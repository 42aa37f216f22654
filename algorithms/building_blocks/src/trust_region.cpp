// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/algorithms/trust_region.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/core/factorisation.hpp"

namespace dpsosp {

TrustRegionStep trust_region_step(const Matrix& hessian, ConstVectorRef gradient, double radius) {
  const auto [values, vectors] = symmetric_eigen(hessian);
  const Vector c = vectors.transpose() * gradient;
  const double least = std::max(0.0, -values[0]);  // λ = least + μ, μ ≥ 0
  const Vector shifted = values.array() + least;
  const double longest = gradient.norm() / radius;
  const double scale = values.cwiseAbs().maxCoeff() + longest;

  // h(μ) in the basis of the eigenvectors; 0/0 counts as 0.
  Vector h(c.size());
  const auto solve = [&](double mu) {
    for (Index i = 0; i < c.size(); ++i) {
      const double below = shifted[i] + mu;
      h[i] = c[i] == 0.0 ? 0.0 : -c[i] / below;
    }
    return h.norm();
  };
  const double tiny = 4.0 * std::numeric_limits<double>::epsilon() * scale;
  const bool definite = values[0] > tiny;
  if (scale == 0.0) return {Vector::Zero(c.size()), 0.0, false};
  if (solve(definite ? 0.0 : tiny) <= radius) {
    if (definite || values[0] >= -tiny) return {vectors * h, 0.0, false};  // inside
    // Hard case: any μ would make h too short; the lowest eigenvector adds no residual.
    const double rest = h.tail(h.size() - 1).squaredNorm();
    const double along = std::sqrt(std::max(0.0, radius * radius - rest));
    h[0] = c[0] > 0.0 ? -along : along;
    return {vectors * h, least, true};
  }

  // 1/‖h(μ)‖ is concave and increasing: Newton from the left of the root, kept in a bracket.
  double low = definite ? 0.0 : tiny, high = std::max(longest, 2.0 * low), mu = low;
  for (int k = 0; k < 200; ++k) {
    const double length = solve(mu);
    if (std::abs(length - radius) <= 4.0 * std::numeric_limits<double>::epsilon() * radius) break;
    (length > radius ? low : high) = mu;
    double slope = 0.0;  // −½ d‖h‖²/dμ
    for (Index i = 0; i < c.size(); ++i)
      if (h[i] != 0.0) slope += h[i] * h[i] / (shifted[i] + mu);
    double next = mu + length * length / slope * (length - radius) / radius;
    if (!(next > low && next < high)) next = low > 0.0 ? std::sqrt(low * high) : 0.5 * high;
    if (next == mu) break;
    mu = next;
  }
  solve(mu);
  return {vectors * h, least + mu, false};
}

}  // namespace dpsosp
