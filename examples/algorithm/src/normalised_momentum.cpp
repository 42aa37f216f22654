// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/smith_2027/normalised_momentum.hpp"

#include <cmath>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::smith_2027 {

Outcome NormalisedMomentum::run(Curator& curator, Stream stream, Observer& observer) const {
  const NormalisedMomentumParameters& p = parameters;
  Vector m = Vector::Zero(curator.facts().dimension);
  return baselines::noisy_descent(curator, stream, observer, p,
                                  [&](Index, const Vector& g, Vector& x) {
                                    m = p.decay * m + (1.0 - p.decay) * g;
                                    const double length = m.norm();
                                    if (length > 0) x -= p.step_size / length * m;
                                  });
}

// The steps at which DP-GD's noise and horizon balance, and a length of move that crosses the gap
// B at the slope G in that many steps.
Scheduled NormalisedMomentum::schedule(Schedule, const PublicFacts& facts,
                                       const PrivacyBudget& budget, Calibrator calibrator) {
  refuse_shared_dual(card(), facts);
  const ProblemNumbers q = numbers_of(facts, false);
  const double steps = baselines::balanced_steps(q, planned_zcdp(budget, calibrator));
  full_batch(q, count_of(card().key, "steps", steps));
  parameters.step_size = std::sqrt(2.0 * q.B / (q.M * static_cast<double>(parameters.steps)));
  Scheduled s{.rule = calibrate(facts, budget, calibrator), .note = {}};
  s.note = "steps of DP-GD, moves of sqrt(2B/(MT)); no rate is proved for clipped gradients";
  return s;
}

Fields NormalisedMomentum::fields() {
  Fields f;
  parameters.add_fields(f);
  f.push_back(field("decay", parameters.decay, range::unit_without_1,
                    "beta of the running mean; 0 = no momentum"));
  return f;
}

const AlgorithmCard& NormalisedMomentum::card() const {
  static const AlgorithmCard card{.key = "smith-2027/normalised-momentum",
                                  .title = "Normalised DP-SGD with momentum",
                                  .paper = "Smith 2027",
                                  .place = "an example",
                                  .source = Source::derived,
                                  .guarantee = "FOSP, empirical",
                                  .metric = Metric::gradient_norm,
                                  .statistic = "uniformly random iterate",
                                  .rate = "none proved",
                                  .operations = "gradient",
                                  .output_rule = "a uniformly random iterate"};
  return card;
}

}  // namespace dpsosp::smith_2027
