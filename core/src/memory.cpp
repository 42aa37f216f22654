// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/memory.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace dpsosp {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int largest_kept = 32 << 20, most_kept = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_kept);
  mallopt(M_TRIM_THRESHOLD, most_kept);
#endif
}

}  // namespace dpsosp
