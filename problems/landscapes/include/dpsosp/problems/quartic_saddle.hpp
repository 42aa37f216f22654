// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// F(Qu) = Σ_{j≤k} (−(γ/2) u_j² + (b/4) u_j⁴) + Σ_{j>k} (λ_j/2) u_j² on ‖x‖ ≤ R, λ_j spaced
/// geometrically from λ_min to λ_max, Q orthogonal and public. The spectrum at the saddle 0 is
/// {−γ (k times), λ_{k+1}, …, λ_d}; the 2^k minima u_j = ±√(γ/b) have F* = −kγ²/(4b).
class QuarticSaddle final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "quartic-saddle"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  Index negative = 2;  ///< k in [1, d], directions of negative curvature at the saddle
  double gamma = 1.0;
  double quartic = 1.0;
  double least_positive = 0.1;
  double largest_positive = 2.0;  ///< λ_d ≥ λ_{k+1}
  double radius = 2.0;            ///< R ≥ √(kγ/b), the minima
  Index rotation = 0;

 protected:
  Fields landscape_fields() override;
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
