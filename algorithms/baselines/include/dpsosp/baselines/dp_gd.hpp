// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/baselines/noisy_descent.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 1.
struct DpGdParameters : DescentParameters {
  /// The schedule of their Theorem 6.2 (Polyak-Łojasiewicz losses): T ~ (M/μ) ln n, last iterate.
  bool pl = false;
};

/// Noisy gradient descent at 1/M with full batches.
/// \source Wang, Ye, Xu 2017 (NeurIPS), Theorems 6.2 and 6.3; baselines notes, 1
class DpGd final : public DescentMethod {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DpGdParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

/// RRPSGD: n² noisy single-record steps, stopped at a random round. Without amplification (any
/// calibrator but rdp) the schedule takes full batches and the horizon of DP-GD.
/// \source Zhang, Zheng, Mou, Wang 2017 (IJCAI); baselines notes, 1
class RrPsgd final : public DescentMethod {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DescentParameters parameters;

 private:
  DescentParameters& descent() override { return parameters; }
};

}  // namespace dpsosp::baselines
