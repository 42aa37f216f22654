// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/second_order.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// Radius of the trust region.
enum class RadiusRule {
  root,     ///< sqrt(α/ρ_H), which the horizon is computed from
  printed,  ///< α/ρ_H, as the reference code has it
};

constexpr auto words_of(RadiusRule) {
  using enum RadiusRule;
  return word_list<RadiusRule>("radius rule", {{root, "root"}, {printed, "printed"}});
}

/// | baselines notes, 5 | field | unit |
/// | T, α, ρ_H | steps, alpha, hessian_lipschitz | |
/// | s_g, s_H | gradient_noise, hessian_noise | std / sensitivity |
struct DpTrustRegionParameters : SecondOrderQueries {
  Index steps = 100;
  double alpha = 0.1;
  double hessian_lipschitz = 1.0;
  RadiusRule radius_rule = RadiusRule::root;
  bool repeated_root = false;  ///< Hessian noise times a second √d, as the reference code has it
  double target = 0.0;

  double radius() const;
  /// sqrt(ρ_H α): at a smaller multiplier the step ends the run.
  double exit_multiplier() const;
};

/// 6 sqrt(ρ_H) Δ₀/α^{3/2}, before it is rounded up. \source baselines notes, 5
double trust_region_horizon(double rho, double B, double alpha);

/// Privatised trust region with a fixed radius: noisy gradient and noisy Hessian (GOE) in every
/// step, the subproblem solved exactly.
/// \source Wang, Xu 2020 (ECML-PKDD); baselines notes, 5
class DpTrustRegion final : public Algorithm {
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

  /// The smallest α with s_g √d ≤ α/12 and 2 s_H √d ≤ sqrt(ρα)/6: then a step that is not the last
  /// lowers F by α^{3/2}/(6 sqrt ρ), and the output is a 4.7 α-SOSP.
  double min_alpha(const ProblemNumbers& q, double rho_zcdp) const;

  DpTrustRegionParameters parameters;
};

}  // namespace dpsosp::baselines
