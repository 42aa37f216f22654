// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp::lowy_2024 {

/// What the paper's bounds depend on. \source lowy-2024 notes, 1 and 3.3
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

/// DP-SPIDER alone: (sqrt(ΔLβ) a)^{2/3} + L a. \source lowy-2024, Lemma 3.1
double spider_rate(const Setting& s);
/// From a start of excess ψ: L a + (Lβψ)^{1/3} a^{2/3}. \source lowy-2024, Theorem 3.2
double warm_rate(const Setting& s, double psi);
/// Second order: warm_rate + β^{7/6} L^{1/6} ψ^{1/6} a^{1/3}/(εn sqrt(ρ_H)). The paper prints the
/// last term without the 1/ε that the theorem it cites has. \source lowy-2024, Theorem 3.4
double warm_second_order_rate(const Setting& s, double psi, double hessian_lipschitz);
/// L a + (L²βD)^{1/3} a d^{1/6}. \source lowy-2024, Corollary 4.3
double exponential_rate(const Setting& s, double diameter);
/// L a + (L²βD)^{1/3} a q^{−1/3}; the paper prints q^{−1}, which is weaker. \source lowy-2024,
/// Corollary 5.3
double quasar_rate(const Setting& s, double distance, double quasar);
/// L a + a^{(k+2)/3} (L^{k+1}βγ^k)^{1/3} (1 + (γ√β)^{k/3}/F₀^{(2−k)/6}). \source lowy-2024,
/// Corollary 6.3
double kl_rate(const Setting& s, double gamma, double k, double F0);
/// Population, second order, from a start of excess ψ. \source lowy-2024, Theorem E.2; lowy-2024
/// notes, 3.6
double population_rate(const Setting& s, double psi, double hessian_lipschitz);
/// 1 ∧ (d/(εn) + sqrt(d/n)): scale of the exponential mechanism's population excess, ζ in Figure 1.
/// \source lowy-2024, Figure 1
double population_excess_scale(const Setting& s);

}  // namespace dpsosp::lowy_2024
