// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/problems/staircase.hpp"

#include <cmath>

#include <fmt/format.h>

#include "chain_bounds.hpp"
#include "chain_objective.hpp"
#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

struct StaircaseCurves {
  double strength;  // 1 + γ
  double step;      // s
  double width;     // a

  Jet own(double u) const { return {0.5 * u * u, u, 1, 0}; }
  Jet gate(double u) const {
    const Jet S = smoother_step(std::abs(u) / step);
    const double sign = u < 0 ? -1 : 1;
    return {S.value, sign * S.first / step, S.second / (step * step),
            sign * S.third / (step * step * step)};
  }
  Jet pull(double u) const {
    const double t = u / width, bell = std::exp(-t * t);
    return {-0.5 * width * width * std::expm1(-t * t), u * bell, (1 - 2 * t * t) * bell,
            t * (4 * t * t - 6) * bell / width};
  }
};

}  // namespace

std::string_view Staircase::summary() const {
  return "|x|^2/2 - (1+gamma) sum_{i<=K} w(x_{i-1}) q(x_i) + z.x; descent passes exactly K strict "
         "saddles";
}

ProblemNotes Staircase::notes() const {
  return {
      .group = "Landscapes with known saddles",
      .formula =
          "F(x) = ½‖x‖² − (1 + γ) Σ_{i≤K} w(x_{i−1}) q(x_i) on |x_j| ≤ h s, w(x_0) = 1, q(u) = "
          "(a²/2)(1 − e^{−u²/a²}) with a² = s²/ln(1 + γ), w(u) = S(|u|/s), S(t) = 35t⁴ − 84t⁵ + "
          "70t⁶ − 20t⁷ on [0, 1], 0 before and 1 after. F is C³.",
      .source =
          "after Du, Jin, Lee, Jordan, Singh and Poczos 2017, with a new coupling by which each "
          "stage takes O(1) escapes",
      .critical_points =
          "On (0, s) the own slope of a freed coordinate, u(1 − (1 + γ)e^{−u²/a²}), is negative, "
          "and the term −(1 + γ) w′(u) q(x_{i+1}) that the next one adds is not positive; beyond s "
          "the first is positive and the second 0. So the first coordinate that is not at ±s is at "
          "0 with curvature −γ and no coupling: every critical point is a strict saddle with λ_min "
          "≤ −γ, or one of the 2^K global minima x_1, …, x_K = ±s, other x_j = 0, F* = −K (a²/2)(γ "
          "− ln(1 + γ)): as w ≤ 1 and q ≥ 0, F is at least the sum of K freed wells. A descent "
          "from the origin visits the saddles with x_1, …, x_k = ±s and zeros beyond, k = 0, …, K "
          "− 1, in this order."};
}

Fields Staircase::landscape_fields() {
  using namespace range;
  return {field("saddles", saddles, at_least(1),
                "K, strict saddles that a descent from the start visits"),
          // less, and 1 + gamma loses its digits
          field("gamma", gamma, at_least(1e-9), "the saddles' curvature is -gamma"),
          field("step", step, positive, "s, distance between consecutive saddles"),
          // the minima are inside, and the grid of the bounds stays fine
          field("half_width", half_width, between(1, 100),
                "of the box on which the constants hold, in steps")};
}

Landscape Staircase::landscape(Index d) const {
  if (saddles > d)
    reject(name(), "saddles", static_cast<double>(saddles), fmt::format("in [1, {}]", d));

  const double width = step / std::sqrt(std::log1p(gamma));
  const StaircaseCurves curves{1 + gamma, step, width};
  const double end = half_width * step;

  Landscape made;
  made.objective = std::make_shared<ChainObjective<GatedTerms<StaircaseCurves>>>(
      d, saddles, GatedTerms<StaircaseCurves>{curves});
  made.domain = Domain::box(end);
  made.starts = {.standard = Vector::Zero(d),
                 .saddle = Vector::Zero(d),
                 .random_spread = step,
                 .far_radius = end};
  const auto k = static_cast<double>(saddles);
  made.minimum = -k * 0.5 * width * width * (gamma - std::log1p(gamma));

  Vector reached = Vector::Zero(d);
  for (Index i = 0; i < saddles; ++i) {
    if (i == 0 || i == saddles / 2 || i + 1 == saddles)
      made.landmarks.push_back({fmt::format("saddle {} of the descent", i + 1),
                                Landmark::Kind::strict_saddle, Landmark::Of::population, reached});
    reached[i] = step;
  }
  made.landmarks.push_back(
      {"end of the descent", Landmark::Kind::minimiser, Landmark::Of::population, reached});
  if (saddles >= 2)
    made.slice = first_two_coordinates("F over (x₁, x₂): x₂ has its wells only where x₁ is near ±s",
                                       Vector::Zero(d), -1.6 * step, 1.6 * step);
  return made;
}

Constants Staircase::landscape_constants(Index d) const {
  const double width = step / std::sqrt(std::log1p(gamma));
  const StaircaseCurves curves{1 + gamma, step, width};
  const double end = half_width * step;
  const ChainBounds bounds = chain_bounds({.own = [=](double u) { return curves.own(u); },
                                           .gate = [=](double u) { return curves.gate(u); },
                                           .pull = [=](double u) { return curves.pull(u); },
                                           .strength = curves.strength,
                                           .gate_top = 1,
                                           .pull_top = curves.pull(end).value,
                                           .breaks = {0, step, end},
                                           .fourth_own = 0,
                                           .fourth_gate = 840 / std::pow(step, 4),
                                           // (−6 + 24t² − 8t⁴)e^{−t²}, largest at 0
                                           .fourth_pull = 6 / (width * width)});
  return chain_constants(bounds, d, {.slope = 1, .curvature = 0.83, .third = 0.885});
}

}  // namespace dpsosp
