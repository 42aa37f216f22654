// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/spider.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::ganesh_2023 {

/// Which objective the guarantee is about. \source ganesh-2023 notes, 2.2
enum class Target {
  empirical,   ///< F_D: full batches
  population,  ///< F_P: one pass over disjoint batches of D₁, selection on D₂
};

constexpr auto words_of(Target) {
  using enum Target;
  return word_list<Target>("target", {{empirical, "empirical"}, {population, "population"}});
}

/// How the budget is divided between the disjoint halves D₁ and D₂.
enum class BudgetSplit {
  half,      ///< half each (the paper)
  parallel,  ///< all of it to either, since no record is in both
};

constexpr auto words_of(BudgetSplit) {
  using enum BudgetSplit;
  return word_list<BudgetSplit>("budget split", {{half, "half"}, {parallel, "parallel"}});
}

/// Knobs of the practical schedules. \source ganesh-2023 notes, 3.2
struct PracticalKnobs {
  double theta = 0.25;
  double c_steps = 4.0;
  double c_cap = 4.0;
  double c_trigger = 2.0;
};

/// Symbols of the paper: `spider.oracle` holds b₁, b₂, G, M and the noise, `spider.escape` Γ and
/// the kick.
struct StochasticSpiderParameters {
  Target target = Target::empirical;
  BudgetSplit split = BudgetSplit::half;
  SpiderParameters spider;
  SelectionParameters selection;
  PracticalKnobs knobs;
};

/// Stochastic Spider with a private selection.
/// \source ganesh-2023, Algorithm 1; ganesh-2023, Algorithm 2; ganesh-2023 notes, 2.1 and 2.3
class StochasticSpider final : public Algorithm {
 public:
  StochasticSpider();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  double planned_share(const FilterRule& rule) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  StochasticSpiderParameters parameters;
};

/// Numbers of a practical schedule before they become parameters; replace-one (a = 2).
/// \source ganesh-2023 notes, 3.2
struct PracticalNumbers {
  double alpha;
  double drift_threshold;      ///< κ
  Index steps;                 ///< T
  Index refresh_cap;           ///< T₁
  double refresh_deviation;    ///< σ₁, from the rounded counts
  double increment_deviation;  ///< σ₂ per unit ‖x − y‖
  Index escape_steps;          ///< Γ
  double refresh_batch = 0;    ///< b₁, population
  double increment_batch = 0;  ///< b₂, population
};

/// Γ: steps in which a kick of deviation θα/√d grows to 2Ξ along a direction of curvature
/// −sqrt(ρα). \source ganesh-2023 notes, 3.2
Index escape_length(double d, double M, double rho, double alpha, double theta = 0.25);

/// \param oracle_budget  zCDP for O1 and O2 together, half each
/// \param fresh  every escape calls O1 as well, and T₁ counts these calls
PracticalNumbers practical_empirical(const ProblemNumbers& f, double oracle_budget,
                                     bool fresh = false, const PracticalKnobs& = {});

/// The population schedule's numbers at a given α and κ.
/// \param records  n₁ = |D₁|; \param budget  zCDP of each record of D₁
PracticalNumbers population_at(const ProblemNumbers& f, double records, double budget, double alpha,
                               double kappa, bool fresh = false, const PracticalKnobs& = {});
/// The error of the estimate that these numbers give; infinite where a batch is empty.
double population_error(const ProblemNumbers& f, const PracticalNumbers& s);
/// The smallest α whose best κ has error ≤ θα.
PracticalNumbers practical_population(const ProblemNumbers& f, double records, double budget,
                                      bool fresh = false, const PracticalKnobs& = {});

/// Numbers of Theorem 4.2 with all constants 1.
/// \source ganesh-2023, Theorem 4.2; ganesh-2023 notes, 3.1
struct Theorem42 {
  double drift_threshold;  ///< κ
  double alpha;            ///< α₁
  double gamma;
  double steps;         ///< T
  double refresh_cap;   ///< T₁
  double escape_steps;  ///< Γ
};
Theorem42 theorem_4_2(const ProblemNumbers& f, double phi);

/// Numbers of Theorem 4.6 with all constants 1; logarithms as stated, or 1.
/// \source ganesh-2023, Theorem 4.6; ganesh-2023 notes, 3.1
struct Theorem46 {
  double drift_threshold;
  double alpha;
  double refresh_batch;        ///< b₁
  double increment_batch;      ///< b₂
  double refresh_deviation;    ///< σ₁ as printed
  double increment_deviation;  ///< σ₂ as printed
};
Theorem46 theorem_4_6(const ProblemNumbers& f, double phi, bool logarithms = true);
/// The printed b₁, b₂, σ₁, σ₂ at a given κ and α₁.
Theorem46 theorem_4_6_at(const ProblemNumbers& f, double phi, double kappa, double alpha);

}  // namespace dpsosp::ganesh_2023
