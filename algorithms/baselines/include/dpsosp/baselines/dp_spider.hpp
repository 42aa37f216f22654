// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// The paper from which the practical schedule takes its constants; both are proved.
enum class SpiderConstants {
  lowy,   ///< lowy-2024 notes, 3.1: the smaller bound
  arora,  ///< baselines notes, 8.1
};

constexpr auto words_of(SpiderConstants) {
  using enum SpiderConstants;
  return word_list<SpiderConstants>("spider constants", {{lowy, "lowy"}, {arora, "arora"}});
}

/// Symbols of lowy-2024 notes, 2.1; L, β are G, M of baselines notes, 8.1.
struct DpSpiderParameters {
  Index steps = 400;
  Index period = 20;
  double step_size = 0.05;
  Sampling sampling = Sampling::all;
  Index refresh_batch = 1;  ///< b₁; not used with Sampling::all
  Index increment_batch = 1;
  double clip_refresh = 1.0;
  double clip_increment = 1.0;   ///< β: differences are clipped at min(β‖w − w′‖, 2L)
  double refresh_noise = 0.0;    ///< s₁ over its sensitivity 2L/b₁
  double increment_noise = 0.0;  ///< s₂‖w − w′‖ ∧ ŝ₂ over theirs
  /// Share of the budget for refreshes where one common noise is asked for; 0: one ratio for all.
  double refresh_share = 0.0;
  OutputRule output = OutputRule::uniform;
  SpiderConstants constants = SpiderConstants::lowy;
  bool printed_period = false;  ///< the paper schedule's q as printed in Arora et al.
};

/// DP-SPIDER. \source Arora et al. 2023 (ICML), Algorithm 2; baselines notes, 8.1;
/// lowy-2024 notes, 2.1 and 3.1
class DpSpider final : public Algorithm {
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

  DpSpiderParameters parameters;

 private:
  Index anchors() const { return (parameters.steps + parameters.period - 1) / parameters.period; }
};

/// Numbers of the practical schedule. \source lowy-2024 notes, 3.1
struct DpSpiderPractical {
  double unit;                 ///< ν = sqrt(2d/ρ)/n
  double balance;              ///< T*
  Index steps;                 ///< T
  Index period;                ///< q
  Index anchors;               ///< A
  double refresh_deviation;    ///< s₁
  double increment_deviation;  ///< s₂
  double anchor_error;         ///< τ₁ = ν L sqrt(2A)
  double bound;  ///< sqrt(4βΔ/T + τ₁²) ≥ sqrt(E‖∇F‖²) where q was not clamped
};
DpSpiderPractical dp_spider_practical(double n, double d, double L, double beta, double gap,
                                      double zcdp);

/// The same with the constants `arora`. \source baselines notes, 8.1
DpSpiderPractical dp_spider_arora(double n, double d, double G, double M, double gap, double zcdp);

/// Numbers of their Theorem B.3. \source Arora et al. 2023; lowy-2024 notes, 3.1
struct DpSpiderPaper {
  double steps;           ///< T, before rounding down
  double period;          ///< q = 1/(T a²)
  double batch;           ///< b₂
  double printed_period;  ///< L² q (docs/errata.md, W20)
  double rate;            ///< (sqrt(ΔLβ) a)^{2/3} + L a
};
DpSpiderPaper dp_spider_paper(double n, double d, double L, double beta, double gap,
                              const PrivacyBudget& budget);

}  // namespace dpsosp::baselines
