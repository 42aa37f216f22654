// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::lowy_2024 {

/// The set that iterates are projected onto. The projection is non-expansive and fixes a minimiser
/// in the set, so the analysis does not change.
enum class Confinement {
  none,
  start_ball,  ///< within `radius` of the start
  domain,      ///< in the problem's domain
};

constexpr auto words_of(Confinement) {
  using enum Confinement;
  return word_list<Confinement>("confinement",
                                {{none, "none"}, {start_ball, "start_ball"}, {domain, "domain"}});
}

/// Symbols of lowy-2024 notes, 1, in the comments.
struct QuasarDpSgdParameters {
  Index steps = 100;
  double step_size = 0.01;
  Sampling sampling = Sampling::all;
  Index batch = 1;  ///< b; not used with Sampling::all
  double clip = 1.0;
  double noise = 0.0;  ///< σ over the sensitivity 2L/b
  Confinement confinement = Confinement::none;
  double radius = 1.0;
  OutputRule output = OutputRule::uniform;
  bool boosted = false;  ///< ⌈log₂(2/ζ)⌉ runs on half the budget, the best chosen with the other
  double failure = 0.05;
  double selection_epsilon = 0.5;
  bool printed_batch = false;  ///< the paper schedule's batch as Proposition D.1 prints it
  // What the schedules need in addition to the public facts
  double distance_bound = 0.0;
  double quasar = 0.0;
  Index most_steps = 1000000;
  double steps_factor = 1.0;
};

/// DP-SGD for quasar-convex losses, and its repetition for bounds with high probability.
/// \source lowy-2024, Algorithm 3; lowy-2024, Proposition D.1; lowy-2024 notes, 2.3, 2.4 and 3.4
class QuasarDpSgd final : public Algorithm {
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

  QuasarDpSgdParameters parameters;

 private:
  Index repetitions() const;
  Outcome descend(Curator& curator, Stream& stream, Observer& observer) const;
};

/// A bound on the distance from the start to any point of the domain; infinite if it is R^d.
double farthest(const PublicFacts& facts);

/// D sqrt(L² + dσ²)/(q sqrt(T)): bound on the expected excess risk at the step size
/// D/sqrt(T(L² + dσ²)). \source lowy-2024 notes, 3.4
double quasar_excess(double D, double L, double d, double sigma, double q, double T);

/// The printed numbers, except for the batch. \source lowy-2024, Proposition D.1; lowy-2024 notes,
/// 3.4
struct PropositionD1 {
  double steps;          ///< T
  double variance;       ///< σ²
  double batch;          ///< b ≥ n sqrt(ε/(4T)), before rounding up
  double printed_batch;  ///< sqrt(dε)
  double step_size;      ///< η
  double excess;         ///< in expectation
};
PropositionD1 proposition_d1(double n, double d, double L, double D, double q,
                             const PrivacyBudget& budget);

}  // namespace dpsosp::lowy_2024
