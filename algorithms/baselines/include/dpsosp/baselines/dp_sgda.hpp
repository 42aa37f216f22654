// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// Symbols of xu-2026 notes, 2.6.
struct DpSgdaParameters {
  Index steps = 400;
  double step_size = 0.2;
  double ascent_step = 0.8;
  bool local_dual = true;  ///< y_i stays with record i; per-record duals alone
  bool average = false;    ///< x̄ = (x_1 + … + x_T)/T in place of x_T
  Sampling sampling = Sampling::all;
  Index batch = 0;
  double clip = 1.0;
  double noise = 0.0;
};

/// Differentially private stochastic gradient descent ascent, y projected onto Y.
/// \source Yang et al. 2022 (UAI); xu-2026 notes, 2.6
class DpSgda final : public Algorithm {
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

  DpSgdaParameters parameters;
};

}  // namespace dpsosp::baselines
