// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp::plots {

/// How a number is shown: `digits` significant digits in [1, 17], trailing zeros kept. Without
/// `scientific`, a power of ten appears only below 1e-4 or from 10^digits on, as with C's %g.
struct NumberFormat {
  int digits = 4;
  bool scientific = false;
};

std::string plain_number(double value, NumberFormat format);  ///< -4.850e-2
std::string latex_number(double value,
                         NumberFormat format);  ///< -4.850\times10^{-2}, for math mode

}  // namespace dpsosp::plots
