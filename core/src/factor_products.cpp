// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/factor_products.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "simd.hpp"

// Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "factor_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "partial_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

/// left += A V and right = Aᵀ U for `count` columns of the factors and `wide` columns of A.
/// left and U have `padded` rows.
template <std::size_t count, std::size_t wide>
HWY_INLINE void sweep(const double* A, std::size_t p, std::size_t padded, std::size_t q,
                      const double* U, const double* V, double* left, double* right) {
  std::array<std::array<PartialSums, count>, wide> sums;
  for (auto& column : sums)
    for (PartialSums& sum : column) sum = zero_sums();
  std::array<std::array<Lanes, count>, wide> v;
  for (std::size_t c = 0; c < wide; ++c)
    for (std::size_t j = 0; j < count; ++j) v[c][j] = hn::Set(tag, V[c + j * q]);
  for (std::size_t i = 0; i < p; i += partial_sums)
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t at = i + part * lanes;
      if (at >= p) break;
      const std::size_t here = std::min(lanes, p - at);
      std::array<Lanes, wide> a;
      for (std::size_t c = 0; c < wide; ++c) a[c] = load_first(A + c * p + at, here);
      for (std::size_t j = 0; j < count; ++j) {
        double* l = left + j * padded + at;
        Lanes product = hn::LoadU(tag, l);
        for (std::size_t c = 0; c < wide; ++c) product = hn::Add(product, hn::Mul(v[c][j], a[c]));
        hn::StoreU(product, tag, l);
        const Lanes u = hn::LoadU(tag, U + j * padded + at);
        for (std::size_t c = 0; c < wide; ++c)
          sums[c][j][part] = hn::Add(sums[c][j][part], hn::Mul(a[c], u));
      }
    }
  for (std::size_t c = 0; c < wide; ++c)
    for (std::size_t j = 0; j < count; ++j) right[c + j * q] = total(sums[c][j]);
}

template <std::size_t count>
void products(const double* A, std::size_t p, std::size_t padded, std::size_t q, const double* U,
              const double* V, double* left, double* right) {
  std::fill_n(left, padded * count, 0.0);
  constexpr std::size_t wide = parts == 1 ? 4 : 2;  // what the registers hold
  std::size_t k = 0;
  for (; k + wide <= q; k += wide)
    sweep<count, wide>(A + k * p, p, padded, q, U, V + k, left, right + k);
  for (; k < q; ++k) sweep<count, 1>(A + k * p, p, padded, q, U, V + k, left, right + k);
}

/// kernel<count>(j) for factor columns j, ..., j + count - 1 until all r have had their turn.
template <class Kernel>
void over_factor_columns(std::size_t r, const Kernel& kernel) {
  std::size_t j = 0;
  for (; j + 4 <= r; j += 4) kernel.template operator()<4>(j);
  if (r - j == 3) kernel.template operator()<3>(j);
  if (r - j == 2) kernel.template operator()<2>(j);
  if (r - j == 1) kernel.template operator()<1>(j);
}

void all_products(const double* A, std::size_t p, std::size_t padded, std::size_t q, std::size_t r,
                  const double* U, const double* V, double* left, double* right) {
  over_factor_columns(r, [&]<std::size_t count>(std::size_t j) {
    products<count>(A, p, padded, q, U + j * padded, V + j * q, left + j * padded, right + j * q);
  });
}

// A strip is eight columns of a matrix, row after row. Each column has a lane of its own, so no sum
// depends on how many lanes a vector has.
constexpr std::size_t strip = partial_sums;

/// Some columns of U (p rows, `padded` apart) and V (q rows), and strips of A V and Aᵀ U, where the
/// lanes are those of eight matrices A.
struct Lines {
  std::size_t p, padded, q;
  const double* U;
  const double* V;
  double* left;
  double* right;
};

/// Adds what rows [i, i + height) of the `wide` columns of A from `column` on contribute. X has an
/// entry of A a row, `stride` apart, from row i of `column` on.
template <std::size_t count, std::size_t wide>
HWY_INLINE void add_block(const double* X, std::size_t stride, const Lines& to, std::size_t i,
                          std::size_t height, std::size_t column) {
  std::array<std::array<Lanes, count>, wide> sums, v;
  for (std::size_t c = 0; c < wide; ++c)
    for (std::size_t j = 0; j < count; ++j) {
      sums[c][j] = hn::LoadU(tag, to.right + (column + c + j * to.q) * strip);
      v[c][j] = hn::Set(tag, to.V[column + c + j * to.q]);
    }
  for (std::size_t k = 0; k < height; ++k) {
    std::array<Lanes, wide> a;
    for (std::size_t c = 0; c < wide; ++c) a[c] = hn::LoadU(tag, X + (k + c * to.p) * stride);
    for (std::size_t j = 0; j < count; ++j) {
      double* l = to.left + (i + k + j * to.p) * strip;
      Lanes product = hn::LoadU(tag, l);
      for (std::size_t c = 0; c < wide; ++c) product = hn::Add(product, hn::Mul(v[c][j], a[c]));
      hn::StoreU(product, tag, l);
      const Lanes u = hn::Set(tag, to.U[i + k + j * to.padded]);
      for (std::size_t c = 0; c < wide; ++c) sums[c][j] = hn::Add(sums[c][j], hn::Mul(a[c], u));
    }
  }
  for (std::size_t c = 0; c < wide; ++c)
    for (std::size_t j = 0; j < count; ++j)
      hn::StoreU(sums[c][j], tag, to.right + (column + c + j * to.q) * strip);
}

/// The same for entries [begin, end) of A, column by column; X begins with that of `begin`.
template <std::size_t count>
void add_entries(const double* X, std::size_t stride, const Lines& to, std::size_t begin,
                 std::size_t end) {
  constexpr std::size_t wide = parts == 1 ? 4 : 2;  // what the registers hold
  while (begin < end) {
    const std::size_t column = begin / to.p, i = begin % to.p;
    const bool whole = i == 0 && begin + wide * to.p <= end;
    const std::size_t height = whole ? to.p : std::min(to.p - i, end - begin);
    for (std::size_t lane = 0; lane < strip; lane += lanes) {
      Lines part = to;
      part.left += lane;
      part.right += lane;
      if (whole)
        add_block<count, wide>(X + lane, stride, part, i, height, column);
      else
        add_block<count, 1>(X + lane, stride, part, i, height, column);
    }
    const std::size_t done = whole ? wide * to.p : height;
    X += done * stride;
    begin += done;
  }
}

/// out + outᵀ = JᵀSJ, where out = JᵀTJ for the upper triangle T of S with half its diagonal. out
/// has d = (p + q) r columns and `half` = (TJ)ᵀ has pq, `padded_d` apart; `block` is a strip.
/// The columns of S are `padded_n` apart.
void half_congruence(const double* S, std::size_t padded_n, std::size_t p, std::size_t padded,
                     std::size_t q, std::size_t r, const double* U, const double* V,
                     std::size_t padded_d, double* block, double* half, double* out) {
  const std::size_t n = p * q, d = (p + q) * r;
  const auto add = [&](const double* X, std::size_t stride, std::size_t begin, std::size_t end) {
    over_factor_columns(r, [&]<std::size_t count>(std::size_t j) {
      const Lines to{p,
                     padded,
                     q,
                     U + j * padded,
                     V + j * q,
                     block + j * p * strip,
                     block + (r * p + j * q) * strip};
      add_entries<count>(X, stride, to, begin, end);
    });
  };
  for (std::size_t e = 0; e < n; e += strip) {
    const std::size_t here = std::min(strip, n - e);
    std::array<double, strip * strip> corner{};
    for (std::size_t k = 0; k < here; ++k) {
      const double* column = S + (e + k) * padded_n + e;
      std::copy_n(column, k, &corner[k * strip]);
      corner[k * strip + k] = 0.5 * column[k];
    }
    std::fill_n(block, padded_d * strip, 0.0);
    add(corner.data(), strip, e, e + here);
    if (e + strip < n) add(S + (e + strip) * padded_n + e, padded_n, e + strip, n);
    for (std::size_t k = 0; k < here; ++k)
      for (std::size_t row = 0; row < padded_d; row += 2) {  // one store of two numbers
        const std::array<double, 2> both{block[row * strip + k], block[(row + 1) * strip + k]};
        std::copy(both.begin(), both.end(), half + (e + k) * padded_d + row);
      }
  }
  for (std::size_t c = 0; c < d; c += strip) {
    std::fill_n(block, padded_d * strip, 0.0);
    add(half + c, padded_d, 0, n);
    for (std::size_t row = 0; row < d; ++row)
      std::copy_n(block + row * strip, strip, out + row * padded_d + c);
  }
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(all_products);
HWY_EXPORT(half_congruence);

FactorProducts::FactorProducts(Index rows, Index cols, Index rank)
    : rows_(rows),
      cols_(cols),
      rank_(rank),
      U_(Matrix::Zero((rows + 7) / 8 * 8, rank)),
      V_(Matrix::Zero(cols, rank)) {}

void FactorProducts::set(ConstVectorRef factors) {
  U_.topRows(rows_) = factors.head(rows_ * rank_).reshaped(rows_, rank_);
  V_ = factors.tail(cols_ * rank_).reshaped(cols_, rank_);
}

Index FactorProducts::space(Index rows, Index rank) { return 2 * ((rows + 7) / 8 * 8) * rank; }

void FactorProducts::apply(const double* U, const double* V, const double* A, double* left,
                           VectorRef out) const {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(all_products)
  (A, static_cast<std::size_t>(rows_), static_cast<std::size_t>(U_.rows()),
   static_cast<std::size_t>(cols_), static_cast<std::size_t>(rank_), U, V, left,
   out.data() + rows_ * rank_);
  for (Index j = 0; j < rank_; ++j) std::copy_n(left + j * U_.rows(), rows_, &out[j * rows_]);
}

void FactorProducts::apply(const double* A, double* space, VectorRef out) const {
  apply(U_.data(), V_.data(), A, space, out);
}

void FactorProducts::apply(ConstVectorRef factors, const double* A, double* space,
                           VectorRef out) const {
  Eigen::Map<Matrix> U(space, U_.rows(), rank_);
  U.topRows(rows_) = factors.head(rows_ * rank_).reshaped(rows_, rank_);
  U.bottomRows(U_.rows() - rows_).setZero();
  apply(space, factors.data() + rows_ * rank_, A, space + U_.size(), out);
}

void FactorProducts::congruence(const Matrix& S, MatrixRef out) const {
  choose_instruction_set();
  const Index d = (rows_ + cols_) * rank_, padded_d = (d + 7) / 8 * 8;
  Matrix half(padded_d, S.cols()), block(8, padded_d), product(padded_d, d);
  HWY_DYNAMIC_DISPATCH(half_congruence)
  (S.data(), static_cast<std::size_t>(S.rows()), static_cast<std::size_t>(rows_),
   static_cast<std::size_t>(U_.rows()), static_cast<std::size_t>(cols_),
   static_cast<std::size_t>(rank_), U_.data(), V_.data(), static_cast<std::size_t>(padded_d),
   block.data(), half.data(), product.data());
  out = product.topRows(d) + product.topRows(d).transpose();
}

double FactorProducts::inner_product(ConstVectorRef products) const {
  double sum = 0;
  for (Index j = 0; j < rank_; ++j)
    sum += products.segment(j * rows_, rows_).dot(U_.col(j).head(rows_));
  return sum;
}

}  // namespace dpsosp
#endif
