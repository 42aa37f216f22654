// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// How the maximisation over y is done.
enum class AscentRule {
  local,       ///< each record keeps its own maximiser; per-record duals alone
  queried,     ///< every ascent step is a private query (repaired)
  noise_free,  ///< no noise inside, noise on the result (printed): not private
};

constexpr auto words_of(AscentRule) {
  using enum AscentRule;
  return word_list<AscentRule>(
      "ascent rule", {{local, "local"}, {queried, "queried"}, {noise_free, "noise_free"}});
}

/// Symbols of xu-2026 notes, 2.5.
struct PrivateDiffParameters {
  Index steps = 400;
  Index period = 2;
  double step_size = 0.2;
  AscentRule ascent = AscentRule::local;
  Index ascent_steps = 3;
  double ascent_step = 0.2;
  Sampling sampling = Sampling::all;
  Index batch = 0;
  double clip_dual = 1.0;
  double clip_restart = 1.0;
  double clip_slope = 0.0;  ///< C₂: differences are clipped at C₂ ‖x_r − x_{r−1}‖ + C₃
  double clip_offset = 1.0;
  double restart_noise = 0.0;
  double noise = 0.0;                    ///< the same of the differences
  double dual_noise = 0.0;               ///< the same of the y queries
  double released_dual_deviation = 0.0;  ///< s_y, with ascent = noise_free
  bool random_output = false;
};

/// PrivateDiff Minimax. \source Zhang et al. 2025 (AAAI), Algorithm 3; xu-2026 notes, 2.5
class PrivateDiff final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  PrivateDiffParameters parameters;
};

}  // namespace dpsosp::baselines
