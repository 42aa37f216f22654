// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// | baselines notes, 7.2 | field | unit |
/// | κ | gain | |
/// | γ | look_ahead | last moves; 0 is (1 − κ)/κ |
/// | L | smoothness | gradient per x |
struct DiskParameters : DescentParameters {
  double gain = 0.7;
  double look_ahead = 0.0;
  double smoothness = 1.0;
};

/// A Kalman filter with a constant gain, fed with gradients ahead of the iterate: what an answer
/// sees ahead carries the old estimate along with the move. All noise has one size.
/// \source Zhang et al. 2025 (DiSK); baselines notes, 7.2
class Disk final : public DescentMethod {
 public:
  Disk() { parameters.output = OutputRule::last; }

  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DiskParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

/// κ and the α at which it leaves an error of α.
struct DiskNumbers {
  double gain;
  double alpha;
};
/// (8 κ d M B G²/(R n²))^{1/4}, with κ = 0.7 of the authors' code.
/// \source baselines notes, 7.2
DiskNumbers disk_published(const ProblemNumbers& q, double zcdp);
/// The same where curvature allows the gain to be smaller; as published where ρ_H is not stated.
/// \source baselines notes, 7.2
DiskNumbers disk_practical(const ProblemNumbers& q, double zcdp);

}  // namespace dpsosp::baselines
