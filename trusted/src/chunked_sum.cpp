// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/trusted/chunked_sum.hpp"

#include <algorithm>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "dpsosp/core/loop_order.hpp"

namespace dpsosp {
namespace {

// Part of every number. Chunks are few, so that their sums need little memory, and not small, so
// that handing one to a thread costs less than summing it.
constexpr Index most_chunks = 64, most_partial_entries = Index{1} << 22;
constexpr Index least_positions = 256, least_entries = 16384;

Index positions_in_chunk(Index count, Index entries) {
  entries = std::max<Index>(entries, 1);
  const Index chunks = std::clamp<Index>(most_partial_entries / entries, 2, most_chunks);
  return std::max({least_positions, least_entries / entries, (count + chunks - 1) / chunks});
}

}  // namespace

ClipReport chunked_sum(Index count, VectorRef out, const SumChunk& sum_chunk) {
  const Index size = positions_in_chunk(count, out.size());
  const Index chunks = (count + size - 1) / size;
  if (chunks <= 1) return count > 0 ? sum_chunk(Index{0}, count, out) : ClipReport{};
  Matrix partial = Matrix::Zero(out.size(), chunks);
  std::vector<ClipReport> reports(static_cast<std::size_t>(chunks));
  const auto sum_range = [&](const tbb::blocked_range<Index>& r) {
    for (Index c = r.begin(); c < r.end(); ++c)
      reports[static_cast<std::size_t>(c)] =
          sum_chunk(c * size, std::min(count, (c + 1) * size), partial.col(c));
  };
  const tbb::blocked_range<Index> all(0, chunks);
  if (tbb::this_task_arena::max_concurrency() == 1) {
    sum_range(all);
  } else {
    LoopOrder order;
    tbb::parallel_for(all, order.of(sum_range));
    order.join();
  }
  ClipReport total;
  for (Index c = 0; c < chunks; ++c) {
    out += partial.col(c);
    total.merge(reports[static_cast<std::size_t>(c)]);
  }
  return total;
}

}  // namespace dpsosp
