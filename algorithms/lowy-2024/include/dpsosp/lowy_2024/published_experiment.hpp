// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::lowy_2024 {

/// The three methods that the experiment compares.
enum class PublishedStage { dp_sgd, dp_spider, warm_start };

constexpr auto words_of(PublishedStage) {
  using enum PublishedStage;
  return word_list<PublishedStage>(
      "published stage",
      {{dp_sgd, "dp_sgd"}, {dp_spider, "dp_spider"}, {warm_start, "warm_start"}});
}

/// Where the noise comes from.
enum class PublishedNoise {
  accounted,  ///< std over sensitivity, by this suite's accountant
  script,     ///< standard deviations of the authors' script
};

constexpr auto words_of(PublishedNoise) {
  using enum PublishedNoise;
  return word_list<PublishedNoise>("published noise",
                                   {{accounted, "accounted"}, {script, "script"}});
}

/// Symbols of lowy-2024 notes, 1, in the comments; standard deviations are per coordinate of the
/// mean.
struct PublishedExperimentParameters {
  PublishedStage stage = PublishedStage::dp_spider;
  Index steps = 100;
  Index period = 25;
  double step_size = 1e-3;
  Index warm_steps = 25;
  double warm_step_size = 5e-3;
  double warm_share = 0.25;
  double radius = 2.0;
  double clip = 5.0;
  double clip_difference = 6.0;  ///< β: differences are clipped at min(β‖x − x′‖, 2L)
  double sgd_batch = 1.0;
  double difference_batch = 1.0;
  PublishedNoise noise = PublishedNoise::accounted;
  double sgd_noise = 0.0;
  double anchor_noise = 0.0;
  double difference_noise = 0.0;
  double sgd_deviation = 0.0;         ///< of the script: σ
  double anchor_deviation = 0.0;      ///< σ₁
  double difference_deviation = 0.0;  ///< σ₂, of a move of length 1
  double difference_cap = 0.0;        ///< largest std of a difference
};

/// The experiment of the published version: projected DP-SGD, DP-SPIDER, or DP-SPIDER after a
/// DP-SGD warm start, on Poisson batches, last iterate. The printed variant has the script's noise.
/// Its curator also draws empty batches anew and divides by the realised size, as the script does.
/// \source lowy-2024 notes, 5.2 (claim C17)
class PublishedExperiment final : public Algorithm {
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

  PublishedExperimentParameters parameters;

 private:
  Index sgd_steps() const;
  Index spider_steps() const;
  Index anchors() const;
  void account(const PublicFacts& facts, const PrivacyBudget& budget, Calibrator calibrator,
               FilterRule& rule);
};

/// Numbers of the authors' script for one stage at its own ε and T. \source lowy-2024 notes, 5.2
struct ScriptSgd {
  double batch;      ///< expected, min(max(nε/(2 sqrt(T)), 1), n)
  double deviation;  ///< sqrt(8 T L² ln(1/δ))/(εn)
};
ScriptSgd script_sgd(double n, double epsilon, double delta, double steps, double L);

/// \source lowy-2024 notes, 5.2
struct ScriptSpider {
  double batch;                 ///< of differences, expected, min(max(nε/(2 sqrt(T/q)), 1), n)
  double anchor_deviation;      ///< sqrt(8 (T/q) L² ln(1/δ))/(εn)
  double difference_deviation;  ///< sqrt(8 (T − T/q) β² ln(1/δ))/(εn), times the move
  double difference_cap;        ///< sqrt(32 (T/q) L² ln(1/δ))/(εn)
};
ScriptSpider script_spider(double n, double epsilon, double delta, double steps, double period,
                           double L, double beta);

}  // namespace dpsosp::lowy_2024
