// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dpsosp/core/vector.hpp"
#include "dpsosp/core/words.hpp"
#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/batch.hpp"

namespace dpsosp {

/// (ε, δ)-DP under replace-one adjacency.
struct PrivacyBudget {
  double epsilon = 1.0;  ///< > 0, finite
  double delta = 1e-6;   ///< in (0, 1)
  bool operator==(const PrivacyBudget&) const = default;
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

constexpr auto words_of(Calibrator) {
  using enum Calibrator;
  return word_list<Calibrator>("calibrator", {{bun_steinke, "bun-steinke"},
                                              {cks, "cks"},
                                              {exact_gaussian, "exact-gaussian"},
                                              {rdp, "rdp"}});
}
inline std::string_view to_string(Calibrator calibrator) { return word_of(calibrator); }

/// Unit and capacity of a privacy filter. Fixed before the run.
struct FilterRule {
  Calibrator calibrator = Calibrator::cks;
  std::optional<double> order;  ///< of rdp; > 1
  double capacity = 0.0;        ///< total zCDP ρ, or total RDP at `order`
  double pure_capacity = 0.0;   ///< total ε of a second account, for mechanisms that are pure DP
  double delta_extra = 0.0;     ///< total probability of inexact releases (LedgerEntry)
  /// ε that a record may spend on pure mechanisms if it answers nothing else; ChildSpec::pure
  /// exchanges a record's whole budget for it.
  double alone_epsilon = 0.0;

  /// Charge of one release of `event`. Sampled events are charged in full (unamplified) unless the
  /// rule is rdp. \throws UnsupportedError if the rule cannot charge it.
  double charge(const Event& event) const;
};

/// The capacities such that a run within them is (ε, δ)-DP.
///
/// `pure_epsilon` of ε goes to the pure account, the rest and δ to the other one. However charges
/// to the two are interleaved, the run is (ε, δ)-DP: its log-likelihood ratio is L = L_p + L_z with
/// L_p ≤ ε_p always, so E(1 − e^{ε−L})₊ ≤ E(1 − e^{ε−ε_p−L_z})₊. A pure release does not change
/// L_z, so the supermartingale of the filter bounds it.
/// \param order         needed by rdp alone
/// \param pure_epsilon  ε_p ∈ [0, ε]; ε_p = ε leaves nothing for the other account
/// \param delta_extra   part of δ, in [0, δ), kept for inexact releases; each of probability p
///   costs (1 + e^ε) p of it
/// \throws InputError if no budget is left at that order
/// \source privacy-accounting notes, 2 and 10
FilterRule filter_rule(const PrivacyBudget& budget, Calibrator calibrator,
                       std::optional<double> order = {}, double pure_epsilon = 0.0,
                       double delta_extra = 0.0);

/// Refuses a rule that grants more than the budget: whoever made it, a run within it is (ε, δ)-DP.
/// \throws InputError
void check(const FilterRule& rule, const PrivacyBudget& budget);

/// Largest ρ of zCDP that the calibrator allows; not for rdp.
double zcdp_budget(const PrivacyBudget& budget, Calibrator calibrator);

/// The budget of a part of a composition: the epsilon, at the same delta, whose capacity is `share`
/// of the whole budget's, less a relative 1e-11 so that the parts fit together in spite of
/// rounding. Not for rdp.
/// \param share  in (0, 1]
PrivacyBudget slice(const PrivacyBudget& budget, Calibrator calibrator, double share);

/// A query that an algorithm means to make at most `count` times, at one common noise ratio.
struct PlannedQuery {
  BatchPolicy policy;
  std::int64_t count = 0;
  BatchUse use = BatchUse::one_query;
  bool operator==(const PlannedQuery&) const = default;
};

/// The least noise, std over sensitivity, with which all planned queries fit the budget, and the
/// filter that enforces it. With Calibrator::rdp the filter's order is the best one for the plan.
struct CalibratedNoise {
  double sensitivity_ratio;
  FilterRule rule;
};
CalibratedNoise calibrate_common_noise(std::span<const PlannedQuery> plan, Index records,
                                       const PrivacyBudget& budget, Calibrator calibrator);

/// The least noise, at least `floor`, with which the planned queries cost at most `allowance` under
/// the rule. \param floor  with which they cost no less
double noise_within(std::span<const PlannedQuery> plan, Index records, const FilterRule& rule,
                    double allowance, double floor);

/// Noise ratio of `count` equal unsampled Gaussian queries that together cost `rho` of zCDP.
double noise_ratio_for(double rho, double count);

}  // namespace dpsosp
