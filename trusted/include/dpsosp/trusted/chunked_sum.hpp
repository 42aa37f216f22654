// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "dpsosp/trusted/records.hpp"

namespace dpsosp {

/// Adds to `partial` the sum over the positions [first, last) of a batch. Refers to a callable that
/// outlives it: an std::function would allocate at every query.
class SumChunk {
 public:
  template <class Sum>
  requires std::is_invocable_r_v<ClipReport, const Sum&, Index, Index, VectorRef> SumChunk(
      const Sum& sum)  // NOLINT(google-explicit-constructor)
      : sum_(&sum), call_([](const void* s, Index first, Index last, VectorRef partial) {
          return (*static_cast<const Sum*>(s))(first, last, partial);
        }) {}
  ClipReport operator()(Index first, Index last, VectorRef partial) const {
    return call_(sum_, first, last, partial);
  }

 private:
  const void* sum_;
  ClipReport (*call_)(const void*, Index, Index, VectorRef);
};

/// out += the sum over positions [0, count) of a batch, on as many threads as the caller's arena
/// has. Positions are cut into at most 64 chunks, each of 256 positions or 16384 entries of `out`
/// or more. The bits are the same for any number of threads: a chunk is summed in order, then the
/// chunks in order. Its source is the only one here that includes oneTBB.
ClipReport chunked_sum(Index count, VectorRef out, const SumChunk& sum_chunk);

}  // namespace dpsosp
