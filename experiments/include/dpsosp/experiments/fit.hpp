// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Exponents: the slope of the logarithm of a metric on the logarithm of an axis, over seeds.
namespace dpsosp {

/// The runs of one cell: x on the axis, the metric of every seed. A failed run has no value.
struct FitCell {
  double x = 0;                        ///< > 0
  std::vector<std::uint64_t> seeds{};  ///< of the values
  std::vector<double> values{};        ///< ≥ 0 and finite, one a seed
  int failed = 0;                      ///< seeds without a value
};

struct Interval {
  double low = 0;
  double high = 0;
  double half_width() const { return 0.5 * (high - low); }
  bool contains(double v) const { return low <= v && v <= high; }
};

/// The slope of log y on log x between two neighbouring cells.
struct LocalSlope {
  double x;  ///< geometric mean of the two
  double slope;
};

struct SlopeFit {
  double slope = 0;
  Interval interval{};   ///< 95 %
  double intercept = 0;  ///< log y at log x = 0
  /// Change of the slope from the first to the last cell, by a quadratic in log x.
  double drift = 0;
  Interval drift_interval{};        ///< 95 %
  bool drifting = false;            ///< the change is larger than chance and than `drift_tolerance`
  std::vector<LocalSlope> local{};  ///< of medians
  int cells = 0;
  int seeds = 0;   ///< smallest number of values in a cell
  int failed = 0;  ///< runs without a value, over all cells

  double at(double x) const;  ///< y of the fitted line
};

struct FitOptions {
  int resamples = 2000;
  std::uint64_t seed = 0;  ///< of the bootstrap; the same seed gives the same interval
  double drift_tolerance = 0.1;
};

/// Huber regression of log value on log x over all runs, so that a few wild seeds do not tilt it.
/// The interval is a percentile bootstrap over seeds (a seed is drawn for all cells at once, since
/// cells share starts), widened for their small number by t_{0.975}(s − 1) √(s/(s − 1)) / 1.96.
/// \param cells  at least 3 different x > 0, each with at least 2 values > 0, of at least 2 seeds
///   that all cells have
/// \throws InputError naming the cell where that is not so
SlopeFit fit_slope(std::span<const FitCell> cells, const FitOptions& options = {});

/// How a measurement stands to a claim.
enum class Verdict {
  as_claimed,  ///< slope within 0.05, half-width at most 0.05, no drift
  better_than_claimed,
  worse_than_claimed,
  inconclusive,   ///< the interval is too wide, or the slope still drifts
  not_reachable,  ///< no run of affordable size shows it
  holds,          ///< of claims without a slope
  fails,
};
std::string_view to_string(Verdict verdict);  ///< "as claimed", …

struct SlopeVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::string reason;  ///< why inconclusive, in words; else empty
};
inline constexpr double slope_tolerance = 0.05;

/// A claim is an upper bound: a smaller exponent than claimed is better, on every axis.
SlopeVerdict judge(const SlopeFit& fit, double claimed);

/// Two algorithms on the same cells and seeds.
struct PairedComparison {
  std::string name;
  int pairs = 0;
  double ratio = 1;     ///< median of first over second
  Interval interval{};  ///< 95 % bootstrap over pairs
  double p =
      1;  ///< two-sided sign-flip test of the mean log ratio: exact to 16 pairs, else 20000 draws
  double adjusted_p = 1;  ///< Holm over all comparisons of one call to adjust()
};
/// \param first, second  equally long; a pair in which either is not positive and finite is left
/// out
PairedComparison compare(std::string name,
                         std::span<const double> first,
                         std::span<const double> second,
                         const FitOptions& options = {});
/// Holm's step-down correction over the comparisons.
void adjust(std::vector<PairedComparison>& comparisons);

/// Median of a copy; NaN of none.
double median(std::vector<double> values);

}  // namespace dpsosp
