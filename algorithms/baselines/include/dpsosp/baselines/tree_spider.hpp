// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp::baselines {

/// The noise of a right child.
enum class NodeNoise {
  distance,  ///< in proportion to the distance moved since its parent
  bound,     ///< in proportion to the largest distance that the steps allow (paper)
};

constexpr auto words_of(NodeNoise) {
  using enum NodeNoise;
  return word_list<NodeNoise>("node noise", {{distance, "distance"}, {bound, "bound"}});
}

/// Symbols of baselines notes, 8.2.
struct TreeSpiderParameters {
  Index steps = 80;
  Index depth = 3;
  double step_size = 0.1;
  double alpha = 0.0;
  NodeNoise node_noise = NodeNoise::distance;
  Sampling sampling = Sampling::fresh;
  Index batch = 16;
  double clip_refresh = 1.0;
  double clip_increment = 1.0;
  double noise = 0.0;
};

/// Tree-based private SPIDER: a round is a depth-first walk of a binary tree, in which a right
/// child adds to its parent's estimate a difference over a fresh batch half as large a level down.
/// One pass over the data. \source Arora et al. 2023 (ICML), Algorithm 1; baselines notes, 8.2;
/// lowy-2024 notes, 2.8 and 3.6
class TreeSpider final : public Algorithm {
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

  TreeSpiderParameters parameters;
};

/// What a schedule of tree-SPIDER fixes, before rounding to batches of whole records.
struct TreeNumbers {
  double batch;      ///< b
  Index depth;       ///< D
  double rounds;     ///< T
  double alpha;      ///< α
  double step_size;  ///< β
  bool fits;         ///< whether the derived conditions hold
};
/// max{D : D 2^{D+1} ≤ b}, at least 1.
Index tree_depth(double batch);
/// \source Arora et al. 2023, Theorem 3.2; baselines notes, 8.2
TreeNumbers tree_paper(const ProblemNumbers& p, double epsilon);
/// The smallest α whose batches keep the error below α and whose steps pay for B.
/// \source baselines notes, 8.2; lowy-2024 notes, 3.6
TreeNumbers tree_practical(const ProblemNumbers& p, double zcdp);
/// C̃ = 256 ln(1.25/δ) ln(2T 2^{D+1}/p) + 8MB sqrt(2D)(D/2 + 1)/(2G²), p the failure probability.
double tree_threshold_factor(const ProblemNumbers& q, Index depth, double rounds, double delta,
                             double failure);

}  // namespace dpsosp::baselines
