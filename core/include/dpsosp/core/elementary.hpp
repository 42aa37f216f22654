// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dpsosp/core/vector.hpp"

namespace dpsosp {

/// Elementary functions with the same bits on every processor; those of the C library depend on its
/// version and on whether the processor has fused operations.
///
/// Sine and cosine are within 0.9 units in the last place, or 2^-100 where the value is smaller
/// than 2^-48. Beyond |x| = 2^20, and of what is not finite, they are the C library's.
double portable_sin(double x);
double portable_cos(double x);

/// Of every entry, with those bits, many at once.
Vector sines(ConstVectorRef x);
Vector cosines(ConstVectorRef x);

/// e^x for |x| ≤ 700, within 1.5 units in the last place.
double portable_exp(double x);
/// base^exponent for a normal base > 0, where the result is in e^±700; its relative error is at
/// most (2 |ln result| + 2) 2^-52.
double portable_pow(double base, double exponent);

}  // namespace dpsosp
