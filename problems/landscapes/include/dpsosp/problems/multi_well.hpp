// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = (1/√d) Σ_j φ(x_j) on the box |x_j| ≤ h, with m wells a coordinate and so m^d in all:
///
///   φ(u) = b(√(1 + (u − p_*)²) − 1) − Σ_{i≤m} δ_i (1 − (u − p_i)²/r²)⁴₊,
///
/// r = h/m, p_i = −h + (2i − 1)r, depth δ at p_*, the deepest, and δ − gap elsewhere. F is
/// Lipschitz with a constant free of d, and F* = −√d δ, at (p_*, …, p_*).
class MultiWell final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "multi-well"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  Index wells = 4;
  Index deepest = 3;  ///< in [1, m]
  double depth = 0.5;
  double gap = 0.1;  ///< in [0, δ)
  double bowl = 0.1;
  double half_width = 2;

 protected:
  Fields landscape_fields() override;
  Index default_dimension() const override { return 2; }
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
