// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/problems/objective.hpp"

namespace dpsosp {

/// A law of features with ‖x‖ ≤ 1 that no rotation changes, on R^d or on an r-dimensional subspace.
struct FeatureLaw {
  enum class Kind {
    ball,      ///< uniform in the unit ball
    sphere,    ///< uniform on the unit sphere
    gaussian,  ///< N(0, (spread²/d) I), shortened to length 1 where it is longer
    low_rank,  ///< Uξ, U ∈ R^{d×r} with orthonormal columns, ξ uniform in the unit ball of R^r
  };
  friend constexpr auto words_of(Kind) {
    using enum Kind;
    return word_list<Kind>(
        "feature law",
        {{ball, "ball"}, {sphere, "sphere"}, {gaussian, "gaussian"}, {low_rank, "low_rank"}});
  }
  Kind kind = Kind::ball;
  double spread = 0.5;

  /// x, or ξ of `low_rank`; out has as many entries as that has.
  void draw(Stream& stream, VectorRef out) const;
};

/// Quadrature of the joint law of two orthogonal components of x: x = along e₁ + across e₂ + …,
/// where every further component has second moment `rest` given these two. The weights sum to 1.
struct PlaneRule {
  Vector along, across, rest, weight;
};
/// Polar coordinates: trapezoid rule in the angle, Gauss-Jacobi in the square of the distance,
/// Gauss-Legendre in the length of clipped Gaussians. Converges exponentially for analytic
/// integrands. dimension ≥ 1 is that of x, or of ξ under `low_rank`.
/// \param detail  ≥ 1 times as many nodes in each direction.
PlaneRule plane_rule(const FeatureLaw& law, Index dimension, double detail = 1);

/// out_i = E[φ^(order)(t_i; y) | ⟨w*, x⟩ = u_i]; t, u and out have the same size.
using ExpectedLoss =
    std::function<void(int order, ConstVectorRef t, ConstVectorRef u, VectorRef out)>;

/// F(w) = E φ(⟨w, x⟩; y) + λ Σ_j w_j²/(1 + w_j²) by quadrature, at a cost independent of d.
/// \param planted  w* ∈ R^d, on which y depends through ⟨w*, x⟩ alone.
/// \param basis    U of a low-rank law; d × 0 for the others.
std::unique_ptr<const Objective> glm_population(PlaneRule rule, ExpectedLoss expected,
                                                double regulariser, Vector planted, Matrix basis);

}  // namespace dpsosp
