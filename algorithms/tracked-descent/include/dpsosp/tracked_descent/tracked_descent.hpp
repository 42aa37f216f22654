// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp::tracked_descent {

/// How γ is chosen.
enum class Gain {
  optimal,   ///< the minimiser of the next variance
  constant,  ///< 1/period, as STORM
  one,       ///< as noisy gradient descent
  spider,    ///< 1 every `period` steps, 0 between
};

constexpr auto words_of(Gain) {
  using enum Gain;
  return word_list<Gain>(
      "gain", {{optimal, "optimal"}, {constant, "constant"}, {one, "one"}, {spider, "spider"}});
}

/// What a signal is measured by against its noise.
enum class Scale {
  coordinates,  ///< each coordinate by itself, with a gear of its own
  scalar,       ///< the whole estimate; rotation invariant, without gears
};

constexpr auto words_of(Scale) {
  using enum Scale;
  return word_list<Scale>("scale", {{coordinates, "coordinates"}, {scalar, "scalar"}});
}

enum class Returned {
  least_bound,  ///< of the last quarter, where ‖v‖ + √(dV) was least
  last,
};

constexpr auto words_of(Returned) {
  using enum Returned;
  return word_list<Returned>("output rule", {{least_bound, "least_bound"}, {last, "last"}});
}

/// | tracked-descent notes, 1 | field | unit |
/// | T | steps | |
/// | G | clip | gradient |
/// | M | smoothness | gradient per x |
/// | z | noise | std / sensitivity |
struct TrackedDescentParameters {
  Index steps = 400;
  double clip = 1.0;
  double smoothness = 1.0;
  double noise = 0.0;
  double hopeless = 0.05;
  Gain gain = Gain::optimal;
  Index period = 100;  ///< of Gain::constant and Gain::spider
  Scale scale = Scale::coordinates;
  bool gear = true;
  Returned output = Returned::least_bound;
};

/// The variance of the estimate's error per coordinate after a step with gain γ, whose query has
/// the standard deviation u(γG + (1 − γ)b) at the limit b of a difference: (1 − γ)²V + s².
double next_variance(double variance, double gain, double u, double clip, double limit);

/// The γ in [0, 1] that minimises next_variance; 1 where b ≥ G, and without noise.
/// \source tracked-descent notes, 3
double optimal_gain(double variance, double u, double clip, double limit);

/// ‖v‖ + √V(√d + √(2 ln 20)): holds for ‖∇F‖ with probability 0.95 where v − ∇F is N(0, V I).
double gradient_bound(double length, double variance, Index dimension);

/// Gradient descent along an estimate that one combined query a step carries along; the query's
/// gain is the minimiser of the estimate's public error variance.
/// \source tracked-descent notes, 1
class TrackedDescent final : public Algorithm {
 public:
  const AlgorithmCard& card() const override;
  Fields fields() override;
  void set_variant(Variant) override {}
  Scheduled schedule(Schedule kind, const PublicFacts& facts, const PrivacyBudget& budget,
                     Calibrator calibrator) override;
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  void check_settings(const PublicFacts& facts) const override;
  Outcome run(Curator& curator, Stream stream, Observer& observer) const override;

  TrackedDescentParameters parameters;
};

}  // namespace dpsosp::tracked_descent
