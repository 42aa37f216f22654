// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// How an approximate second-order stationary point is picked among the stored iterates.
enum class Selecting {
  noisy,   ///< noisy gradient and noisy Hessian of each, the paper's Algorithm 5
  scalar,  ///< one AboveThreshold session on the scaled maximum (StationarityTest)
};

constexpr auto words_of(Selecting) {
  using enum Selecting;
  return word_list<Selecting>("selecting", {{noisy, "noisy"}, {scalar, "scalar"}});
}

/// | baselines notes, 3.1 | field | unit |
/// | T, 1/M, G | steps, step_size, clip | |
/// | α, ρ_H, M | alpha, hessian_lipschitz, hessian_limit | gradient, …, Hessian |
/// | s, s₁, s₂ | noise, selection_gradient_noise, selection_hessian_noise | std / sensitivity |
/// | C₁, c, ω | log_constant, escape_constant, failure | |
struct DpGdSospParameters {
  Index steps = 400;
  double step_size = 0.1;
  double clip = 1.0;
  double noise = 0.0;
  double alpha = 0.1;
  double hessian_lipschitz = 1.0;
  double hessian_limit = 1.0;
  Selecting selection = Selecting::scalar;
  double selection_share = 0.5;
  double selection_epsilon = 0.1;
  double slack = 1.5;
  double selection_gradient_noise = 1.0;
  double selection_hessian_noise = 1.0;
  Index stored = 200;
  double failure = 0.1;
  double log_constant = 0.1;
  double escape_constant = 0.7;
  double target = 0.0;
  bool printed_horizon = false;  ///< α²/(4ρ_H) where α²/(4M) is meant
};

/// The published horizon. \source baselines notes, 3.1
struct DpGdSospHorizon {
  double log_factor;  ///< L
  double decrease;    ///< Φ: of F, by an escape
  double escape;      ///< Γ: steps of an escape
  double steps;       ///< T, before it is rounded up
};
DpGdSospHorizon dp_gd_sosp_horizon(const DpGdSospParameters& p, double d, double M, double rho,
                                   double B, double alpha);

/// DP-GD to a second-order stationary point: noisy gradient descent, whose privacy noise is the
/// perturbation, then a private selection among stored iterates.
/// \source Wang, Chen, Xu 2019 (ICML); baselines notes, 3.1
class DpGdSosp final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  double planned_share(const FilterRule& rule) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// The smallest α whose noise tolerances hold at zCDP `rho_zcdp`, half of it for the selection:
  /// s√d ≤ α/√2, so that a step at ‖∇F‖ ≥ α lowers F by α²/(4M), and the selection errs by at most
  /// half of either scale.
  double min_alpha(const ProblemNumbers& q, double rho_zcdp) const;

  DpGdSospParameters parameters;

 private:
  /// Steps between stored iterates.
  Index stride() const;
  Index candidates() const;
  bool tolerable(const ProblemNumbers& q, double rho_zcdp, double alpha) const;
};

}  // namespace dpsosp::baselines
