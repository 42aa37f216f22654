// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/start.hpp"

namespace dpsosp {

/// Refuses a planted rank above `most`.
void check_planted_rank(std::string_view problem, Index planted_rank, Index most,
                        std::string_view most_in_words);
/// x₀ with N(0, spread²) entries as in the sources, or around the origin, which is the saddle.
struct StartScales {
  double spread, random_spread, far_radius;
};
Vector start_around_origin(const StartOption& start, const PublicFacts& facts,
                           const StartScales& scales, const Stream& random);
/// The domain ‖x‖ ≤ far_radius, and such a start.
void settle_in_ball(const StartOption& start, const StartScales& scales, const Stream& random,
                    PublicFacts& facts);

/// Σ = (largest, …, largest/condition), a geometric sequence of `count` values.
Vector geometric_spectrum(Index count, double largest, double condition);

/// Q ∈ R^{rows×cols} with QᵀQ = I, cols ≤ rows, invariant under rotations.
Matrix random_orthonormal(Index rows, Index cols, Stream stream);

/// x = (vec U, vec V), U ∈ R^{p×r}, V ∈ R^{q×r}:
/// ½ Σ_ab C_ab (UVᵀ − X)_ab² + (balance/4)‖UᵀU − VᵀV‖_F² + offset.
struct FactoredForm {
  Matrix target;   ///< X, p × q
  Matrix weights;  ///< C, p × q
  Index rank = 0;  ///< r
  double balance = 0, offset = 0;
};
std::unique_ptr<const Objective> factored_objective(FactoredForm form);

/// x = vec U, U ∈ R^{p×r}: (weight/4)‖UUᵀ − Y‖_F² + offset for a symmetric Y.
std::unique_ptr<const Objective> symmetric_objective(Matrix target, Index rank, double weight,
                                                     double offset);

/// The balancing term h(U, V) = ¼‖UᵀU − VᵀV‖_F² at x = (vec U, vec V), times `weight`.
class BalanceTerm {
 public:
  BalanceTerm(Index rows, Index cols, Index rank, double weight)
      : p_(rows), q_(cols), r_(rank), weight_(weight) {}

  double value(ConstVectorRef x) const;
  void add_gradient(ConstVectorRef x, VectorRef out) const;
  void add_hessian_product(ConstVectorRef x, ConstVectorRef v, VectorRef out) const;
  /// ≥ ‖∇²h(x)‖: 2‖W‖₂² + ‖UᵀU − VᵀV‖₂ with W the two factors stacked.
  double curvature_bound(ConstVectorRef x) const;
  /// ≥ ‖∇²h(x) − ∇²h(y)‖: 6 max(‖W(x)‖₂, ‖W(y)‖₂) ‖x − y‖, as ‖W‖₂ is convex.
  double curvature_change_bound(ConstVectorRef x, ConstVectorRef y) const;

 private:
  double stacked_norm(ConstVectorRef x) const;

  Index p_, q_, r_;
  double weight_;
};

/// What the theorem of Eckart and Young says of (data/2)‖UVᵀ − X‖_F², or of (weight/4)‖UUᵀ − Y‖_F²
/// for a positive semidefinite Y: the balanced truncation at min(r, rank) is a global minimiser,
/// shorter truncations are strict saddles with λ_min = −weight · the first value left out, and the
/// first two values span a plane with a saddle in its middle and minimisers around it.
struct LowRankPicture {
  std::vector<Landmark> landmarks;
  std::optional<Slice> slice;
};
LowRankPicture factored_picture(const Matrix& target, Index rank, Landmark::Of of);
LowRankPicture symmetric_picture(const Matrix& target, Index rank, Landmark::Of of);
/// The landmarks and the slice of an instance that has neither.
void add_picture(LowRankPicture picture, Problem& problem);

}  // namespace dpsosp
