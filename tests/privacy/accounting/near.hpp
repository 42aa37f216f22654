// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace dpsosp {

inline bool agrees(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::abs(expected);
}

/// |value − expected| <= tolerance·|expected|
inline testing::AssertionResult relative(double value, double expected, double tolerance) {
  if (agrees(value, expected, tolerance)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is not " << expected << " to " << tolerance
                                     << ": off by " << std::abs(value / expected - 1);
}

/// Maps any integer to [low, high], evenly in the logarithm.
inline double log_uniform(std::uint16_t raw, double low, double high) {
  return low * std::pow(high / low, raw / 65535.0);
}

}  // namespace dpsosp
