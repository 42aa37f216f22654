// SPDX-License-Identifier: Apache-2.0
// Sums in eight parts, for sources that Highway compiles once for each instruction set.
#if defined(DPSOSP_PARTIAL_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DPSOSP_PARTIAL_SUMS_INL
#undef DPSOSP_PARTIAL_SUMS_INL
#else
#define DPSOSP_PARTIAL_SUMS_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t partial_sums = 8;  // part of every number
using Tag = hn::CappedTag<double, partial_sums>;
using Lanes = hn::Vec<Tag>;
constexpr Tag tag;
constexpr std::size_t lanes = hn::MaxLanes(tag);
constexpr std::size_t parts = partial_sums / lanes;
using PartialSums = std::array<Lanes, parts>;

HWY_INLINE PartialSums zero_sums() {
  PartialSums sums;
  for (Lanes& part : sums) part = hn::Zero(tag);
  return sums;
}

template <class D>
HWY_INLINE double fold_lanes([[maybe_unused]] D of, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(of) > 1) {
    const hn::Half<D> half;
    return fold_lanes(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
#endif
  return hn::GetLane(v);
}

/// ((s₀ + s₄) + (s₂ + s₆)) + ((s₁ + s₅) + (s₃ + s₇)).
HWY_INLINE double total(PartialSums sums) {
  for (std::size_t half = parts / 2; half > 0; half /= 2)
    for (std::size_t part = 0; part < half; ++part)
      sums[part] = hn::Add(sums[part], sums[part + half]);
  return fold_lanes(tag, sums[0]);
}

/// The first `count` entries, the others 0; count ≤ lanes.
HWY_INLINE Lanes load_first(const double* from, std::size_t count) {
  if (count == 0) return hn::Zero(tag);
  if (count == lanes) return hn::LoadU(tag, from);
#if HWY_MEM_OPS_MIGHT_FAULT  // masked loads read what they mask
  HWY_ALIGN std::array<double, lanes> entries{};
  std::copy_n(from, count, entries.begin());
  return hn::Load(tag, entries.data());
#else
  return hn::MaskedLoad(hn::FirstN(tag, count), tag, from);
#endif
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
