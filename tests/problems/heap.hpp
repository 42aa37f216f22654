// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace dpsosp::testing {

/// What the heap of this program has seen, by replacing malloc; a program with heap.cpp alone.
struct Heap {
  std::size_t allocations = 0;  ///< since the start
  std::size_t live_bytes = 0;   ///< now
};
Heap heap();

/// False where a sanitiser owns the heap.
bool heap_is_counted();

}  // namespace dpsosp::testing
