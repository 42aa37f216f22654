// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "dpsosp/privacy/accounting/accountant.hpp"

namespace dpsosp::audit {

/// Upper bounds of both error rates of a test that tells data set one from data set two.
struct ErrorRates {
  double false_one = 1;  ///< says one on two
  double false_two = 1;  ///< says two on one
};

/// Clopper-Pearson bounds of both rates, together with probability `confidence`: the test says one
/// where a score exceeds the threshold that does best on the first half of the runs; the rates are
/// those of the second half. \param one, two  scores of runs on either data set
ErrorRates error_rates(std::span<const double> one, std::span<const double> two, double confidence);

/// The largest μ for which no μ-GDP mechanism allows these rates: Φ⁻¹(1 − a) − Φ⁻¹(b), at least 0.
double gaussian_mu_of(const ErrorRates& rates);
/// ln((1 − δ − b)/a), the larger of both directions: no mechanism with these rates is
/// (ε, δ)-DP at a smaller ε.
double epsilon_of_rates(const ErrorRates& rates, double delta);

/// The claim of a list of charges: ε at every δ, or exactly μ where all are unsampled Gaussians.
class Claim {
 public:
  explicit Claim(std::vector<CountedEvent> events) : events_(std::move(events)) {}

  double epsilon(double delta) const { return epsilon(delta, 1.0); }
  /// Whether no mechanism that keeps the claim allows these rates.
  bool falsified_by(const ErrorRates& rates) const { return !allows(rates, 1.0); }
  /// ε at δ of the same charges with noise that is as much smaller or larger as these rates prove:
  /// the least noise multiple that does not allow them. 0 if 64 times the noise would.
  double audited_epsilon(const ErrorRates& rates, double delta) const;

 private:
  double epsilon(double delta, double noise) const;
  bool allows(const ErrorRates& rates, double noise) const;

  std::vector<CountedEvent> events_;
};

}  // namespace dpsosp::audit
