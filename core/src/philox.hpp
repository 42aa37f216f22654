// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <Random123/philox.h>

#include "dpsosp/core/stream.hpp"

namespace dpsosp {

/// Words 4·block to 4·block + 3 of a key's stream.
inline r123::Philox4x64::ctr_type philox_block(const StreamKey& key, std::uint64_t block) {
  const r123::Philox4x64::ctr_type counter{
      {block, 0, key.run, static_cast<std::uint64_t>(key.purpose)}};
  return r123::Philox4x64{}(counter, r123::Philox4x64::key_type{{key.seed, key.path}});
}

/// Blocks that are computed together; write_words may spoil the words of all but one of them beyond
/// those asked for.
constexpr std::size_t most_blocks_together = 16;

/// The words of `blocks` blocks from block `first` on.
/// \param words  room for 4·(blocks + most_blocks_together − 1)
void write_words(const StreamKey& key, std::uint64_t first, std::size_t blocks,
                 std::uint64_t* words);

}  // namespace dpsosp
