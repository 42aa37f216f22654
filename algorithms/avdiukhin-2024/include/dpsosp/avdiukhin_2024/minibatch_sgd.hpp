// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/selection.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/avdiukhin_2024/theory.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::avdiukhin_2024 {

/// What happens to a gradient longer than C.
enum class GradientPolicy {
  clip,  ///< Algorithm 1: it is shortened to C
  none,  ///< Algorithm 2: it stays as it is and C is nominal; needs the unsound curator
};

/// Where a schedule takes C from.
enum class BoundRule {
  lipschitz,  ///< the problem's gradient bound G
  lemma_3_2,  ///< as printed
  proved,     ///< with explicit constants (avdiukhin-2024 notes, 3.3)
  given,      ///< the parameter `clip`
};

constexpr auto words_of(BoundRule) {
  using enum BoundRule;
  return word_list<BoundRule>(
      "bound rule",
      {{lipschitz, "lipschitz"}, {lemma_3_2, "lemma_3_2"}, {proved, "proved"}, {given, "given"}});
}

/// Which noise the paper's schedule sets.
enum class NoiseForm {
  accountant,  ///< the noise that the budget needs
  naive,       ///< κ C √T of Theorem 3.1 with c₂ = 1
};

constexpr auto words_of(NoiseForm) {
  using enum NoiseForm;
  return word_list<NoiseForm>("noise form", {{accountant, "accountant"}, {naive, "naive"}});
}

/// How a private selection finds the least eigenvalue of a candidate's Hessian.
enum class EigenvalueRule {
  exact,  ///< of the dense Hessian, inside the test
  power,  ///< by a power method of noisy Hessian-vector products
};

constexpr auto words_of(EigenvalueRule) {
  using enum EigenvalueRule;
  return word_list<EigenvalueRule>("eigenvalue rule", {{exact, "exact"}, {power, "power"}});
}

/// The comments give the paper's symbols (avdiukhin-2024 notes, 1).
struct MinibatchSgdParameters {
  Index steps = 1000;
  double step_size = 0.1;
  double clip = 1.0;
  Sampling sampling = Sampling::all;
  Index batch = 0;  ///< B, also the divisor of Poisson sums; not used with Sampling::all
  double noise = 0.0;
  OutputRule output = OutputRule::last;

  /// Private selection (avdiukhin-2024, Section 3.4) among the last iterate, the start, and
  /// iterates whose indices are drawn before the run.
  SelectionParameters selection{.share = 0.0, .candidates = 6};
  double hessian_limit = 1.0;
  EigenvalueRule eigenvalue = EigenvalueRule::exact;  ///< of the selection that a schedule plans
  double power_failure = 0.05;  ///< β: of all power methods of a selection, without noise
  Index power_products = 0;
  double power_gain = 0.0;
  double power_noise = 0.0;

  // Parameters of the schedules:
  BoundRule bound = BoundRule::lipschitz;
  double deviation = 0.0;
  double largest_deviation = 0.0;
  TheoremConstants constants = TheoremConstants::corrected;
  NoiseForm noise_form = NoiseForm::accountant;
  bool lemma_step = false;
  double length_scale = 1.0;
  bool strict_noise = false;
  double horizon_slack = 0.05;

  bool selects() const { return selection.on() || power_products > 0; }
};

/// Minibatch SGD with Gaussian noise, the loop of Algorithms 1 and 2.
/// \source avdiukhin-2024, Algorithm 1; avdiukhin-2024, Algorithm 2; avdiukhin-2024 notes, 2.1
class MinibatchSgd : public Algorithm {
 public:
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  double planned_share(const FilterRule& rule) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  MinibatchSgdParameters parameters;

 protected:
  explicit MinibatchSgd(GradientPolicy policy);

 private:
  GradientPolicy policy_;
};

/// Algorithm 1: per-record clipping.
class DpSgd final : public MinibatchSgd {
 public:
  DpSgd() : MinibatchSgd(GradientPolicy::clip) {}
  const AlgorithmCard& card() const override;
};

/// Algorithm 2: no clipping. Its privacy is conditional: it holds if no gradient exceeds C.
class NoisySgd final : public MinibatchSgd {
 public:
  NoisySgd() : MinibatchSgd(GradientPolicy::none) {}
  const AlgorithmCard& card() const override;
};

}  // namespace dpsosp::avdiukhin_2024
