// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/words.hpp"

namespace dpsosp {

/// When two data sets are neighbours.
enum class Adjacency {
  replace_one,  ///< the record at one index is another one; the suite's default
  add_remove,   ///< one record more or less
  zero_out      ///< one record's contribution is replaced by zero; the count stays
};

constexpr auto words_of(Adjacency) {
  using enum Adjacency;
  return word_list<Adjacency>(
      "adjacency",
      {{replace_one, "replace_one"}, {add_remove, "add_remove"}, {zero_out, "zero_out"}});
}
inline std::string_view name_of(Adjacency adjacency) { return word_of(adjacency); }

/// The accountant has no proof for the events it was asked about; the message says why.
class UnsupportedError : public InputError {
 public:
  using InputError::InputError;
};

/// N(0, s²I) added to a query, whole batch. RDP(a) = a/(2z²), under the adjacency of its
/// sensitivity.
struct GaussianEvent {
  double noise_multiplier;  ///< z = s / ℓ₂-sensitivity; > 0
  bool operator==(const GaussianEvent&) const = default;
};

/// Each record joins with probability `rate`; N(0, s²I) is added to the SUM of contributions of
/// norm <= C.
struct PoissonGaussianEvent {
  double rate;              ///< q in [0, 1]
  double noise_multiplier;  ///< z = s / C, whatever the adjacency; > 0
  bool operator==(const PoissonGaussianEvent&) const = default;
};

/// Which bound a fixed-size sample is charged by.
enum class FixedSizeBound {
  tightest,           ///< per order the least of forward difference, weak triangle and unsampled
  forward_difference  ///< per order the lesser of forward difference and unsampled
};

/// A uniform batch of exactly b of n records; N(0, s²I) is added to the batch's query. Replace-one
/// only.
struct FixedSizeGaussianEvent {
  double rate;              ///< γ = b/n in [0, 1]
  double noise_multiplier;  ///< z = s / replace-one sensitivity of the batch query (2C/b for a
                            ///< mean); > 0
  FixedSizeBound bound = FixedSizeBound::tightest;
  bool operator==(const FixedSizeGaussianEvent&) const = default;
};

/// Laplace noise of scale sensitivity₁/epsilon.
struct LaplaceEvent {
  double epsilon;  ///< >= 0
  bool operator==(const LaplaceEvent&) const = default;
};

/// Any mechanism that is epsilon-DP.
struct PureEvent {
  double epsilon;  ///< >= 0
  bool operator==(const PureEvent&) const = default;
};

/// Weights exp(epsilon·u/(2·sensitivity)): epsilon-DP, and its loss has range epsilon.
struct ExponentialEvent {
  double epsilon;  ///< >= 0
  bool operator==(const ExponentialEvent&) const = default;
};

/// Any rho-zCDP mechanism.
struct ZcdpEvent {
  double rho;  ///< >= 0
  bool operator==(const ZcdpEvent&) const = default;
};

using Event = std::variant<GaussianEvent, PoissonGaussianEvent, FixedSizeGaussianEvent,
                           LaplaceEvent, PureEvent, ExponentialEvent, ZcdpEvent>;

/// `count` adaptive releases of the same event.
struct CountedEvent {
  Event event;
  std::int64_t count = 1;  ///< >= 0
};

/// \throws InputError naming the field that is out of its range: noise multipliers in [1e-100,
/// 1e100], epsilon and rho in [0, 1e100], rates in [0, 1], counts >= 1. NaN is refused.
void check(const Event& event);
void check(const CountedEvent& event);

/// Sum and product of counts. \throws InputError beyond 2⁶³ − 1
std::int64_t add_counts(std::int64_t a, std::int64_t b);
std::int64_t multiply_counts(std::int64_t a, std::int64_t b);

}  // namespace dpsosp
