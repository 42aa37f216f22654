// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/baselines/regulariser.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 1; `oracle` holds the batches, G, M, s₁ and s₂ as noise ratios.
struct DpSvrgParameters {
  Index steps = 400;
  Index period = 10;
  double step_size = 0.01;
  Regulariser regulariser{.weight = 0.0};
  /// Share of the budget for refreshes where one common noise is asked for; 0: one ratio for all.
  double refresh_share = 0.0;
  OutputRule output = OutputRule::last;
  SpiderOracleParameters oracle;
};

/// DP-SVRG in its safe form: the epoch's gradient and every difference against it are queries of
/// their own. The paper adds one noise to each inner step and relies on the amplification of one
/// sampled record, which does not apply to the full-batch gradient in that step.
/// \source Wang, Ye, Xu 2017 (NeurIPS), Theorems 4.1 to 4.4; baselines notes, 1
class DpSvrg final : public Algorithm {
 public:
  DpSvrg();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DpSvrgParameters parameters;

 private:
  Index epochs() const { return (parameters.steps + parameters.period - 1) / parameters.period; }
};

}  // namespace dpsosp::baselines
