// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 10; `oracle` holds b₁, b₂, the clips G and M, and the noise.
struct AdaDpSpiderParameters {
  Index steps = 400;
  double step_size = 0.02;
  double drift_threshold = 0.01;
  double chi = 0.0;
  Index escape_rounds = 1;
  Index escape_steps = 1;
  double escape_radius = 1.0;
  SpiderOracleParameters oracle;
};

/// Ada-DP-SPIDER inside Gauss-PSGD: a SPIDER oracle that refreshes after enough drift, and escapes
/// that restart at the near-stationary point until one leaves a ball around it.
/// \source Tao et al. 2025, arXiv:2505.15647; baselines notes, 10; xu-2026 notes, 2.4
class AdaDpSpider final : public Algorithm {
 public:
  AdaDpSpider();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  AdaDpSpiderParameters parameters;
};

}  // namespace dpsosp::baselines
