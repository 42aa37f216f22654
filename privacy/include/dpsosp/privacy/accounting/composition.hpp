// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dpsosp/privacy/accounting/accountant.hpp"
#include "dpsosp/privacy/accounting/event.hpp"

namespace dpsosp {

/// Laplace noise on the answer of a secret sample of the records.
struct SampledLaplaceEvent {
  enum class Sample {
    poisson,    ///< each record joins with probability `rate`; noise on the sum of contributions
    fixed_size  ///< a uniform batch of that share; replace-one only
  };
  Sample sample;
  double rate;              ///< in [0, 1]
  double noise_multiplier;  ///< scale of the noise over the largest ℓ₁-norm of a contribution
                            ///< (poisson) or the replace-one ℓ₁-sensitivity of the batch's query
                            ///< (fixed size); > 0
  bool operator==(const SampledLaplaceEvent&) const = default;
};

struct CountedLaplace {
  SampledLaplaceEvent event;
  std::int64_t count = 1;  ///< >= 1
};

/// An adaptive sequence of releases: those of ledgers, sampled Laplace, and some of which no more
/// is known than an (ε₀, δ₀). Each of the last is no worse than a coin that shows everything with
/// probability δ₀ and else runs randomised response at ε₀ (Kairouz, Oh & Viswanath 2015): it is a
/// PureEvent among `events`, and the coins are in `log_intact`. With f = 1 − e^{log_intact} the
/// whole sequence has δ(ε) = f + (1 − f)·δ′(ε), δ′ being that of the rest.
struct Composition {
  std::vector<CountedEvent> events;
  std::vector<CountedLaplace> laplace;
  double log_intact = 0;  ///< Σ count·ln(1 − δ₀), <= 0

  void append(const Composition& more);
};

/// `count` releases, each (epsilon, delta)-DP. \throws InputError unless 0 <= delta < 1
Composition approximate_releases(double epsilon, double delta, std::int64_t count);

/// As epsilon_of for events; zcdp and rdp take a sampled Laplace release for a pure one.
/// \throws InputError if delta does not exceed the coins' f; with Accountant::pure it may equal f
Guarantee epsilon_of(const Composition& composition, Adjacency adjacency, double delta,
                     const AccountOptions& options = {});

struct DeltaGuarantee {
  double delta;                      ///< of (epsilon, delta)-DP at the epsilon asked for; <= 1
  std::string accountant;            ///< the one that gave it
  std::optional<double> order;       ///< Rényi order of the minimum, where there is one
  std::optional<double> lower = {};  ///< of pld: no accountant by dominating pairs gets below it
};

/// The least delta for which the accountant proves (epsilon, delta)-DP. zcdp and rdp give none
/// below 1e-300, pure gives 0 or refuses. \param epsilon  finite, >= 0 \throws UnsupportedError as
/// epsilon_of
DeltaGuarantee delta_of(const Composition& composition, Adjacency adjacency, double epsilon,
                        const AccountOptions& options = {});

/// As smallest_noise_multiplier for events; `log_intact` must not depend on the noise.
double smallest_noise_multiplier(const std::function<Composition(double)>& family,
                                 Adjacency adjacency, double epsilon, double delta,
                                 const AccountOptions& options = {});

/// Sum of the epsilons; none unless every event is known to be pure.
std::optional<double> pure_total(std::span<const CountedEvent> events);

/// f, the probability that one of the coins shows everything.
double delta_of_coins(const Composition& composition);

/// Part of delta for the releases when none of the coins shows everything, rounded down; 0 for
/// Accountant::pure, which needs none. \throws InputError if delta does not cover the coins
double delta_left(const Composition& composition, double delta, Accountant accountant);

/// The releases with randomised response of the same epsilon for each sampled Laplace one.
std::vector<CountedEvent> with_pure_laplace(const Composition& composition, Adjacency adjacency);

}  // namespace dpsosp
