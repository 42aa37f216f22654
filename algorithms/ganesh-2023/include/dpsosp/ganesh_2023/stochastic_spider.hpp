// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::ganesh_2023 {

/// When the estimate is refreshed by O1.
enum class RefreshTrigger {
  drift,   ///< drift ≥ κ (the paper)
  period,  ///< every `period` steps (xu-2026's wording of its experiment)
  always,
};

/// Where the estimate of an escape step comes from.
enum class EscapeOracle {
  printed_fresh,  ///< an extra O1, not counted by the printed caps
  reuse,          ///< g + O2 as at any other step
};

/// Symbols of the paper in the comments; `oracle` holds b₁, b₂, G, M and the noise.
struct StochasticSpiderParameters {
  Index steps = 400;         ///< T
  double step_size = 0.005;  ///< η
  RefreshTrigger refresh = RefreshTrigger::drift;
  double drift_threshold = 1.0;  ///< κ, unit of x squared
  Index period = 10;
  double escape_threshold = 0.0;  ///< γ log³(·): an escape starts when ‖g‖ is no larger; 0: never
  double kick_deviation = 0.0;  ///< ζ₁/√d: standard deviation of the kick per coordinate
  Index escape_steps = 1;       ///< Γ: steps between escapes
  Index refresh_cap = 0;        ///< T₁; 0: none
  EscapeOracle escape_oracle = EscapeOracle::reuse;
  bool carry_kick = false;       ///< the kick stays in g (printed)
  double selection_share = 0.0;  ///< of the budget kept back for a private selection
  SpiderOracleParameters oracle;
};

/// Stochastic Spider. \source ganesh-2023, Algorithm 1 (section 2.1 of its specification).
class StochasticSpider final : public Algorithm {
 public:
  StochasticSpider();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind,
                     const PublicFacts& facts,
                     const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  StochasticSpiderParameters parameters;
};

/// Numbers of the practical empirical schedule before they become parameters.
/// \source ganesh-2023, section 3.2; θ = 1/4, c_T = c_K = 4, replace-one (a = 2)
struct PracticalEmpirical {
  double alpha;
  double drift_threshold;
  Index steps;
  Index refresh_cap;
  double refresh_deviation;    ///< σ₁, from the rounded T₁
  double increment_deviation;  ///< σ₂ per unit ‖x − y‖, from the rounded T
  Index escape_steps;
};

/// \param oracle_budget  zCDP for O1 and O2 together, half each
PracticalEmpirical practical_empirical(
    double n, double d, double G, double M, double rho, double B, double oracle_budget);

/// Numbers of Theorem 4.2 with all constants 1. \source ganesh-2023, section 3.1
struct Theorem42 {
  double drift_threshold;  ///< κ
  double alpha;            ///< α₁
  double gamma;
  double steps;         ///< T
  double refresh_cap;   ///< T₁
  double escape_steps;  ///< Γ
};
Theorem42 theorem_4_2(double n, double d, double G, double M, double rho, double B, double phi);

}  // namespace dpsosp::ganesh_2023
