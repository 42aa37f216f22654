// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/cholesky.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <new>

#include "simd.hpp"

// Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "partial_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

constexpr std::size_t panel = 4;  // columns at a time; d is rounded up to it by an identity
constexpr std::size_t rows_at_once = 2 * lanes;

using Panel = std::array<double*, panel>;

// Takes from the panel's columns, from row `first` on, what the columns before it contribute.
// Vectors cover whole columns: what they write above the diagonal nobody reads below it.
void subtract_columns(double* l, std::size_t stride, std::size_t first, std::size_t j) {
  for (std::size_t i = first; i < stride; i += rows_at_once) {
    std::array<std::array<Lanes, 2>, panel> sums;
    for (std::size_t c = 0; c < panel; ++c)
      for (std::size_t v = 0; v < 2; ++v)
        sums[c][v] = hn::Load(tag, l + (j + c) * stride + i + v * lanes);
    for (std::size_t k = 0; k < j; ++k) {
      const double* column = l + k * stride;
      const std::array<Lanes, 2> rows{hn::Load(tag, column + i), hn::Load(tag, column + i + lanes)};
      for (std::size_t c = 0; c < panel; ++c) {
        const Lanes factor = hn::Set(tag, column[j + c]);
        for (std::size_t v = 0; v < 2; ++v)
          sums[c][v] = hn::Sub(sums[c][v], hn::Mul(factor, rows[v]));
      }
    }
    for (std::size_t c = 0; c < panel; ++c)
      for (std::size_t v = 0; v < 2; ++v)
        hn::Store(sums[c][v], tag, l + (j + c) * stride + i + v * lanes);
  }
}

// Factors the panel's columns among themselves.
bool finish_panel(double* l, std::size_t stride, std::size_t first, std::size_t j) {
  for (std::size_t c = 0; c < panel; ++c) {
    double* column = l + (j + c) * stride;
    const double pivot = column[j + c];
    if (!(pivot > 0 && std::isfinite(pivot))) return false;
    const double root = std::sqrt(pivot);
    for (std::size_t i = first; i < stride; i += lanes)
      hn::Store(hn::Div(hn::Load(tag, column + i), hn::Set(tag, root)), tag, column + i);
    column[j + c] = root;
    for (std::size_t b = c + 1; b < panel; ++b) {
      double* other = l + (j + b) * stride;
      const Lanes factor = hn::Set(tag, column[j + b]);
      for (std::size_t i = first; i < stride; i += lanes) {
        const Lanes product = hn::Mul(factor, hn::Load(tag, column + i));
        hn::Store(hn::Sub(hn::Load(tag, other + i), product), tag, other + i);
      }
    }
  }
  return true;
}

bool factor_columns(double* l, std::size_t d, std::size_t stride) {
  for (std::size_t j = 0; j < d; j += panel) {
    const std::size_t first = j / rows_at_once * rows_at_once;
    subtract_columns(l, stride, first, j);
    if (!finish_panel(l, stride, first, j)) return false;
  }
  for (std::size_t j = 1; j < d; ++j) std::fill_n(l + j * stride, j, 0.0);
  return true;
}

// b becomes L⁻ᵀ L⁻¹ b; it has `stride` entries, zero beyond d.
void solve_columns(const double* l, std::size_t d, std::size_t stride, double* b) {
  for (std::size_t k = 0; k < d; ++k) {
    const double* column = l + k * stride;
    const double x = b[k] / column[k];
    const Lanes factor = hn::Set(tag, x);
    for (std::size_t i = k / lanes * lanes; i < stride; i += lanes) {
      const Lanes product = hn::Mul(factor, hn::Load(tag, column + i));
      hn::Store(hn::Sub(hn::Load(tag, b + i), product), tag, b + i);
    }
    b[k] = x;
  }
  for (std::size_t k = d; k-- > 0;) {
    const double* column = l + k * stride;
    const double y = b[k];
    b[k] = 0;
    PartialSums sums = zero_sums();
    for (std::size_t i = k / partial_sums * partial_sums; i < stride; i += partial_sums)
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t at = i + part * lanes;
        sums[part] =
            hn::Add(sums[part], hn::Mul(hn::Load(tag, column + at), hn::Load(tag, b + at)));
      }
    b[k] = (y - total(sums)) / column[k];
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {
namespace {

constexpr Index most_lanes = 16, panel_columns = 4;
constexpr std::align_val_t alignment{64};

Index rounded_up(Index count, Index unit) { return (count + unit - 1) / unit * unit; }

// Columns a power of two apart would share a few sets of the cache.
Index stride_of(Index d) {
  const Index stride = rounded_up(d, most_lanes);
  return stride % 64 == 0 ? stride + most_lanes : stride;
}

}  // namespace

HWY_EXPORT(factor_columns);
HWY_EXPORT(solve_columns);

void Cholesky::Free::operator()(double* entries) const { ::operator delete[](entries, alignment); }

Cholesky::Cholesky(Index d)
    : d_(d),
      stride_(stride_of(d)),
      l_(new (alignment) double[static_cast<std::size_t>(stride_ *
                                                         (rounded_up(d, panel_columns) + 1))]) {
  choose_instruction_set();
}

bool Cholesky::factor(const Matrix& a, double shift) {
  const Index columns = rounded_up(d_, panel_columns);
  for (Index j = 0; j < columns; ++j) {
    double* column = l_.get() + j * stride_;
    std::fill_n(column, stride_, 0.0);
    if (j < d_) std::copy(a.col(j).begin() + j, a.col(j).end(), column + j);
    column[j] = j < d_ ? column[j] - shift : 1.0;
  }
  return HWY_DYNAMIC_DISPATCH(factor_columns)(
      l_.get(), static_cast<std::size_t>(columns), static_cast<std::size_t>(stride_));
}

void Cholesky::solve(VectorRef b) {
  double* work = l_.get() + rounded_up(d_, panel_columns) * stride_;
  std::fill(std::copy(b.begin(), b.end(), work), work + stride_, 0.0);
  HWY_DYNAMIC_DISPATCH(solve_columns)
  (l_.get(), static_cast<std::size_t>(d_), static_cast<std::size_t>(stride_), work);
  std::copy_n(work, d_, b.begin());
}

}  // namespace dpsosp
#endif
