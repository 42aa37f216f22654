// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/spider.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::liu_talwar_2025 {

/// How many escapes one refresh serves.
enum class TauMode {
  repaired,  ///< ⌈c_τ G sqrt(ρ)/(M sqrt(α))⌉
  one,       ///< 1: the printed α^{3/2}/(M sqrt(ρ)), below 1, rounded up
};

constexpr auto words_of(TauMode) {
  using enum TauMode;
  return word_list<TauMode>("tau mode", {{repaired, "repaired"}, {one, "one"}});
}

/// Where noise and batches come from.
enum class Release {
  accounted,  ///< batches whose sensitivities fit the budget at the noise that accuracy allows
  printed,    ///< Theorem 3.17: σ_tree = σ_t = α/√d, and its b and b_t, whatever they cost
};

constexpr auto words_of(Release) {
  using enum Release;
  return word_list<Release>("release", {{accounted, "accounted"}, {printed, "printed"}});
}

/// The four switches of the driver, and τ. The defaults are V4, the paper's method.
/// \source liu-talwar-2025 notes, 2.6
struct Switches {
  SpiderNoise noise = SpiderNoise::tree;  ///< not `tree`: each increment has its own
  SpiderBatch batch = SpiderBatch::adaptive;
  DriftKind drift_kind = DriftKind::linear;
  EscapeKind escape = EscapeKind::hessian_power;
  TauMode tau_mode = TauMode::repaired;
};

/// Constants of the practical schedule. \source liu-talwar-2025 notes, 3.2
struct Knobs {
  double theta_tree = 0.25;
  double theta_escape = 0.25;
  double theta_stat = 0.25;
  double theta_hessian = 0.25;
  double c_steps = 4.0;
  double c_drift = 1.0;
  double c_tau = 1.0;
  double c_trigger = 2.0;
  double c_path = 2.0;
};

/// Numbers of a schedule at one α, and the records that it is predicted to use. Counts are whole.
/// \source liu-talwar-2025 notes, 3.2 and 3.3
struct Numbers {
  double alpha;
  double steps;                 ///< T
  double drift_threshold;       ///< κ
  double max_leaves;            ///< leaves of a tree, or steps of an epoch
  double levels;                ///< L
  double escapes_per_refresh;   ///< τ
  double escape_steps;          ///< Γ
  double escape_radius;         ///< Ξ
  double tree_deviation;        ///< σ_tree
  double escape_deviation;      ///< σ_escape
  double refresh_deviation;     ///< σ₁ of gaussian noise
  double increment_deviation;   ///< σ_inc; per unit of the move with fixed batches
  double gradient_sensitivity;  ///< s_g
  double hessian_sensitivity;   ///< s_H
  double refresh_batch;         ///< b_O1
  double hessian_batch;         ///< b_O3
  double increment_batch;       ///< b₂ of fixed batches
  double batch_rate;            ///< c₂
  double hessian_batch_rate;    ///< c₄
  double refreshes;             ///< R
  double records;               ///< N(α)
};

/// The practical schedule at a given α and κ.
/// \param phi              zCDP of every record
/// \param drift_threshold  κ; c_κ G for V4
Numbers numbers_at(const ProblemNumbers& f, double phi, double alpha, double drift_threshold,
                   const Switches& switches = {}, const Knobs& knobs = {});

/// The schedule at the smallest α with N(α) ≤ `records`; κ = c_κ G for V4, else the best of a grid.
/// \throws InputError if there is no such α below 1000 G
Numbers solve(const ProblemNumbers& f, double phi, double records, const Switches& switches = {},
              const Knobs& knobs = {});

/// The noise and the batches of Theorem 3.17 at a given α, constants and logarithms 1; steps,
/// escapes and the predicted path as in the practical schedule, one escape a refresh.
Numbers printed_at(const ProblemNumbers& f, double epsilon, double alpha, const Knobs& knobs = {});
/// At the smallest α with N(α) ≤ n. \throws InputError if there is no such α below 1000 G
Numbers solve_printed(const ProblemNumbers& f, double epsilon, const Knobs& knobs = {});

/// Parameters of Theorem 3.17 with constants 1.
/// \source liu-talwar-2025, Theorem 3.17; liu-talwar-2025 notes, 3.1
struct Theorem317 {
  double alpha;
  double drift_threshold;  ///< κ
  double gamma;
  double refresh_batch;  ///< b
  double tau;            ///< as printed, mostly below 1
  double radius;         ///< Ξ
  double escape_steps;   ///< Γ
  double deviation;      ///< σ_tree = σ_t
  double steps;          ///< T
  double threshold;      ///< thr
};
/// α of Theorem 3.17; the fourth term is the proof's (docs/errata.md, L11).
double theorem_3_17_alpha(const ProblemNumbers& f, double epsilon);
/// The other parameters at a given α. \param logarithms  as stated; else all are 1
Theorem317 theorem_3_17_at(const ProblemNumbers& f, double epsilon, double alpha,
                           bool logarithms = true);
/// b_t of Theorem 3.17 over w for a step of length w/M, where b_t is above 1.
double theorem_3_17_rate(const ProblemNumbers& f, double epsilon, const Theorem317& t);
/// b_t of Theorem 3.17 for a step of length w/M.
double theorem_3_17_batch(const ProblemNumbers& f, double epsilon, const Theorem317& t, double w);

struct AdaptiveSpiderParameters {
  SpiderParameters spider;
  TauMode tau_mode = TauMode::repaired;
  Release release = Release::accounted;
  SelectionParameters selection;
  Knobs knobs;
};

/// Stochastic Spider with the escape subprocedure, adaptive batches and the tree mechanism, and its
/// ablations. As printed its noise is not (ε, δ)-DP, and its label `violated`. \source
/// liu-talwar-2025, Algorithm 3; liu-talwar-2025 notes, 2.4 and 2.6
class AdaptiveSpider final : public Algorithm {
 public:
  AdaptiveSpider();

  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant variant) override;
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  AdaptiveSpiderParameters parameters;

 private:
  void check_problem(const PublicFacts& facts) const;
};

}  // namespace dpsosp::liu_talwar_2025
