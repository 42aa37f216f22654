// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp::lowy_2024 {

/// The public numbers that the paper's bounds are functions of. \source lowy-2024, section 3.3
struct Setting {
  double n;        ///< records
  double d;        ///< dimension
  double epsilon;  ///< ε
  double delta;    ///< δ
  double L;        ///< Lipschitz constant of every record's loss
  double beta;     ///< smoothness
  double gap;      ///< Δ
};

/// a = sqrt(d ln(1/δ))/(εn), the paper's noise unit.
double paper_noise_unit(const Setting& s);

/// Of plain DP-SPIDER: (sqrt(ΔLβ) a)^{2/3} + L a.
double spider_rate(const Setting& s);
/// Theorem 3.2, from an excess ψ: L a + (Lβψ)^{1/3} a^{2/3}.
double warm_rate(const Setting& s, double psi);
/// Theorem 3.4, second order: warm_rate + β^{7/6} L^{1/6} ψ^{1/6} a^{1/3}/(εn sqrt(ρ_H)). The paper
/// prints the last term without the 1/ε that the theorem it cites has.
double warm_second_order_rate(const Setting& s, double psi, double hessian_lipschitz);
/// Corollary 4.3: L a + (L²βD)^{1/3} a d^{1/6}.
double exponential_rate(const Setting& s, double diameter);
/// Corollary 5.3: L a + (L²βD)^{1/3} a q^{−1/3}; the paper prints q^{−1}, which is weaker.
double quasar_rate(const Setting& s, double distance, double quasar);
/// Corollary 6.3: L a + a^{(k+2)/3} (L^{k+1}βγ^k)^{1/3} (1 + (γ√β)^{k/3}/F₀^{(2−k)/6}).
double kl_rate(const Setting& s, double gamma, double k, double F0);
/// Theorem E.2 with ψ put in: population, second order. a at the half's ε.
double population_rate(const Setting& s, double psi, double hessian_lipschitz);
/// 1 ∧ (d/(εn) + sqrt(d/n)): the population's excess of the exponential mechanism, Figure 1.
double population_excess_scale(const Setting& s);

}  // namespace dpsosp::lowy_2024
