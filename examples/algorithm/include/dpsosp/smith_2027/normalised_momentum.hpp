// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::smith_2027 {

struct NormalisedMomentumParameters : baselines::DescentParameters {
  double decay = 0.9;
};

/// Noisy gradient descent along the unit vector of a running mean of the released gradients:
/// m_t = β m_{t−1} + (1 − β) g_t and x_{t+1} = x_t − η m_t/‖m_t‖.
/// \source Cutkosky, Mehta 2020 (ICML), with per-record clipping and noise
class NormalisedMomentum final : public baselines::DescentMethod {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  NormalisedMomentumParameters parameters;

 private:
  baselines::DescentParameters& descent() override { return parameters; }
};

}  // namespace dpsosp::smith_2027
