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

constexpr std::size_t panel = lanes == 8 ? 8 : 4;  // columns at a time; no part of any number

// Takes from `height` vectors of the panel's columns, from row i on, what the columns before it
// contribute; returns the row where it stops.
template <std::size_t height>
std::size_t subtract_columns(double* l, std::size_t stride, std::size_t rows, std::size_t i,
                             std::size_t j) {
  for (; i + height * lanes <= rows; i += height * lanes) {
    std::array<std::array<Lanes, height>, panel> sums;
    for (std::size_t c = 0; c < panel; ++c)
      for (std::size_t v = 0; v < height; ++v)
        sums[c][v] = hn::Load(tag, l + (j + c) * stride + i + v * lanes);
    for (std::size_t k = 0; k < j; ++k) {
      const double* column = l + k * stride;
      std::array<Lanes, height> here;
      for (std::size_t v = 0; v < height; ++v) here[v] = hn::Load(tag, column + i + v * lanes);
      for (std::size_t c = 0; c < panel; ++c) {
        const Lanes factor = hn::Set(tag, column[j + c]);
        for (std::size_t v = 0; v < height; ++v)
          sums[c][v] = hn::Sub(sums[c][v], hn::Mul(factor, here[v]));
      }
    }
    for (std::size_t c = 0; c < panel; ++c)
      for (std::size_t v = 0; v < height; ++v)
        hn::Store(sums[c][v], tag, l + (j + c) * stride + i + v * lanes);
  }
  return i;
}

// Factors the panel's columns among themselves. What vectors write above the diagonal nobody reads
// below it.
bool finish_panel(double* l, std::size_t stride, std::size_t rows, std::size_t j) {
  for (std::size_t c = 0; c < panel; ++c) {
    double* column = l + (j + c) * stride;
    const double pivot = column[j + c];
    if (!(pivot > 0 && std::isfinite(pivot))) return false;
    const double root = std::sqrt(pivot);
    for (std::size_t i = j; i < rows; i += lanes)
      hn::Store(hn::Div(hn::Load(tag, column + i), hn::Set(tag, root)), tag, column + i);
    column[j + c] = root;
    for (std::size_t b = c + 1; b < panel; ++b) {
      double* other = l + (j + b) * stride;
      const Lanes factor = hn::Set(tag, column[j + b]);
      for (std::size_t i = j; i < rows; i += lanes) {
        const Lanes product = hn::Mul(factor, hn::Load(tag, column + i));
        hn::Store(hn::Sub(hn::Load(tag, other + i), product), tag, other + i);
      }
    }
  }
  return true;
}

bool factor_columns(double* l, std::size_t rows, std::size_t stride) {
  for (std::size_t j = 0; j < rows; j += panel) {
    const std::size_t i = subtract_columns<2>(l, stride, rows, j, j);
    subtract_columns<1>(l, stride, rows, i, j);
    if (!finish_panel(l, stride, rows, j)) return false;
  }
  for (std::size_t j = 0; j < rows; ++j)
    std::fill(l + j * stride + j / partial_sums * partial_sums, l + j * stride + j, 0.0);
  return true;
}

// b becomes L⁻ᵀ L⁻¹ b, four columns at a time: the triangle on the diagonal one by one, then the
// rest. `inverse` are those of the diagonal.
void solve_columns(const double* l, const double* inverse, std::size_t rows, std::size_t stride,
                   double* b) {
  constexpr std::size_t group = 4;
  std::array<const double*, group> column;
  std::array<double, group> x;
  for (std::size_t k = 0; k < rows; k += group) {
    std::array<Lanes, group> factor;
    for (std::size_t c = 0; c < group; ++c) {
      column[c] = l + (k + c) * stride;
      x[c] = b[k + c];
      for (std::size_t a = 0; a < c; ++a) x[c] -= column[a][k + c] * x[a];
      x[c] *= inverse[k + c];
      factor[c] = hn::Set(tag, x[c]);
    }
    for (std::size_t i = k / lanes * lanes; i < rows; i += lanes) {
      Lanes sum = hn::Load(tag, b + i);
      for (std::size_t c = 0; c < group; ++c)
        sum = hn::Sub(sum, hn::Mul(factor[c], hn::Load(tag, column[c] + i)));
      hn::Store(sum, tag, b + i);
    }
    std::copy(x.begin(), x.end(), b + k);
  }
  for (std::size_t k = rows; k > 0;) {
    k -= group;
    std::array<PartialSums, group> sums;
    for (std::size_t c = 0; c < group; ++c) {
      column[c] = l + (k + c) * stride;
      x[c] = b[k + c];
      b[k + c] = 0;
      sums[c] = zero_sums();
    }
    for (std::size_t i = k / partial_sums * partial_sums; i < rows; i += partial_sums)
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t at = i + part * lanes;
        const Lanes here = hn::Load(tag, b + at);
        for (std::size_t c = 0; c < group; ++c)
          sums[c][part] = hn::Add(sums[c][part], hn::Mul(hn::Load(tag, column[c] + at), here));
      }
    for (std::size_t c = group; c-- > 0;) {
      x[c] -= total(sums[c]);
      for (std::size_t a = group; --a > c;) x[c] -= column[c][k + a] * x[a];
      x[c] *= inverse[k + c];
    }
    std::copy(x.begin(), x.end(), b + k);
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {
namespace {

constexpr Index block = 8;  // rows and columns are rounded up to it, by an identity
constexpr std::align_val_t alignment{64};

Index rows_of(Index d) { return (d + block - 1) / block * block; }

// Columns a power of two apart would share a few sets of the cache.
Index stride_of(Index d) {
  const Index rows = rows_of(d);
  return rows % 64 == 0 ? rows + block : rows;
}

}  // namespace

HWY_EXPORT(factor_columns);
HWY_EXPORT(solve_columns);

void Cholesky::Free::operator()(double* entries) const { ::operator delete[](entries, alignment); }

Cholesky::Cholesky(Index d)
    : d_(d),
      stride_(stride_of(d)),
      l_(new (alignment) double[static_cast<std::size_t>(stride_ * (rows_of(d) + 2))]) {
  choose_instruction_set();
}

bool Cholesky::factor(const Matrix& a, double shift) {
  const Index rows = rows_of(d_);
  for (Index j = 0; j < rows; ++j) {
    double* column = l_.get() + j * stride_;
    std::fill(column + j / block * block, column + rows, 0.0);
    if (j < d_) std::copy(a.col(j).begin() + j, a.col(j).end(), column + j);
    column[j] = j < d_ ? column[j] - shift : 1.0;
  }
  if (!HWY_DYNAMIC_DISPATCH(factor_columns)(l_.get(), static_cast<std::size_t>(rows),
                                            static_cast<std::size_t>(stride_)))
    return false;
  double* inverse = l_.get() + rows * stride_;
  for (Index j = 0; j < rows; ++j) inverse[j] = 1 / l_[static_cast<std::size_t>(j * stride_ + j)];
  return true;
}

void Cholesky::solve(VectorRef b) {
  const Index rows = rows_of(d_);
  double* inverse = l_.get() + rows * stride_;
  double* work = inverse + stride_;
  std::fill(std::copy(b.begin(), b.end(), work), work + rows, 0.0);
  HWY_DYNAMIC_DISPATCH(solve_columns)
  (l_.get(), inverse, static_cast<std::size_t>(rows), static_cast<std::size_t>(stride_), work);
  std::copy_n(work, d_, b.begin());
}

}  // namespace dpsosp
#endif
