// SPDX-License-Identifier: Apache-2.0
#include "chain_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "dpsosp/problems/problem.hpp"

namespace dpsosp {
namespace {

constexpr int cells_a_piece = 2048;

/// The curves at the midpoint of a cell of the grid; cells end where the pieces end.
struct Cell {
  double half;  // of its width
  Jet own, gate, pull;
};

std::vector<Cell> tabulate(const ChainCurves& curves) {
  std::vector<Cell> cells;
  for (std::size_t p = 0; p + 1 < curves.breaks.size(); ++p) {
    const double half = 0.5 * (curves.breaks[p + 1] - curves.breaks[p]) / cells_a_piece;
    for (int k = 0; k < cells_a_piece; ++k) {
      const double u = curves.breaks[p] + (2 * k + 1) * half;
      cells.push_back({half, curves.own(u), curves.gate(u), curves.pull(u)});
    }
  }
  return cells;
}

/// Largest value at the midpoints plus half a cell times the function's own Lipschitz constant: an
/// upper bound of the supremum.
template <class Function>
double supremum(const std::vector<Cell>& cells, double lipschitz, const Function& f) {
  double largest = 0;
  for (const Cell& cell : cells) {
    const double bound = f(cell) + cell.half * lipschitz;
    if (std::isnan(bound)) return bound;  // no bound after an overflow
    largest = std::max(largest, bound);
  }
  return largest;
}

/// sup |f′|, |f″|, |f‴| over the pieces.
struct Suprema {
  double first = 0, second = 0, third = 0;
};

Suprema suprema(const std::vector<Cell>& cells, double fourth, Jet Cell::*f) {
  Suprema s;
  s.third = supremum(cells, fourth, [&](const Cell& u) { return std::abs((u.*f).third); });
  s.second = supremum(cells, s.third, [&](const Cell& u) { return std::abs((u.*f).second); });
  s.first = supremum(cells, s.second, [&](const Cell& u) { return std::abs((u.*f).first); });
  return s;
}

/// max |own − a·pull − b·gate| over 0 ≤ a ≤ gate_top, 0 ≤ b ≤ pull_top: at a corner.
double largest_corner(double own, double pull, double gate, double gate_top, double pull_top) {
  const double a = own, b = own - gate_top * pull, c = own - pull_top * gate, d = b + c - a;
  return std::max({std::abs(a), std::abs(b), std::abs(c), std::abs(d)});
}

/// The least of `bound` at a few weights around `centre`: every weight gives a valid bound.
template <class Bound>
double smallest(double centre, const Bound& bound) {
  double least = bound(centre);
  for (int k = 1; k <= 6; ++k) {
    const double factor = std::exp2(0.25 * k);
    least = std::min({least, bound(centre * factor), bound(centre / factor)});
  }
  return least;
}

double cube(double t) { return std::abs(t * t * t); }
double three_halves(double t) { return std::abs(t) * std::sqrt(std::abs(t)); }

}  // namespace

ChainBounds chain_bounds(const ChainCurves& curves) {
  const std::vector<Cell> cells = tabulate(curves);
  const double c = curves.strength;
  const Suprema m = suprema(cells, curves.fourth_own, &Cell::own);
  const Suprema w = suprema(cells, curves.fourth_gate, &Cell::gate);
  const Suprema q = suprema(cells, curves.fourth_pull, &Cell::pull);
  const double W = c * curves.gate_top, Q = c * curves.pull_top;

  ChainBounds bounds;
  bounds.slope = supremum(cells, m.second + W * q.second + Q * w.second, [&](const Cell& u) {
    return largest_corner(u.own.first, u.pull.first, u.gate.first, W, Q);
  });

  bounds.curvature = smallest(q.first / w.first, [&](double k) {
    const double lipschitz = m.third + W * q.third + Q * w.third +
                             2 * c * (k * w.first * w.second + q.first * q.second / k);
    return supremum(cells, lipschitz, [&](const Cell& u) {
      return largest_corner(u.own.second, u.pull.second, u.gate.second, W, Q) +
             c * (k * u.gate.first * u.gate.first + u.pull.first * u.pull.first / k);
    });
  });

  const auto third = [&](double k, double l) {
    const double lipschitz =
        curves.fourth_own + W * curves.fourth_pull + Q * curves.fourth_gate +
        3 * c *
            (k * std::sqrt(w.second) * w.third + q.first * q.first * q.second / (k * k) +
             w.first * w.first * w.second / (l * l) + l * std::sqrt(q.second) * q.third);
    return supremum(cells, lipschitz, [&](const Cell& u) {
      return largest_corner(u.own.third, u.pull.third, u.gate.third, W, Q) +
             c * (2 * k * three_halves(u.gate.second) + cube(u.pull.first) / (k * k) +
                  cube(u.gate.first) / (l * l) + 2 * l * three_halves(u.pull.second));
    });
  };
  bounds.third = smallest(q.first / std::sqrt(w.second), [&](double k) {
    return smallest(w.first / std::sqrt(q.second), [&](double l) { return third(k, l); });
  });
  return bounds;
}

Constants chain_constants(const ChainBounds& bounds, Index d, const ChainBounds& shares) {
  Constants constants;
  const auto set = [&](std::string_view name, double value, const char* proof, double share) {
    constants.set(name, proved(value, "the domain", proof, share));
  };
  set(constant::lipschitz, bounds.slope * std::sqrt(static_cast<double>(d)), chain_slope_proof,
      shares.slope);
  set(constant::smoothness, bounds.curvature, chain_curvature_proof, shares.curvature);
  set(constant::hessian_lipschitz, bounds.third, chain_third_proof, shares.third);
  return constants;
}

const char* const chain_slope_proof =
    "∂_i F = m′(u) − c a q′(u) − c b w′(u) with u = x_i, a = w(x_{i−1}) ∈ [0, sup w] and b = "
    "q(x_{i+1}) ∈ [0, sup q] is largest at a corner of (a, b); the supremum over u is taken on a "
    "grid, plus half a cell times the expression's Lipschitz constant. ‖∇F‖ ≤ √d times that.";

const char* const chain_curvature_proof =
    "The Hessian is tridiagonal: diagonal m″(u) − c a q″(u) − c b w″(u) with u = x_i, a = "
    "w(x_{i−1}), b = q(x_{i+1}), and −c w′(x_i) q′(x_{i+1}) beside it. For every κ > 0, 2|w′q′ v_i "
    "v_{i+1}| ≤ κw′(x_i)² v_i² + q′(x_{i+1})² v_{i+1}²/κ, so ‖∇²F‖ is at most the largest "
    "|diagonal| + c(κw′(u)² + q′(u)²/κ): at a corner of (a, b), over u on a grid plus half a cell "
    "times the expression's Lipschitz constant, with the best of 13 weights κ.";

const char* const chain_third_proof =
    "With A = m‴ − c a q‴ − c b w‴, D³F[v, v, v] = Σ_i A_i v_i³ − 3c Σ_i (w″(x_i) q′(x_{i+1}) v_i² "
    "v_{i+1} + w′(x_i) q″(x_{i+1}) v_i v_{i+1}²). For all κ, λ > 0, by the inequality of means, "
    "3|w″q′|v_i²|v_{i+1}| ≤ 2κ|w″|^{3/2}|v_i|³ + |q′|³|v_{i+1}|³/κ² and 3|w′q″||v_i|v_{i+1}² ≤ "
    "|w′|³|v_i|³/λ² + 2λ|q″|^{3/2}|v_{i+1}|³. As Σ|v_i|³ ≤ 1 for ‖v‖ = 1, the bound is the largest "
    "|A| + c(2κ|w″|^{3/2} + |q′|³/κ² + |w′|³/λ² + 2λ|q″|^{3/2}) over u, on a grid with Lipschitz "
    "slack; a symmetric form's norm is its largest value on the diagonal (Banach).";

}  // namespace dpsosp
