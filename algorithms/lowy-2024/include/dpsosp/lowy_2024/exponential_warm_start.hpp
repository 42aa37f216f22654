// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/exponential_search.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::lowy_2024 {

/// What ψ bounds.
enum class ExcessRule {
  expectation,  ///< E(F(w) − min_W F)
  probability,  ///< F(w) − min_W F with probability 1 − failure
  laplace,      ///< d/(2λ), the expected excess in a quadratic well: a heuristic
};

constexpr auto words_of(ExcessRule) {
  using enum ExcessRule;
  return word_list<ExcessRule>(
      "excess rule",
      {{expectation, "expectation"}, {probability, "probability"}, {laplace, "laplace"}});
}

/// Symbols of lowy-2024 notes, 1, in the comments.
struct ExponentialWarmStartParameters {
  ExponentialSearch search;
  double smoothness = 1.0;
  bool interior_minimiser = true;
  ExcessRule excess_rule = ExcessRule::expectation;
  double failure = 0.05;
};

/// The exponential mechanism over a net of the domain: a method for excess risk by itself, and the
/// first stage of lowy-2024, Algorithm 2. \source lowy-2024, Definition 4.1; lowy-2024, Lemma 4.2;
/// lowy-2024 notes, 2.5 and 3.2
class ExponentialWarmStart final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  /// The pure account has all of ε. `paper`: λ = εn/(4LD), which costs ε/2, and rad = Dd/(εn);
  /// `practical`: λ = εn/(2LD), rad = sqrt(2LDd/(βεn)).
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// ψ of the parameters: (ln N)/λ plus the error of the net, or as excess_rule says.
  double excess_risk(const PublicFacts& facts) const;

  ExponentialWarmStartParameters parameters;
};

/// λ = εn/(4LD), which costs ε/2. \source lowy-2024, Definition 4.1
double paper_inverse_temperature(double epsilon, double n, double L, double D);
/// λ = εn/(2LD), which costs ε. \source lowy-2024 notes, 2.5
double tight_inverse_temperature(double epsilon, double n, double L, double D);
/// rad = Dd/(εn), ε the stage's own. \source lowy-2024 notes, 2.5
double paper_net_radius(double epsilon, double n, double d, double D);
/// rad = sqrt(2LDd/(βεn)), ε the stage's own. \source lowy-2024 notes, 2.5
double smooth_net_radius(double epsilon, double n, double d, double L, double D, double beta);
/// ψ as printed; ε is that of the whole run, of which the stage has half.
/// \return 20LD (d/(εn)) ln(εn/√d); infinite unless εn ≥ max(d, e√d)
/// \source lowy-2024, Lemma 4.2; lowy-2024 notes, 3.2
double paper_excess_risk(double epsilon, double n, double d, double L, double D);

/// A start for a second stage: a point and a public bound on its excess risk.
struct WarmPoint {
  Vector point;
  double excess_risk;  ///< ψ
};
/// The first stage of lowy-2024, Algorithm 2, on a child curator whose pure account is `epsilon`.
/// \throws Refused, InputError
WarmPoint exponential_warm_start(Curator& child, double epsilon,
                                 Schedule kind = Schedule::practical);

}  // namespace dpsosp::lowy_2024
