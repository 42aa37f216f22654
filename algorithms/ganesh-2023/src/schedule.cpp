// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/ganesh_2023/stochastic_spider.hpp"

namespace dpsosp::ganesh_2023 {
namespace {

constexpr double theta = 0.25;   // noise of the estimate / α
constexpr double c_steps = 4.0;  // c_T
constexpr double c_cap = 4.0;    // c_K
constexpr double c_trigger = 2.0;
constexpr double a = 2.0;  // replace-one: a difference of two records' contributions

Index to_index(double value) {
  if (!(value < 1e15))
    throw InputError("ganesh-2023/stochastic-spider: the schedule asks for over 1e15 steps");
  return static_cast<Index>(value);
}

}  // namespace

PracticalEmpirical practical_empirical(
    double n, double d, double G, double M, double rho, double B, double oracle_budget) {
  PracticalEmpirical s{};
  // With φ/4 each for O1 and O2 the specification writes φ for twice the oracles' budget.
  const double phi = 2.0 * oracle_budget;
  s.alpha =
      std::cbrt(2.0 * a * a * d * B * M * G * (c_cap + c_steps) / (phi * theta * theta * n * n));
  s.drift_threshold = G * s.alpha / (M * M);
  s.steps = to_index(std::ceil(c_steps * B * M / (s.alpha * s.alpha)));
  s.refresh_cap = to_index(std::ceil(c_cap * B / (M * s.drift_threshold)));
  s.refresh_deviation = a * G / n * std::sqrt(2.0 * static_cast<double>(s.refresh_cap) / phi);
  s.increment_deviation = a * M / n * std::sqrt(2.0 * static_cast<double>(s.steps) / phi);
  const double curvature = std::sqrt(rho * s.alpha);
  s.escape_steps = to_index(
      std::ceil(std::log(2.0 * M * d / (theta * curvature)) / std::log1p(curvature / (2.0 * M))));
  return s;
}

Theorem42 theorem_4_2(double n, double d, double G, double M, double rho, double B, double phi) {
  constexpr double omega = 0.01;
  Theorem42 s{};
  const double u = std::sqrt(d) / (n * std::sqrt(phi));
  s.drift_threshold =
      std::pow(G, 4.0 / 3) * std::cbrt(B) * std::pow(M, -5.0 / 3) * std::pow(u, 2.0 / 3);
  s.alpha = std::pow(std::sqrt(B * G * M) * u, 2.0 / 3) *
            std::pow(std::log(n * B * M * d / (rho * omega)), 6);
  // α = γ log³(BMd/(ρω)), so that Algorithm 1's escape threshold is α
  s.gamma = s.alpha / std::pow(std::max(1.0, std::log(B * M * d / (rho * omega))), 3);
  const double lambda = std::max(1.0, std::log(d * M * B / (rho * s.gamma * omega)));
  s.steps = B * M * std::pow(lambda, 4) / (s.gamma * s.gamma);
  s.refresh_cap = B * std::pow(lambda, 4) / (M * s.drift_threshold);
  s.escape_steps = M * lambda / std::sqrt(rho * s.gamma);
  return s;
}

Scheduled StochasticSpider::schedule(Schedule kind,
                                     const PublicFacts& facts,
                                     const PrivacyBudget& budget,
                                     Calibrator calibrator) {
  StochasticSpiderParameters& p = parameters;
  refuse_shared_dual(card(), facts);
  const Constants& c = facts.constants;
  const double n = static_cast<double>(facts.records);
  const double d = static_cast<double>(facts.dimension);
  const double G = c[constant::lipschitz];
  const double M = c[constant::smoothness];
  const double rho = c[constant::hessian_lipschitz];
  const double B = c[constant::suboptimality];
  Scheduled s{.rule = filter_rule(budget, calibrator), .alpha = 0, .utility = {}, .note = {}};
  const double oracle_budget = s.rule.capacity * (1.0 - p.selection_share);

  p.refresh = RefreshTrigger::drift;
  p.step_size = 1.0 / M;
  p.oracle.sampling = Sampling::all;
  p.oracle.clip_refresh = G;
  p.oracle.increment_clip = IncrementClip::proportional;
  p.oracle.clip_increment = M;
  if (kind == Schedule::practical) {
    const PracticalEmpirical e = practical_empirical(n, d, G, M, rho, B, oracle_budget);
    s.alpha = e.alpha;
    p.steps = e.steps;
    p.drift_threshold = e.drift_threshold;
    p.refresh_cap = e.refresh_cap;
    p.escape_steps = e.escape_steps;
    p.escape_threshold = c_trigger * e.alpha;
    p.kick_deviation = theta * e.alpha / std::sqrt(d);
    s.utility = Utility::repaired;
  } else {
    const Theorem42 e = theorem_4_2(n, d, G, M, rho, B, oracle_budget);
    s.alpha = e.alpha;
    p.steps = std::max<Index>(1, to_index(std::ceil(e.steps)));
    p.drift_threshold = e.drift_threshold;
    p.refresh_cap = std::max<Index>(1, to_index(std::ceil(e.refresh_cap)));
    p.escape_steps = std::max<Index>(1, to_index(std::ceil(e.escape_steps)));
    p.escape_threshold = e.alpha;
    s.utility = Utility::disputed;
    s.note = "noise by this suite's accountant; the printed totals differ (docs/errata.md, G6)";
  }
  const double half = 0.5 * oracle_budget;
  p.oracle.refresh_noise = noise_ratio_for(half, static_cast<double>(p.refresh_cap));
  p.oracle.increment_noise = noise_ratio_for(half, static_cast<double>(p.steps));
  if (kind == Schedule::paper)
    p.kick_deviation = 2.0 * G / n * p.oracle.refresh_noise;  // ζ₁/√d = σ₁
  if (s.alpha >= G) {
    s.utility = Utility::vacuous;
    s.note = fmt::format("alpha = {:.4g} is no smaller than the gradient bound {:.4g}", s.alpha, G);
  }
  return s;
}

}  // namespace dpsosp::ganesh_2023
