// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dpsosp {

/// ln B(l) for even l, B(l) = Σ_i (−1)^i C(l,i) e^{i(i−1)/(2z²)} = E[(L−1)^l] with L the likelihood
/// ratio of N(1,z²) to N(0,z²): an average of terms >= 0, so the sum's cancellation never arises.
class ForwardDifferences {
 public:
  static constexpr int kHighestOrder = 256;  ///< beyond it only the closed form is used

  /// Holds B(2), B(4), ..., up to the first even number >= min(order, kHighestOrder).
  ForwardDifferences(double noise_multiplier, int order);
  double log_of_even(int l) const { return log_values_[static_cast<std::size_t>(l / 2)]; }

 private:
  std::vector<double> log_values_;  // of B(0), B(2), ...
};

/// (a−1)·RDP(a) of the forward-difference bound at an integer order >= 1 (0 at 1).
double fixed_size_log_moment(int order, double rate, double noise_multiplier,
                             const ForwardDifferences& differences);

/// Upper bound at `order` > 1 of a convex function that is known at integers: its chord.
template <class LogMoment>
double chord(double order, const LogMoment& log_moment) {
  const int lower = static_cast<int>(order);
  const double at_lower = log_moment(lower);
  if (order == lower) return at_lower;
  return at_lower + (order - lower) * (log_moment(lower + 1) - at_lower);
}

}  // namespace dpsosp
