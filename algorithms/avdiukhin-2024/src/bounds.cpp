// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "dpsosp/avdiukhin_2024/theory.hpp"

namespace dpsosp::avdiukhin_2024 {

double naive_kappa(double records, const PrivacyBudget& budget, double c2) {
  return c2 * std::sqrt(std::log(1.0 / budget.delta)) / (records * budget.epsilon);
}

double lemma_3_2_bound(const Numbers& n, double steps, double delta, double constant,
                       double length) {
  return 2.0 * std::sqrt(n.smoothness * n.gap) +
         constant * (n.smoothness * length * std::sqrt(std::log(steps / delta)) +
                     n.deviation * std::sqrt(std::log(n.records * steps)) +
                     std::sqrt(n.deviation * std::log(1.0 / delta)));
}

// F_max of avdiukhin-2024 notes, 3.3. With ζ_t the sampling error of the batch's mean gradient, η ≤
// 1/L gives f(x_{t+1}) ≤ f(x_t) − (η/2)‖∇f‖² − η(1 − Lη)⟨∇f, ζ + ξ⟩ + Lη²(‖ζ‖² + ‖ξ‖²). Summed over
// t, each of four events has probability at most δ_E/4, l = ln(4/δ_E):
// 1. −Σ⟨∇f, ξ⟩ > 4Δ²l + (1/8)Σ‖∇f‖² at some t: Ville's inequality with λ = 1/(4Δ²).
// 2. −Σ⟨∇f, ζ⟩ > 6σ²l/B + (1/8)Σ‖∇f‖² at some t: a centred Y with E exp(Y²/s²) ≤ e has
//    E e^{λY} ≤ e^{3λ²s²/4}; for a batch the exponent is 3λ²s²/(4B), without replacement no larger
//    (Hoeffding's comparison). Ville with λ = B/(6σ²).
// 3. Σ‖ξ_t‖² > Δ²(dT + 2√(dTl) + 2l) (Laurent and Massart 2000).
// 4. Σ‖ζ_t‖² > Z: by convexity exp(‖ζ_t‖²/σ²) has conditional mean at most e, and Markov's
//    inequality for the product; or bounded differences in each of T steps. Which form is smaller
//    depends on constants alone.
// −(η/4)Σ‖∇f‖² is left and dropped, and ‖∇f‖² ≤ 2L(f − f*) gives C.
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

double selection_records(double gradient_ratio, double hessian_ratio, double candidates,
                         double failure, double epsilon) {
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
