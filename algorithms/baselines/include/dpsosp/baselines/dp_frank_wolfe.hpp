// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// How a vertex is found.
enum class LinearOracle {
  gradient,     ///< the vertex of least product with a noisy gradient
  exponential,  ///< by the exponential mechanism on ⟨v, ∇F⟩; for an ℓ₁-ball alone
};

constexpr auto words_of(LinearOracle) {
  using enum LinearOracle;
  return word_list<LinearOracle>("linear oracle",
                                 {{gradient, "gradient"}, {exponential, "exponential"}});
}

/// The constraint set.
enum class FrankWolfeSet {
  domain,  ///< the problem's, around 0; around x₀ with ‖x − x₀‖ ≤ radius where it is R^d
  l1_ball,  ///< ‖x − x₀‖₁ ≤ radius
};

constexpr auto words_of(FrankWolfeSet) {
  using enum FrankWolfeSet;
  return word_list<FrankWolfeSet>("frank wolfe set", {{domain, "domain"}, {l1_ball, "l1_ball"}});
}

/// Symbols of baselines notes, 2.
struct DpFrankWolfeParameters {
  Index steps = 100;
  double step_size = 0.1;
  FrankWolfeSet set = FrankWolfeSet::domain;
  double radius = 1.0;
  LinearOracle linear_oracle = LinearOracle::gradient;
  double clip = 1.0;
  double noise = 0.0;                       ///< std / sensitivity, of linear_oracle = gradient
  Sampling sampling = Sampling::all;        ///< of gradients; vertices are chosen on all records
  Index batch = 1;                          ///< not used with Sampling::all
  double vertex_epsilon = 0.01;             ///< ε₀, of linear_oracle = exponential
  OutputRule output = OutputRule::uniform;  ///< min_estimate: the least noisy gap ⟨g, w − v⟩
};

/// Private Frank-Wolfe over a ball, box or ℓ₁-ball.
/// \source Wang & Xu 2019 (AAAI); baselines notes, 2 (c) and (c′)
class DpFrankWolfe final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  DpFrankWolfeParameters parameters;
};

/// The set's numbers: diameter, Gaussian width E sup ⟨g, v⟩ (a bound), ln of the number of
/// vertices.
struct FrankWolfeGeometry {
  double diameter;
  double gaussian_width;
  double log_vertices;  ///< of the ℓ₁-ball; 0 for others
};
FrankWolfeGeometry frank_wolfe_geometry(const DpFrankWolfeParameters& p, const PublicFacts& facts);

/// T and γ that minimise the bound, and the bound: mean gap ≤ Δ₀/(γT) + γMD²/2 + c√T, where c√T is
/// the error of the oracle with T equal parts of the budget.
struct FrankWolfeNumbers {
  double steps;
  double step_size;
  double bound;
};
FrankWolfeNumbers frank_wolfe_numbers(double gap, double M, double D, double oracle_error);

}  // namespace dpsosp::baselines
