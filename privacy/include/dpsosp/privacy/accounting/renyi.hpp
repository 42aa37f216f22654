// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "dpsosp/privacy/accounting/event.hpp"

namespace dpsosp {

// Rényi differential privacy (RDP): the largest Rényi divergence D_a(M(D) ‖ M(D′)) over neighbours.
// | symbol | name             | range                                                        |
// | a      | order            | (1, ∞)                                                       |
// | q, γ   | rate             | [0, 1]                                                       |
// | z      | noise_multiplier | > 0, std over sensitivity; each function says of what        |
// Every function throws InputError on an argument outside its range. Results are in nats, for one
// release.

/// 1.1 to 10.9 by 0.1; 11, 12, ..., 63; 128, 256, 512, 1024.
std::vector<double> default_orders();
/// lowest, lowest + 1, ..., highest, with 2 <= lowest <= highest.
std::vector<double> integer_orders(int lowest, int highest);

/// Exact D_a((1−q)N(0,z²) + qN(1,z²) ‖ N(0,z²)), the larger direction; add/remove, z = std of the
/// sum / C. For z < 0.1 and fractional a: the chord of the convex a ↦ (a−1)·RDP(a) between
/// integers, an upper bound.
/// \source Mironov, Talwar & Zhang (2019), arXiv:1908.10530, sections 3.1 to 3.3;
///   privacy-accounting notes, 6
double poisson_gaussian_rdp(double order, double rate, double noise_multiplier);

/// (a−½)/(a−1)·r(2a) + r(2a−1), r = poisson_gaussian_rdp: replace-one through a common third data
/// set. Poisson sampling: z = std of the sum / C. Fixed size: z = std / (2C/b), since swapping the
/// record for a random other one moves the batch's query by at most 2C/b. Not capped by the
/// unsampled bound.
/// \source Mironov (2017), arXiv:1702.07476, Proposition 11 with p = 2;
///   privacy-accounting notes, 6.1 and 7
double weak_triangle_rdp(double order, double rate, double noise_multiplier);

/// Sampling b of n without replacement, replace-one, z = std / replace-one sensitivity of the batch
/// query. Forward differences up to order 256, beyond it the closed form. Fractional orders: chord
/// between integers. The formula alone: near γ = 1 it exceeds the unsampled a/(2z²).
/// \source Wang, Balle & Kasiviswanathan (2019), arXiv:1808.00087, Theorem 27;
///   privacy-accounting notes, 7
double fixed_size_gaussian_rdp(double order, double rate, double noise_multiplier);

/// The same with 2e^{(j−1)·j/(2z²)} for every term j >= 3, no forward differences.
/// \source lowy-2024 notes, 4.
double fixed_size_gaussian_rdp_closed_form(double order, double rate, double noise_multiplier);

/// Exact for Laplace noise of scale sensitivity/epsilon.
/// \source Mironov (2017), arXiv:1702.07476, Proposition 6.
double laplace_rdp(double order, double epsilon);

/// Tight for epsilon-DP: ln(cosh((a−½)ε) / cosh(ε/2)) / (a−1), attained by randomised response.
/// \source Bun & Steinke (2016), arXiv:1605.02065, Proposition 3.3, with
///   sinh x − sinh y = 2 cosh((x+y)/2) sinh((x−y)/2)
double pure_rdp(double order, double epsilon);

/// min(KL + (a−1)ε²/8, ε), KL = x − 1 − ln x, x = ε/(e^ε − 1): a privacy loss of range ε.
/// \source Cesar & Rogers (2021), arXiv:2004.07223; Dong, Durfee & Rogers (2020), arXiv:1909.13830.
double exponential_rdp(double order, double epsilon);

/// RDP of one event at one order. Poisson under replace-one: weak triangle, capped by the unsampled
/// 2a/z². \throws UnsupportedError for a fixed-size sample under another relation than replace-one.
double rdp(const Event& event, double order, Adjacency adjacency);

/// rdp at every order; shares the work between orders.
std::vector<double> rdp_curve(const Event& event, std::span<const double> orders,
                              Adjacency adjacency);

}  // namespace dpsosp
