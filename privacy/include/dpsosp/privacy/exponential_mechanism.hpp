// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/privacy/net.hpp"

namespace dpsosp {
namespace door {
class ExponentialMechanism;
}

/// Private choice of one of finitely many public points, w with probability proportional to
/// exp(−λ score(w)), score(w) = (1/b) Σ_i clamp(f(w; z_i) − f(c; z_i), ±L‖w − c‖), c public.
///
/// Exchanging a record moves score(w) by at most 2L‖w − c‖/b, up or down, so the moves of all
/// points lie in an interval of length R = (4L/b) max ‖w − c‖ (2LD/b for a set of diameter D around
/// c), and every log-ratio of probabilities in one of length λR that holds 0: the choice is
/// λR-DP and (λR)²/8-zCDP. Constants cancel, so no normalisation of f is needed. The point is that
/// of the largest −λ score + Gumbel noise; the noise belongs to the point's index, so the choice
/// depends neither on order nor on threads. Where R = 0 the choice is uniform and costs nothing.
/// \source lowy-2024 notes, 2.5; privacy-accounting notes, 11 and 15.1
class ExponentialMechanism {
 public:
  /// \param batch    public membership (all, fresh); \param curator  outlives the mechanism
  /// \throws InputError
  ExponentialMechanism(Curator& curator, const Batch& batch);
  ~ExponentialMechanism();
  ExponentialMechanism(ExponentialMechanism&&) noexcept;
  ExponentialMechanism& operator=(ExponentialMechanism&&) noexcept;

  /// R of points at most `reach` from c; λ = epsilon/R.
  /// \param lipschitz  L, in [1e-150, 1e150], unit of the gradient
  double range(double lipschitz, double reach) const;
  /// R of a product grid: (2/b) Σ_j L_j side_j.
  double range(const ProductGrid& grid, double coordinate_lipschitz) const;
  /// R of scores ⟨v, mean of gradients clipped to G⟩ over v in a set of diameter D: 2GD/b.
  double vertex_range(double gradient_limit, double diameter) const;

  /// Index of one of the columns of `points` (d × N), N ≥ 1. \param epsilon  of this choice, λR
  /// \throws BudgetExhausted (nothing drawn), InputError
  Index choose(const Matrix& points, ConstVectorRef centre, double lipschitz, double epsilon);
  /// out = one of the points of the net, c its centre. \return its index
  Index choose(const Net& net, double lipschitz, double epsilon, VectorRef out);
  /// out = one of the points of the grid, c its centre; for separable losses, f = Σ_j f_j. The law
  /// factorises: each coordinate is drawn on its own, with scores clamped to ±L_j|w_j − c_j|.
  /// \param coordinate_lipschitz  L_j, the same for all
  void choose(const ProductGrid& grid, double coordinate_lipschitz, double epsilon, VectorRef out);

  /// Index of one of the columns of `vertices` (d × N); scores ⟨v, g⟩, g the mean of ∇f(point; z_i)
  /// clipped to norm G: the linear minimisation of Frank-Wolfe methods.
  /// \source baselines notes, 2
  Index choose_vertex(const Matrix& vertices, ConstVectorRef point, double gradient_limit,
                      double epsilon);
  /// The same over the vertices of the ℓ₁-ball: 2j is +radius e_j, 2j + 1 is −radius e_j.
  Index choose_l1_vertex(double radius, ConstVectorRef point, double gradient_limit,
                         double epsilon);

 private:
  std::unique_ptr<door::ExponentialMechanism> session_;
};

}  // namespace dpsosp
