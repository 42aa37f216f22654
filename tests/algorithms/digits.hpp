// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include <gtest/gtest.h>

namespace dpsosp::test {

/// Agreement in the digits that are printed.
inline void expect_digits(double actual, double expected, double relative) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

}  // namespace dpsosp::test
