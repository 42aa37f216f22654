// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/phase_retrieval.hpp"

namespace dpsosp {

/// φ(t; b) and its derivatives in t.
struct PhaseLink {
  PhaseLoss loss = PhaseLoss::intensity;
  double e = 0;
  double scale = 1;

  double value(double t, double b) const {
    if (loss == PhaseLoss::intensity) return 0.25 * scale * (t * t - b) * (t * t - b);
    const double residual = height(t) - root(b);
    return 0.5 * scale * residual * residual;
  }
  double slope(double t, double b) const {
    if (loss == PhaseLoss::intensity) return scale * (t * t - b) * t;
    return scale * t * (1 - root(b) / height(t));
  }
  double curvature(double t, double b) const {
    if (loss == PhaseLoss::intensity) return scale * (3 * t * t - b);
    const double h = height(t);
    return scale * (1 - root(b) * e * e / (h * h * h));
  }

 private:
  double height(double t) const { return std::sqrt(t * t + e * e); }
  double root(double b) const { return std::sqrt(b + e * e); }
};

/// Exact suprema of |φ′|, |φ″| and |φ‴| over |t| ≤ reach and lowest ≤ b ≤ highest, where
/// lowest ≤ 0 ≤ highest.
struct PhaseBounds {
  double slope, curvature, third;
};
PhaseBounds phase_bounds(const PhaseLink& link, double reach, double lowest, double highest);

/// E φ(aᵀx; (aᵀx*)² ± s), isotropic: in closed form, or by quadrature over the plane of x and x*.
std::unique_ptr<const Objective> intensity_population(Vector signal,
                                                      Design design,
                                                      double noise,
                                                      double scale);
struct AmplitudeLaw {
  double smoothing, noise;
  Design design;
  double reach;  ///< the largest ‖x‖ for which the quadrature has to be right
};
std::unique_ptr<const Objective> amplitude_population(Vector signal, const AmplitudeLaw& law);

/// A unit vector orthogonal to `signal`, d ≥ 2.
Vector orthogonal_direction(const Vector& signal);

/// What phase problems share: ‖a‖ = √d measurements, x*, labels.
struct PhaseInstance {
  Vector signal;
  Matrix measurements;
  Vector labels;
};
struct PhaseLaw {
  Index dimension, records;
  double signal_norm, noise;
  Design design;
  std::uint64_t data_seed;
};
PhaseInstance draw_phase_instance(const PhaseLaw& law);

/// Landmarks of the intensity loss: the origin, the saddle orthogonal to x*, ±x*.
std::vector<Landmark> intensity_landmarks(const PhaseInstance& instance);
/// The plane of x* and an orthogonal direction; none for d = 1.
std::optional<Slice> phase_slice(const Vector& signal);
/// Corners of ‖a‖ = norm and the labels' range, as measurements and labels.
PhaseData extreme_phase_data(Index dimension, double norm, double lowest, double highest);

}  // namespace dpsosp
