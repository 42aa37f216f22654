// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/factorisation.hpp"
#include "dpsosp/lemmas/liu_talwar_2025.hpp"
#include "dpsosp/lemmas/liu_talwar_2025/probes.hpp"
#include "dpsosp/liu_talwar_2025/adaptive_spider.hpp"
#include "dpsosp/problems/problem.hpp"
#include "lab.hpp"

// Probes of the escape: Algorithm 2, Lemmas 3.8 and 3.9, Claim 3.7.
namespace dpsosp {
namespace {

using namespace liu_talwar_2025_probe;

/// At most `limit` long.
Vector shortened(const Vector& v, double limit) {
  const double norm = v.norm();
  return norm > limit ? Vector(v * (limit / norm)) : v;
}

/// Escapes from a strict saddle of curvature −λ: Algorithm 2, or one isotropic kick followed by
/// gradient steps. The estimates err by at most γ and ϰ = √(ργ)/2: not at all (`none`), by a random
/// vector and matrix that stay fixed (`benign`), or against the escape: `frozen`, by a pair chosen
/// once, along the gradient's last direction and +ϰ on every curvature; `seeing`, anew at each step
/// by whatever sends the next iterate back to the saddle, as far as γ allows. `adversarial` is what
/// the method's own estimates admit: a frozen pair with Hessian powers, else `seeing`.
Escapes::Result escapes(const Escapes& p, std::uint64_t seed) {
  const std::string name = p.problem, error = p.error;
  const bool frozen = p.method == "hessian_power";
  const bool seeing = error == "seeing" || (error == "adversarial" && !frozen);
  const double alpha = p.alpha, ratio = p.ratio;
  const auto d = p.dimension;
  const auto seeds = static_cast<std::uint64_t>(p.seeds);
  std::map<std::string, std::string> settings{{"sampling", "whole"}, {"start", "saddle"}};
  if (name == "quartic-saddle") {
    // The minimum lies at 1/1.2 of the radius R, and ρ = 6 b R = 1.
    const double lambda = ratio * std::sqrt(alpha), radius = 8.64 * lambda;
    settings.insert({{"negative", "1"},
                     {"gamma", fmt::format("{}", lambda)},
                     {"quartic", fmt::format("{}", 1.0 / (6.0 * radius))},
                     {"radius", fmt::format("{}", radius)},
                     {"least_positive", "0.1"},
                     {"largest_positive", "1"}});
  } else {
    // λ = a cos s and ρ = M = a, so that λ² = ratio² ρ α gives a.
    const double c = std::cos(0.5);
    settings.insert({{"amplitude", fmt::format("{}", ratio * ratio * alpha / (c * c))}});
  }
  const Problem problem = make_problem(name, settings, 1000000, d, seed);
  const Objective& f = *problem.population;
  const double M = problem.facts.constants[constant::smoothness];
  const double rho = problem.facts.constants[constant::hessian_lipschitz];
  const double gamma = p.error_over_alpha * alpha;
  const double varkappa = std::sqrt(rho * gamma) / 2;
  const auto s =
      liu_talwar_2025::numbers_at({1e12, static_cast<double>(d), 1, M, rho, 1}, 1, alpha, 1);
  const auto allowed_steps = static_cast<Index>(s.escape_steps);
  const Vector anchor = problem.facts.initial_point;
  const Matrix hessian = hessian_of(f, anchor);
  Vector at_anchor(d), at_x(d);
  f.gradient(anchor, at_anchor);

  std::uint64_t left = 0, lowered = 0;
  double steps = 0, change = 0;
  for (std::uint64_t k = 0; k < seeds; ++k) {
    Stream stream({.seed = seed, .purpose = Purpose::evaluation, .path = k});
    Vector e = Vector::Zero(d);
    Matrix E = Matrix::Zero(d, d);
    if (error == "benign") {
      e = gamma * direction(d, stream);
      const Vector v = direction(d, stream);
      E = varkappa * (2 * v * v.transpose() - Matrix::Identity(d, d));
    } else if (error == "adversarial" || error == "frozen") {
      e = gamma * Vector::Unit(d, d - 1);
      E = varkappa * Matrix::Identity(d, d);
    }
    Vector x = anchor;
    Index t = 0;
    while (t < allowed_steps && (x - anchor).norm() < s.escape_radius) {
      f.gradient(x, at_x);
      Vector step;
      if (seeing) {
        const Vector exact = frozen ? Vector(at_anchor + hessian * (x - anchor)) : at_x;
        step = exact + shortened(M * (x - anchor) - exact, gamma);
      } else if (frozen) {
        step = at_anchor + e + (hessian + E) * (x - anchor);
      } else {
        step = at_x + shortened(e + E * (x - anchor), gamma);
      }
      if (frozen || t == 0) stream.add_normal(s.escape_deviation, step);
      x -= step / M;
      ++t;
    }
    if ((x - anchor).norm() >= s.escape_radius) {
      ++left;
      steps += static_cast<double>(t);
    }
    const double fall = f.value(x) - f.value(anchor);
    lowered += fall < 0;
    change += fall;
  }
  return {.left = left,
          .lowered = lowered,
          .steps = left > 0 ? std::optional(steps / static_cast<double>(left)) : std::nullopt,
          .allowed_steps = allowed_steps,
          .change = change / static_cast<double>(seeds),
          .unit_decrease = std::pow(alpha, 1.5) / std::sqrt(rho)};
}

/// Escapes by Algorithm 2 from F = (−√(ρα) x₁² + ϰ x₂²)/2, d = 2, B = M = ρ = 1, with a pair that
/// errs by exactly γ along x₂ and by ϰ = √(ργ)/2 on both curvatures, so that H is flat along x₂.
/// The rest is Theorem 3.4's: α = γ ln³(dBM/(ρι)), with γ beside ρι or not, ι = 0.1, T = γ^-2.
FlatEscapes::Result flat_escapes(const FlatEscapes& p, std::uint64_t seed) {
  constexpr double d = 2, iota = 0.1;
  const double gamma = p.gamma;
  const auto escapes = static_cast<std::uint64_t>(p.escapes);
  const double alpha = gamma * std::pow(std::log(d / (p.gamma_in_log ? gamma * iota : iota)), 3);
  const double curvature = std::sqrt(alpha), varkappa = std::sqrt(gamma) / 2;
  const double radius = std::sqrt(gamma);
  const double deviation = gamma / std::sqrt(d * std::log(1 / (gamma * gamma * iota)));
  const double most = 20 * std::log(1 / gamma) / std::sqrt(gamma);
  std::uint64_t left = 0, lowered = 0;
  for (std::uint64_t k = 0; k < escapes; ++k) {
    Stream stream({.seed = seed, .purpose = Purpose::evaluation, .path = k});
    Vector x = Vector::Zero(2), noise(2);
    for (Index t = 0; static_cast<double>(t) < most && x.norm() < radius; ++t) {
      stream.fill_normal(deviation, noise);
      x -= Vector{{(varkappa - curvature) * x[0], gamma}} + noise;
    }
    if (x.norm() < radius) continue;  // Algorithm 2 returns x_0
    ++left;
    lowered += varkappa * x[1] * x[1] < curvature * x[0] * x[0];
  }
  return {.left = left, .lowered = lowered};
}

/// Claim 3.7 along random paths x − (∇F − ϱ) on quadratics with curvatures in [−1, 1], η = M = 1:
/// errors ϱ at random, along the gradient, or none; t of at most Γ steps. Counts what is above the
/// bound, and above that with t for its Γ.
QuadraticPaths::Result quadratic_paths(const QuadraticPaths& p, std::uint64_t seed) {
  const auto paths = static_cast<std::uint64_t>(p.paths);
  std::int64_t above = 0, above_by_steps = 0;
  for (std::uint64_t k = 0; k < paths; ++k) {
    Stream stream({.seed = seed, .purpose = Purpose::evaluation, .path = k});
    const auto d = static_cast<Index>(1 + stream.below(5));
    const auto most = static_cast<double>(1 + stream.below(49));
    const auto steps = 1 + stream.below(static_cast<Index>(most));
    constexpr std::array scales{0.01, 0.1, 1.0};
    const double scale = scales[static_cast<std::size_t>(stream.below(3))];
    const bool along = stream.bernoulli(0.3);
    const double share = 2 * stream.uniform();
    Vector curvature(d), slope(d), x(d), error(d);
    for (Index j = 0; j < d; ++j) curvature[j] = 2 * stream.uniform() - 1;
    stream.fill_normal(stream.bernoulli(0.5) ? 0.1 : 1.0, slope);
    stream.fill_normal(0.1, x);
    if (stream.bernoulli(0.3)) slope.setZero();
    if (stream.bernoulli(0.3)) x.setZero();
    const auto value = [&](const Vector& at) {
      return 0.5 * at.cwiseAbs2().dot(curvature) + slope.dot(at);
    };
    const Vector start = x;
    double errors = 0;
    for (Index t = 0; t < steps; ++t) {
      const Vector gradient = curvature.cwiseProduct(x) + slope;
      if (along)
        error = -share * gradient;
      else if (stream.bernoulli(0.5))
        stream.fill_normal(scale, error);
      else
        error.setZero();
      errors += error.squaredNorm();
      x -= gradient - error;
    }
    const double moved = (x - start).squaredNorm(), fall = value(start) - value(x);
    const double tolerance = 1e-9 * (1 + moved + most * std::abs(fall));
    const double by_errors = 50.0 * static_cast<double>(steps) * errors;
    above += moved > 8 * most * fall + by_errors + tolerance;
    above_by_steps += moved > 8 * static_cast<double>(steps) * fall + by_errors + tolerance;
  }
  return {.above = above, .above_by_steps = above_by_steps};
}

/// Lemma 3.9: pairs of Algorithm 2 with one noise from first iterates μr apart along the lowest
/// direction of H, the least distance that the lemma allows (r = ηγ, ι = 0.1), at saddles of
/// curvature −√(ργ), M = ρ = 1. H errs by √(ργ)/2 on every curvature, against the escape; g errs by
/// γ and the noise has norms up to γ. In every second pair neither has a part along that direction,
/// the other curvatures are positive, and the two start on either side of the saddle, so that their
/// distance alone moves them apart. A pair is free if one of the two leaves the ball of radius Ξ
/// within `share` of the steps in which their distance grows to 2Ξ.
StuckPairs::Result stuck_pairs(const StuckPairs& p, std::uint64_t seed) {
  constexpr Index d = 10;
  constexpr double iota = 0.1;
  const double gamma = p.gamma, share = p.share;
  const auto pairs = static_cast<std::uint64_t>(p.pairs);
  const double radius = std::sqrt(gamma), growth = 1 + std::sqrt(gamma) / 2;
  const double apart = iota * iota / (16 * std::sqrt(static_cast<double>(d))) * gamma;
  const auto steps =
      static_cast<Index>(share * std::ceil(std::log(2 * radius / apart) / std::log(growth)));
  std::uint64_t free = 0;
  for (std::uint64_t k = 0; k < pairs; ++k) {
    Stream stream({.seed = seed, .purpose = Purpose::evaluation, .path = k});
    const bool opposed = k % 2 == 0;
    const auto drawn = [&](double length) {
      Vector v = length * direction(d, stream);
      if (opposed) v[0] = 0;
      return v;
    };
    Vector curvature(d);
    for (Index j = 0; j < d; ++j)
      curvature[j] = opposed ? 0.5 + 0.5 * stream.uniform()
                             : std::max(2 * stream.uniform() - 1, -std::sqrt(gamma));
    curvature[0] = -std::sqrt(gamma);
    curvature.array() += std::sqrt(gamma) / 2;
    const Vector g = drawn(gamma);
    Vector x = -g, y = x;
    x[0] += apart / 2;
    y[0] -= apart / 2;
    bool left = false;
    for (Index t = 0; t < steps && !left; ++t) {
      const Vector noise = drawn(gamma * stream.uniform());
      x -= g + curvature.cwiseProduct(x) + noise;
      y -= g + curvature.cwiseProduct(y) + noise;
      left = std::max(x.norm(), y.norm()) >= radius * (1 - 1e-9);
    }
    free += left;
  }
  return {.free = free, .steps = steps};
}

}  // namespace

std::vector<ProbeEntry> liu_talwar_2025_escape_probes() {
  return {probe_entry<escapes>(), probe_entry<flat_escapes>(), probe_entry<quadratic_paths>(),
          probe_entry<stuck_pairs>()};
}

}  // namespace dpsosp
