// SPDX-License-Identifier: Apache-2.0
#include "normals.hpp"

#include <algorithm>
#include <array>

#include "quantile_series.hpp"
#include "simd.hpp"

// Compiled once for each instruction set. No operation is fused or reordered: a lane does what the
// scalar functions of stream.cpp do, so its bits are theirs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "normals.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lanes-inl.hpp"
#include "philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace qs = quantile_series;

// The double of an integer below 2^52, which is the low bits of 2^52 plus it.
HWY_INLINE DoubleV small_to_double(WordV v) {
  return hn::Sub(hn::BitCast(d, hn::Or(v, hn::Set(dw, 0x4330000000000000U))), hn::Set(d, 0x1p52));
}

HWY_INLINE DoubleV lower_probability(WordV word) {
  const DoubleV steps = hn::Add(small_to_double(hn::ShiftRight<12>(word)), hn::Set(d, 0.5));
  return hn::Mul(steps, hn::Set(d, 0x1p-53));
}

// −z where the last bit of the word is set.
HWY_INLINE DoubleV with_sign_of(WordV word, DoubleV z) {
  return hn::Xor(z, hn::BitCast(d, hn::ShiftLeft<63>(word)));
}

HWY_INLINE DoubleV log_of(DoubleV x) {
  const WordV bits = hn::BitCast(dw, x);
  DoubleV k = hn::Sub(small_to_double(hn::ShiftRight<52>(bits)), hn::Set(d, 1023.0));
  DoubleV m = hn::BitCast(
      d, hn::Or(hn::And(bits, hn::Set(dw, 0x000fffffffffffffU)), hn::Set(dw, 0x3ff0000000000000U)));
  const auto high = hn::Gt(m, hn::Set(d, qs::root_two));
  m = hn::IfThenElse(high, hn::Mul(m, hn::Set(d, 0.5)), m);
  k = hn::IfThenElse(high, hn::Add(k, hn::Set(d, 1.0)), k);
  const DoubleV s = hn::Div(hn::Sub(m, hn::Set(d, 1.0)), hn::Add(m, hn::Set(d, 1.0)));
  const DoubleV series =
      hn::Mul(hn::Mul(hn::Set(d, 2.0), s), horner(qs::atanh_series, hn::Mul(s, s)));
  return hn::Add(hn::Mul(k, hn::Set(d, qs::ln2_high)),
                 hn::Add(series, hn::Mul(k, hn::Set(d, qs::ln2_low))));
}

constexpr std::size_t chunk = 256;
constexpr std::size_t padding = 16;  // a vector may be written or read beyond the end
static_assert(HWY_MAX_BYTES / sizeof(double) <= padding);

// z[j] for words[j], j < count. Reads and writes whole vectors.
void normals_of(const std::uint64_t* words, std::size_t count, double* z) {
  HWY_ALIGN std::array<std::uint64_t, chunk + padding> tail_words;
  HWY_ALIGN std::array<std::uint64_t, chunk + padding> tail_places;
  std::size_t tails = 0;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < count; j += lanes) {
    const WordV word = hn::LoadU(dw, words + j);
    const DoubleV q = hn::Sub(lower_probability(word), hn::Set(d, 0.5));
    const DoubleV r = hn::Sub(hn::Set(d, qs::centre_square), hn::Mul(q, q));
    const DoubleV centre =
        hn::Div(hn::Mul(q, horner(qs::centre_top, r)), horner(qs::centre_bottom, r));
    hn::StoreU(with_sign_of(word, centre), d, z + j);
    const auto in_tail = hn::Lt(q, hn::Set(d, -qs::centre_half_width));
    std::array<std::uint8_t, 8> bits{};
    hn::StoreMaskBits(d, in_tail, bits.data());
    for (std::size_t k = 0; k < lanes; ++k) {
      tail_places[tails] = j + k;
      tail_words[tails] = words[j + k];
      tails += (bits[0] >> k) & 1U;
    }
  }
  if (tails == 0) return;
  constexpr std::uint64_t harmless = std::uint64_t{1} << 63;  // 0 would look like a far tail
  std::fill_n(tail_words.begin() + static_cast<std::ptrdiff_t>(tails), lanes, harmless);
  HWY_ALIGN std::array<double, HWY_MAX_BYTES / sizeof(double)> found;
  for (std::size_t j = 0; j < tails; j += lanes) {
    const WordV word = hn::Load(dw, tail_words.data() + j);
    const DoubleV p = lower_probability(word);
    const DoubleV r = hn::Sqrt(hn::Neg(log_of(p)));
    const DoubleV t = hn::Sub(r, hn::Set(d, qs::tail_centre));
    const DoubleV near = hn::Div(hn::Neg(horner(qs::tail_top, t)), horner(qs::tail_bottom, t));
    hn::Store(with_sign_of(word, near), d, found.data());
    const std::size_t here = std::min(lanes, tails - j);
    for (std::size_t k = 0; k < here; ++k) z[tail_places[j + k]] = found[k];
    if (hn::AllFalse(d, hn::Gt(r, hn::Set(d, qs::tail_end)))) continue;
    for (std::size_t k = 0; k < here; ++k) z[tail_places[j + k]] = normal_of(tail_words[j + k]);
  }
}

void write(const StreamKey& key, std::uint64_t position, double deviation, double* out,
           std::size_t count, Onto onto) {
  HWY_ALIGN std::array<std::uint64_t, chunk + 4 * most_blocks_together + padding> words;
  HWY_ALIGN std::array<double, chunk + padding> z;
  while (count > 0) {
    const std::size_t slot = position % 4;
    const std::size_t here = std::min(count, chunk - slot);
    const std::size_t blocks = (slot + here + 3) / 4;
    philox_words(key, position / 4, blocks, words.data());
    std::fill_n(words.data() + 4 * blocks, hn::Lanes(d), 0);
    normals_of(words.data() + slot, here, z.data());
    if (onto == Onto::nothing)
      for (std::size_t j = 0; j < here; ++j) out[j] = deviation * z[j];
    else
      for (std::size_t j = 0; j < here; ++j) out[j] += deviation * z[j];
    position += here;
    out += here;
    count -= here;
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(write);

void write_normals(const StreamKey& key, std::uint64_t position, double deviation, VectorRef out,
                   Onto onto) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(write)
  (key, position, deviation, out.data(), static_cast<std::size_t>(out.size()), onto);
}

}  // namespace dpsosp
#endif
