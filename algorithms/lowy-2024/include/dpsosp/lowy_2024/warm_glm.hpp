// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/jl.hpp"

namespace dpsosp::lowy_2024 {

/// The JL method over DP-SPIDER. \source Arora et al. 2023 (ICML); baselines notes, 8.3
class JlDpSpider final : public JlMethod {
 public:
  JlDpSpider();
  const AlgorithmCard& card() const override;

 protected:
  double base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const override;
};

/// The JL method over a DP-SGD warm start, for any k. \source lowy-2024, Corollary 8.2; lowy-2024
/// notes, 2.9 and 3.7
class WarmGlm final : public JlMethod {
 public:
  WarmGlm();
  const AlgorithmCard& card() const override;

 protected:
  double base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const override;
};

/// The JL method over a warm start by the exponential mechanism, as the paper states it. The net is
/// enumerated, so that k must be small: rank_rule = proportional at a known rank of one or two.
/// Else the net is coarse and the schedule runs the second stage alone. \source lowy-2024,
/// Corollary 8.2; lowy-2024 notes, 2.9 and 3.7
class WarmGlmExponential final : public JlMethod {
 public:
  WarmGlmExponential();
  const AlgorithmCard& card() const override;

 protected:
  double base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const override;
};

}  // namespace dpsosp::lowy_2024
