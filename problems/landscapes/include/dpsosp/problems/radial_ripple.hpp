// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = G(‖x‖), G(r) = c r^p (1 + a sin(b ln r)) for r ≤ R and linear beyond: quasar-convex and
/// KL about its minimiser 0, not convex. The Hessian jumps at R, and at 0 for p = 2, so there is no
/// Hessian-Lipschitz constant: for first-order stationary points alone.
///
/// Two settings are the source's: p = 2 (the defaults) and p = 4, a = 0.4, b = 6, c = 0.1.
/// \source lowy-2024 notes, 6 (Z2).
class RadialRipple final : public LandscapeFamily {
 public:
  RadialRipple() { tilt = 0.3; }

  std::string_view name() const override { return "radial-ripple"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  double power = 2;
  double amplitude = 0.3;  ///< a ≥ 0, a √(p² + b²) ≤ 0.999 p
  double frequency = 4;
  double scale = 0.2;
  double radius = 1;

 protected:
  Fields landscape_fields() override;
  Index default_dimension() const override { return 16; }
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
