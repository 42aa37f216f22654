// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// Symbols of baselines notes, 6; `oracle` holds the batches, G, M and the noise.
struct MomentumAggregationParameters {
  Index steps = 400;
  double step_size = 0.01;
  double momentum = 1.0;  ///< γ of m_t = (1−γ) m_{t−1} + γ g_t
  /// R_t: zCDP that the differences share, level by level; 0: `oracle.increment_noise` for all.
  double difference_budget = 0.0;
  /// Share of the budget for the first gradient where one common noise is asked for, the rest being
  /// split by level; 0: one ratio for all.
  double refresh_share = 0.0;
  OutputRule output = OutputRule::uniform;
  SpiderOracleParameters oracle;
};

/// Normalised descent whose gradient at t is a chain of O(log t) differences along the set bits of
/// t: a Fenwick tree over time, in which every record sits in every leaf. Full-batch form.
/// \source Tran & Cutkosky 2022 (NeurIPS); baselines notes, 6 (derived)
class MomentumAggregation final : public Algorithm {
 public:
  MomentumAggregation();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  MomentumAggregationParameters parameters;
};

/// The differences of level l, at times t whose lowest set bit is 2^l.
struct LevelNoise {
  std::vector<double> sensitivity;  ///< q_l = (2/b) min(2G, M η 2^l)
  std::vector<double> deviation;    ///< s_l, s_l² = q_l √N_l Q/(2R_t)
  double total;                     ///< Q = Σ_l q_l √N_l, with N_l times of level l in 1..T
};
/// \param divisor  b, the (expected) batch
LevelNoise level_noise(double G, double M, double step_size, Index steps, double divisor,
                       double difference_budget);

}  // namespace dpsosp::baselines
