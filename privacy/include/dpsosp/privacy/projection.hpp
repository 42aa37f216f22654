// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/public_facts.hpp"
#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A public linear map of the features of a generalised linear model, x_i → z_i ∈ R^k,
///   z_i = Φx_i · min(1, cap·x_max/‖Φx_i‖).
/// It acts on each record alone, so a curator of the z_i is as private as one of the x_i whatever Φ
/// is: no δ is spent on maps that stretch. \source lowy-2024 notes, 2.9
struct Projection {
  Matrix map;      ///< Φ, k × d, 1 ≤ k, finite; never a function of the records
  double cap = 2;  ///< > 0; longest z_i, in units of the public bound x_max of ‖x_i‖
};

/// Public facts of the problem in w̃ ∈ R^k with the features z_i: as where nothing is capped,
/// ⟨Φᵀw̃, x_i⟩ = ⟨w̃, z_i⟩. G, M and ρ of ‖z_i‖ ≤ cap·x_max; start at the origin; the domain's
/// radius doubled (a minimiser of the projected problem may be longer than one of the problem).
/// The suboptimality and quasar constants are as for uncapped features, so `estimated`.
/// \throws InputError unless facts.feature_bound > 0, k ≥ 1 and cap > 0
PublicFacts projected_facts(const PublicFacts& facts, Index k, double cap);

}  // namespace dpsosp
