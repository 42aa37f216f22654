// SPDX-License-Identifier: Apache-2.0
// Lanes of doubles and words, for sources that Highway compiles once for each instruction set.
#if defined(DPSOSP_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DPSOSP_LANES_INL
#undef DPSOSP_LANES_INL
#else
#define DPSOSP_LANES_INL
#endif

#include <array>
#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Words = hn::RebindToUnsigned<Doubles>;
using DoubleV = hn::Vec<Doubles>;
using WordV = hn::Vec<Words>;

constexpr Doubles d;
constexpr Words dw;

template <std::size_t N>
HWY_INLINE DoubleV horner(const std::array<double, N>& c, DoubleV x) {
  DoubleV sum = hn::Set(d, c[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) sum = hn::Add(hn::Mul(sum, x), hn::Set(d, c[k]));
  return sum;
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
