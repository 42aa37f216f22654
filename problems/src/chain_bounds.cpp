// SPDX-License-Identifier: Apache-2.0
#include "chain_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace dpsosp {
namespace {

constexpr int cells_a_piece = 4096;

/// sup |f′|, |f″|, |f‴| over the pieces.
struct Suprema {
  double first = 0, second = 0, third = 0;
};

/// Largest value at the midpoints of a grid, plus half a cell times the function's own Lipschitz
/// constant: an upper bound of the supremum. Cells end where the pieces end.
template <class Function>
double supremum(const std::vector<double>& breaks, double lipschitz, const Function& f) {
  double largest = 0;
  for (std::size_t p = 0; p + 1 < breaks.size(); ++p) {
    const double cell = (breaks[p + 1] - breaks[p]) / cells_a_piece;
    for (int k = 0; k < cells_a_piece; ++k)
      largest = std::max(largest, f(breaks[p] + (k + 0.5) * cell) + 0.5 * cell * lipschitz);
  }
  return largest;
}

Suprema suprema(const std::vector<double>& breaks,
                double fourth,
                const std::function<Jet(double)>& f) {
  Suprema s;
  s.third = supremum(breaks, fourth, [&](double u) { return std::abs(f(u).third); });
  s.second = supremum(breaks, s.third, [&](double u) { return std::abs(f(u).second); });
  s.first = supremum(breaks, s.second, [&](double u) { return std::abs(f(u).first); });
  return s;
}

/// max |own − a·pull − b·gate| over 0 ≤ a ≤ gate_top, 0 ≤ b ≤ pull_top: at a corner.
double largest_corner(double own, double pull, double gate, double gate_top, double pull_top) {
  const std::array corners{
      own, own - gate_top * pull, own - pull_top * gate, own - gate_top * pull - pull_top * gate};
  double largest = 0;
  for (const double corner : corners) largest = std::max(largest, std::abs(corner));
  return largest;
}

}  // namespace

ChainBounds chain_bounds(const ChainCurves& curves) {
  const auto& breaks = curves.breaks;
  const double c = curves.strength;
  const Suprema m = suprema(breaks, curves.fourth_own, curves.own);
  const Suprema w = suprema(breaks, curves.fourth_gate, curves.gate);
  const Suprema q = suprema(breaks, curves.fourth_pull, curves.pull);
  const double W = c * curves.gate_top, Q = c * curves.pull_top;

  ChainBounds bounds;
  bounds.slope = supremum(breaks, m.second + W * q.second + Q * w.second, [&](double u) {
    return largest_corner(curves.own(u).first, curves.pull(u).first, curves.gate(u).first, W, Q);
  });
  bounds.curvature =
      supremum(breaks,
               m.third + W * q.third + Q * w.third + c * (w.second * q.first + w.first * q.second),
               [&](double u) {
                 const Jet own = curves.own(u), gate = curves.gate(u), pull = curves.pull(u);
                 return largest_corner(own.second, pull.second, gate.second, W, Q) +
                        c * (std::abs(gate.first) * q.first + w.first * std::abs(pull.first));
               });

  const auto corner = [&](double u) {
    return largest_corner(curves.own(u).third, curves.pull(u).third, curves.gate(u).third, W, Q);
  };
  const double corner_lipschitz =
      curves.fourth_own + W * curves.fourth_pull + Q * curves.fourth_gate;
  const double by_cauchy = supremum(breaks, corner_lipschitz, corner) +
                           1.5 * c * (w.second * q.first + w.first * q.second);
  const double by_young =
      supremum(breaks,
               corner_lipschitz + c * (2 * w.third * q.first + w.second * q.second +
                                       w.second * q.second + 2 * w.first * q.third),
               [&](double u) {
                 const Jet gate = curves.gate(u), pull = curves.pull(u);
                 return corner(u) +
                        c * (2 * std::abs(gate.second) * q.first + std::abs(gate.first) * q.second +
                             w.second * std::abs(pull.first) + 2 * w.first * std::abs(pull.second));
               });
  bounds.third = std::min(by_cauchy, by_young);
  return bounds;
}

const char* const chain_slope_proof =
    "∂_i F = m′(u) − c a q′(u) − c b w′(u) with u = x_i, a = w(x_{i−1}) ∈ [0, sup w] and "
    "b = q(x_{i+1}) ∈ [0, sup q] is largest at a corner of (a, b); the supremum over u is taken on "
    "a "
    "grid, plus half a cell times the expression's Lipschitz constant. ‖∇F‖ ≤ √d times that.";

const char* const chain_curvature_proof =
    "The Hessian is tridiagonal: diagonal m″(u) − c a q″(u) − c b w″(u) with u = x_i, "
    "a = w(x_{i−1}), b = q(x_{i+1}), and −c w′(x_{i−1}) q′(u), −c w′(u) q′(x_{i+1}) beside it. "
    "Gershgorin: the largest row sum, at a corner of (a, b) and with the neighbours' own suprema, "
    "bounded over u on a grid plus half a cell times the row sum's Lipschitz constant.";

const char* const chain_third_proof =
    "With A = m‴ − c a q‴ − c b w‴, D³F[v, v, v] = Σ_i A_i v_i³ − 3c Σ_i (w″(x_i) q′(x_{i+1}) v_i² "
    "v_{i+1} + w′(x_i) q″(x_{i+1}) v_i v_{i+1}²). For ‖v‖ = 1, Σ|v_i|³ ≤ 1 and, by Cauchy–Schwarz "
    "and Σ v_i²v_{i+1}² ≤ ¼ (Motzkin–Straus on a path), each mixed sum is at most ½; or a²b ≤ (2a³ "
    "+ "
    "b³)/3 term by term. The smaller of the two bounds, suprema over u by grid and Lipschitz "
    "slack; "
    "a symmetric form's norm is its largest value on the diagonal (Banach).";

}  // namespace dpsosp
