// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "dpsosp/core/vector.hpp"

/// What the statements of the paper are decided by; tests plant errors in these. Losses and coins
/// in units of G D.
namespace dpsosp::ganesh_2023 {

/// Pr(‖θ‖² ≥ squared) for θ ~ N(0, I_d): the regularised incomplete gamma function Q(d/2,
/// squared/2).
double norm_tail(double dimension, double squared);

/// The loss of the reduction from selection: −Σ_j (1 − x_j) max(0, r − ‖x − c_j‖) over disjoint
/// balls around the columns c_j of `centres`. \source ganesh-2023, Theorem 5.10
double bump_loss(const Matrix& centres, double radius, const Vector& coins, const Vector& x);
/// The coin that a point stands for: that of the nearest centre.
Index chosen_coin(const Matrix& centres, const Vector& x);
/// Points of the unit ball at `distance` or more from each other, taken greedily from `trials`
/// uniform ones; d × k.
Matrix ball_packing(Index dimension, double distance, std::uint64_t trials);

/// A search over random coins and points in d = 1 to 4.
struct ReductionSearch {
  double worst = -std::numeric_limits<double>::infinity();  ///< r times the coin's risk − excess
  double steepest = 0;                                      ///< slope of the loss
  double least_points = std::numeric_limits<double>::infinity();  ///< coins over 2^d
};
/// \param selection_share  factor on the coin's risk; 1 is what the reduction claims
ReductionSearch search_reduction(std::uint64_t instances, double selection_share);

/// The quotient of Ent(f²) and 2 E f′², a lower bound of the law's C_LSI, for random f and random
/// laws with density in [c, C] to N(0, 1).
struct PerturbationSearch {
  double largest = 0;
  double largest_over_bound = 0;  ///< over C/c
};
PerturbationSearch search_perturbations(std::uint64_t laws, std::uint64_t functions);

/// Widths along e₁ of the set of Lemma B.2 at F = (−√(ργ) x₁² + …)/2, B = M = ρ = 1.
struct StuckSet {
  double allowed;            ///< (ωηγ/ln(1/ω)) √(2π/d)
  double adversarial;        ///< errors of norm γ at most that may depend on the point
  double shared;             ///< no error, or one that is the same from every start
  double chance_with_noise;  ///< largest chance of a point to be held under shared Gaussian noise
};
StuckSet stuck_set(double gamma, double dimension, double failure);

}  // namespace dpsosp::ganesh_2023
