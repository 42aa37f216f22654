// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/resisting_chain.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "chain_bounds.hpp"
#include "chain_objective.hpp"
#include "dpsosp/core/errors.hpp"
#include "rotation.hpp"

namespace dpsosp {
namespace {

const double root_e = std::exp(0.5);
const double phi_top = std::sqrt(2 * std::numbers::pi * std::numbers::e);  // Φ(∞)

/// Ψ. Below 2u − 1 = 0.037 the exponential is 0 in double precision.
Jet psi(double u) {
  const double t = 2 * u - 1;
  if (t <= 0.037) return {};
  const double y = 1 / (t * t), value = std::exp(1 - y);
  return {value, 4 * y / t * value, y * y * (16 * y - 24) * value,
          8 * y * y / t * (24 - 36 * y + 8 * y * y) * value};
}

/// Φ.
Jet phi(double u) {
  const double slope = root_e * std::exp(-0.5 * u * u);
  return {0.5 * phi_top * std::erfc(-u / std::numbers::sqrt2), slope, -u * slope,
          (u * u - 1) * slope};
}

struct ResistingTerms {
  Jet own(double) const { return {}; }
  Jet head(double v) const {
    const Jet f = phi(v);
    return {-f.value, -f.first, -f.second, -f.third};
  }
  /// Ψ(−u)Φ(−v) − Ψ(u)Φ(v); at most one of the two is not 0.
  Edge edge(double u, double v) const {
    if (std::abs(u) <= 0.5) return {};
    const double sign = u < 0 ? -1 : 1;
    const Jet p = psi(std::abs(u)), f = phi(sign * v);
    return {-sign * p.value * f.value,  -p.first * f.value,        -p.value * f.first,
            -sign * p.second * f.value, -sign * p.first * f.first, -sign * p.value * f.second};
  }
};

/// Bounds of the unscaled f, for every T.
ChainBounds unscaled_bounds() {
  return chain_bounds({.own = [](double) { return Jet{}; },
                       .gate = [](double u) { return psi(u); },
                       .pull = [](double u) { return phi(u); },
                       .strength = 1,
                       .gate_top = std::numbers::e,
                       .pull_top = phi_top,
                       .breaks = {0, 0.5, 1, 2, 20},
                       .fourth_own = 0,
                       .fourth_gate = 10500,  // 10377.1 at u ≈ 0.744
                       .fourth_pull = 2.3});  // √e max |3u − u³|e^{−u²/2} = 2.276
}

}  // namespace

ResistingChain::Units ResistingChain::units() const {
  const ChainBounds bounds = unscaled_bounds();
  const double length_unit = (smoothness / bounds.curvature) / (hessian_lipschitz / bounds.third);
  return {length_unit, smoothness * length_unit * length_unit / bounds.curvature, bounds.slope};
}

std::string_view ResistingChain::summary() const {
  return "a f(x/s), f the zero-chain of Carmon et al. 2020, + z.x; lower bound for finding "
         "stationary points";
}

ProblemNotes ResistingChain::notes() const {
  return {
      .group = "Worst cases for first-order methods",
      .formula =
          "F(x) = a f(x/s), f(y) = −Ψ(1)Φ(y_1) + Σ_{2≤i≤T} [Ψ(−y_{i−1})Φ(−y_i) − "
          "Ψ(y_{i−1})Φ(y_i)], Ψ(u) = exp(1 − 1/(2u − 1)²) for u > ½ and 0 before, Φ(u) = √e "
          "∫_{−∞}^u e^{−t²/2} dt, s = (M/ℓ₁)/(ρ/ℓ₂), a = Ms²/ℓ₁ for the bounds ℓ₁, ℓ₂ of f proved "
          "here. The start is 0; in exact gradients from points with x_i = … = x_T = 0 only the "
          "first i coordinates differ from 0. Neither the random low-dimensional embedding nor the "
          "quadratic confinement that the source adds against randomised methods is part of this "
          "entry.",
      .source =
          "Carmon, Duchi, Hinder and Sidford 2020, Lower bounds for finding stationary points I, "
          "section 3",
      .critical_points =
          "None while |x_T| < s: there some |x_j| < s has |∂_j F| > a/s. inf F = −a√(2πe)(1 + (T − "
          "1)e), approached as every x_i → ∞ and not attained; F(0) − inf F = a√(2πe)(½ + (T − "
          "1)e) ≤ 12 aT."};
}

Fields ResistingChain::landscape_fields() {
  using namespace range;
  return {field("length", length, at_least(1), "T, links of the chain"),
          field("smoothness", smoothness, positive, "M, the proved smoothness of F"),
          field("hessian_lipschitz", hessian_lipschitz, positive,
                "rho, the proved constant of F's Hessian"),
          field("rotation", rotation, not_negative,
                "seed of the public orthogonal matrix; 0 for none")};
}

Landscape ResistingChain::landscape(Index d) const {
  if (length > d)
    reject(name(), "length", static_cast<double>(length), fmt::format("in [1, {}]", d));

  const Units unit = units();
  const double s = unit.scale, a = unit.height;
  const auto T = static_cast<double>(length);
  Landscape made;
  made.objective =
      std::make_shared<ChainObjective<ResistingTerms>>(d, length, ResistingTerms{}, a, s);
  made.starts = {.standard = Vector::Zero(d), .random_spread = s, .far_radius = 10 * s};
  made.minimum = -a * phi_top * (1 + (T - 1) * std::numbers::e);
  if (length >= 2)
    made.slice = first_two_coordinates("F over (x₁, x₂): a plateau that ends where x₁ passes s/2",
                                       Vector::Zero(d), -2 * s, 4 * s);
  rotate_landscape(made, static_cast<std::uint64_t>(rotation));
  return made;
}

Constants ResistingChain::landscape_constants(Index) const {
  const auto [s, a, slope] = units();
  const std::string_view here =
      "Here m = 0, c = 1, w = Ψ with sup e, q = Φ with sup √(2πe); both signs of u give the same "
      "sizes, and beyond u = 20 every term has decayed.";
  Constants made;
  made.set(constant::lipschitz,
           proved(a / s * slope * std::sqrt(static_cast<double>(length)), "everywhere",
                  std::string(chain_slope_proof) + std::string(here), 0.918));
  made.set(constant::smoothness,
           proved(smoothness, "everywhere", std::string(chain_curvature_proof) + std::string(here),
                  0.96));
  made.set(constant::hessian_lipschitz,
           proved(hessian_lipschitz, "everywhere",
                  std::string(chain_third_proof) + std::string(here), 0.96));
  return made;
}

}  // namespace dpsosp
