// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/budget.hpp"

namespace dpsosp::avdiukhin_2024 {

/// Public numbers that the theorems depend on. Units are in brackets: f of the objective, x of the
/// parameters.
struct Numbers {
  double records;     ///< n
  double dimension;   ///< d
  double smoothness;  ///< L [f/x²]
  double gap;         ///< f_max > f(x₀) − inf f [f]
  double deviation;  ///< σ: mean of exp(‖∇f_i − ∇f‖²/σ²) < e; so the variance is at most σ² [f/x]
};

/// A gradient bound from which on a schedule gives up.
inline constexpr double largest_bound = 1e9;

/// κ of Theorem 3.1 as printed: the noise is κ C √T. \param c2  unspecified in the paper
/// \source avdiukhin-2024, Theorem 3.1
double naive_kappa(double records, const PrivacyBudget& budget, double c2 = 1.0);

/// ε of `steps` queries with this noise under replace-one: the smaller of the bounds with and
/// without amplification. \param ratio  Δ over 2C/B
double implied_epsilon(const BatchPolicy& policy, Index records, Index steps, double ratio,
                       double delta);

/// C of Lemma 3.2 as printed (its units do not agree; docs/errata.md, A5). \param delta  of the
/// lemma; \param constant  c, unspecified; \param length  ℓ in η ≤ ℓ/(σ√T), which the paper lacks
/// \source avdiukhin-2024, Lemma 3.2
double lemma_3_2_bound(const Numbers& n, double steps, double delta, double constant = 1.0,
                       double length = 1.0);

/// A run without clipping whose gradients are to be bounded.
struct UnclippedRun {
  double batch;              ///< B, drawn without replacement; infinity: every record, every step
  double steps;              ///< T
  double step_size;          ///< η ≤ 1/L
  double largest_deviation;  ///< σ_∞ ≥ ‖∇f_i(x) − ∇f(x)‖
  double failure;            ///< δ_E
};

/// F_max: with probability 1 − δ_E no iterate of the unclipped run has f(x_t) − inf f above it.
/// \param noise  Δ, per coordinate. \source avdiukhin-2024 notes, 3.3
double proved_gap(const Numbers& n, const UnclippedRun& run, double noise);

/// The least C ≥ 2√(L f_max) + σ_∞ with C ≥ √(2 L F_max) + σ_∞ at its own noise Δ = ratio·C: with
/// probability 1 − δ_E no gradient of the run is longer. None if there is none below
/// `largest_bound`. \source avdiukhin-2024 notes, 3.3
std::optional<double> proved_bound(const Numbers& n, const UnclippedRun& run, double ratio);

/// δ of the class-relative statement of an unclipped run: δ + (1 + e^ε) δ_E, not 2δ.
/// \source avdiukhin-2024 notes, 4.2
double class_relative_delta(const PrivacyBudget& nominal, double failure);
/// δ_E = δ/(2 (1 + e^ε)): with the nominal budget (ε, δ/2) the class-relative statement is (ε, δ).
double bound_failure(const PrivacyBudget& total);

/// The constants that Theorem 3.4 is evaluated with.
enum class TheoremConstants {
  paper,      ///< c_η = 1/128 (Lemma B.3), k_T = 64
  unit,       ///< c_η = 1, k_T = 64
  corrected,  ///< c_η = 1/128, k_T = max(64, 32 c_I/c_F)
};

constexpr auto words_of(TheoremConstants) {
  using enum TheoremConstants;
  return word_list<TheoremConstants>("theorem constants",
                                     {{paper, "paper"}, {unit, "unit"}, {corrected, "corrected"}});
}

/// Step size, horizon and escape quantities in consistent units.
/// \source avdiukhin-2024, Theorem 3.4; avdiukhin-2024, Definition B.1; avdiukhin-2024 notes, 3.4
struct Theorem34 {
  double step_size;
  double steps;
  double escape_steps;   ///< 𝓘 = c_I/(η √(ρα))
  double escape_radius;  ///< 𝓡 = √(α/ρ)/2
  double escape_drop;    ///< 𝓕 = √(α³/ρ)/4
};
/// \param total_noise  σ̃² = σ²/B + dΔ²; \param noise  Δ; \param delta  failure probability;
/// \param rho  Hessian-Lipschitz constant
Theorem34 theorem_3_4(const Numbers& n, double rho, double alpha, double total_noise, double noise,
                      double delta, TheoremConstants constants);

/// Horizon and noise of Theorem 3.5, each a function of the other: Δ = κ C √T, and T depends on Δ.
/// \source avdiukhin-2024, Theorem 3.5; avdiukhin-2024 notes, 3.5
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
  double delta = 1e-6;        ///< δ in the logarithm of the strict form
  double rho = 0.0;           ///< ρ; for the corrected constants alone
  bool lemma_step = false;    ///< η ≤ ℓ/(σ√T), which Lemma 3.2 requires
  double length = 1.0;        ///< ℓ
  bool strict_noise = false;  ///< Δ² ≥ ln(T/δ) σ²/B in place of Δ² ≥ σ²/B
};
/// C for a horizon, a step size, Δ/C and the C of the round before.
using BoundFunction =
    std::function<double(double steps, double step_size, double ratio, double last)>;

/// The least fixed point. \throws InputError if it has more than 1e15 steps
Circle resolve_circle(const Numbers& n, const CircleSpec& spec, const BoundFunction& bound);

/// Horizon and noise of Theorem 3.5 for a target accuracy: A = X/α⁴, Δ² = (σ²/B) A/(1 − dA),
/// T = Δ²/(κC)², with X = k_T f_max L (κC)²/c_η. None if d A ≥ 1, where α is below the floor
/// (X d)^{1/4}. \source avdiukhin-2024 notes, 3.5
struct CircleTarget {
  double noise;
  double steps;
};
std::optional<CircleTarget> circle_for(const Numbers& n, double alpha, double batch,
                                       double kappa_bound, double c_step, double k_steps = 64.0);

/// η = min(1/L, √(2 f_max/(T L σ̃²))) and α² = 2 f_max/(ηT) + η L σ̃², which bounds the mean of
/// ‖∇f(x_t)‖² over the iterates. \source avdiukhin-2024 notes, 3.5
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

/// ⌈log₂(2/β)⌉: of so many uniform iterates one is an α-SOSP with probability 1 − β/2, if half of
/// all iterates are. \source avdiukhin-2024 notes, 2.3
Index selection_candidates(double failure);
/// w = 8 s (ln K + ln(2/β))/ε: with probability 1 − β no answer of AboveThreshold is off by more.
double selection_width(double sensitivity, double candidates, double failure, double epsilon);
/// The least number of records with w ≤ 1/2.
double selection_records(double gradient_ratio,  ///< G/α
                         double hessian_ratio,   ///< M/√(ρα)
                         double candidates, double failure, double epsilon);

/// α_t of Lemma B.8: η Δ α_t is the standard deviation of ⟨v₁, x_t⟩ from a saddle of curvature −γ.
/// \source avdiukhin-2024, Lemma B.8; avdiukhin-2024 notes, 6
double growth(double step_times_curvature, double steps);
/// β_t = (1+ηγ)^t/√(ηγ) ≥ α_t.
double growth_bound(double step_times_curvature, double steps);

}  // namespace dpsosp::avdiukhin_2024
