// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace dpsosp::testing {

/// Counts of this program's allocations. For programs that link heap.cpp, which replaces malloc.
struct Heap {
  std::size_t allocations = 0;  ///< since the start
  std::size_t live_bytes = 0;   ///< now
};
Heap heap();

/// False under a sanitiser, which replaces malloc itself.
bool heap_is_counted();

}  // namespace dpsosp::testing
