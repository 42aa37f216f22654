// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "simd.hpp"

// Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "partial_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

struct Product {
  Lanes operator()(Lanes w, Lanes entry) const { return hn::Mul(w, entry); }
};

struct SquareOfSum {
  Lanes operator()(Lanes w, Lanes entry) const {
    const Lanes sum = hn::Add(w, entry);
    return hn::Mul(sum, sum);
  }
};

// out[k] = Σ_j term(w[j], rows[k][j]) for `count` rows, while the rows after them are fetched.
template <class Term, std::size_t count>
void sum_some(const double* const* rows, const double* const* next, const double* w, std::size_t d,
              double* out) {
  const Term term;
  std::array<PartialSums, count> sums;
  for (PartialSums& row : sums) row = zero_sums();
  std::size_t j = 0;
  for (; j + partial_sums <= d; j += partial_sums) {
    for (std::size_t k = 0; k < count; ++k) hwy::Prefetch(next[k] + j);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t at = j + part * lanes;
      const Lanes here = hn::LoadU(tag, w + at);
      for (std::size_t k = 0; k < count; ++k)
        sums[k][part] = hn::Add(sums[k][part], term(here, hn::LoadU(tag, rows[k] + at)));
    }
  }
  if (j < d) {
    for (std::size_t k = 0; k < count; ++k) hwy::Prefetch(next[k] + j);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t at = std::min(d, j + part * lanes);
      const std::size_t left = std::min(lanes, d - at);
      const Lanes here = load_first(w + at, left);
      for (std::size_t k = 0; k < count; ++k)
        sums[k][part] = hn::Add(sums[k][part], term(here, load_first(rows[k] + at, left)));
    }
  }
  for (std::size_t k = 0; k < count; ++k) out[k] = total(sums[k]);
}

template <class Term>
void sum_all(Rows rows, const double* w, std::size_t d, double* out) {
  constexpr std::size_t group = 4;
  std::size_t k = 0;
  for (; k + group <= rows.size(); k += group) {
    const bool more = k + 2 * group <= rows.size();
    sum_some<Term, group>(&rows[k], &rows[more ? k + group : k], w, d, out + k);
  }
  for (; k + 2 <= rows.size(); k += 2) sum_some<Term, 2>(&rows[k], &rows[k], w, d, out + k);
  for (; k < rows.size(); ++k) sum_some<Term, 1>(&rows[k], &rows[k], w, d, out + k);
}

void dot_all(Rows rows, const double* w, std::size_t d, double* out) {
  sum_all<Product>(rows, w, d, out);
}

void shifted_square_norms(Rows rows, const double* shift, std::size_t d, double* out) {
  sum_all<SquareOfSum>(rows, shift, d, out);
}

template <std::size_t count>
void add_some(const double* const* rows, const double* weights, std::size_t d, double* out) {
  std::array<Lanes, count> c;
  for (std::size_t k = 0; k < count; ++k) c[k] = hn::Set(tag, weights[k]);
  std::size_t j = 0;
  for (; j + lanes <= d; j += lanes) {
    Lanes sum = hn::LoadU(tag, out + j);
    for (std::size_t k = 0; k < count; ++k)
      sum = hn::Add(sum, hn::Mul(c[k], hn::LoadU(tag, rows[k] + j)));
    hn::StoreU(sum, tag, out + j);
  }
  for (; j < d; ++j)
    for (std::size_t k = 0; k < count; ++k) out[j] += weights[k] * rows[k][j];
}

void add_all(Rows rows, const double* weights, std::size_t d, double* out) {
  constexpr std::size_t group = 4;
  std::size_t k = 0;
  for (; k + group <= rows.size(); k += group) add_some<group>(&rows[k], weights + k, d, out);
  for (; k < rows.size(); ++k) add_some<1>(&rows[k], weights + k, d, out);
}

// Columns [column, column + width) of the sum, from row `from` on: a strip of a vector's height
// and `width` columns stays in registers while all the rows go by.
template <std::size_t width>
void outer_strip(Rows rows, const double* weights, std::size_t d, std::size_t column, double* out) {
  std::size_t i = column;
  for (; i + lanes <= d; i += lanes) {
    std::array<Lanes, width> sums;
    for (std::size_t c = 0; c < width; ++c) sums[c] = hn::LoadU(tag, out + (column + c) * d + i);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Lanes scaled = hn::Mul(hn::Set(tag, weights[k]), hn::LoadU(tag, rows[k] + i));
      for (std::size_t c = 0; c < width; ++c)
        sums[c] = hn::Add(sums[c], hn::Mul(scaled, hn::Set(tag, rows[k][column + c])));
    }
    for (std::size_t c = 0; c < width; ++c) hn::StoreU(sums[c], tag, out + (column + c) * d + i);
  }
  if (i == d) return;
  std::array<Lanes, width> sums;
  for (std::size_t c = 0; c < width; ++c) sums[c] = load_first(out + (column + c) * d + i, d - i);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Lanes scaled = hn::Mul(hn::Set(tag, weights[k]), load_first(rows[k] + i, d - i));
    for (std::size_t c = 0; c < width; ++c)
      sums[c] = hn::Add(sums[c], hn::Mul(scaled, hn::Set(tag, rows[k][column + c])));
  }
  HWY_ALIGN std::array<double, lanes> last;
  for (std::size_t c = 0; c < width; ++c) {
    hn::Store(sums[c], tag, last.data());
    std::copy_n(last.begin(), d - i, out + (column + c) * d + i);
  }
}

void outer_all(Rows rows, const double* weights, std::size_t d, double* out) {
  std::size_t column = 0;
  for (; column + 8 <= d; column += 8) outer_strip<8>(rows, weights, d, column, out);
  for (; column + 2 <= d; column += 2) outer_strip<2>(rows, weights, d, column, out);
  for (; column < d; ++column) outer_strip<1>(rows, weights, d, column, out);
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(dot_all);
HWY_EXPORT(shifted_square_norms);
HWY_EXPORT(add_all);
HWY_EXPORT(outer_all);

void dot_rows(Rows rows, ConstVectorRef w, VectorRef out) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(dot_all)
  (rows, w.data(), static_cast<std::size_t>(w.size()), out.data());
}

void squared_norms_of_shifted_rows(Rows rows, ConstVectorRef shift, VectorRef out) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(shifted_square_norms)
  (rows, shift.data(), static_cast<std::size_t>(shift.size()), out.data());
}

void add_rows(Rows rows, ConstVectorRef weights, VectorRef out) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(add_all)
  (rows, weights.data(), static_cast<std::size_t>(out.size()), out.data());
}

void add_outer_products(Rows rows, ConstVectorRef weights, MatrixRef out) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(outer_all)
  (rows, weights.data(), static_cast<std::size_t>(out.rows()), out.data());
}

Index rows_in_cache(Index d) {
  constexpr Index doubles = 16384;  // 128 KiB
  return std::clamp<Index>(doubles / std::max<Index>(d, 1) / 4 * 4, 4, most_rows);
}

}  // namespace dpsosp
#endif
