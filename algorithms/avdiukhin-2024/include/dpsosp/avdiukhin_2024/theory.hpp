// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp::avdiukhin_2024 {

/// The public numbers that the theorems are functions of; units in brackets, f of the objective and
/// x of the parameters.
struct Numbers {
  double records;     ///< n
  double dimension;   ///< d
  double smoothness;  ///< L [f/x²]
  double gap;         ///< f_max > f(x₀) − inf f [f]
  double deviation;  ///< σ: mean of exp(‖∇f_i − ∇f‖²/σ²) < e; so the variance is at most σ² [f/x]
};

/// Iterations of a certificate, or logarithm arguments, beyond which a schedule gives up.
inline constexpr double largest_bound = 1e9;

/// κ of Theorem 3.1 as printed: the noise is κ C √T. \param c2  unspecified in the paper
double naive_kappa(double records, const PrivacyBudget& budget, double c2 = 1.0);

/// What `steps` queries of this noise cost under replace-one: with and without amplification, the
/// lesser. \param ratio  Δ over 2C/B
double implied_epsilon(
    const BatchPolicy& policy, Index records, Index steps, double ratio, double delta);

/// C of Lemma 3.2 as printed (its units do not agree; docs/errata.md, A5). \param delta  of the
/// lemma; \param constant  c, unspecified; \param length  ℓ in η ≤ ℓ/(σ√T), which the paper lacks
double lemma_3_2_bound(
    const Numbers& n, double steps, double delta, double constant = 1.0, double length = 1.0);

/// A run whose gradients a proved bound is about.
struct UnclippedRun {
  double batch;              ///< B, drawn without replacement; infinity: every record, every step
  double steps;              ///< T
  double step_size;          ///< η ≤ 1/L
  double largest_deviation;  ///< σ_∞ ≥ ‖∇f_i(x) − ∇f(x)‖
  double failure;            ///< δ_E
};

/// F_max: with probability 1 − δ_E no iterate of the unclipped run has f(x_t) − inf f above it.
/// \param noise  Δ, per coordinate. \source avdiukhin-2024, section 3.3 (proved)
double proved_gap(const Numbers& n, const UnclippedRun& run, double noise);

/// C = √(2 L F_max) + σ_∞ at its own noise Δ = ratio·C: no gradient of the run is longer, with
/// probability 1 − δ_E. None if no fixed point below `largest_bound` exists.
std::optional<double> proved_bound(const Numbers& n, const UnclippedRun& run, double ratio);

/// δ of the class-relative statement of an unclipped run: δ + (1 + e^ε) δ_E, not 2δ.
double class_relative_delta(const PrivacyBudget& nominal, double failure);
/// δ_E = δ/(2 (1 + e^ε)): with the nominal budget (ε, δ/2) the class-relative statement is (ε, δ).
double bound_failure(const PrivacyBudget& total);

/// Which constants of Theorem 3.4.
enum class TheoremConstants {
  paper,      ///< c_η = 1/128 (Lemma B.3), k_T = 64
  unit,       ///< c_η = 1, k_T = 64
  corrected,  ///< c_η = 1/128, k_T = max(64, 32 c_I/c_F)
};

/// Step size, horizon and the escape quantities of Theorem 3.4 and Definition B.1, unit-corrected.
struct Theorem34 {
  double step_size;
  double steps;
  double escape_steps;   ///< 𝓘 = c_I/(η √(ρα))
  double escape_radius;  ///< 𝓡 = √(α/ρ)/2
  double escape_drop;    ///< 𝓕 = √(α³/ρ)/4
};
/// \param total_noise  σ̃² = σ²/B + dΔ²; \param noise  Δ; \param delta  failure probability;
/// \param rho  Hessian-Lipschitz constant
Theorem34 theorem_3_4(const Numbers& n,
                      double rho,
                      double alpha,
                      double total_noise,
                      double noise,
                      double delta,
                      TheoremConstants constants);

/// The circle T ↔ Δ of Theorem 3.5: the noise grows with the horizon that it needs.
struct Circle {
  double steps;      ///< T, before rounding
  double batch;      ///< B
  double bound;      ///< C
  double noise;      ///< Δ = κ C √T
  double alpha;      ///< α
  double step_size;  ///< η = S/⌈T⌉
  double time;       ///< S = ηT
};

struct CircleSpec {
  double kappa;                 ///< Δ = κ C √T
  std::optional<double> batch;  ///< B; infinity: every record; none: least with Δ² ≥ σ²/B
  TheoremConstants constants = TheoremConstants::paper;
  double delta = 1e-6;        ///< for logarithms of the corrected and strict forms
  double rho = 0.0;           ///< needed by the corrected constants alone
  bool lemma_step = false;    ///< η ≤ ℓ/(σ√T), which Lemma 3.2 asks for
  double length = 1.0;        ///< ℓ
  bool strict_noise = false;  ///< Δ² ≥ ln(T/δ) σ²/B in place of Δ² ≥ σ²/B
};
/// C for a horizon, a step size, Δ/C and the C of the last round.
using BoundFunction =
    std::function<double(double steps, double step_size, double ratio, double last)>;

/// The least fixed point. \throws InputError if it is beyond 1e15 steps
Circle resolve_circle(const Numbers& n, const CircleSpec& spec, const BoundFunction& bound);

/// Horizon and noise of Theorem 3.5 for a target accuracy: A = X/α⁴, Δ² = (σ²/B) A/(1 − dA),
/// T = Δ²/(κC)²; none if d A ≥ 1, below the floor (X d)^{1/4}.
struct CircleTarget {
  double noise;
  double steps;
};
std::optional<CircleTarget> circle_for(const Numbers& n,
                                       double alpha,
                                       double batch,
                                       double kappa_bound,
                                       double c_step,
                                       double k_steps = 64.0);

/// η = min(1/L, √(2 f_max/(T L σ̃²))) and α² = 2 f_max/(ηT) + η L σ̃², which bounds the mean of
/// ‖∇f(x_t)‖² over the iterates. \source avdiukhin-2024, section 3.5 (practical)
struct Descent {
  double step_size;
  double alpha;
};
Descent best_descent(const Numbers& n, double steps, double total_noise);

/// The same in closed form for Δ = κC√T, where T cancels: S = √(2 f_max/(L d'))/(κC) and
/// α = (8 f_max L d')^{1/4} √(κC), d' = d + σ²/(BΔ²).
struct ClosedForm {
  double time;
  double alpha;
};
ClosedForm practical_closed_form(const Numbers& n, double effective_dimension, double kappa_bound);

/// Candidates after which one of them is an α-SOSP with probability 1 − β/2, if half of the
/// iterates are: ⌈log₂(2/β)⌉.
Index selection_candidates(double failure);
/// w = 8 s (ln K + ln(2/β))/ε: half-width of the sparse-vector answers.
double selection_width(double sensitivity, double candidates, double failure, double epsilon);
/// Records from which w ≤ 1/2 on.
double selection_records(double gradient_ratio,  ///< G/α
                         double hessian_ratio,   ///< M/√(ρα)
                         double candidates,
                         double failure,
                         double epsilon);

/// α_t of Lemma B.8: η Δ α_t is the standard deviation of ⟨v₁, x_t⟩ from a saddle of curvature −γ.
double growth(double step_times_curvature, double steps);
/// β_t = (1+ηγ)^t/√(ηγ) ≥ α_t.
double growth_bound(double step_times_curvature, double steps);

}  // namespace dpsosp::avdiukhin_2024
