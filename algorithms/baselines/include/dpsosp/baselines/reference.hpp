// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// Stochastic gradient descent without noise or clipping; full batches by default. Reference lines
/// are not private, and only an UnsoundCurator answers them.
class ReferenceSgd final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DescentParameters parameters{.output = OutputRule::last};
};

struct ReferenceSpiderParameters {
  Index steps = 400;
  Index period = 20;
  double step_size = 0.1;
  Sampling sampling = Sampling::sample;
  Index refresh_batch = 1;
  Index increment_batch = 1;
  OutputRule output = OutputRule::last;
};

/// SPIDER without noise or clipping. \source Fang, Li, Lin & Zhang 2018, as SpiderBoost (Wang et
/// al. 2019)
class ReferenceSpider final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  ReferenceSpiderParameters parameters;
};

/// Symbols of Jin et al. 2017, Algorithm 2.
struct PerturbedGdParameters {
  Index steps = 10000;
  double step_size = 0.1;
  double relative_alpha = 0.01;
  double threshold = 0.01;
  double radius = 1e-3;  ///< r: kicks are uniform in a ball
  Index escape_steps = 100;
  double decrease = 1e-5;  ///< f_thres: less than this in t_thres steps ends the run
};

/// Perturbed gradient descent on exact gradients. The decrease that an escape must make is
/// integrated along the path by the trapezoid rule, to within ρ‖step‖³/12 a step, so no loss value
/// is asked for. \source Jin, Ge, Netrapalli, Kakade & Jordan 2017, Algorithm 2
class PerturbedGd final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  PerturbedGdParameters parameters;
};

}  // namespace dpsosp::baselines
