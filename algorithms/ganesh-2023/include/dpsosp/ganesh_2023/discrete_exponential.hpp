// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/exponential_search.hpp"

namespace dpsosp::ganesh_2023 {

/// The exponential mechanism over a net of the domain, for Lipschitz losses.
/// \source ganesh-2023, Theorem 5.8; ganesh-2023 notes, 2.5
class DiscreteExponential final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  /// Spends all of ε as pure DP: β = εn/(2GD). `paper`: r = Dd/(εn); `practical`: twice that, which
  /// minimises the bound on the excess.
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// Symbols: search.inverse_temperature is β, search.net_radius r, search.lipschitz G.
  ExponentialSearch search;
};

/// Expected excess over the best point of the net: (ln #P + 1)/β. \source ganesh-2023 notes, 2.5
double discrete_excess(double inverse_temperature, double log_size);

}  // namespace dpsosp::ganesh_2023
