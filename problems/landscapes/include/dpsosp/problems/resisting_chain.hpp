// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/landscape.hpp"

namespace dpsosp {

/// The chain that no first-order method climbs faster than one link a gradient: F(x) = a f(x/s),
///
///   f(y) = −Ψ(1)Φ(y_1) + Σ_{2≤i≤T} [Ψ(−y_{i−1})Φ(−y_i) − Ψ(y_{i−1})Φ(y_i)],
///   Ψ(u) = exp(1 − 1/(2u − 1)²) for u > ½, else 0,   Φ(u) = √e ∫_{−∞}^u e^{−t²/2} dt,
///
/// with a and s chosen so that the proved constants of F are the settings. ‖∇F‖ > a/s wherever
/// |x_T| < s. Optionally in coordinates turned by a public orthogonal matrix.
class ResistingChain final : public LandscapeFamily {
 public:
  std::string_view name() const override { return "resisting-chain"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

  Index length = 10;  ///< T in [1, d]
  double smoothness = 1.0;
  double hessian_lipschitz = 26.0;  ///< ρ > 0; at 26, s ≈ ½
  Index rotation = 0;

  struct Units {
    double scale = 0;   ///< s = (M/ℓ₁)/(ρ/ℓ₂)
    double height = 0;  ///< a = M s²/ℓ₁
    double slope = 0;   ///< bound of |∂_i f|
  };
  Units units() const;

 protected:
  Fields landscape_fields() override;
  Landscape landscape(Index dimension) const override;
  Constants landscape_constants(Index dimension) const override;
};

}  // namespace dpsosp
