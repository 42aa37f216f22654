// SPDX-License-Identifier: Apache-2.0
#include "simd.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <hwy/highway.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {
namespace {

struct InstructionSet {
  std::string_view word;
  std::int64_t target;
};
constexpr std::array<InstructionSet, 4> instruction_sets{{{"portable", HWY_STATIC_TARGET},
                                                          {"sse4", HWY_SSE4},
                                                          {"avx2", HWY_AVX2},
                                                          {"avx512", HWY_AVX3}}};

std::int64_t chosen_target() {
  const char* wanted = std::getenv("DPSOSP_SIMD");
  if (wanted == nullptr) return 0;  // the best
  const std::int64_t available = hwy::SupportedTargets() | HWY_STATIC_TARGET;
  for (const InstructionSet& set : instruction_sets)
    if (set.word == wanted && (set.target & available) != 0) return set.target;
  reject("environment", "DPSOSP_SIMD", wanted,
         "portable, sse4, avx2 or avx512, if the processor has it");
}

}  // namespace

void choose_instruction_set() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (const std::int64_t target = chosen_target(); target != 0)
      hwy::SetSupportedTargetsForTest(target);
  });
}

}  // namespace dpsosp
