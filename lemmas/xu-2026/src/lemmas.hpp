// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What lemmas of xu-2026 come to on given problems: exact laws, formulas and searches for
/// counter-examples.
namespace dpsosp {

/// Pr[(e_1 + … + e_m)² > m] for fair signs e_k, m ≤ 1000: how often m errors of length 1 add up to
/// more than xu-2026, Lemma 1 allows.
double sign_sum_failure(int m);
/// The least f with Pr[(e_1 + … + e_m)² > f m] ≤ failure.
double sign_sum_factor(int m, double failure);

/// ‖∇F(w̄)‖ over the bound of xu-2026, Lemma 4, √(F₀/(qT) + B₁), with its constant 1 and B₁ = 0: T
/// plain steps of η = 1/(2L) down a slope of √(F₀/(2Tη)), which falls by F₀ in all, q ≥ 1.
double slope_over_lemma_4(double smoothness, double steps, double period);

/// The mean of ‖∇F(w_t)‖ over t = 1..T, a uniform choice's, over the bound of its proof,
/// √(F₀/(Tη)), without noise: w_{t+1} = w_t − η(∇_x F, −∇_y F) on F = b xy − μy²/2 with L = κμ and
/// η = 1/(2L), from (1, 0); F₀ = Φ(x₀) − min Φ. \param kappa  > 1
double saddle_over_lemma_4(double kappa, int steps);

/// The farthest that xu-2026, Lemma 7 lets a sequence get from its anchor within t_thres, over R:
/// (r + t_thres r₀/2)/R, as η_H ‖v_t‖ ≤ r₀/2 in every step, largest over η_H ≤ 1/L_Φ and r₀ ≤ r ≤
/// L_Φ η_H α_H/(C ρ_Φ); L_Φ = C = 1. Below 1 no sequence leaves the ball of R.
double lemma_7_reach(double curvature, double hessian_lipschitz);

/// The least of the left side less the right side of xu-2026, Lemma 11, over ‖x − x′‖², on random
/// quadratics with spectra in [μ, L], both ends among them.
double cocoercivity_slack(int trials, std::uint64_t seed);

/// The least ‖G_λ(x, y)‖/((μ/2)‖y − y*‖) of xu-2026, Lemma 12 over random concave quadratics, y of
/// Y and Y = a simplex, a ball, a box or all of the space, for λ = share/L.
double mapping_ratio(double share, int trials, std::uint64_t seed);

}  // namespace dpsosp
