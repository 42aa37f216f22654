// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dpsosp/privacy/accounting/conversion.hpp"
#include "dpsosp/privacy/accounting/event.hpp"
#include "dpsosp/privacy/accounting/renyi.hpp"

namespace dpsosp {

enum class Accountant {
  zcdp,      ///< rhos add; every event must be zCDP
  rdp,       ///< Rényi bounds add at every order
  analytic,  ///< exact, Gaussian events only: mu² adds
  pure,      ///< epsilons add; every event must be pure, delta is not spent
  pld,       ///< privacy loss distributions, composed numerically; milliseconds to seconds
  best_of,   ///< the least of zcdp, rdp, analytic and pure; what ledgers and schedules use
  tightest   ///< the least of best_of and pld; pld is not asked where analytic is exact
};
std::string_view name_of(Accountant accountant);

struct AccountOptions {
  Accountant accountant = Accountant::best_of;
  Conversion conversion = Conversion::cks;        ///< of zcdp and rdp
  std::vector<double> orders = default_orders();  ///< of rdp; each > 1
  double tolerance = 1e-3;  ///< of pld: relative width of [lower, epsilon] to refine to; > 0
};

struct Guarantee {
  double epsilon;                    ///< of (epsilon, delta)-DP at the delta asked for
  std::string accountant;            ///< the one that gave it
  std::optional<double> order;       ///< Rényi order of the minimum, where there is one
  std::optional<double> lower = {};  ///< of pld: no accountant by dominating pairs gets below it
};

/// zCDP charge of one release; none if the event is not known to be zCDP.
/// Gaussian 1/(2z²), Laplace ε + e^{−ε} − 1, pure ε²/2, exponential ε²/8.
/// \source Bun & Steinke (2016), arXiv:1605.02065, Propositions 1.6 and 1.4; Harrison & Manurangsi
///   (2025), arXiv:2510.25746 (Laplace); Cesar & Rogers (2021), arXiv:2004.07223, Lemmas 3.2 and
///   3.4 (exponential); privacy-accounting notes, 3 and 11
std::optional<double> zcdp(const Event& event);

/// Epsilon of one release of a pure mechanism; none if the event is not known to be pure.
std::optional<double> pure_epsilon(const Event& event);

/// mu of the composition: sqrt(Σ count/z²); none unless every event is an unsampled Gaussian.
std::optional<double> gaussian_mu(std::span<const CountedEvent> events);

/// Epsilon of the adaptive composition of events measured under one adjacency.
/// \param delta  in (0, 1); with Accountant::pure also 0
/// \throws UnsupportedError if the accountant (with best_of and tightest: every one) has no proof
/// for the events.
Guarantee epsilon_of(std::span<const CountedEvent> events, Adjacency adjacency, double delta,
                     const AccountOptions& options = {});

/// Those of options.orders at which the events' Rényi bounds prove (epsilon, delta)-DP.
std::vector<double> orders_that_prove(double epsilon, std::span<const CountedEvent> events,
                                      Adjacency adjacency, double delta,
                                      const AccountOptions& options);

}  // namespace dpsosp
