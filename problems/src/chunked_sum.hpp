// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "dpsosp/problems/records.hpp"

namespace dpsosp {

/// Adds to `partial` the sum over the positions [first, last) of a batch.
using SumChunk = std::function<ClipReport(Index first, Index last, VectorRef partial)>;

/// out += the sum over positions [0, count) of a batch, in chunks of 256 positions, on as many
/// threads as the caller's arena has. The bits are the same for any number of threads: a chunk is
/// summed in order, then the chunks in order. Its source is the only one here that includes oneTBB.
ClipReport chunked_sum(Index count, VectorRef out, const SumChunk& sum_chunk);

}  // namespace dpsosp
