// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
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
/// Caches results, so it is not thread-safe.
class Claim {
 public:
  explicit Claim(std::vector<CountedEvent> events);

  double epsilon(double delta) { return epsilon(delta, 1.0); }
  /// Whether no mechanism that keeps the claim allows these rates.
  bool falsified_by(const ErrorRates& rates);
  /// ε at δ of the same charges with noise that is as much smaller or larger as these rates prove:
  /// the least noise multiple, on a grid of 2^14 from 1/64 to 64, that does not allow them. 0 if
  /// the largest would.
  double audited_epsilon(const ErrorRates& rates, double delta);

 private:
  double epsilon(double delta, double noise);

  std::vector<CountedEvent> events_;
  std::optional<double> gaussian_mu_;
  std::map<std::pair<double, double>, double> known_;  ///< ε at (δ, noise multiple)
};

}  // namespace dpsosp::audit
