// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// Where a stage begins.
enum class Handover {
  current,   ///< where the last one ended, at the point with the short gradient
  previous,  ///< one point before (printed)
};

constexpr auto words_of(Handover) {
  using enum Handover;
  return word_list<Handover>("handover", {{current, "current"}, {previous, "previous"}});
}

/// Symbols of lowy-2024 notes, 2.6; `oracle` holds the batches, L, β and ŝ as a noise ratio.
struct KlSpiderParameters {
  Index steps = 400;
  Index stages = 400;
  double initial_excess = 1.0;
  double contraction = 1.01;
  double target_excess = 1e-3;  ///< floor(K) = ψ
  double kl_gamma = 1.0;
  double kl_exponent = 2.0;
  Handover handover = Handover::current;
  bool printed_stages = false;
  bool scale_noise = true;  ///< differences of stage j at refresh_noise √T_j, else increment_noise
  SpiderOracleParameters oracle;
};

/// KL-SPIDER: stages with geometrically falling targets of the excess risk; a stage is SPIDER with
/// normalised steps until the gradient is short for its target.
/// \source Menart, Ullah, Arora, Bassily & Guzmán 2024, Algorithm 1; lowy-2024 notes, 2.6
class KlSpider final : public Algorithm {
 public:
  KlSpider();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// Φ^{1/k}/(4γβ): length of the steps of a stage with target Φ.
  double step_length(double target) const;
  /// T_j = ⌈(F₀/Φ)^{(2−k)/k}⌉.
  Index stage_length(double target) const;

  KlSpiderParameters parameters;
};

/// The public numbers of a KL* problem.
struct KlProblem {
  double n, d, L, beta;
  double F0;
  double gamma, k;
};
/// γ and k from the facts, or k = 2 and γ = 1/sqrt(2μ) of a PL constant.
/// \throws MissingConstant
KlProblem kl_problem(const PublicFacts& facts);

/// Constants of a schedule; `log_factor` may grow with K.
struct KlConstants {
  double stages;                            ///< c_K
  double floor;                             ///< c_F
  std::function<double(Index)> log_factor;  ///< lg
};
struct KlNumbers {
  double contraction;  ///< c = 1 + F₀^{(2−k)/k}/(c_K γ² β)
  Index stages;        ///< K: the smallest with F₀ c^{−K} ≤ floor(K)
  double target;       ///< floor(K) = min(F₀, (c_F γL sqrt(K d lg/ρ)/n)^k)
};
double kl_floor(const KlProblem& p, double zcdp, const KlConstants& c, Index stages);
KlNumbers kl_numbers(const KlProblem& p, double zcdp, const KlConstants& c);
/// ⌈(1 + 64γ²β F₀^{−(2−k)/k}) ln(F₀ (n sqrt(ρ)/(γL sqrt(d)))^k)⌉: the printed K.
double kl_printed_stages(const KlProblem& p, double zcdp);

}  // namespace dpsosp::baselines
