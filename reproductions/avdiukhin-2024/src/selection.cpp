// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <algorithm>
#include <cmath>

namespace dpsosp::avdiukhin_2024_exhibit {
namespace {

/// ln P(X > x), x ≥ 0, of a Laplace variable of scale 1 plus one of scale `other` ≤ 1.
double log_tail(double x, double other) {
  if (other == 1.0) return std::log(0.5) - x + std::log1p(0.5 * x);
  const double square = other * other;
  const double less = other == 0.0 ? 0.0 : square * std::exp(x - x / other);
  return std::log(0.5) - x + std::log1p(-less) - std::log1p(-square);
}

double laplace_cdf(double z) { return z < 0 ? 0.5 * std::exp(z) : 1.0 - 0.5 * std::exp(-z); }

/// ln P of `tests` − 1 failures of numbers at `early` and then a success of one at `last`.
double log_first_success(int tests, double early, double last) {
  constexpr double reach = 60.0, step = 1.0 / 128;
  double sum = 0.0;
  for (double z = -reach; z <= reach; z += step)
    sum += 0.5 * std::exp(-std::abs(z)) * std::pow(laplace_cdf(z - early), tests - 1) *
           laplace_cdf(last - z);
  return std::log(sum * step);
}

}  // namespace

CurvaturePair curvature_pair(double records) {
  const double s = std::sqrt(std::log(records)), k = std::sqrt(records / (2.0 * s));
  return {.length = s,
          .frequency = k,
          .move = s * k / records,
          .concentration = std::exp(std::pow(s * (1.0 - 1.0 / records), 2)) / records +
                           std::exp(s * s / (records * records))};
}

double curvature_cost(double records, double epsilon, double delta, double threshold) {
  const double x = curvature_pair(records).move * records * epsilon;
  return std::log(0.5 - delta) - log_tail(x, threshold);
}

double above_threshold_cost(double sensitivity, int tests) {
  double most = 0.0;
  for (const double last : {-40.0, -20.0, -10.0, 0.0, 5.0})
    most = std::max(most, log_first_success(tests, 0.0, last) -
                              log_first_success(tests, sensitivity, last - sensitivity));
  return most;
}

}  // namespace dpsosp::avdiukhin_2024_exhibit
