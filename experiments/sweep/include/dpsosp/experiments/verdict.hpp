// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dpsosp/core/words.hpp"
#include "dpsosp/experiments/fit.hpp"

/// Verdicts of measurements on claims; docs/claims.md has the rule and how often it errs.
namespace dpsosp {

/// Result of comparing a measurement with a claim.
enum class Verdict {
  as_claimed,             ///< the interval lies in the zone of the claimed exponent
  as_claimed_with_terms,  ///< not there, but the level follows the solved α, which has all terms
  as_claimed_or_better,   ///< an end of the zone lies in the interval, on the better side alone
  better_than_claimed,
  worse_than_claimed,  ///< wholly outside, on the side that a bound forbids
  more_seeds,          ///< the worse end of the zone lies in the interval
  no_power_law,        ///< no one exponent describes the range
  inconclusive,        ///< for another reason, which is stated
  not_reachable,       ///< no run of affordable size shows it
  holds,               ///< for claims without a slope
  fails,
  bound_met,     ///< for an upper bound: every level respects it; its exponent is not measured
  vacuous,       ///< true of every point at any size that runs can have
  not_measured,  ///< nothing here measures it yet
};

constexpr auto words_of(Verdict) {
  using enum Verdict;
  return word_list<Verdict>("verdict", {{as_claimed, "as claimed"},
                                        {as_claimed_with_terms, "as claimed with all terms"},
                                        {as_claimed_or_better, "as claimed or better"},
                                        {better_than_claimed, "better than claimed"},
                                        {worse_than_claimed, "worse than claimed"},
                                        {more_seeds, "more seeds needed"},
                                        {no_power_law, "no power law in this range"},
                                        {inconclusive, "inconclusive"},
                                        {not_reachable, "not reachable here"},
                                        {holds, "holds"},
                                        {fails, "fails"},
                                        {bound_met, "bound met"},
                                        {vacuous, "vacuous here"},
                                        {not_measured, "not measured"}});
}
inline std::string_view to_string(Verdict verdict) { return word_of(verdict); }
/// True if a measured slope confirms the claim.
inline bool confirms(Verdict verdict) {
  return verdict == Verdict::as_claimed || verdict == Verdict::as_claimed_with_terms ||
         verdict == Verdict::as_claimed_or_better || verdict == Verdict::better_than_claimed;
}

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

/// The claim as an upper bound.
enum class BoundVerdict {
  below_promise,  ///< every level is below what its schedule promised
  flat,  ///< the ratio of the level to the claimed power rises by less than slope_tolerance
  undecided,
  rises,    ///< by more than slope_tolerance
  exceeds,  ///< by more than a logarithm would make it
};

/// The end of an axis at which a bound is tested: its ratio may not rise towards there.
enum class HardEnd {
  large,  ///< for records and dimensions
  small,  ///< for epsilon
};

constexpr auto words_of(BoundVerdict) {
  using enum BoundVerdict;
  return word_list<BoundVerdict>("verdict on a bound",
                                 {{below_promise, "below the promise"},
                                  {flat, "ratio to the claim does not rise"},
                                  {undecided, "ratio to the claim undecided"},
                                  {rises, "ratio to the claim rises"},
                                  {exceeds, "ratio to the claim rises by more than a logarithm"}});
}
inline std::string_view to_string(BoundVerdict verdict) { return word_of(verdict); }

/// Largest slope that a hidden factor ln n leaves at n = 10^4 and beyond: 1/ln 10^4.
inline constexpr double exponent_of_logarithm = 0.11;

/// Verdict on a claim in one to four words.
enum class Headline {
  confirmed,
  bound_met,  ///< every level respects the upper bound; the exponent is open
  vacuous,    ///< a bound that nothing in reach could have broken
  refuted,    ///< by measurement, or by a contradiction under the source's own hypotheses
  slip,       ///< an error of text or constants that leaves the result standing
  open,
};

constexpr auto words_of(Headline) {
  using enum Headline;
  return word_list<Headline>("headline", {{confirmed, "confirmed"},
                                          {bound_met, "bound met, exponent open"},
                                          {vacuous, "vacuous"},
                                          {refuted, "refuted"},
                                          {slip, "slip"},
                                          {open, "open"}});
}
inline std::string_view to_string(Headline headline) { return word_of(headline); }

struct SlopeVerdict {
  Verdict verdict = Verdict::inconclusive;  ///< of the exponent
  std::string reason{};  ///< between which exponents it is undecided, or why; may be empty
  BoundVerdict bound = BoundVerdict::undecided;
};

/// The headline of a slope: confirmed as claimed; a bound that is met leaves the exponent open;
/// refuted only where the exponent is worse than claimed by more than a logarithm, which rates
/// hide, and the bound is not met.
Headline headline_of(const SlopeVerdict& verdict);

/// A claim is an upper bound. Towards large x a smaller exponent than claimed is better, towards
/// small x a larger one.
/// \param rivals  other exponents that papers name on this axis
/// \param over_plan  the fit of the same runs, each over its schedule's solved α, which has the
///   bound's logarithms and lower-order terms; null where there is none
/// \throws InputError as zone_of
SlopeVerdict judge(const SlopeFit& fit, ClaimedExponent claimed,
                   std::span<const double> rivals = {}, HardEnd end = HardEnd::large,
                   const SlopeFit* over_plan = nullptr);

}  // namespace dpsosp
