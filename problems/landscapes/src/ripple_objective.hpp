// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numbers>
#include <optional>
#include <vector>

#include "dpsosp/problems/diagonal_objective.hpp"

namespace dpsosp {

/// φ(t) = √(1 + t²) − 1 + A (1 − cos ωt).
struct Ripple {
  double amplitude = 0;
  double frequency = 0;

  double value(double t) const;
  double slope(double t) const;
  double curvature(double t) const;
  /// The same of every entry, with the same bits.
  Vector values(ConstVectorRef t) const;
  Vector slopes(ConstVectorRef t) const;
  Vector curvatures(ConstVectorRef t) const;
  /// sup |φ″|.
  double curvature_bound() const { return 1 + amplitude * frequency * frequency; }
  /// sup |φ‴|, to 1e-11.
  double third_bound() const;
  double period() const { return 2 * std::numbers::pi / frequency; }
};

/// Σ_k w_k φ(u − k), k ∈ {−1, 0, 1}: one coordinate of an objective.
class RippleMixture {
 public:
  RippleMixture(const Ripple& ripple, const Eigen::Vector3d& weights);

  double value(double u) const;
  double slope(double u) const;
  double curvature(double u) const;
  /// The global one, by branch and bound.
  double minimiser() const;
  /// The strict local maximum in [−1, 1] that is nearest to u, to 1/64 of a period.
  std::optional<double> maximiser_near(double u) const;

 private:
  Ripple ripple_;
  Eigen::Vector3d weights_;
  double cos_ = 0, sin_ = 0;  // Σ_k w_k e^{iωk}
};

/// (1/d) Σ_j of mixtures at √d x_j.
class RippleObjective final : public DiagonalObjective {
 public:
  /// \param weights 3 × d, columns that sum to 1
  RippleObjective(const Ripple& ripple, const Matrix& weights);

  Index dimension() const override { return std::ssize(coordinates_); }
  double value(ConstVectorRef x) const override;
  void gradient(ConstVectorRef x, VectorRef out) const override;
  void hessian_diagonal(ConstVectorRef x, VectorRef out) const override;

  Vector minimiser() const;
  /// The minimiser with its first coordinate moved to the local maximum next to it.
  std::optional<Vector> saddle(const Vector& minimiser) const;

 private:
  const RippleMixture& at(Index j) const { return coordinates_[static_cast<std::size_t>(j)]; }

  double root_d_;
  std::vector<RippleMixture> coordinates_;
};

}  // namespace dpsosp
