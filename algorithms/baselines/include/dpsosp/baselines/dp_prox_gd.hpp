// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"
#include "dpsosp/baselines/regulariser.hpp"

namespace dpsosp::baselines {

struct DpProxGdParameters : DescentParameters {
  Regulariser regulariser;  ///< r
  bool population = false;  ///< promise the population gradient, by uniform convergence
};

/// Noisy proximal gradient descent for F + r.
/// \source Wang & Xu 2019 (AAAI); baselines notes, 2 (a) and (b)
class DpProxGd final : public DescentMethod {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DpProxGdParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

/// out = (x − prox_{ηr}(x − ηg))/η: the prox-gradient of F + r where g = ∇F(x).
void prox_gradient(const Regulariser& r, double step_size, const Vector& x, const Vector& g,
                   Vector& out);

}  // namespace dpsosp::baselines
