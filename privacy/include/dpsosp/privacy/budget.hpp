// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// (ε, δ)-DP under replace-one adjacency.
struct PrivacyBudget {
  double epsilon = 1.0;  ///< > 0, finite
  double delta = 1e-6;   ///< in (0, 1)
};
/// \throws InputError
void check(const PrivacyBudget& budget);

/// How (ε, δ) becomes the capacity of a filter.
enum class Calibrator {
  bun_steinke,     ///< zCDP, ε = ρ + 2 sqrt(ρ ln(1/δ))
  cks,             ///< zCDP, Canonne-Kamath-Steinke
  exact_gaussian,  ///< Gaussian differential privacy; refuses any but unsampled Gaussian queries
  rdp,  ///< Rényi at one order fixed in advance, CKS conversion; needed by amplification
};
std::string_view to_string(Calibrator calibrator);

/// What a privacy filter adds up and where it stops. Fixed before the run.
struct FilterRule {
  Calibrator calibrator = Calibrator::cks;
  std::optional<double> order;  ///< of rdp; > 1
  double capacity = 0.0;        ///< total zCDP ρ, or total RDP at `order`

  /// What one release of `event` costs. Sampled events are charged in full (unamplified) unless the
  /// rule is rdp. \throws UnsupportedError if the rule cannot charge it.
  double charge(const Event& event) const;
};

/// The capacity such that a run within it is (ε, δ)-DP.
/// \param order  needed by rdp alone. \throws InputError if at that order no budget is left.
FilterRule filter_rule(const PrivacyBudget& budget,
                       Calibrator calibrator,
                       std::optional<double> order = {});

/// Largest ρ of zCDP that the calibrator allows; not for rdp.
double zcdp_budget(const PrivacyBudget& budget, Calibrator calibrator);

/// The budget of a part of a composition: the epsilon, at the same delta, whose capacity is `share`
/// of the whole budget's, less a relative 1e-11 so that the parts fit together whatever rounding
/// does. Not for rdp. \param share  in (0, 1]
PrivacyBudget slice(const PrivacyBudget& budget, Calibrator calibrator, double share);

/// A query that an algorithm means to make at most `count` times, at one common noise ratio.
struct PlannedQuery {
  BatchPolicy policy;
  std::int64_t count = 0;
  BatchUse use = BatchUse::one_query;
};

/// The least noise, std over sensitivity, with which all planned queries fit the budget, and the
/// filter that enforces it. With Calibrator::rdp the filter's order is the best one for the plan.
struct CalibratedNoise {
  double sensitivity_ratio;
  FilterRule rule;
};
CalibratedNoise calibrate_common_noise(std::span<const PlannedQuery> plan,
                                       Index records,
                                       const PrivacyBudget& budget,
                                       Calibrator calibrator);

/// Noise ratio of `count` equal unsampled Gaussian queries that together cost `rho` of zCDP.
double noise_ratio_for(double rho, double count);

}  // namespace dpsosp
