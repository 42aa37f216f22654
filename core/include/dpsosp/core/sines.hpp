// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Sine and cosine, the same bits on every processor, while those of std::sin depend on the C
/// library and on whether it has fused operations. Within 0.9 units in the last place, or 2^-100
/// where the value is smaller than 2^-48. Beyond |x| = 2^20, and of what is not finite, the C
/// library's.
double portable_sin(double x);
double portable_cos(double x);

/// Of every entry, with those bits, many at once.
Vector sines(ConstVectorRef x);
Vector cosines(ConstVectorRef x);

}  // namespace dpsosp
