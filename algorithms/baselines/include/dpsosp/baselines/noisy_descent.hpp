// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "dpsosp/algorithms/algorithm.hpp"
#include "dpsosp/algorithms/scheduling.hpp"
#include "dpsosp/algorithms/spider_oracle.hpp"

namespace dpsosp::baselines {

/// What every noisy gradient descent has. Symbols of baselines notes, 1.
struct DescentParameters {
  Index steps = 400;
  double step_size = 0.1;
  Sampling sampling = Sampling::all;
  Index batch = 0;  ///< b, or q n; not used with Sampling::all
  double clip = 1.0;
  double noise = 0.0;
  OutputRule output = OutputRule::uniform;

  void add_fields(Fields& fields);
  BatchPolicy policy(Index records) const { return batch_policy(sampling, batch, records); }
  /// s: standard deviation of the noise per coordinate of the released mean.
  double deviation(Index records) const {
    return noise * 2.0 * clip / policy(records).divisor(records);
  }
};

/// x_t becomes x_{t+1}; g is the released gradient at x_t. Post-processing: it sees no record.
using DescentStep = std::function<void(Index t, const Vector& g, Vector& x)>;
/// How far from stationary x looks, given the released gradient; for OutputRule::min_estimate.
using StationarityMeasure = std::function<void(const Vector& x, const Vector& g, Vector& out)>;

/// The loop of every noisy gradient descent: T noisy clipped mean gradients, a step after each.
/// \param measure  without it, the gradient itself
/// `step` is step 3 of the method. \source baselines notes, 1, 2, 3.2, 4 and 11
Outcome noisy_descent(Curator& curator, Stream& stream, Observer& observer,
                      const DescentParameters& p, const DescentStep& step,
                      const StationarityMeasure& measure = {});

/// An algorithm that is a noisy gradient descent with its own step.
class DescentMethod : public Algorithm {
 public:
  std::vector<PlannedQuery> plan(const PublicFacts& facts) const override;
  void set_common_noise(double sensitivity_ratio) override;
  /// One form; a method whose source has a printed error overrides it.
  void set_variant(Variant variant) override;
  void check_settings(const PublicFacts& facts) const override;

 protected:
  virtual DescentParameters& descent() = 0;
  const DescentParameters& descent() const;

  /// zCDP that a schedule may plan with; under Calibrator::rdp that of the CKS conversion.
  static double planned_zcdp(const PrivacyBudget& budget, Calibrator calibrator);
  /// Sets the noise of the T gradients and returns the filter that grants exactly them.
  FilterRule calibrate(const PublicFacts& facts, const PrivacyBudget& budget,
                       Calibrator calibrator);
  /// Full batches at G with the step 1/M.
  void full_batch(const ProblemNumbers& p, Index steps);
};

/// T = (n/G) sqrt(M B R/d), at which 2MB/T = d s². \source baselines notes, 1
double balanced_steps(const ProblemNumbers& p, double zcdp);

/// sqrt(2B/(ηT) + ηM V): bound on the root mean square of ‖∇F‖ at a uniform iterate of T steps of
/// length η ≤ 1/M along unbiased estimates of variance V. At η = 1/M: sqrt(2MB/T + V).
double descent_bound(double B, double M, double step_size, double steps, double variance);

/// The step min(1/M, sqrt(2B/(TMV))) that minimises descent_bound.
double best_step(double B, double M, double steps, double variance);

}  // namespace dpsosp::baselines
