// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::xu_2026 {

enum class DescentRule { normalised, plain };

constexpr auto words_of(DescentRule) {
  using enum DescentRule;
  return word_list<DescentRule>("descent rule", {{normalised, "normalised"}, {plain, "plain"}});
}

/// Where the first increment of a refresh step starts: xu-2026, Algorithm 3, line 3.
enum class RefreshRule {
  printed,   ///< at (x_{t−1}, y_t): the move x_{t−1} → x_t is counted twice
  repaired,  ///< at (x_t, y_t), where the fresh estimate was made
};

constexpr auto words_of(RefreshRule) {
  using enum RefreshRule;
  return word_list<RefreshRule>("refresh rule", {{printed, "printed"}, {repaired, "repaired"}});
}

/// Which inner step is returned: xu-2026, Algorithm 3, line 18
/// states argmin_k ‖G_k‖ without a range of k (docs/errata.md, X2).
enum class Selection {
  argmin_from_start,   ///< over k = 0..K−1, which include y_0 = y_t
  argmin_after_start,  ///< over k = 1..K−1; K >= 2
  argmin_of_proof,     ///< over k = 1..K, as in (41): one query an outer step more
  last,                ///< k = K
  ascended,            ///< y_K with the estimates of step K − 1; K = 1 needs one query a step
};

constexpr auto words_of(Selection) {
  using enum Selection;
  return word_list<Selection>("selection", {{argmin_from_start, "argmin_from_start"},
                                            {argmin_after_start, "argmin_after_start"},
                                            {argmin_of_proof, "argmin_of_proof"},
                                            {last, "last"},
                                            {ascended, "ascended"}});
}

enum class DualRelease {
  released,  ///< y is a public vector, moved by noisy gradients
  local,     ///< y_i*(x) stays with record i; for problems with per-record duals only
};

constexpr auto words_of(DualRelease) {
  using enum DualRelease;
  return word_list<DualRelease>("dual release", {{released, "released"}, {local, "local"}});
}

/// Whether ∇_x and ∇_y are asked in two queries, or in one for the joint vector.
enum class Streams { separate, joint };

constexpr auto words_of(Streams) {
  using enum Streams;
  return word_list<Streams>("streams", {{separate, "separate"}, {joint, "joint"}});
}

/// Length of the step that ends an escape: xu-2026, Algorithm 2, line 14.
enum class BreakRule {
  printed,   ///< one η_t for the whole sum: η_t² Σ‖v_j‖² = (t − m) D̄
  repaired,  ///< only the last step is shortened, as in the parent algorithm
};

constexpr auto words_of(BreakRule) {
  using enum BreakRule;
  return word_list<BreakRule>("break rule", {{printed, "printed"}, {repaired, "repaired"}});
}

/// What is returned at the horizon: xu-2026, Algorithm 2, last line.
enum class HorizonRule { anchor, last };

constexpr auto words_of(HorizonRule) {
  using enum HorizonRule;
  return word_list<HorizonRule>("horizon rule", {{anchor, "anchor"}, {last, "last"}});
}

/// Which objective a schedule plans for.
enum class ObjectiveKind {
  empirical,   ///< the empirical one (xu-2026, Theorem 1): full batches
  population,  ///< the population's (xu-2026, Theorem 2): one pass over disjoint batches
};

constexpr auto words_of(ObjectiveKind) {
  using enum ObjectiveKind;
  return word_list<ObjectiveKind>("objective kind",
                                  {{empirical, "empirical"}, {population, "population"}});
}

/// Where the noise of schedule = paper comes from.
enum class Release {
  accounted,  ///< the accountant, for (ε, δ)
  printed,    ///< Algorithm 3, lines 1 and 2 with c = 1, or of the population's objective Lemma 8
              ///< with C₁ = C₂ = 1, whatever it costs
};

constexpr auto words_of(Release) {
  using enum Release;
  return word_list<Release>("release", {{accounted, "accounted"}, {printed, "printed"}});
}

/// Parameters of DP-RGDA, with the paper's symbols; `oracle` holds S₁, S₂, C_v, C_u and the noise.
struct DpRgdaParameters {
  Index steps = 400;
  double alpha = 0.1;
  double descent_step = 0.2;  ///< η: step length if normalised
  double escape_step = 0.1;
  double perturb_radius = 0.01;
  Index escape_steps = 20;
  double escape_mean_sq_move = 0.01;
  Index period = 10;
  Index inner_steps = 5;
  double ascent_step = 0.8;
  DescentRule descent_rule = DescentRule::normalised;
  RefreshRule refresh_rule = RefreshRule::repaired;
  Selection selection = Selection::last;
  DualRelease dual_release = DualRelease::local;
  Streams streams = Streams::joint;
  BreakRule break_rule = BreakRule::repaired;
  HorizonRule horizon_rule = HorizonRule::anchor;
  ObjectiveKind objective = ObjectiveKind::empirical;
  double deviation = 0.0;
  Release release = Release::accounted;
  SpiderOracleParameters oracle;
};

/// Differentially private recursive gradient descent ascent for min_x max_y f(x, y).
/// \source xu-2026, Algorithm 2; xu-2026, Algorithm 3; step by step in xu-2026 notes, 2.1 and 2.2
class DpRgda final : public Algorithm {
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

  DpRgdaParameters parameters;
};

/// Schedule of the empirical objective in the paper's symbols, with constants 1.
/// \source xu-2026, Theorem 1; xu-2026 notes, 3.1
struct PaperErm {
  double ebar;  ///< ē = sqrt(d ln(1/δ))/(nε)
  double alpha;
  double steps;
  Index period;
  double increment_batch;
};
PaperErm paper_erm(double n, double d, double epsilon, double delta, double L, double M, double F0);

/// Schedule of the population's objective in the paper's symbols, with constants 1.
/// \source xu-2026, Theorem 2; xu-2026 notes, 3.2
struct PaperPopulation {
  double ebar;
  double alpha;            ///< n^{-1/3} + ē^{1/2}
  double steps;            ///< T
  double refresh_batch;    ///< S₁
  double period;           ///< q
  double increment_batch;  ///< S₂
  double step;             ///< η, r: ē^{1/2}/L
  double records;          ///< T S₁/q + T S₂, for K = 1
};
PaperPopulation paper_population(double n, double d, double epsilon, double delta, double L);

/// Inputs of the practical schedule for the population.
struct PopulationNumbers {
  double records;           ///< n
  double dimension;         ///< released coordinates: d₁ + d₂, or d₁
  double clip;              ///< C₁
  double deviation;         ///< σ
  double smoothness;        ///< L of f in (x, y)
  double value_smoothness;  ///< L_Φ
  double gap;               ///< F₀
  double rho_z;             ///< zCDP cost of one query
  double increments_per_step = 1.0;
};

/// The least α for which one pass needs at most n records, with q chosen for the lowest cost.
/// \source xu-2026 notes, 3.3. \throws InputError if no α fits
struct PracticalPopulation {
  double alpha;
  double steps;
  double period;
  double refresh_batch;
  double increment_batch;
  double records;  ///< used by T steps
};
PracticalPopulation practical_population(const PopulationNumbers& numbers);

}  // namespace dpsosp::xu_2026
