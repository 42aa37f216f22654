// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/elementary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "dpsosp/core/stream.hpp"
#include "quantile_series.hpp"
#include "simd.hpp"
#include "sine_series.hpp"

// Compiled once for each instruction set. No operation is fused or reordered: a lane does what the
// scalar functions below do, so its bits are theirs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace ss = sine_series;

// sin(x + turn·π/2)
HWY_INLINE DoubleV sine_of(DoubleV x, std::uint64_t turn) {
  const DoubleV one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), rounder = hn::Set(d, ss::rounder);
  const DoubleV shifted = hn::Add(hn::Mul(x, hn::Set(d, ss::two_over_pi)), rounder);
  const DoubleV k = hn::Sub(shifted, rounder);
  const WordV quadrant = hn::Add(hn::BitCast(dw, shifted), hn::Set(dw, turn));

  const DoubleV t = hn::Sub(x, hn::Mul(k, hn::Set(d, ss::first)));
  const DoubleV w = hn::Mul(k, hn::Set(d, ss::second));
  const DoubleV near = hn::Sub(t, w);
  const DoubleV rest = hn::Sub(hn::Sub(hn::Sub(t, near), w), hn::Mul(k, hn::Set(d, ss::third)));
  const DoubleV r = hn::Add(near, rest);
  const DoubleV low = hn::Add(hn::Sub(near, r), rest);

  const DoubleV z = hn::Mul(r, r);
  const DoubleV h = hn::Mul(half, z);
  const DoubleV down = hn::Sub(one, h);
  const DoubleV sine =
      hn::Add(r, hn::Add(hn::Mul(r, hn::Mul(z, horner(ss::sine, z))), hn::Mul(low, down)));
  const DoubleV fourth = hn::Mul(hn::Mul(z, z), horner(ss::cosine, z));
  const DoubleV cosine =
      hn::Add(down, hn::Add(hn::Sub(hn::Sub(one, down), h), hn::Sub(fourth, hn::Mul(r, low))));

  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, hn::Set(dw, 1)));
  const WordV sign = hn::ShiftLeft<63>(hn::ShiftRight<1>(quadrant));
  return hn::Xor(hn::IfThenElse(odd, cosine, sine), hn::BitCast(d, sign));
}

void write_sines(const double* x, std::size_t count, std::uint64_t turn, double* out) {
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::array<double, HWY_MAX_BYTES / sizeof(double)> last{};
  for (std::size_t j = 0; j < count; j += lanes) {
    const std::size_t here = std::min(lanes, count - j);
    if (here < lanes) std::copy_n(x + j, here, last.data());
    const DoubleV v = hn::LoadU(d, here < lanes ? last.data() : x + j);
    const DoubleV found = sine_of(v, turn);
    if (here < lanes) {
      hn::Store(found, d, last.data());
      std::copy_n(last.data(), here, out + j);
    } else {
      hn::StoreU(found, d, out + j);
    }
    if (!hn::AllTrue(d, hn::Le(hn::Abs(v), hn::Set(d, ss::farthest))))
      for (std::size_t k = j; k < j + here; ++k)
        out[k] = turn == 0 ? portable_sin(x[k]) : portable_cos(x[k]);
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {
namespace {

/// sin(x + turn·π/2) for |x| ≤ 2^20: the remainder r + low of x by π/2 (Cody and Waite), and the
/// series of its quadrant.
double sine_of(double x, std::uint64_t turn) {
  namespace ss = sine_series;
  using quantile_series::horner;
  const double shifted = x * ss::two_over_pi + ss::rounder;
  const double k = shifted - ss::rounder;
  const std::uint64_t quadrant = std::bit_cast<std::uint64_t>(shifted) + turn;
  const double t = x - k * ss::first, w = k * ss::second;
  const double near = t - w, rest = ((t - near) - w) - k * ss::third;
  const double r = near + rest, low = (near - r) + rest;
  const double z = r * r, h = 0.5 * z, down = 1.0 - h;
  const double value =
      (quadrant & 1U) == 0
          ? r + (r * (z * horner(ss::sine, z)) + low * down)
          : down + (((1.0 - down) - h) + (z * z * horner(ss::cosine, z) - r * low));
  return (quadrant & 2U) == 0 ? value : -value;
}

}  // namespace

double portable_sin(double x) {
  return std::abs(x) <= sine_series::farthest ? sine_of(x, 0) : std::sin(x);
}

double portable_cos(double x) {
  return std::abs(x) <= sine_series::farthest ? sine_of(x, 1) : std::cos(x);
}

double portable_exp(double x) {
  // Of the series of e^r, |r| ≤ ln 2/2; the first that is left out is below 2^-57.
  constexpr int terms = 14;
  using quantile_series::ln2_high, quantile_series::ln2_low;
  const double k = std::nearbyint(x * (1 / std::numbers::ln2));
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 1;
  for (int j = terms - 1; j > 0; --j) sum = 1 + r / j * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

double portable_pow(double base, double exponent) {
  return portable_exp(exponent * portable_log(base));
}

HWY_EXPORT(write_sines);

namespace {

Vector sines_of(ConstVectorRef x, std::uint64_t turn) {
  choose_instruction_set();
  Vector out(x.size());
  HWY_DYNAMIC_DISPATCH(write_sines)
  (x.data(), static_cast<std::size_t>(x.size()), turn, out.data());
  return out;
}

}  // namespace

Vector sines(ConstVectorRef x) { return sines_of(x, 0); }
Vector cosines(ConstVectorRef x) { return sines_of(x, 1); }

}  // namespace dpsosp
#endif
