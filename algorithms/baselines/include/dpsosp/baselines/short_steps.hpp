// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// How long a step is.
enum class StepRule {
  fixed,        ///< 1/M and 2|λ|/ρ_H
  line_search,  ///< the longest of a few trials that lowers F enough, by AboveThreshold
};

constexpr auto words_of(StepRule) {
  using enum StepRule;
  return word_list<StepRule>("step rule", {{fixed, "fixed"}, {line_search, "line_search"}});
}

/// Where the direction of negative curvature comes from.
enum class CurvatureRule {
  dense,     ///< lowest eigenpair of a released Hessian
  products,  ///< noisy power method on M I − ∇²F with released products
};

constexpr auto words_of(CurvatureRule) {
  using enum CurvatureRule;
  return word_list<CurvatureRule>("curvature rule", {{dense, "dense"}, {products, "products"}});
}

/// | baselines notes, 9 | field | unit |
/// | T, α, ρ_H, M | steps, alpha, hessian_lipschitz, hessian_limit | |
/// | c₁, c₂, c | gradient_error, step_error, hessian_error | of the tolerances |
/// | s_g, s_H | gradient_noise, hessian_noise | std / sensitivity |
/// | b, β_g, β_H, c_g, c_H | search_* | |
/// `clip` is the slope limit of losses too, and `hessian_noise` that of each product.
struct ShortStepsParameters : SecondOrderQueries {
  Index steps = 200;
  double alpha = 0.1;
  double hessian_lipschitz = 1.0;
  double smoothness = 1.0;
  CurvatureRule curvature = CurvatureRule::dense;
  Index power_iterations = 20;
  StepRule step_rule = StepRule::fixed;
  double search_epsilon = 0.1;
  double search_start = 20;
  double search_factor = 0.6;
  double curvature_search_factor = 0.5;
  double search_decrease = 0.6;
  double curvature_search_decrease = 0.25;
  double gradient_error = 0.1;
  double step_error = 1.0 / 12;
  double hessian_error = 0.1;
  bool two_phase = false;
  double budget = 1.0;
  double target = 0.0;

  double gradient_threshold() const { return alpha / (1.0 + gradient_error); }  ///< e_g
  double curvature_threshold() const;                                           ///< e_H
  /// Least decrease of F in a step that is not the last, under the tolerances.
  double decrease() const;
  /// γ̄ = 2(1 − c₁ − c_g)/M: a gradient step that always passes the line search.
  double safe_step() const;
  /// t₂: t₂|λ|/ρ_H is the longest curvature step that always passes.
  double safe_curvature_step() const;
};

/// Short noisy gradient steps, and steps along negative curvature where the gradient is small.
/// \source Gao, Wright 2023; baselines notes, 9
class ShortSteps final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// The smallest α whose tolerances hold: s_g √d ≤ min(c₁ e_g, (c₂/ρ) e_H²) and 2 s_H √d ≤ c e_H,
  /// or for products s √d ≤ e_H/5.
  double min_alpha(const ProblemNumbers& q, double rho_zcdp) const;

  ShortStepsParameters parameters;

 private:
  /// Gaussian noise ratios and ε of T steps that share zCDP `rho`.
  struct Noises {
    double gradient, hessian, epsilon;
  };
  Noises noises_for(double rho, double steps) const;
  double products(double d, double M, double rho, double alpha) const;
};

}  // namespace dpsosp::baselines
