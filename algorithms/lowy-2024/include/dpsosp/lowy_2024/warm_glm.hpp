// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/jl.hpp"

namespace dpsosp::lowy_2024 {

/// The JL method over DP-SPIDER, as Arora et al. 2023 have it. \source baselines, section 8.3
class JlDpSpider final : public JlMethod {
 public:
  JlDpSpider();
  const AlgorithmCard& card() const override;

 protected:
  double base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const override;
};

/// The JL method over Algorithm 2 with a DP-SGD warm start: the instance of Corollary 8.2 that can
/// be run, as a net of R^k cannot. \source lowy-2024, sections 2.9 and 3.7
class WarmGlm final : public JlMethod {
 public:
  WarmGlm();
  const AlgorithmCard& card() const override;

 protected:
  double base_bound(const PublicFacts& facts, const PrivacyBudget& budget, double j) const override;
};

}  // namespace dpsosp::lowy_2024
