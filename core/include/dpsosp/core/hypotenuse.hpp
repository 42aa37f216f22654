// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// √(x² + y²) within one unit in the last place, without overflow or underflow on the way: infinite
/// if one of them is, else NaN if one of them is. The bits are the same on every platform, while
/// those of std::hypot are the C library's.
double hypotenuse(double x, double y);

/// ‖u‖ without its entry j, for every j; a difference ‖u‖² − u_j² would cancel.
Vector norms_beside(const Vector& u);

}  // namespace dpsosp
