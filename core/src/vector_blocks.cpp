// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/vector_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "simd.hpp"

// Compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_blocks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "partial_sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dpsosp::HWY_NAMESPACE {
namespace {

struct BlockSums {
  HWY_ALIGN std::array<double, VectorBlocks::most_entries * partial_sums> entries{};
  PartialSums weight, largest;
  std::size_t clipped = 0;
};

template <std::size_t count>
void weigh_blocks(const double* blocks, const double* shift, std::size_t d, double limit,
                  BlockSums& sums) {
  const Lanes one = hn::Set(tag, 1.0), most = hn::Set(tag, limit);
  std::array<PartialSums, count> weights;
  for (PartialSums& squares : weights) squares = zero_sums();
  for (std::size_t j = 0; j < d; ++j) {
    const Lanes c = hn::Set(tag, shift[j]);
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t part = 0; part < parts; ++part) {
        const double* z = blocks + (b * d + j) * partial_sums + part * lanes;
        const Lanes sum = hn::Add(c, hn::LoadU(tag, z));
        weights[b][part] = hn::Add(weights[b][part], hn::Mul(sum, sum));
      }
  }
  for (PartialSums& of_block : weights)
    for (std::size_t part = 0; part < parts; ++part) {
      const Lanes norm = hn::Sqrt(of_block[part]);
      Lanes& largest = sums.largest[part];
      largest = hn::IfThenElse(hn::Gt(norm, largest), norm, largest);  // not for NaN
      const auto whole = hn::Le(norm, most);
      const std::size_t kept = hn::CountTrue(tag, whole);
      of_block[part] = kept == lanes ? one : hn::IfThenElse(whole, one, hn::Div(most, norm));
      sums.clipped += lanes - kept;
      sums.weight[part] = hn::Add(sums.weight[part], of_block[part]);
    }
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t part = 0; part < parts; ++part) {
      double* entry = sums.entries.data() + j * partial_sums + part * lanes;
      Lanes sum = hn::Load(tag, entry);
      for (std::size_t b = 0; b < count; ++b) {
        const double* z = blocks + (b * d + j) * partial_sums + part * lanes;
        sum = hn::Add(sum, hn::Mul(weights[b][part], hn::LoadU(tag, z)));
      }
      hn::Store(sum, tag, entry);
    }
}

VectorBlocks::Weighed weigh_all(const double* blocks, std::size_t count, const double* shift,
                                std::size_t d, double limit, double* out) {
  constexpr std::size_t group = 4;
  BlockSums sums;
  sums.weight = sums.largest = zero_sums();
  std::size_t b = 0;
  const auto at = [&] { return blocks + b * d * partial_sums; };
  for (; b + group <= count; b += group) weigh_blocks<group>(at(), shift, d, limit, sums);
  for (; b < count; ++b) weigh_blocks<1>(at(), shift, d, limit, sums);
  for (std::size_t j = 0; j < d; ++j) {
    PartialSums of_entry;
    for (std::size_t part = 0; part < parts; ++part)
      of_entry[part] = hn::Load(tag, sums.entries.data() + j * partial_sums + part * lanes);
    out[j] += total(of_entry);
  }
  HWY_ALIGN std::array<double, partial_sums> largest;
  for (std::size_t part = 0; part < parts; ++part)
    hn::Store(sums.largest[part], tag, largest.data() + part * lanes);
  return {total(sums.weight), static_cast<Index>(sums.clipped),
          *std::max_element(largest.begin(), largest.end())};
}

}  // namespace
}  // namespace dpsosp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dpsosp {

HWY_EXPORT(weigh_all);

VectorBlocks::VectorBlocks(const Matrix& vectors)
    : entries_(static_cast<std::size_t>(vectors.rows() * (vectors.cols() / in_block * in_block))) {
  auto next = entries_.begin();
  for (Index i = 0; i + in_block <= vectors.cols(); i += in_block)
    for (Index j = 0; j < vectors.rows(); ++j)
      for (Index k = 0; k < in_block; ++k) *next++ = vectors(j, i + k);
}

VectorBlocks::Weighed VectorBlocks::add_weighed(Index first, Index last, ConstVectorRef shift,
                                                double limit, VectorRef out) const {
  choose_instruction_set();
  return HWY_DYNAMIC_DISPATCH(weigh_all)(entries_.data() + first * shift.size() * in_block,
                                         static_cast<std::size_t>(last - first), shift.data(),
                                         static_cast<std::size_t>(shift.size()), limit, out.data());
}

}  // namespace dpsosp
#endif
