// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

/// The weak primal-dual risk of DP-SGDA on a convex-concave quadratic, in closed form.
/// \source xu-2026 notes, 2.7
namespace dpsosp {

/// f(x, y; z) = a|x|²/2 + b x·y − a|y|²/2 + z_x·x − z_y·y, x, y ∈ R^d, 0 ≤ a, b ≤ 1, around its
/// saddle: E z = 0, E|z_x|² = E|z_y|² = 1/2.
struct QuadraticSaddle {
  double a;
  double b;
};

/// Of w = x + iy averaged over w_1, …, w_T, where descent and ascent have the step η, full batches
/// of n records and noise of deviation σ in every coordinate: E w̄ = kept·w_0, and E|w̄ − E w̄|² =
/// of_records/n + of_noise·σ²d, both of one data set.
struct AveragedLaw {
  std::complex<double> kept;
  double of_records;
  double of_noise;
};
AveragedLaw averaged_law(const QuadraticSaddle& f, double step, double steps);

/// Steps and step of DP-SGDA for Lipschitz constant G and radius D = 1, noise by the accountant for
/// T full batches under replace-one: T = n, η = D/√(T(G² + dσ²)), σ = (2G/n)√(T/(2ρ)).
struct DescentAscentSizes {
  double steps;
  double step;
  double deviation;  ///< σ
};
DescentAscentSizes descent_ascent_sizes(double records, double dimension, double zcdp);

/// max_{y′} E f(x̄, y′) − min_{x′} E f(x′, ȳ) of the averages of DP-SGDA at these sizes, from |w_0|
/// = 1, with comparison points within 1 of the saddle.
double weak_risk(const QuadraticSaddle& f, double records, double dimension, double zcdp);

/// The largest of it over a and b in [0, 1], by a grid.
double worst_weak_risk(double records, double dimension, double zcdp);

}  // namespace dpsosp
