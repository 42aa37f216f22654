// SPDX-License-Identifier: Apache-2.0
#include "quadratic_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpsosp::avdiukhin_2024_exhibit {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

/// exp(square x² + linear x + constant).
struct LogQuadratic {
  double square, linear, constant;
};

/// ln E of exp of a terminal log-quadratic of x_t plus `each` x_τ² for every τ < t, from the start
/// of the part, backwards: x_{τ+1} = (1 − ηλ) x_τ − η ξ_τ.
double log_moment(const QuadraticPart& part, double step, int steps, LogQuadratic v, double each) {
  const double keep = 1.0 - step * part.curvature, variance = step * step * part.noise;
  for (int t = 0; t < steps; ++t) {
    const double left = 1.0 - 2.0 * v.square * variance;
    if (!(left > 0)) return none;
    v.constant += 0.5 * (v.linear * v.linear * variance / left - std::log(left));
    v.linear *= keep / left;
    v.square = v.square * keep * keep / left + each;
  }
  return (v.square * part.start + v.linear) * part.start + v.constant;
}

/// min over s > 0 of a function that is infinite for large s: a scan of ln s, then a finer one.
template <class Function>
double least_over_scale(const Function& f) {
  double best = none, at = 0;
  for (double s = 1e-6; s < 1e9; s *= 2.0)
    if (const double value = f(s); value < best) {
      best = value;
      at = s;
    }
  for (double s = 0.5 * at; s < 2.0 * at; s *= 1.1) best = std::min(best, f(s));
  return best;
}

double allowance(const QuadraticRun& run) {
  return run.step_size * run.total_noise *
         (run.step_size * run.steps + std::log(1.0 / run.failure));
}

}  // namespace

double descent_constant(const QuadraticRun& run) {
  const double exceeded = least_over_scale([&](double s) {
    double log_expectation = 0;
    for (const QuadraticPart& p : run.parts) {
      const double of_start = 0.5 * s * p.curvature * p.start * p.start;
      const double moment = log_moment(p,
                                       run.step_size,
                                       run.steps,
                                       {0.5 * s * p.curvature, 0, 0},
                                       s * run.step_size / 8.0);  // λ² = 1
      log_expectation += p.count * (moment - of_start);
    }
    return (log_expectation + std::log(1.0 / run.failure)) / s;
  });
  return std::max(0.0, exceeded / allowance(run));
}

double localise_constant(const QuadraticRun& run) {
  const auto kept = [&](double c) {
    const double per_value = c * run.step_size * run.steps;  // c η t
    return least_over_scale([&](double s) {
             double log_expectation = 0;
             for (const QuadraticPart& p : run.parts) {
               const double of_start = 0.5 * per_value * p.curvature * p.start * p.start;
               const double moment = log_moment(p,
                                                run.step_size,
                                                run.steps,
                                                {s * (1.0 + 0.5 * per_value * p.curvature),
                                                 -2.0 * s * p.start,
                                                 s * p.start * p.start},
                                                0.0);
               log_expectation += p.count * (moment - s * of_start);
             }
             return log_expectation - s * per_value * allowance(run);
           }) <= std::log(run.failure);
  };
  double low = 1e-1, high = 1e3;
  if (!kept(high)) return none;
  for (int k = 0; k < 14; ++k) {
    const double middle = std::sqrt(low * high);
    (kept(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace dpsosp::avdiukhin_2024_exhibit
