// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/octopus.hpp"

#include <cmath>

#include <fmt/format.h>

#include "chain_bounds.hpp"
#include "chain_objective.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

struct OctopusCurves {
  double L;
  double strength;  // L + γ
  double tau;

  Jet own(double u) const {
    const double r = std::abs(u), t = (r - tau) / tau;
    Jet m;
    if (r <= tau)
      m = {r * r, 2 * r, 2, 0};
    else if (r >= 2 * tau)
      m = {(r - 4 * tau) * (r - 4 * tau) - 4 * tau * tau, 2 * (r - 4 * tau), 2, 0};
    else
      m = {tau * tau * (1 + t * (2 + t * (1 + t * (-8 + 4 * t)))),
           tau * (2 + t * (2 + t * (-24 + 16 * t))), 2 + t * (-48 + 48 * t), (-48 + 96 * t) / tau};
    return oriented(u, {L * m.value, L * m.first, L * m.second, L * m.third});
  }
  Jet gate(double u) const {
    const Jet S = smooth_step((std::abs(u) - tau) / tau);
    return oriented(u,
                    {S.value, S.first / tau, S.second / (tau * tau), S.third / (tau * tau * tau)});
  }
  Jet pull(double u) const {
    const double r = std::abs(u), t = (r - tau) / tau;
    if (r <= tau) return {u * u, 2 * u, 2, 0};
    if (r >= 2 * tau) return {13.0 / 6 * tau * tau, 0, 0, 0};
    return oriented(u, {tau * tau * (1 + t * (2 + t * (1 + t * (-10.0 / 3 + 1.5 * t)))),
                        tau * 2 * (1 - t) * (1 - t) * (1 + 3 * t), 2 + t * (-20 + 18 * t),
                        (-20 + 36 * t) / tau});
  }

 private:
  /// The even function whose jet at |u| is `jet`.
  static Jet oriented(double u, const Jet& jet) {
    return u < 0 ? Jet{jet.value, -jet.first, jet.second, -jet.third} : jet;
  }
};

}  // namespace

std::string_view Octopus::summary() const {
  return "the octopus of Du et al. 2017: plain descent takes at least (1 + L/gamma)^(d-1) times as "
         "long for the d strict saddles on its way as for the first";
}

ProblemNotes Octopus::notes() const {
  return {
      .group = "Landscapes with known saddles",
      .formula =
          "F(x) = Σ_i L m(x_i) − (L + γ) w(x_{i−1}) q(x_i) on |x_j| ≤ 6τ, w(x_0) = 1, m, w, q "
          "even. With t = (|u| − τ)/τ: for |u| ≤ τ, m = q = u² and w = 0; for |u| ≥ 2τ, m = (|u| − "
          "4τ)² − 4τ², q = 13τ²/6 and w = 1; between, m′ = τ(2 + 2t − 24t² + 16t³), q′ = 2τ(1 − "
          "t)²(1 + 3t), w = 10t³ − 15t⁴ + 6t⁵. So x_i has curvature 2L while x_{i−1} waits, −2γ "
          "once it has passed 2τ, and the well (|u| − 4τ)²L at the end. On the tube 2τ ≤ |x_1|, …, "
          "|x_{i−1}| and |x_{i+1}|, …, |x_d| ≤ τ this is the published function, g_1 = Lm − (L + "
          "γ)q and g_2 = L − (L + γ)w; off it, an explicit extension. F is C², its Hessian "
          "Lipschitz.",
      .source =
          "Du, Jin, Lee, Jordan, Singh and Poczos 2017, Gradient Descent Can Take Exponential Time "
          "to Escape Saddle Points",
      .critical_points =
          "On (0, 4τ) the slope of a freed coordinate, Lm′ − (L + γ)q′, is negative, beyond it "
          "positive, and the term −(L + γ) w′(u) q(x_{i+1}) that the next one adds is not positive "
          "and 0 outside (τ, 2τ). So the first coordinate that is not at ±4τ is at 0 with "
          "curvature −2γ and no coupling: every critical point inside the box is a strict saddle "
          "with λ_min ≤ −2γ or one of the 2^d global minima ±4τ, F* = −dν, ν = τ²(37L + 13γ)/6: as "
          "w ≤ 1 and q ≥ 0, F is at least the sum of d freed wells. Descent passes the saddles "
          "(4τ, …, 4τ, 0, …, 0). Descent with steps η from a point with |x_j| ≤ τ multiplies "
          "x_{k+1} by 1 − 2ηL until x_k leaves [−τ, τ] at step T_k, and by at most 1 + 2ηγ after "
          "it: T_{k+1} ≥ T_k (1 + ln(1/(1 − 2ηL))/ln(1 + 2ηγ)) ≥ (1 + L/γ) T_k."};
}

Fields Octopus::landscape_fields() {
  return {field("contraction", contraction, range::positive,
                "L, coordinates that wait have curvature 2L"),
          field("gamma", gamma, range::positive, "the saddles' curvature is -2 gamma"),
          field("tube", tube, range::positive, "tau, width of the tube; the wells are at 4 tau")};
}

Landscape Octopus::landscape(Index d) const {
  if (!(contraction >= gamma && contraction <= 1e9 * gamma))
    reject(name(), "contraction", contraction,
           "in [gamma, 1e9 gamma], so that their sum keeps the digits of gamma");

  const OctopusCurves curves{contraction, contraction + gamma, tube};

  Landscape made;
  made.objective = std::make_shared<ChainObjective<GatedTerms<OctopusCurves>>>(
      d, d, GatedTerms<OctopusCurves>{curves});
  made.domain = Domain::box(6 * tube);
  made.starts = {.standard = Vector::Constant(d, tube / std::exp(1.0)),
                 .saddle = Vector::Zero(d),
                 .random_spread = tube / (std::exp(1.0) * std::sqrt(3.0)),
                 .far_radius = 6 * tube};
  made.minimum = -static_cast<double>(d) * tube * tube * (37 * contraction + 13 * gamma) / 6;

  Vector reached = Vector::Zero(d);
  for (Index i = 0; i < d; ++i) {
    if (i <= 1 || i == d / 2 || i + 1 == d)
      made.landmarks.push_back({fmt::format("saddle {} of the descent", i + 1),
                                Landmark::Kind::strict_saddle, Landmark::Of::population, reached});
    reached[i] = 4 * tube;
  }
  made.landmarks.push_back(
      {"all at 4τ", Landmark::Kind::minimiser, Landmark::Of::population, reached});
  made.slice = first_two_coordinates("F over (x₁, x₂): the tube from 0 along x₁, and then along x₂",
                                     Vector::Zero(d), -6 * tube, 6 * tube);
  return made;
}

Constants Octopus::landscape_constants(Index d) const {
  const OctopusCurves curves{contraction, contraction + gamma, tube};
  const ChainBounds bounds = chain_bounds({.own = [=](double u) { return curves.own(u); },
                                           .gate = [=](double u) { return curves.gate(u); },
                                           .pull = [=](double u) { return curves.pull(u); },
                                           .strength = curves.strength,
                                           .gate_top = 1,
                                           .pull_top = curves.pull(2 * tube).value,
                                           .breaks = {0, tube, 2 * tube, 6 * tube},
                                           .fourth_own = 96 * contraction / (tube * tube),
                                           .fourth_gate = 360 / std::pow(tube, 4),
                                           .fourth_pull = 36 / (tube * tube)});
  return chain_constants(bounds, d, {.slope = 0.83, .curvature = 0.84, .third = 0.976});
}

}  // namespace dpsosp
