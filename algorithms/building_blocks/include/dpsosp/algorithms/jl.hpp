// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// k where the rank of the features is known.
enum class RankRule {
  embedding,     ///< ⌈c_ose r ln(2n/δ)⌉, with which hardly any map shortens a direction much
  proportional,  ///< ⌈c_ose r⌉; at c_ose = 1 the r of Lemma 8.1 in lowy-2024, where many maps do
};

constexpr auto words_of(RankRule) {
  using enum RankRule;
  return word_list<RankRule>("rank rule",
                             {{embedding, "embedding"}, {proportional, "proportional"}});
}

/// Symbols of lowy-2024 notes, 2.9 in the comments.
struct JlParameters {
  Index projected_dimension = 0;
  double cap = 2.0;
  Index rank = 0;
  RankRule rank_rule = RankRule::embedding;
  double rank_factor = 0.0;
  double free_factor = 1.0;
};

/// k of the rank branch: ⌈c_ose r ln(2n/δ)⌉. The paper's k lacks the factor ln(2n/δ).
double jl_rank_dimension(double rank, double n, double delta, double rank_factor);

/// argmin_j g(j) + slack/sqrt(j) over integers low ≤ j ≤ high; the sum must fall and then rise.
Index jl_free_dimension(const std::function<double(double)>& bound, double slack, Index low,
                        Index high);

/// Φ ∈ R^{k×d}, entries N(0, 1/k).
Matrix draw_projection(Index k, Index d, Stream& stream);

/// The JL method for generalised linear models f(w; x, y) = φ(⟨w, x⟩; y): draws a public map Φ,
/// runs a base algorithm in R^k on the projected records, and lifts its output by Φᵀ. The features
/// are projected before the base algorithm runs, each capped on its own, so that every Φ is
/// private. Points shown to the observer are lifted. The base starts at the origin.
/// \source lowy-2024 notes, 2.9; Arora et al. 2023, Section 4
class JlMethod : public Algorithm {
 public:
  Fields fields() override;
  void set_variant(Variant variant) override;
  /// k by the smaller of the rank branch (where r is known) and the free branch; the base
  /// algorithm's schedule at the projected facts. \throws InputError for other problems
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  JlParameters jl;

 protected:
  explicit JlMethod(std::unique_ptr<Algorithm> base) : base_(std::move(base)) {}
  /// The base algorithm's error in dimension j, of which k is the best.
  /// \source lowy-2024 notes, 3.7
  virtual double base_bound(const PublicFacts& facts, const PrivacyBudget& budget,
                            double j) const = 0;
  Algorithm& base() { return *base_; }
  const Algorithm& base() const { return *base_; }

 private:
  PublicFacts base_facts(const PublicFacts& facts) const;

  std::unique_ptr<Algorithm> base_;
};

}  // namespace dpsosp
