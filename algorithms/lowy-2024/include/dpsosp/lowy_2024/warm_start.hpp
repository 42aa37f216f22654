// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::lowy_2024 {

/// The second stage B.
enum class Finder { dp_spider, stochastic_spider };

constexpr auto words_of(Finder) {
  using enum Finder;
  return word_list<Finder>("finder",
                           {{dp_spider, "dp_spider"}, {stochastic_spider, "stochastic_spider"}});
}

/// Symbols of lowy-2024 notes, 1, in the comments. A slice is a share of the filter's capacity.
struct WarmStartParameters {
  Finder finder = Finder::dp_spider;
  double share = 0.0;
  bool fallback = true;
  bool warm = true;
  double warm_excess = 1.0;
  double first_slice = 0.5;
  double second_slice = 0.5;
};

/// A private risk minimiser A, then a stationary-point finder B from A's output. ψ, and the choice
/// between this and B alone, are functions of public facts. \source lowy-2024, Algorithm 2;
/// lowy-2024 notes, 2.2
class WarmStart : public Algorithm {
 public:
  Metric promised() const override;  ///< that of the second stage
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  WarmStartParameters parameters;

 protected:
  /// \param pure  A is a pure mechanism: its part is a part of ε, else of the capacity
  WarmStart(std::unique_ptr<Algorithm> first, bool pure);
  /// x of the practical schedule: where ψ is proportional to the ξ-th power of A's noise unit, the
  /// promise is least at ξ/(ξ + 2). \source lowy-2024 notes, 2.2
  virtual double practical_share(const PublicFacts& facts) const;

 private:
  const Algorithm& second() const;
  Algorithm& second();
  Scheduled schedule_warm(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                          Calibrator calibrator);

  std::unique_ptr<Algorithm> first_, spider_, sosp_;
  bool pure_;
};

/// A = exponential mechanism. \source lowy-2024, Corollary 4.3
class WarmExponential final : public WarmStart {
 public:
  WarmExponential();
  const AlgorithmCard& card() const override;
};

/// A = DP-SGD for quasar-convex losses. \source lowy-2024, Corollary 5.3
class WarmQuasar final : public WarmStart {
 public:
  WarmQuasar();
  const AlgorithmCard& card() const override;
};

/// A = KL-SPIDER. \source lowy-2024, Corollary 6.3
class WarmKl final : public WarmStart {
 public:
  WarmKl();
  const AlgorithmCard& card() const override;

 protected:
  double practical_share(const PublicFacts& facts) const override;
};

}  // namespace dpsosp::lowy_2024
