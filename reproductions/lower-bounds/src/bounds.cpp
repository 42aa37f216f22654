// SPDX-License-Identifier: Apache-2.0
#include "bounds.hpp"

#include <algorithm>
#include <cmath>

#include "dpsosp/privacy/accounting/gaussian.hpp"

namespace dpsosp::lower_bounds {

double tracing_bound(double records, double dimension, double epsilon, double delta) {
  const double cost = std::sinh(epsilon) / std::sqrt(6 * dimension) + 2 * delta;
  const auto bound = [&](double traced) {
    return traced < 1 ? 0.0 : traced * (1.0 / 3 - traced * cost) / (2 * records);
  };
  // A parabola in the number of traced records: its best integer is next to its vertex.
  const double vertex = std::floor(std::min(records, 1 / (6 * cost)));
  return std::max({0.0, bound(vertex), bound(std::min(records, vertex + 1))});
}

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
