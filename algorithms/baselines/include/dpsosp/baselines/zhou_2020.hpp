// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 4.
struct AdaptiveDescentParameters : DescentParameters {
  double first_decay = 0.9;
  double second_decay = 0.999;
  double damping = 1e-3;
  bool population = false;  ///< promise the population gradient, with the repaired term
};

/// DP-SGD, DP-RMSProp and DP-Adam of one paper: noisy full-batch gradients, an elementwise step
/// without bias correction. \source Zhou, Chen, Hong, Wu, Banerjee 2020; baselines notes, 4
class Zhou2020 : public DescentMethod {
 public:
  enum class Rule { sgd, rmsprop, adam };

  const AlgorithmCard& card() const override { return card_; }
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  AdaptiveDescentParameters parameters;

 protected:
  explicit Zhou2020(Rule rule);

 private:
  DescentParameters& descent() override { return parameters; }

  Rule rule_;
  const AlgorithmCard& card_;
};

class ZhouSgd final : public Zhou2020 {
 public:
  ZhouSgd() : Zhou2020(Rule::sgd) {}
};
class ZhouRmsProp final : public Zhou2020 {
 public:
  ZhouRmsProp() : Zhou2020(Rule::rmsprop) {}
};
class ZhouAdam final : public Zhou2020 {
 public:
  ZhouAdam() : Zhou2020(Rule::adam) {}
};

/// What the proof gives for the population: (√d/(nε))^{1/2} + ε√d, unit G. The paper drops the
/// second term; with it the bound is never below (d/n)^{1/3}.
/// \source Arora et al. 2023; Lowy et al. 2024; baselines notes, 4
double zhou_2020_population_bound(double n, double d, double epsilon);

}  // namespace dpsosp::baselines
