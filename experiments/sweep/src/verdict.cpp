// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

constexpr double same_exponent = 0.005;  // 2/3 is written 0.6667

enum class Place { inside, below, above, across };

Place place_of(Interval interval, Interval zone) {
  if (interval.high < zone.low) return Place::below;
  if (interval.low > zone.high) return Place::above;
  return zone.low <= interval.low && interval.high <= zone.high ? Place::inside : Place::across;
}

Verdict verdict_of(Place place, HardEnd end) {
  switch (place) {
    case Place::inside:
      return Verdict::as_claimed;
    case Place::below:
      return end == HardEnd::large ? Verdict::better_than_claimed : Verdict::worse_than_claimed;
    case Place::above:
      return end == HardEnd::large ? Verdict::worse_than_claimed : Verdict::better_than_claimed;
    case Place::across:
      break;
  }
  return Verdict::more_seeds;
}

/// How far the ends of an interval lie on the worse side of the claim: least, most.
Interval excess_of(Interval slope, ClaimedExponent claimed, HardEnd end) {
  if (end == HardEnd::large)
    return {.low = slope.low - claimed.high, .high = slope.high - claimed.high};
  return {.low = claimed.low - slope.high, .high = claimed.low - slope.low};
}

/// The verdict on the ratio, from every interval of a slope that may be the true one.
BoundVerdict bound_of(std::initializer_list<Interval> slopes, ClaimedExponent claimed,
                      HardEnd end) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Interval& s : slopes) {
    const Interval excess = excess_of(s, claimed, end);
    least = std::min(least, excess.low);
    most = std::max(most, excess.high);
  }
  if (most <= slope_tolerance) return BoundVerdict::flat;
  if (least > exponent_of_logarithm) return BoundVerdict::exceeds;
  return least > slope_tolerance ? BoundVerdict::rises : BoundVerdict::undecided;
}

/// The nearest rival outside the claim on one side; infinite if there is none.
double next_below(ClaimedExponent claimed, std::span<const double> rivals) {
  double next = -std::numeric_limits<double>::infinity();
  for (const double r : rivals)
    if (r < claimed.low - same_exponent) next = std::max(next, r);
  return next;
}
double next_above(ClaimedExponent claimed, std::span<const double> rivals) {
  double next = std::numeric_limits<double>::infinity();
  for (const double r : rivals)
    if (r > claimed.high + same_exponent) next = std::min(next, r);
  return next;
}

/// The exponents that an interval does not tell from the claimed one: a rival only where the zone
/// ends half-way to it; else how far the interval passes the zone.
std::string undecided(Interval interval, Interval zone, ClaimedExponent claimed,
                      std::span<const double> rivals) {
  std::vector<std::string> others, beyond;
  const auto side = [&](double past, double reach, double rival) {
    if (!(past > 0)) return;
    if (reach < slope_tolerance - same_exponent)
      others.push_back(fmt::format("{:+.3f}", rival));
    else
      beyond.push_back(fmt::format("{:.3f}", past));
  };
  side(zone.low - interval.low, claimed.low - zone.low, next_below(claimed, rivals));
  side(interval.high - zone.high, zone.high - claimed.high, next_above(claimed, rivals));
  std::vector<std::string> reasons;
  if (!others.empty())
    reasons.push_back(
        fmt::format("undecided between the claimed exponent and {}", fmt::join(others, " and ")));
  if (!beyond.empty())
    reasons.push_back(fmt::format("the interval passes the zone {} by {}", to_text(zone),
                                  fmt::join(beyond, " and ")));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// The verdict on one fit, by a zone. No reason is given where an end of the zone lies in the
/// interval.
SlopeVerdict judge_by(Interval zone, ClaimedExponent claimed, const SlopeFit& fit, HardEnd end) {
  const Place line = place_of(fit.interval, zone);
  const Place first = place_of(fit.first, zone), last = place_of(fit.last, zone);
  const std::string drift =
      fmt::format("a drift of {:+.3g} [{:+.3g}, {:+.3g}] is within chance, not excluded", fit.drift,
                  fit.drift_interval.low, fit.drift_interval.high);
  const bool may_drift = std::abs(fit.drift) > FitOptions{}.drift_tolerance;
  // A curve within a few per cent of a line is a power law with the line's exponent for every
  // reader; only what lies beyond the range, which "better" and "worse" are about, is open.
  const bool near_line = line == Place::inside && fit.off_curve <= FitOptions{}.off_curve_tolerance;
  // The exponent of a line through a curve depends on where the range ends; both ends on one side
  // leave no doubt about the side.
  const bool one_side = first == last && first != Place::across;
  const auto short_of_worse_end = [&](std::initializer_list<Interval> slopes) {
    return std::ranges::all_of(slopes, [&](const Interval& s) {
      return end == HardEnd::large ? s.high <= zone.high : s.low >= zone.low;
    });
  };
  SlopeVerdict v;
  if (fit.bent) {
    v.verdict = Verdict::no_power_law;
    v.reason = fmt::format("a cell lies a factor of {:.3g} off the line", fit.off_line);
    v.bound = bound_of({fit.interval, fit.first, fit.last}, claimed, end);
  } else if (fit.drifting && !near_line) {
    v.verdict = one_side ? verdict_of(first, end) : Verdict::no_power_law;
    v.reason = fmt::format("the slope goes from {} at the first cell to {} at the last",
                           to_text(fit.first), to_text(fit.last));
    v.bound = bound_of({fit.interval, fit.first, fit.last}, claimed, end);
  } else if (may_drift && (line == Place::below || line == Place::above)) {
    v.verdict = one_side ? verdict_of(first, end) : Verdict::more_seeds;
    v.reason = drift;
    v.bound = bound_of({fit.interval}, claimed, end);
  } else {
    v.verdict = verdict_of(line, end);
    v.bound = bound_of({fit.interval}, claimed, end);
    if (fit.drifting)
      v.reason = fmt::format("a drift of {:+.3g} leaves the line by a factor of at most {:.3g}",
                             fit.drift, fit.off_curve);
    else if (may_drift)
      v.reason = drift;
    const Interval from = may_drift ? fit.first : fit.interval;
    const Interval to = may_drift ? fit.last : fit.interval;
    if (line == Place::across && short_of_worse_end({fit.interval, fit.mean_interval, from, to}))
      v.verdict = Verdict::as_claimed_or_better;
    const Place means = place_of(fit.mean_interval, zone);
    if (line == Place::inside && (means == Place::below || means == Place::above)) {
      v.verdict = Verdict::more_seeds;
      v.reason = fmt::format("runs as claimed, their means {:+.3f} {}", fit.mean_slope,
                             to_text(fit.mean_interval));
      v.bound = bound_of({fit.interval, fit.mean_interval}, claimed, end);
    }
  }
  return v;
}

}  // namespace

std::string to_text(ClaimedExponent claimed) {
  const std::string high = fmt::format("{:+.3f}", claimed.high);
  return claimed.low == claimed.high ? high : fmt::format("{:+.3f} to {}", claimed.low, high);
}

Interval zone_of(ClaimedExponent claimed, std::span<const double> rivals) {
  if (!std::isfinite(claimed.low)) reject("judge", "claimed", claimed.low, "a finite exponent");
  if (!(claimed.high >= claimed.low && std::isfinite(claimed.high)))
    reject("judge", "upper end of the claimed range", claimed.high,
           fmt::format("finite and at least the lower end, {:g}", claimed.low));
  const double below = 0.5 * (claimed.low - next_below(claimed, rivals));
  const double above = 0.5 * (next_above(claimed, rivals) - claimed.high);
  return {.low = claimed.low - std::min(slope_tolerance, below),
          .high = claimed.high + std::min(slope_tolerance, above)};
}

Headline headline_of(const SlopeVerdict& v) {
  if (v.verdict == Verdict::as_claimed || v.verdict == Verdict::as_claimed_with_terms)
    return Headline::confirmed;
  if (v.bound == BoundVerdict::below_promise || v.bound == BoundVerdict::flat)
    return Headline::bound_met;
  return v.verdict == Verdict::worse_than_claimed && v.bound == BoundVerdict::exceeds
             ? Headline::refuted
             : Headline::open;
}

SlopeVerdict judge(const SlopeFit& fit, ClaimedExponent claimed, std::span<const double> rivals,
                   HardEnd end, const SlopeFit* over_plan) {
  using enum Verdict;
  const Interval zone = zone_of(claimed, rivals);
  SlopeVerdict v = judge_by(zone, claimed, fit, end);
  if ((v.verdict == more_seeds || v.verdict == as_claimed_or_better) &&
      place_of(fit.interval, zone) == Place::across)
    v.reason =
        undecided(fit.interval, zone, claimed, rivals) + (v.reason.empty() ? "" : "; " + v.reason);
  if (over_plan == nullptr || v.verdict == as_claimed || v.verdict == better_than_claimed) return v;

  const SlopeVerdict ratio = judge_by(
      {.low = zone.low - claimed.low, .high = zone.high - claimed.high}, 0.0, *over_plan, end);
  if (ratio.bound == BoundVerdict::flat) v.bound = BoundVerdict::flat;
  const bool better = ratio.verdict == better_than_claimed;
  if (ratio.verdict == as_claimed || (better && v.verdict == worse_than_claimed)) {
    v.verdict = as_claimed_with_terms;
    v.reason = fmt::format("{} over the solved α", to_text(*over_plan));
  } else if (v.verdict == worse_than_claimed && ratio.verdict != worse_than_claimed) {
    v = {.verdict = more_seeds,
         .reason =
             fmt::format("worse than the exponent, but {} over the solved α, whose lower-order "
                         "terms may explain it",
                         to_text(*over_plan)),
         .bound = ratio.bound};
  }
  return v;
}

}  // namespace dpsosp
