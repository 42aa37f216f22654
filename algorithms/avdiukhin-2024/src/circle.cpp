// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024 {
namespace {

constexpr double paper_steps = 64.0;   // k_T
constexpr double escape_drop = 0.25;   // c_F
constexpr double escape_radius = 0.5;  // c_R

double c_eta(TheoremConstants constants) {
  return constants == TheoremConstants::unit ? 1.0 : 1.0 / 128.0;
}

/// c_I = max(1, ln(40 𝓡 √(√(ρα)/η)/Δ)).
double escape_constant(double rho, double alpha, double step_size, double noise) {
  const double radius = escape_radius * std::sqrt(alpha / rho);
  const double growth = std::sqrt(std::sqrt(rho * alpha) / step_size);
  return std::max(1.0, std::log(40.0 * radius * growth / noise));
}

/// k_T: T = k_T f_max/(η α²).
double steps_constant(TheoremConstants constants, double rho, double alpha, double step_size,
                      double noise) {
  if (constants != TheoremConstants::corrected) return paper_steps;
  // dev: the printed 64 is too small for the proof's count of buckets (docs/errata.md, A6, A7)
  return std::max(paper_steps, 32.0 * escape_constant(rho, alpha, step_size, noise) / escape_drop);
}

}  // namespace

Theorem34 theorem_3_4(const Numbers& n, double rho, double alpha, double total_noise, double noise,
                      double delta, TheoremConstants constants) {
  Theorem34 made{};
  const double L = n.smoothness;
  double logarithm = std::log(1.0 / delta);  // ln(1/δ̃), δ̃ = δ/T
  for (int k = 0; k < 200; ++k) {
    // dev: 1/L and ln(1/δ̃) in place of terms whose units do not agree (docs/errata.md, A4)
    made.step_size = c_eta(constants) * std::min({1.0 / L, alpha * alpha / (L * total_noise),
                                                  n.gap / (total_noise * logarithm)});
    made.steps = steps_constant(constants, rho, alpha, made.step_size, noise) * n.gap /
                 (made.step_size * alpha * alpha);
    const double next = std::log(std::max(1.0, made.steps) / delta);
    if (std::abs(next - logarithm) <= 1e-14 * next) break;
    logarithm = next;
  }
  made.escape_steps = escape_constant(rho, alpha, made.step_size, noise) /
                      (made.step_size * std::sqrt(rho * alpha));
  made.escape_radius = escape_radius * std::sqrt(alpha / rho);
  made.escape_drop = escape_drop * std::sqrt(alpha * alpha * alpha / rho);
  return made;
}

// Steps of the resolver in avdiukhin-2024 notes, 3.5.
Circle resolve_circle(const Numbers& n, const CircleSpec& spec, const BoundFunction& bound) {
  const double sigma2 = n.deviation * n.deviation;
  const double L = n.smoothness, d = n.dimension;
  double T = 2.0;  // step 1
  Circle c{};
  c.step_size = 1.0 / L;
  double k_T = paper_steps;
  for (int round = 0; round < 100000; ++round) {                          // step 2
    c.bound = bound(T, c.step_size, spec.kappa * std::sqrt(T), c.bound);  // step 3
    const double kc = spec.kappa * c.bound;
    // dev: the strict form (docs/errata.md, A8)
    const double demand = spec.strict_noise ? std::log(T / spec.delta) : 1.0;
    c.batch = spec.batch.value_or(std::clamp(demand * sigma2 / (kc * kc * T), 1.0, n.records));
    const double total_noise = sigma2 / c.batch + d * kc * kc * T;
    c.alpha = std::pow(k_T * n.gap * L * total_noise / (c_eta(spec.constants) * T), 0.25);
    c.time = k_T * n.gap / (c.alpha * c.alpha);
    const double enough_noise = spec.batch ? demand * sigma2 / (c.batch * kc * kc) : 0.0;
    const double lemma = spec.lemma_step ? std::pow(c.time * n.deviation / spec.length, 2) : 0.0;
    const double next = std::max({1.0, enough_noise, L * c.time, lemma});  // step 4
    c.noise = kc * std::sqrt(T);
    c.step_size = std::min(1.0 / L, c.time / T);
    const double k_next = steps_constant(spec.constants, spec.rho, c.alpha, c.step_size, c.noise);
    // step 5
    if (std::abs(next - T) <= 1e-13 * next && std::abs(k_next - k_T) <= 1e-13 * k_T) break;
    if (!(next <= 1e15))
      throw InputError("avdiukhin-2024: the paper's schedule needs over 1e15 steps");
    T = next;
    k_T = k_next;
  }
  c.steps = T;  // step 6
  c.step_size = c.time / std::ceil(T * (1.0 - 1e-12));
  return c;
}

std::optional<CircleTarget> circle_for(const Numbers& n, double alpha, double batch,
                                       double kappa_bound, double c_step, double k_steps) {
  const double X = k_steps * n.gap * n.smoothness * kappa_bound * kappa_bound / c_step;
  const double A = X / std::pow(alpha, 4);
  if (!(n.dimension * A < 1.0)) return {};
  const double noise2 = n.deviation * n.deviation / batch * A / (1.0 - n.dimension * A);
  return CircleTarget{std::sqrt(noise2), noise2 / (kappa_bound * kappa_bound)};
}

Descent best_descent(const Numbers& n, double steps, double total_noise) {
  const double L = n.smoothness;
  const double eta = std::min(1.0 / L, std::sqrt(2.0 * n.gap / (steps * L * total_noise)));
  return {eta, std::sqrt(2.0 * n.gap / (eta * steps) + eta * L * total_noise)};
}

ClosedForm practical_closed_form(const Numbers& n, double effective_dimension, double kappa_bound) {
  const double L = n.smoothness;
  return {std::sqrt(2.0 * n.gap / (L * effective_dimension)) / kappa_bound,
          std::pow(8.0 * n.gap * L * effective_dimension, 0.25) * std::sqrt(kappa_bound)};
}

}  // namespace dpsosp::avdiukhin_2024
