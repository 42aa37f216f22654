// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/problems/glm_family.hpp"

namespace dpsosp {

/// Robust regression: f(w; x, y) = φ(⟨w, x⟩ − y) with a bounded φ of scale c, ‖x‖ ≤ 1, y ∈ R.
///
/// y = σ⟨w*, x⟩ + e: σ = −1 with probability `opposed`, else 1; e is N(0, noise²), or
/// N(0, outlier_noise²) with probability `outliers`. With `opposed` = 1/2 the origin is stationary,
/// and a strict saddle between ±w* once the signal is long enough beside c.
/// \source lowy-2024 notes, 6 (Z4).
class GlmRobust : public GlmFamily {
 public:
  double scale = 1.0;
  double noise = 0.1;
  double outliers = 0.1;
  double outlier_noise = 3.0;
  double opposed = 0.0;  ///< probability in [0, 1/2] that the signal has the other sign

 protected:
  Fields model_fields() override;
  /// All of a model but its loss.
  Model labelled() const;
  /// Whether y = ⟨w*, x⟩.
  bool noiseless() const;
};

/// φ(r) = (c²/2)(1 − e^{−r²/c²}); the expectation over Gaussian noise is of the same form.
class GlmWelsch final : public GlmRobust {
 public:
  GlmWelsch();
  std::string_view name() const override { return "glm-welsch"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

 protected:
  Model model() const override;
};

/// φ(r) = (c²/6)(1 − (1 − r²/c²)³) for |r| ≤ c, c²/6 beyond; by default on 2000 atoms.
class GlmTukey final : public GlmRobust {
 public:
  GlmTukey();
  std::string_view name() const override { return "glm-tukey"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;

 protected:
  Model model() const override;
};

}  // namespace dpsosp
