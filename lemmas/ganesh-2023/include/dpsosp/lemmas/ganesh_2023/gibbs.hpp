// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "dpsosp/problems/problem.hpp"

/// Gibbs laws of multi-well, exactly.
namespace dpsosp::ganesh_2023_lemma {

inline constexpr double run_delta = 1e-6;
/// One within Theorem 5.6's (0, 1/2), and that of the runs.
inline constexpr std::array risk_epsilons{0.4, 1.0};

/// A law on the middles of cells, with a loss and its least value.
struct OneDimension {
  std::vector<double> u, loss;
  double half_width = 0;

  double slope() const;
  /// E g under the density exp(−β loss − βμu²/2 − β tilt u).
  double mean(double beta, double mu, double tilt,
              const std::function<double(std::size_t)>& g) const;
};
OneDimension multi_well(std::size_t cells);

/// min F_P, at the stated minimiser: that of a grid is off by more than the excess of a cold law.
double least_of(const Problem& problem);

/// Theorem 5.6 on multi-well in d dimensions at δ = 10⁻⁶ with all constants 1: the law is a
/// product, and n enters by ln n alone.
class RegularisedMechanism {
 public:
  RegularisedMechanism(Index dimension, double epsilon);

  double range() const { return range_; }
  double excess(double log_n) const;
  double bound(double log_n) const;

 private:
  double d_, epsilon_;
  OneDimension well_;
  double least_;
  double range_ = 0, diameter_ = 0;
};

/// Slope of the excess in ln n between two values of it.
double slope_in_logarithm(const RegularisedMechanism& mechanism, double from, double to);

}  // namespace dpsosp::ganesh_2023_lemma
