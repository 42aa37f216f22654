// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = (1/d) Σ_j κ(√d x_j), κ(t) = t² + 3 sin² t: not convex, one stationary point, and the
/// Polyak-Łojasiewicz inequality with a certified constant, which survives records that tilt it.
/// \source lowy-2024 notes, 6 (Z5).
class SeparablePl final : public LandscapeFamily {
 public:
  SeparablePl() { tilt = 0.5; }

  std::string_view name() const override { return "separable-pl"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  /// Largest tilt for which `pl_tilted` is certified.
  static constexpr double certified_tilt = 0.5;
  static constexpr double pl_centred = 0.1755;  ///< of F alone
  static constexpr double pl_tilted = 0.0955;  ///< of F + ⟨z̄, ·⟩, √d |z̄_j| ≤ certified_tilt

  double half_width = 3;  ///< U, of the box |√d x_j| ≤ U

 protected:
  Fields landscape_fields() override;
  Index default_dimension() const override { return 16; }
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
