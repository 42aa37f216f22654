// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/lowy_2024/exponential_warm_start.hpp"

namespace dpsosp::lowy_2024 {

/// The second stage B.
enum class PopulationFinder { tree_spider, stochastic_spider, adaptive_spider };

constexpr auto words_of(PopulationFinder) {
  using enum PopulationFinder;
  return word_list<PopulationFinder>("population finder", {{tree_spider, "tree_spider"},
                                                           {stochastic_spider, "stochastic_spider"},
                                                           {adaptive_spider, "adaptive_spider"}});
}

/// Symbols of lowy-2024 notes, 1, in the comments.
struct WarmPopulationParameters {
  PopulationFinder finder = PopulationFinder::tree_spider;
  bool reuse = false;  ///< both stages read all records, at half of ε each (printed)
  double failure = 0.05;
  double warm_excess = 1.0;
  double second_slice = 1.0;  ///< of the capacity, under `reuse`
};

/// An exponential mechanism on the first half of the records, then a one-pass method from its point
/// on the second half. No record is in both, so each stage has the whole (ε, δ). The halves follow
/// the order of the records, which does not depend on the data.
///
/// As printed both stages read all records, at half of ε each. That is private too, but B's
/// analysis needs samples that are independent of its start. \source lowy-2024, Algorithm 4;
/// lowy-2024 notes, 2.7; liu-talwar-2025, Footnote 1 (finder = adaptive_spider)
class WarmPopulation final : public Algorithm {
 public:
  WarmPopulation();

  const AlgorithmCard& card() const override;
  /// That of the card, to which a point of small sosp_level is as good; of adaptive_spider its own.
  Metric promised() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  WarmPopulationParameters parameters;

 private:
  RecordRange half(const PublicFacts& facts, int k) const;
  Algorithm& second() const;

  std::unique_ptr<ExponentialWarmStart> first_;
  std::unique_ptr<Algorithm> tree_, sosp_, adaptive_;
};

/// ψ with probability 1 − ζ, n₁ records in the first half: (ln N + ln(2/ζ))/λ + L rad + 2p,
/// p = LD sqrt(2 ln(8N/ζ)/n₁). \source lowy-2024, Lemma E.3; lowy-2024 notes, 3.6
double population_excess(double log_net, double inverse_temperature, double net_error, double L,
                         double D, double n1, double failure);

}  // namespace dpsosp::lowy_2024
