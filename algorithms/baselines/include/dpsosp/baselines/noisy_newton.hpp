// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/second_order.hpp"

namespace dpsosp::baselines {

/// | baselines notes, 5.1 | field | unit |
/// | T, r | steps, radius | , x |
/// | s_g, s_H | gradient_noise, hessian_noise | std / sensitivity |
struct NoisyNewtonParameters : SecondOrderQueries {
  Index steps = 20;
  double radius = 1.0;
  /// Share of the budget for gradients where one common noise is asked for; 0: one ratio for all.
  double gradient_share = 0.0;
};

/// Newton's method with noise on gradient and Hessian, its steps kept within a radius.
/// \source Avella-Medina, Bradshaw & Loh 2023; baselines notes, 5.1
class NoisyNewton final : public Algorithm {
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

  NoisyNewtonParameters parameters;
};

}  // namespace dpsosp::baselines
