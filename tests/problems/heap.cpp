// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <atomic>
#include <cerrno>

#include <malloc.h>

namespace dpsosp::testing {
namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> live_bytes{0};

}  // namespace

Heap heap() { return {allocations, live_bytes}; }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

bool heap_is_counted() { return false; }

}  // namespace dpsosp::testing

#else

bool heap_is_counted() { return true; }

namespace {

void* counted(void* block) {
  if (block != nullptr) {
    ++allocations;
    live_bytes += ::malloc_usable_size(block);
  }
  return block;
}
void forget(void* block) {
  if (block != nullptr) live_bytes -= ::malloc_usable_size(block);
}

}  // namespace
}  // namespace dpsosp::testing

// The C library's own entry points, under the names that glibc keeps for replacements.
extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept { return dpsosp::testing::counted(__libc_malloc(size)); }
void free(void* block) noexcept {
  dpsosp::testing::forget(block);
  __libc_free(block);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return dpsosp::testing::counted(__libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) noexcept {
  dpsosp::testing::forget(block);
  return dpsosp::testing::counted(__libc_realloc(block, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return dpsosp::testing::counted(__libc_memalign(alignment, size));
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  *block = dpsosp::testing::counted(__libc_memalign(alignment, size));
  return *block == nullptr ? ENOMEM : 0;
}
}

#endif
