// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/exponential_search.hpp"

namespace dpsosp::lowy_2024 {

/// What ψ bounds.
enum class ExcessRule {
  expectation,  ///< E(F(w) − min_W F)
  probability,  ///< F(w) − min_W F with probability 1 − failure
  laplace,      ///< the excess in smooth wells, d/(2λ): a heuristic
};

/// Symbols of the paper in the comments.
struct ExponentialWarmStartParameters {
  ExponentialSearch search;
  double smoothness = 1.0;         ///< β
  bool interior_minimiser = true;  ///< the minimiser over W is a stationary point of F
  ExcessRule excess_rule = ExcessRule::expectation;
  double failure = 0.05;  ///< ζ, of excess_rule = probability
};

/// The exponential mechanism over a net of the domain, by itself a method for excess risk, and the
/// first stage of Algorithm 2. \source lowy-2024, sections 2.5 and 3.2 (Definition 4.1, Lemma 4.2)
class ExponentialWarmStart final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  /// Spends all of ε as pure DP. `paper`: λ = εn/(4LD), which costs ε/2, and rad = Dd/(εn);
  /// `practical`: λ = εn/(2LD), rad = sqrt(2LDd/(βεn)).
  Scheduled schedule(Schedule kind,
                     const PublicFacts& facts,
                     const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  /// ψ of the parameters, by excess_rule; (ln N)/λ and the error of the net.
  double excess_risk(const PublicFacts& facts) const;

  ExponentialWarmStartParameters parameters;
};

/// λ = εn/(4LD) (paper, half the ε it could use) or εn/(2LD).
double paper_inverse_temperature(double epsilon, double n, double L, double D);
double tight_inverse_temperature(double epsilon, double n, double L, double D);
/// rad of the two nets, ε the stage's own.
double paper_net_radius(double epsilon, double n, double d, double D);
double smooth_net_radius(double epsilon, double n, double d, double L, double D, double beta);
/// ψ as printed (equation 2), ε that of the whole run, of which the stage has half.
/// \return 20LD (d/(εn)) ln(εn/√d); infinite unless εn ≥ max(d, e√d)
double paper_excess_risk(double epsilon, double n, double d, double L, double D);

/// A point and a public bound of its excess risk, for a second stage to start from.
struct WarmPoint {
  Vector point;
  double excess_risk;  ///< ψ
};
/// The first stage of Algorithm 2 on a child curator whose pure account is `epsilon`.
/// \throws Refused, InputError
WarmPoint exponential_warm_start(Curator& child,
                                 double epsilon,
                                 Schedule kind = Schedule::practical);

}  // namespace dpsosp::lowy_2024
