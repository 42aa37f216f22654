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
HWY_INLINE void sweep(const double* A,
                      std::size_t p,
                      std::size_t padded,
                      std::size_t q,
                      const double* U,
                      const double* V,
                      double* left,
                      double* right) {
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
void products(const double* A,
              std::size_t p,
              std::size_t padded,
              std::size_t q,
              const double* U,
              const double* V,
              double* left,
              double* right) {
  std::fill_n(left, padded * count, 0.0);
  constexpr std::size_t wide = parts == 1 ? 4 : 2;  // what the registers hold
  std::size_t k = 0;
  for (; k + wide <= q; k += wide)
    sweep<count, wide>(A + k * p, p, padded, q, U, V + k, left, right + k);
  for (; k < q; ++k) sweep<count, 1>(A + k * p, p, padded, q, U, V + k, left, right + k);
}

void all_products(const double* A,
                  std::size_t p,
                  std::size_t padded,
                  std::size_t q,
                  std::size_t r,
                  const double* U,
                  const double* V,
                  double* left,
                  double* right) {
  std::size_t j = 0;
  for (; j + 4 <= r; j += 4)
    products<4>(A, p, padded, q, U + j * padded, V + j * q, left + j * padded, right + j * q);
  const auto rest = [&](auto kernel) {
    kernel(A, p, padded, q, U + j * padded, V + j * q, left + j * padded, right + j * q);
  };
  if (r - j == 3) rest(products<3>);
  if (r - j == 2) rest(products<2>);
  if (r - j == 1) rest(products<1>);
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(all_products);

FactorProducts::FactorProducts(Index rows, Index cols, Index rank)
    : rows_(rows),
      cols_(cols),
      rank_(rank),
      U_(Matrix::Zero((rows + 7) / 8 * 8, rank)),
      V_(Matrix::Zero(cols, rank)),
      left_(U_) {}

void FactorProducts::set(ConstVectorRef factors) {
  U_.topRows(rows_) = factors.head(rows_ * rank_).reshaped(rows_, rank_);
  V_ = factors.tail(cols_ * rank_).reshaped(cols_, rank_);
}

void FactorProducts::apply(const double* A, VectorRef out) {
  choose_instruction_set();
  HWY_DYNAMIC_DISPATCH(all_products)
  (A,
   static_cast<std::size_t>(rows_),
   static_cast<std::size_t>(U_.rows()),
   static_cast<std::size_t>(cols_),
   static_cast<std::size_t>(rank_),
   U_.data(),
   V_.data(),
   left_.data(),
   out.data() + rows_ * rank_);
  for (Index j = 0; j < rank_; ++j) out.segment(j * rows_, rows_) = left_.col(j).head(rows_);
}

double FactorProducts::inner_product(ConstVectorRef products) const {
  double sum = 0;
  for (Index j = 0; j < rank_; ++j)
    sum += products.segment(j * rows_, rows_).dot(U_.col(j).head(rows_));
  return sum;
}

}  // namespace dpsosp
#endif
