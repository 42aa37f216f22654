// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/lemmas/lower_bounds/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/privacy/accounting/gaussian.hpp"

namespace dpsosp::lower_bounds {

// Records lie in the ball of radius R, ∇f(x; z) = (Π(x) − z)/(2R) with Π the projection onto it. f
// is 1-Lipschitz, 1/(2R)-smooth and convex, on the ball strongly convex, and ∇F(x) = (Π(x) −
// z̄)/(2R): finding a stationary point is finding the mean of the records.
//
// Tracing (Bun, Ullman, Vadhan; Dwork et al.; Steinke, Ullman). Draw p uniform on [−1, 1]^d, m
// records R s_i/√d with independent signs of mean p_j, and let n − m records be 0. With u the
// projection of (n/m) Π(x) √d/R onto [−1, 1]^d and s̄ the mean of the s_i,
// ‖∇F(x)‖ ≥ (m/n) ‖u − s̄‖/(2√d).
// (1) ∂E g/∂p_j = E[g Σ_i (s_ij − p_j)]/(1 − p_j²); by parts over p_j,
//     Σ_i E⟨u, s_i − p⟩ = 2 E⟨u, p⟩ ≥ 2d (1/3 − a), a = E‖u − s̄‖/√d.
// (2) Made with s_i drawn anew, ⟨u′, s_i − p⟩ has mean 0, second moment at most 2d/3 and size at
//     most 2d; for (ε, δ)-close laws within ±T, E A ≤ sinh(ε) E|A′| + 2δT.
// (3) Together m (sinh(ε) √(2d/3) + 4dδ) ≥ 2d (1/3 − a), so that for every m
//     sup_D E‖∇F_D‖ ≥ (m/2n) (1/3 − m c), c = sinh(ε)/√(6d) + 2δ.
// The population's gradient has the same bound: a record is 0 with probability 1 − m/n.
double tracing_bound(double records, double dimension, double epsilon, double delta) {
  const double cost = std::sinh(epsilon) / std::sqrt(6 * dimension) + 2 * delta;
  const auto bound = [&](double traced) {
    return traced < 1 ? 0.0 : traced * (1.0 / 3 - traced * cost) / (2 * records);
  };
  // A parabola in the number of traced records: its best integer is next to its vertex.
  const double vertex = std::floor(std::min(records, 1 / (6 * cost)));
  return std::max({0.0, bound(vertex), bound(std::min(records, vertex + 1))});
}

// m records change from −R e to R e: the means are 2Rm/n apart, the outputs' laws (mε, δ_m)-close.
double two_point_bound(double records, double epsilon, double delta) {
  double best = 0;
  for (double m = 1; m <= records; ++m) {
    // Total variation of outputs on data sets m records apart: (m ε, δ_m) by composition.
    const double growth = std::exp(m * epsilon);
    const double group_delta = delta * (growth - 1) / std::expm1(epsilon);
    const double overlap = 2 * (1 - group_delta) / (growth + 1);
    if (overlap <= 0) break;
    best = std::max(best, m * overlap / (2 * records));
    if (m * epsilon > 3) break;  // m/(e^{mε} + 1) falls from m ε = 1.28 on
  }
  return best;
}

// Signs of mean ±h, whose product laws diverge by n h ln((1 + h)/(1 − h)).
double statistical_bound(double records) {
  double best = 0;
  for (int k = 1; k <= 100; ++k) {
    const double h = 0.02 * k / std::sqrt(records);
    if (h >= 1) break;
    const double divergence = records * h * std::log((1 + h) / (1 - h));
    best = std::max(best, h * (1 - std::sqrt(divergence / 2)) / 2);
  }
  return best;
}

double empirical_bound(double records, double dimension, double epsilon, double delta) {
  return std::max(tracing_bound(records, dimension, epsilon, delta),
                  two_point_bound(records, epsilon, delta));
}

double noisy_mean(double records, double dimension, double epsilon, double delta) {
  return std::sqrt(dimension) / (records * gaussian_mu_for(epsilon, delta));
}

}  // namespace dpsosp::lower_bounds
