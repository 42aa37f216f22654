// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// | baselines notes, 7 | field | unit |
/// | T, ζ, n₀, M | steps, accuracy, step_divisor, smoothness | |
/// | γ, b₀ = b | momentum, batch | |
/// | C₁ = G, C₂ = ζ/n₀ | clip, clip_difference | gradient |
/// | s₀, s | refresh_noise, noise | std / sensitivity |
struct DpSrmParameters {
  Index steps = 400;
  double accuracy = 0.1;
  double step_divisor = 1.0;
  double smoothness = 1.0;
  double momentum = 0.1;
  Sampling sampling = Sampling::all;
  Index batch = 0;  ///< b₀ = b; not used with Sampling::all
  double clip = 1.0;
  double clip_difference = 0.1;  ///< C₂ = ζ/n₀
  double refresh_noise = 0.0;
  double noise = 0.0;
  OutputRule output = OutputRule::uniform;
  double rate_constant = 1.0;
};

/// The published numbers. \source baselines notes, 7
struct DpSrmNumbers {
  double accuracy;         ///< ζ
  double step_divisor;     ///< n₀
  double steps;            ///< T, rounded up
  double momentum;         ///< γ
  double batch;            ///< b₀ = b of the theorem, before it is rounded up
  double corollary_batch;  ///< n sqrt(ε/T), Corollary 5.3, before it is rounded up
};
DpSrmNumbers dp_srm_numbers(const ProblemNumbers& q, const PrivacyBudget& budget, double constant);

/// Stochastic recursive momentum: an estimate v of ∇F, updated by a private combination of gradient
/// and gradient difference, and short normalised steps along it.
/// \source Wang, Jayaraman, Evans, Gu 2023 (UAI); baselines notes, 7
class DpSrm final : public Algorithm {
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

  DpSrmParameters parameters;
};

}  // namespace dpsosp::baselines
