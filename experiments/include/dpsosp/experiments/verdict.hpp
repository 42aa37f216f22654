// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/fit.hpp"

/// What measurements say of claims; docs/verdicts.md has the rule and how often it errs.
namespace dpsosp {

/// Result of comparing a measurement with a claim.
enum class Verdict {
  as_claimed,           ///< the interval lies in the zone of the claimed exponent
  better_than_claimed,  ///< wholly below it
  worse_than_claimed,   ///< wholly above it
  more_seeds,           ///< an end of the zone lies in the interval
  no_power_law,         ///< no one exponent describes the range
  inconclusive,         ///< for another reason, which is stated
  not_reachable,        ///< no run of affordable size shows it
  holds,                ///< of claims without a slope
  fails,
  not_measured,  ///< nothing here measures it yet
};

template <>
struct Words<Verdict> {
  static constexpr std::string_view kind = "verdict";
  static constexpr WordList<Verdict, 10> list{
      {{Verdict::as_claimed, "as claimed"},
       {Verdict::better_than_claimed, "better than claimed"},
       {Verdict::worse_than_claimed, "worse than claimed"},
       {Verdict::more_seeds, "more seeds needed"},
       {Verdict::no_power_law, "no power law in this range"},
       {Verdict::inconclusive, "inconclusive"},
       {Verdict::not_reachable, "not reachable here"},
       {Verdict::holds, "holds"},
       {Verdict::fails, "fails"},
       {Verdict::not_measured, "not measured"}}};
};
inline std::string_view to_string(Verdict verdict) { return word_of(verdict); }

/// A claimed exponent, or the range between those of a bound's terms where either may lead.
struct ClaimedExponent {
  double low = 0;
  double high = 0;
  ClaimedExponent(double exponent) : low(exponent), high(exponent) {}  // a number is a claim
  ClaimedExponent(double from, double to) : low(from), high(to) {}
  bool operator==(const ClaimedExponent&) const = default;
};
/// "-0.667", "-1.333 to -1.000".
std::string to_text(ClaimedExponent claimed);

/// How far from a claimed exponent a slope may lie and still be called as claimed, where no rival
/// is nearer.
inline constexpr double slope_tolerance = 0.05;

/// The slopes that are called as claimed: on either side half-way to the next rival exponent, and
/// at most slope_tolerance. Rivals within 0.005 of the claim, or within a claimed range, are the
/// claim. \throws InputError if `claimed` is not finite and ordered
Interval zone_of(ClaimedExponent claimed, std::span<const double> rivals);

/// Whether the claim is true as an upper bound: whether the ratio of the level to the claimed power
/// of the axis rises along it.
enum class BoundVerdict { holds, rises, undecided };

template <>
struct Words<BoundVerdict> {
  static constexpr std::string_view kind = "verdict on a bound";
  static constexpr WordList<BoundVerdict, 3> list{{{BoundVerdict::holds, "bound holds"},
                                                   {BoundVerdict::rises, "bound exceeded"},
                                                   {BoundVerdict::undecided, "bound undecided"}}};
};
inline std::string_view to_string(BoundVerdict verdict) { return word_of(verdict); }

struct SlopeVerdict {
  Verdict verdict = Verdict::inconclusive;  ///< of the exponent
  std::string reason{};  ///< between which exponents it is undecided, or why; may be empty
  BoundVerdict bound = BoundVerdict::undecided;
};

/// A claim is an upper bound: a smaller exponent than claimed is better, on every axis.
/// \param rivals  other exponents that papers name on this axis
/// \throws InputError as zone_of
SlopeVerdict judge(const SlopeFit& fit,
                   ClaimedExponent claimed,
                   std::span<const double> rivals = {});

}  // namespace dpsosp
