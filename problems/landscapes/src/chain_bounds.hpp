// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "dpsosp/core/public_facts.hpp"
#include "jet.hpp"

namespace dpsosp {

/// The curves of a chain with edges of size c gate(u) pull(v), for its bounds: even or odd ones, so
/// that u ≥ 0 is enough, and smooth between consecutive `breaks`.
struct ChainCurves {
  std::function<Jet(double)> own, gate, pull;
  double strength = 1;         ///< c
  double gate_top = 1;         ///< sup gate; gate ≥ 0
  double pull_top = 1;         ///< sup pull; pull ≥ 0
  std::vector<double> breaks;  ///< ascending, from 0 to the end of the domain
  double fourth_own = 0, fourth_gate = 0, fourth_pull = 0;  ///< sup |f⁗| between breaks
};

/// Bounds of a chain by its rows; each is a rigorous upper bound up to rounding.
struct ChainBounds {
  double slope = 0;      ///< bound of |∂_i F|
  double curvature = 0;  ///< bound of ‖∇²F‖
  double third = 0;      ///< bound of ‖D³F‖, which is F's Hessian-Lipschitz constant
};
ChainBounds chain_bounds(const ChainCurves& curves);

/// The three constants, which hold on the domain of a chain in R^d.
/// \param shares  attained, of each
Constants chain_constants(const ChainBounds& bounds, Index d, const ChainBounds& shares);

/// How the three are proved, in Markdown; the same text for every chain.
extern const char* const chain_slope_proof;
extern const char* const chain_curvature_proof;
extern const char* const chain_third_proof;

}  // namespace dpsosp
