// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(x) = α(√(x_1² + s²) − s), s = α/β: gradient norm close to α all the way from x_1 = Δ/α down
/// to the minimum, so that a descent with steps of 1/(2β) is still on the ramp after T = βΔ/α².
/// \source lowy-2024 notes, 6.7
class Ramp final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "ramp"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  double slope = 0.1;
  double smoothness = 1.0;
  double drop = 1.0;  ///< Δ > 0, bounds F(x₀) − F*
  Index steps = 0;

 protected:
  Fields landscape_fields() override;
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;

 private:
  double gradient() const;  ///< α
};

}  // namespace dpsosp
