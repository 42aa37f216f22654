// SPDX-License-Identifier: Apache-2.0
#include "chunked_sum.hpp"

#include <algorithm>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "dpsosp/core/loop_order.hpp"

namespace dpsosp {
namespace {

constexpr Index chunk_size = 256;  // part of every number

}  // namespace

ClipReport chunked_sum(Index count, VectorRef out, const SumChunk& sum_chunk) {
  const Index chunks = (count + chunk_size - 1) / chunk_size;
  if (chunks <= 1) return count > 0 ? sum_chunk(Index{0}, count, out) : ClipReport{};
  Matrix partial = Matrix::Zero(out.size(), chunks);
  std::vector<ClipReport> reports(static_cast<std::size_t>(chunks));
  const auto sum_range = [&](const tbb::blocked_range<Index>& r) {
    for (Index c = r.begin(); c < r.end(); ++c)
      reports[static_cast<std::size_t>(c)] =
          sum_chunk(c * chunk_size, std::min(count, (c + 1) * chunk_size), partial.col(c));
  };
  LoopOrder order;
  tbb::parallel_for(tbb::blocked_range<Index>(0, chunks), order.of(sum_range));
  order.join();
  ClipReport total;
  for (Index c = 0; c < chunks; ++c) {
    out += partial.col(c);
    total.merge(reports[static_cast<std::size_t>(c)]);
  }
  return total;
}

}  // namespace dpsosp
