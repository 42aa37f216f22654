// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 3.2. The inverse temperature is not a parameter: it follows from the
/// noise that privacy needs.
struct DpGldParameters : DescentParameters {
  double ridge = 0.0;
  double diffusion_time = 10.0;  ///< τ M, of the practical schedule
  bool project = true;
};

/// Gradient Langevin dynamics whose Langevin noise is the privacy noise.
/// \source Wang, Chen, Xu 2019 (ICML); baselines notes, 3.2
class DpGld final : public DescentMethod {
 public:
  DpGld() { parameters.output = OutputRule::last; }

  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// β = 2/(η s²). If T gradients cost R of zCDP it is n²R/(G²τ), which does not depend on T.
  double inverse_temperature(Index records) const;

  DpGldParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

/// (d/2β) ln((eM/m)(bβ/d + 1)): bound on the mean suboptimality of the Gibbs law at β, for
/// ⟨w, ∇F⟩ ≥ m‖w‖² − b. \source Raginsky, Rakhlin & Telgarsky 2017, Proposition 11
double gibbs_suboptimality(double d, double beta, double M, double m, double b);

}  // namespace dpsosp::baselines
