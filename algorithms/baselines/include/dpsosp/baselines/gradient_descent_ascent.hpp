// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp::baselines {

struct GradientDescentAscentParameters {
  Index steps = 400;
  double step_size = 0.2;
  double ascent_step = 0.8;
  bool local_dual = true;  ///< y_i*(x) exactly; per-record duals alone
};

/// Gradient descent ascent on the whole data, without noise or clipping. A reference line: it is
/// not private, and only an UnsoundCurator answers it.
class GradientDescentAscent final : public Algorithm {
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

  GradientDescentAscentParameters parameters;
};

}  // namespace dpsosp::baselines
