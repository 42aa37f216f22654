// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

/// ln Σ e^t over the terms t added so far; −∞ when empty.
class LogSum {
 public:
  void add(double t) {
    if (t <= max_) {
      if (t > max_ - 745) sum_ += std::exp(t - max_);
    } else {
      sum_ = sum_ * std::exp(max_ - t) + 1;
      max_ = t;
    }
  }
  double value() const { return max_ + std::log(sum_); }

 private:
  double max_ = -std::numeric_limits<double>::max();
  double sum_ = 0;
};

/// ln(1 + e^t)
inline double log1p_exp(double t) {
  return t > 0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t));
}

/// ln(e^t − 1), t > 0
inline double log_expm1(double t) {
  return t > 1 ? t + std::log1p(-std::exp(-t)) : std::log(std::expm1(t));
}

/// The end of [no, yes] nearest the switch at which `holds` is true: holds(yes), not holds(no),
/// monotone. Stops at the relative width.
template <class Predicate>
double bisect(double no, double yes, const Predicate& holds, double width = 1e-14) {
  while (std::abs(yes - no) > width * std::abs(yes)) {
    const double middle = no + (yes - no) / 2;
    if (middle == no || middle == yes) break;
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

/// a <= b, but for the rounding of sums of decimal fractions
inline bool is_at_most(double a, double b) { return a <= b * (1 + 1e-15); }

/// Range checks that refuse NaN.
inline void expect(bool good, std::string_view where, std::string_view name, double value,
                   std::string_view expected) {
  if (!good) reject(where, name, value, expected);
}
inline void expect_delta(std::string_view where, double delta) {
  expect(delta > 0 && delta < 1, where, "delta", delta, "a number in (0, 1)");
}
inline void expect_positive(std::string_view where, std::string_view name, double value) {
  expect(value > 0 && std::isfinite(value), where, name, value, "a finite number > 0");
}
inline void expect_nonnegative(std::string_view where, std::string_view name, double value) {
  expect(value >= 0 && std::isfinite(value), where, name, value, "a finite number >= 0");
}
inline void expect_rate(std::string_view where, double rate) {
  expect(rate >= 0 && rate <= 1, where, "rate", rate, "a number in [0, 1]");
}
inline void expect_order(std::string_view where, double order) {
  expect(order > 1 && order <= 1e6, where, "order", order, "a number in (1, 1e6]");
}

}  // namespace dpsosp
