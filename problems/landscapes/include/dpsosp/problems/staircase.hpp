// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// A chain of K strict saddles, each O(1) descent steps of the last: on |x_j| ≤ h,
///
///   F(x) = ½‖x‖² − (1 + γ) Σ_{i≤K} w(x_{i−1}) q(x_i),   w(x_0) = 1,
///   q(u) = (a²/2)(1 − e^{−u²/a²}), a² = s²/ln(1 + γ),   w(u) = S(|u|/s), S the septic smooth
///   step.
///
/// While x_{i−1} = 0, x_i sees ½x_i² and stays at 0; at x_{i−1} = ±s it sees a double well with
/// curvature −γ at 0 and minima at ±s. Descent from 0 passes K saddles.
class Staircase final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "staircase"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  Index saddles = 5;  ///< K in [1, d]
  double gamma = 1.0;
  double step = 1.0;
  double half_width = 4;

 protected:
  Fields landscape_fields() override;
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
