// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// A minimiser h of ⟨g, h⟩ + ½ hᵀHh over ‖h‖ ≤ r, and its multiplier: (H + λI)h = −g, H + λI ⪰ 0,
/// λ ≥ 0, λ(r − ‖h‖) = 0.
struct TrustRegionStep {
  Vector step;
  double multiplier = 0.0;
  /// g has no part along the lowest eigenvector: h is completed along it to length r.
  bool hard_case = false;
};

/// Solved by eigen-decomposition of H (d × d, symmetric) and the secular equation ‖h(λ)‖ = r, exact
/// to rounding. H, g and r > 0 are finite. O(d³).
/// \source baselines notes, 5; Moré and Sorensen 1983
TrustRegionStep trust_region_step(const Matrix& hessian, ConstVectorRef gradient, double radius);

}  // namespace dpsosp
