// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the noise of avdiukhin-2024, Section 3.4 costs, from below and from above.
namespace dpsosp::avdiukhin_2024_exhibit {

/// The pair of data sets of avdiukhin-2024 notes, 2.3, at L = ρ = σ = 1.
struct CurvaturePair {
  double length;     ///< s = √(ln n): of the added gradient
  double frequency;  ///< k = √(n/(2s))
  double move;       ///< s k/n: of λ_min
  /// Mean of exp(‖∇f_i − ∇f‖²) over the records at the worst point; Assumption B: below e.
  double concentration;
};
CurvaturePair curvature_pair(double records);

/// Least ε that one answer to "λ_min is above its value in D" shows of the pair at δ, with noise
/// Lap(1/(nε)) at the query and `threshold` times that scale at the threshold, 0 to 1.
double curvature_cost(double records, double epsilon, double delta, double threshold);

/// Least ε that AboveThreshold shows after so many tests, of which the last succeeds: each number
/// may move by `sensitivity`, in units of the noise of queries and threshold. The most is three
/// times the sensitivity.
double above_threshold_cost(double sensitivity, int tests);

}  // namespace dpsosp::avdiukhin_2024_exhibit
