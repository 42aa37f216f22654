// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/memory.hpp"

#include <unistd.h>

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

std::optional<std::size_t> allocated_bytes() {
#ifdef __GLIBC__
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return {};
#endif
}

std::optional<double> machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return {};
  return static_cast<double>(pages) * static_cast<double>(size);
}

}  // namespace dpsosp
