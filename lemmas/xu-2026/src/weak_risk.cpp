// SPDX-License-Identifier: Apache-2.0
#include "weak_risk.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/claims/judging.hpp"
#include "dpsosp/lemmas/xu_2026.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp {
namespace {

// |(ax + by + z_x, bx − ay − z_y)| ≤ √(a² + b²)|w| + |z| on |w| ≤ √2, |z| ≤ 1
constexpr double gradient_bound = 3;

}  // namespace

AveragedLaw averaged_law(const QuadraticSaddle& f, double step, double steps) {
  // w_{t+1} = ρ w_t − η(z̄ + ξ_t) with ρ = 1 − ηλ, λ = a − ib, and 1 − ρ^k = −expm1(k log ρ)
  const std::complex<double> lambda(f.a, -f.b), contraction = 1.0 - step * lambda;
  const double squared = std::norm(contraction);
  const std::complex<double> powers = 1.0 - std::exp(steps * std::log(contraction));
  const std::complex<double> sum = contraction * powers / (step * lambda);  // Σ_{t=1}^T ρ^t
  const std::complex<double> kept = sum / steps;
  // Σ_k |1 − ρ^k|² over k = 1..T
  const double squares =
      squared == 1 ? steps : squared * -std::expm1(steps * std::log(squared)) / (1 - squared);
  return {.kept = kept,
          .of_records = std::norm((1.0 - kept) / lambda),
          .of_noise = 2 * (steps - 2 * sum.real() + squares) / (steps * steps * std::norm(lambda))};
}

DescentAscentSizes descent_ascent_sizes(double records, double dimension, double zcdp) {
  const double steps = records;
  const double deviation = 2 * gradient_bound / records * noise_ratio_for(zcdp, steps);
  return {.steps = steps,
          .step = 1 / std::sqrt(steps * (gradient_bound * gradient_bound +
                                         dimension * deviation * deviation)),
          .deviation = deviation};
}

double weak_risk(const QuadraticSaddle& f, double records, double dimension, double zcdp) {
  const DescentAscentSizes s = descent_ascent_sizes(records, dimension, zcdp);
  const AveragedLaw law = averaged_law(f, s.step, s.steps);
  const double mean = std::abs(law.kept);
  const double second =
      mean * mean + law.of_records / records + law.of_noise * dimension * s.deviation * s.deviation;
  // max over |y′| ≤ 1 of b E x̄·y′ − a|y′|²/2, and likewise in x′: all of E w̄ in one of both
  const double g = f.b * mean;
  const double of_comparison = g <= f.a ? g * g / (2 * f.a) : g - f.a / 2;
  return f.a / 2 * second + of_comparison;
}

double worst_weak_risk(double records, double dimension, double zcdp) {
  const DescentAscentSizes s = descent_ascent_sizes(records, dimension, zcdp);
  // far below 1/(ηT) the curvature a is not seen
  const double least = 1e-2 * std::min(1.0, 1 / (s.step * s.steps));
  double worst = 0;
  std::vector<double> couplings = log_grid(1e-4, 1, 17);
  couplings.push_back(0);
  for (const double a : log_grid(least, 1, 57))
    for (const double b : couplings)
      worst = std::max(worst, weak_risk({a, b}, records, dimension, zcdp));
  return worst;
}

namespace {

double zcdp_of(double epsilon) {
  return filter_rule({epsilon, 1e-6}, Calibrator::bun_steinke).capacity;
}

Finding dp_sgda_risk() {
  struct Axis {
    std::string name;
    double exponent;
    std::vector<double> values;
    std::function<double(double)> level;
  };
  const auto at = [](double n, double d, double epsilon) {
    return worst_weak_risk(n, d, zcdp_of(epsilon));
  };
  const std::vector<Axis> axes{
      {"n, large ε", -0.5, {1e4, 1e5, 1e6}, [&](double n) { return at(n, 10, 1e3); }},
      {"n", -1, {1e7, 1e8, 1e9}, [&](double n) { return at(n, 1e10, 1); }},
      {"d", 0.5, {1e9, 1e10, 1e11}, [&](double d) { return at(1e8, d, 1); }},
      {"ε", -1, {0.25, 0.5, 1}, [&](double epsilon) { return at(1e8, 1e10, epsilon); }}};
  bool holds = true;
  std::vector<std::string> words;
  for (const Axis& axis : axes) {
    std::vector<double> levels;
    for (const double value : axis.values) levels.push_back(axis.level(value));
    const double slope = log_slope(axis.values, levels);
    holds = holds && std::abs(slope - axis.exponent) <= 0.05;
    words.push_back(fmt::format("{:+.3f} in {} (levels {:.3g} to {:.3g})", slope, axis.name,
                                levels.front(), levels.back()));
  }
  double highest = 0;
  for (const double n : {1e4, 1e6, 1e8})
    for (const double d : {10.0, 1e4, 1e8})
      for (const double epsilon : {0.25, 1.0, 4.0})
        highest = std::max(
            highest,
            at(n, d, epsilon) / (1 / std::sqrt(n) + std::sqrt(d * std::log(1e6)) / (n * epsilon)));
  return finding(holds && highest <= 20,
                 fmt::format("worst case over a, b in [0, 1]: {}; at most {:.3g} (1/√n + √(d "
                             "ln(1/δ))/(nε)) over n = 1e4 to 1e8, d = 10 to 1e8, ε = 0.25 to 4",
                             fmt::join(words, ", "), highest),
                 "another exponent");
}

}  // namespace

std::vector<Predicate> xu_2026_weak_risk_predicates() {
  return {by_formulas("xu-2026/table-1-dp-sgda", dp_sgda_risk)};
}

}  // namespace dpsosp
