// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dpsosp/avdiukhin_2024/theory.hpp"

namespace dpsosp::avdiukhin_2024 {

double naive_kappa(double records, const PrivacyBudget& budget, double c2) {
  return c2 * std::sqrt(std::log(1.0 / budget.delta)) / (records * budget.epsilon);
}

double lemma_3_2_bound(
    const Numbers& n, double steps, double delta, double constant, double length) {
  return 2.0 * std::sqrt(n.smoothness * n.gap) +
         constant * (n.smoothness * length * std::sqrt(std::log(steps / delta)) +
                     n.deviation * std::sqrt(std::log(n.records * steps)) +
                     std::sqrt(n.deviation * std::log(1.0 / delta)));
}

double proved_gap(const Numbers& n, const UnclippedRun& run, double noise) {
  const double T = run.steps, d = n.dimension, eta = run.step_size;
  const double l = std::log(4.0 / run.failure);
  const double sigma2 = n.deviation * n.deviation;
  const double deviation =  // of a batch mean, at every step at once
      n.deviation / std::sqrt(run.batch) +
      run.largest_deviation * std::sqrt(2.0 * std::log(4.0 * T / run.failure) / run.batch);
  const double Z = std::min(sigma2 * (T + l), T * deviation * deviation);
  const double noise2 = noise * noise;
  return n.gap + 4.0 * eta * noise2 * l + 6.0 * eta * sigma2 * l / run.batch +
         n.smoothness * eta * eta * (Z + noise2 * (d * T + 2.0 * std::sqrt(d * T * l) + 2.0 * l));
}

std::optional<double> proved_bound(const Numbers& n, const UnclippedRun& run, double ratio) {
  const auto next = [&](double C) {
    return std::sqrt(2.0 * n.smoothness * proved_gap(n, run, ratio * C)) + run.largest_deviation;
  };
  double C = 2.0 * std::sqrt(n.smoothness * n.gap) + run.largest_deviation;
  for (int k = 0; k < 100000; ++k) {
    const double moved = next(C);
    if (!(moved < largest_bound)) return {};
    // Rounded up, so that C ≥ √(2 L F_max(C)) + σ_∞ holds for the value returned.
    if (moved <= C * (1.0 + 1e-13) && next(C * (1.0 + 1e-12)) <= C * (1.0 + 1e-12))
      return C * (1.0 + 1e-12);
    C = moved;
  }
  return {};
}

double class_relative_delta(const PrivacyBudget& nominal, double failure) {
  return nominal.delta + (1.0 + std::exp(nominal.epsilon)) * failure;
}

double bound_failure(const PrivacyBudget& total) {
  return total.delta / (2.0 * (1.0 + std::exp(total.epsilon)));
}

Index selection_candidates(double failure) {
  return static_cast<Index>(std::ceil(std::log2(2.0 / failure) - 1e-12));
}

double selection_width(double sensitivity, double candidates, double failure, double epsilon) {
  return 8.0 * sensitivity * (std::log(candidates) + std::log(2.0 / failure)) / epsilon;
}

double selection_records(double gradient_ratio,
                         double hessian_ratio,
                         double candidates,
                         double failure,
                         double epsilon) {
  return 32.0 * std::max(gradient_ratio, hessian_ratio) *
         (std::log(candidates) + std::log(2.0 / failure)) / epsilon;
}

double growth(double step_times_curvature, double steps) {
  const double g = step_times_curvature;
  return std::sqrt(std::expm1(2.0 * steps * std::log1p(g)) / (g * (2.0 + g)));
}

double growth_bound(double step_times_curvature, double steps) {
  const double g = step_times_curvature;
  return std::exp(steps * std::log1p(g)) / std::sqrt(g);
}

}  // namespace dpsosp::avdiukhin_2024
