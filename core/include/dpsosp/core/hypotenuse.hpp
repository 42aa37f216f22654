// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dpsosp {

/// √(x² + y²) within one unit in the last place, without overflow or underflow on the way: infinite
/// if one of them is, else NaN if one of them is. The bits are the same on every platform, while
/// those of std::hypot are the C library's.
double hypotenuse(double x, double y);

}  // namespace dpsosp
