// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// | baselines notes, 7.1 | field | unit |
/// | γ | momentum | |
/// | L | smoothness | gradient per x |
struct DpStormParameters : DescentParameters {
  double momentum = 0.1;
  double smoothness = 1.0;
};

/// STORM's estimate of ∇F by one private combination of gradient and gradient difference a step,
/// and plain steps along it. A difference is clipped at L times the last move, which is public, so
/// its noise shrinks with the steps.
/// \source Cutkosky & Orabona 2019; baselines notes, 7.1
class DpStorm final : public DescentMethod {
 public:
  DpStorm() { parameters.output = OutputRule::last; }

  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DpStormParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

/// (8 d M B G/(R n²))^{1/3}: where the estimate's error is as large as what it estimates.
/// \source baselines notes, 7.1
double dp_storm_accuracy(const ProblemNumbers& q, double zcdp);

}  // namespace dpsosp::baselines
