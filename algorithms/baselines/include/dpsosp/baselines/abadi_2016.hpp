// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// The second moment that Adam divides by.
enum class MomentCorrection {
  start,  ///< v̂ = v/(1 − β₂^t): Adam
  noise,  ///< max(v̂ − s², ν′), s the noise's deviation: AdamBC (Tang et al. 2024)
};

constexpr auto words_of(MomentCorrection) {
  using enum MomentCorrection;
  return word_list<MomentCorrection>("moment correction", {{start, "start"}, {noise, "noise"}});
}

/// Symbols of baselines notes, 11.
struct Abadi2016Parameters : DescentParameters {
  double epochs = 10.0;
  double tail_average = 0.0;
  double first_decay = 0.9;  ///< β₁; of DP-SGD 0 unless it is set
  double second_decay = 0.999;
  MomentCorrection correction = MomentCorrection::start;
  double damping = 1e-8;
  double moment_floor = 0.0;  ///< 0: a hundredth of the variance of the noise in force
};

/// DP-SGD and DP-Adam on Poisson batches (or fixed-size ones): the clipped sum is divided by q n,
/// and empty batches are kept. Under the calibrator rdp batches are sampled and amplified; under
/// every other calibrator they are full. \source Abadi et al. 2016; baselines notes, 11
class Abadi2016 : public DescentMethod {
 public:
  enum class Rule { sgd, adam };

  const AlgorithmCard& card() const override { return card_; }
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  Abadi2016Parameters parameters;

 protected:
  explicit Abadi2016(Rule rule);

 private:
  DescentParameters& descent() override { return parameters; }

  Rule rule_;
  const AlgorithmCard& card_;
};

class AbadiSgd final : public Abadi2016 {
 public:
  AbadiSgd() : Abadi2016(Rule::sgd) {}
};
class AbadiAdam final : public Abadi2016 {
 public:
  AbadiAdam() : Abadi2016(Rule::adam) {}
};

}  // namespace dpsosp::baselines
