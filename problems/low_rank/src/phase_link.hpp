// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// E φ(aᵀx; (aᵀx*)² ± s), isotropic: in closed form, or by quadrature over the plane of x and x*.
std::unique_ptr<const Objective> intensity_population(Vector signal, Design design, double noise,
                                                      double scale);
struct AmplitudeLaw {
  double smoothing, noise;
  Design design;
  double reach;  ///< the largest ‖x‖ for which the quadrature has to be right
};
std::unique_ptr<const Objective> amplitude_population(Vector signal, const AmplitudeLaw& law);

/// A unit vector orthogonal to `signal`, d ≥ 2.
Vector orthogonal_direction(const Vector& signal);

void add_phase_fields(Fields& fields, PhaseSettings& settings);
/// Domain and start.
void settle_phase(const PhaseSettings& settings, const Stream& random, PublicFacts& facts);

/// x*, ‖a‖ = √d measurements, labels.
struct PhaseInstance {
  Vector signal;
  Matrix measurements;
  Vector labels;
};
PhaseInstance draw_phase_instance(const PhaseSettings& settings, Index dimension,
                                  const InstanceSpec& spec);

/// |t| ≤ reach and lowest ≤ b ≤ highest, lowest ≤ 0 ≤ highest: of every record in the domain if a
/// is on the sphere, else of a typical one.
struct PhaseRegion {
  PhaseRegion(const PhaseSettings& settings, Index dimension);
  /// A constant with a tight proof, or an estimate where `bounded` is false.
  Constant constant(double value, const std::string& proof) const;

  bool bounded;
  double norm;  ///< √d
  double reach, lowest, highest;
  std::string in_words;
};

/// Exact suprema of |φ′|, |φ″| and |φ‴| over the region.
struct PhaseBounds {
  double slope, curvature, third;
};
PhaseBounds phase_bounds(const PhaseLink& link, const PhaseRegion& region);

/// At least the intensity loss's population at x, less its minimum: κ ≤ 1 and ‖x_⊥‖ ≤ ‖x‖.
double intensity_excess(const Vector& x, double signal_norm);

/// Landmarks of the intensity loss: the origin, the saddle orthogonal to x*, ±x*.
std::vector<Landmark> intensity_landmarks(const PhaseInstance& instance);
/// The plane of x* and an orthogonal direction; none for d = 1.
std::optional<Slice> phase_slice(const Vector& signal);
/// Corners of ‖a‖ = √d and the labels' range.
RecordColumns extreme_phase_records(Index dimension, const PhaseRegion& region);

}  // namespace dpsosp
