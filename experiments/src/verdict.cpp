// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/experiments/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

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

Verdict verdict_of(Place place) {
  switch (place) {
    case Place::inside:
      return Verdict::as_claimed;
    case Place::below:
      return Verdict::better_than_claimed;
    case Place::above:
      return Verdict::worse_than_claimed;
    case Place::across:
      break;
  }
  return Verdict::more_seeds;
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

/// "between the claim and -0.571, the next exponent that a paper names"
std::string undecided(Interval interval,
                      Interval zone,
                      ClaimedExponent claimed,
                      std::span<const double> rivals) {
  const bool below = interval.low<zone.low, above = interval.high> zone.high;
  const auto side = [](double rival, std::string_view word) {
    return std::isfinite(rival) ? fmt::format("{:+.3f}", rival) : std::string(word);
  };
  const std::string less = side(next_below(claimed, rivals), "a smaller one");
  const std::string more = side(next_above(claimed, rivals), "a larger one");
  return fmt::format("undecided between the claimed exponent and {}",
                     below && above ? fmt::format("both {} and {}", less, more)
                     : below        ? less
                                    : more);
}

}  // namespace

std::string to_text(ClaimedExponent claimed) {
  const std::string high = fmt::format("{:+.3f}", claimed.high);
  return claimed.low == claimed.high ? high : fmt::format("{:+.3f} to {}", claimed.low, high);
}

Interval zone_of(ClaimedExponent claimed, std::span<const double> rivals) {
  if (!std::isfinite(claimed.low)) reject("judge", "claimed", claimed.low, "a finite exponent");
  if (!(claimed.high >= claimed.low && std::isfinite(claimed.high)))
    reject("judge",
           "upper end of the claimed range",
           claimed.high,
           fmt::format("finite and at least the lower end, {:g}", claimed.low));
  const double below = 0.5 * (claimed.low - next_below(claimed, rivals));
  const double above = 0.5 * (next_above(claimed, rivals) - claimed.high);
  return {.low = claimed.low - std::min(slope_tolerance, below),
          .high = claimed.high + std::min(slope_tolerance, above)};
}

SlopeVerdict judge(const SlopeFit& fit, ClaimedExponent claimed, std::span<const double> rivals) {
  const Interval zone = zone_of(claimed, rivals);
  const Place line = place_of(fit.interval, zone);
  const Place first = place_of(fit.first, zone), last = place_of(fit.last, zone);
  const double steepest = std::max({fit.interval.high, fit.first.high, fit.last.high});
  SlopeVerdict v;
  if (fit.bent || fit.drifting) {
    // A line through a curve has an exponent that depends on where the range ends; both ends on one
    // side of the zone leave no doubt about the side.
    const bool one_side = !fit.bent && first == last && first != Place::across;
    v.verdict = one_side ? verdict_of(first) : Verdict::no_power_law;
    v.bound = v.verdict == Verdict::worse_than_claimed ? BoundVerdict::rises
              : steepest <= zone.high                  ? BoundVerdict::holds
                                                       : BoundVerdict::undecided;
    if (fit.bent)
      v.reason = fmt::format("a cell lies a factor of {:.3g} off the line", fit.off_line);
    else
      v.reason = fmt::format("the slope goes from {} at the first cell to {} at the last",
                             to_text(fit.first),
                             to_text(fit.last));
    return v;
  }
  v.verdict = verdict_of(line);
  v.bound = line == Place::above             ? BoundVerdict::rises
            : fit.interval.high <= zone.high ? BoundVerdict::holds
                                             : BoundVerdict::undecided;
  if (line == Place::across) v.reason = undecided(fit.interval, zone, claimed, rivals);
  const auto doubt = [&](std::string reason, double largest) {
    v = {.verdict = Verdict::more_seeds,
         .reason = std::move(reason),
         .bound = largest <= zone.high ? BoundVerdict::holds : BoundVerdict::undecided};
  };
  if (std::abs(fit.drift) > FitOptions{}.drift_tolerance) {
    const std::string drift =
        fmt::format("a drift of {:+.3g} [{:+.3g}, {:+.3g}] is within chance, not excluded",
                    fit.drift,
                    fit.drift_interval.low,
                    fit.drift_interval.high);
    if (line == Place::below || line == Place::above)
      doubt(drift, steepest);
    else
      v.reason += (v.reason.empty() ? "" : "; ") + drift;
  }
  if (v.verdict == Verdict::as_claimed)
    if (const Place means = place_of(fit.mean_interval, zone);
        means == Place::below || means == Place::above)
      doubt(fmt::format("runs as claimed, their means {:+.3f} {}",
                        fit.mean_slope,
                        to_text(fit.mean_interval)),
            std::max(fit.interval.high, fit.mean_interval.high));
  return v;
}

}  // namespace dpsosp
