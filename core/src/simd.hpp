// SPDX-License-Identifier: Apache-2.0
#pragma once

// Before <hwy/foreach_target.h>: instruction sets that a source is compiled for. Those left out
// gain nothing here, or have vectors of a length that is unknown at compile time.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

namespace dpsosp {

/// Keeps to the instruction set that the environment variable DPSOSP_SIMD names: portable, sse4,
/// avx2 or avx512; without it, to the best that the processor has. No result depends on it.
/// \throws InputError on another word, or on a set that the processor lacks
void choose_instruction_set();

}  // namespace dpsosp
