// SPDX-License-Identifier: Apache-2.0
// Blocks of Philox words, for sources that Highway compiles once for each instruction set.
#if defined(DPSOSP_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DPSOSP_PHILOX_INL
#undef DPSOSP_PHILOX_INL
#else
#define DPSOSP_PHILOX_INL
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3  // narrower vectors gain nothing over the scalar 64-bit product

namespace hn = hwy::HWY_NAMESPACE;

using PhiloxTag = hn::ScalableTag<std::uint64_t>;
using PhiloxV = hn::Vec<PhiloxTag>;
constexpr PhiloxTag philox_tag;
constexpr std::size_t philox_lanes = hn::MaxLanes(philox_tag);

/// Products of the lower halves.
HWY_INLINE PhiloxV multiply_low(PhiloxV a, PhiloxV b) {
  const hn::Repartition<std::uint32_t, PhiloxTag> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
}

/// The 128 bits of x·m by four products of halves.
template <std::uint64_t m>
HWY_INLINE void multiply(PhiloxV x, PhiloxV& high, PhiloxV& low) {
  const PhiloxV lower_half = hn::Set(philox_tag, 0xffffffffU);
  const PhiloxV m_low = hn::Set(philox_tag, m & 0xffffffffU);
  const PhiloxV m_high = hn::Set(philox_tag, m >> 32);
  const PhiloxV x_high = hn::ShiftRight<32>(x);
  const PhiloxV first = multiply_low(x, m_low);
  const PhiloxV left = hn::Add(multiply_low(x_high, m_low), hn::ShiftRight<32>(first));
  const PhiloxV right = hn::Add(multiply_low(x, m_high), hn::And(left, lower_half));
  high = hn::Add(hn::Add(multiply_low(x_high, m_high), hn::ShiftRight<32>(left)),
                 hn::ShiftRight<32>(right));
  low = hn::Or(hn::ShiftLeft<32>(right), hn::And(first, lower_half));
}

/// `chains` vectors of counters, whose products overlap.
template <std::size_t chains>
HWY_INLINE void philox_group(const StreamKey& key, std::uint64_t first, std::uint64_t* words) {
  std::array<std::array<PhiloxV, 4>, chains> c;
  for (std::size_t j = 0; j < chains; ++j)
    c[j] = {hn::Iota(philox_tag, first + j * philox_lanes), hn::Zero(philox_tag),
            hn::Set(philox_tag, key.run),
            hn::Set(philox_tag, static_cast<std::uint64_t>(key.purpose))};
  std::uint64_t seed = key.seed, path = key.path;
  for (int round = 0; round < 10; ++round) {
    const PhiloxV key_0 = hn::Set(philox_tag, seed), key_1 = hn::Set(philox_tag, path);
    for (auto& [a, b, e, f] : c) {
      PhiloxV high_0, low_0, high_1, low_1;
      multiply<PHILOX_M4x64_0>(a, high_0, low_0);
      multiply<PHILOX_M4x64_1>(e, high_1, low_1);
      a = hn::Xor(hn::Xor(high_1, b), key_0);
      b = low_1;
      e = hn::Xor(hn::Xor(high_0, f), key_1);
      f = low_0;
    }
    seed += PHILOX_W64_0;
    path += PHILOX_W64_1;
  }
  for (std::size_t j = 0; j < chains; ++j)
    hn::StoreInterleaved4(c[j][0], c[j][1], c[j][2], c[j][3], philox_tag,
                          words + 4 * philox_lanes * j);
}

static_assert(2 * philox_lanes <= most_blocks_together);
#endif

/// Writes the words of `blocks` blocks from block `first` on, and spoils up to
/// 4·(most_blocks_together − 1) words beyond them.
HWY_INLINE void philox_words(const StreamKey& key, std::uint64_t first, std::size_t blocks,
                             std::uint64_t* words) {
  std::size_t b = 0;
#if HWY_TARGET == HWY_AVX3
  constexpr std::size_t pays = 3;  // blocks in a vector
  for (; b + philox_lanes + pays <= blocks; b += 2 * philox_lanes)
    philox_group<2>(key, first + b, words + 4 * b);
  for (; b + pays <= blocks; b += philox_lanes) philox_group<1>(key, first + b, words + 4 * b);
#endif
  for (; b < blocks; ++b) {
    const auto block = philox_block(key, first + b);
    for (std::size_t k = 0; k < 4; ++k) words[4 * b + k] = block[k];  // copied whole, a call each
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
