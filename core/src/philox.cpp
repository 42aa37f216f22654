// SPDX-License-Identifier: Apache-2.0
#include "philox.hpp"

#include "simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

void write(const StreamKey& key, std::uint64_t first, std::size_t blocks, std::uint64_t* words) {
  philox_words(key, first, blocks, words);
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(write);

void write_words(const StreamKey& key, std::uint64_t first, std::size_t blocks,
                 std::uint64_t* words) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(write)(key, first, blocks, words);
}

}  // namespace dpsosp
#endif
