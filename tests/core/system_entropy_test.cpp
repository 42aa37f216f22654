// SPDX-License-Identifier: Apache-2.0
// Takes the place of the C library's getrandom, to answer a part of what is asked, or nothing.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <set>
#include <system_error>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "dpsosp/core/discrete_gaussian.hpp"

namespace {

bool interrupted = false;
int refusal = 0;  // errno of every call, if any
std::size_t calls = 0, largest = 0;

}  // namespace

extern "C" ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  if (refusal != 0) {
    errno = refusal;
    return -1;
  }
  if (interrupted) {
    largest = std::max(largest, size);
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    size = std::min<size_t>(size, 100);
  }
  return syscall(SYS_getrandom, bytes, size, flags);
}

namespace dpsosp::system_entropy_test {
namespace {

TEST(SystemEntropy, AsksForTheRestWhereASignalInterrupts) {
  SystemEntropy words;
  interrupted = true;
  calls = largest = 0;
  std::set<std::uint64_t> seen;
  constexpr std::size_t drawn = 256;
  for (std::size_t k = 0; k < drawn; ++k) seen.insert(words.bits());
  interrupted = false;
  EXPECT_EQ(seen.size(), drawn);
  EXPECT_EQ(seen.count(0), 0U);
  EXPECT_GE(calls, 2 * (drawn * 8 / 100));
  EXPECT_LE(largest, drawn * 8) << "asks for more than it has room for";
}

/// Nothing takes its place: a clock could be guessed.
TEST(SystemEntropy, FailsWhereTheSystemRefuses) {
  for (const int error : {ENOSYS, EPERM, EAGAIN, EINVAL, EFAULT, EIO}) {
    SystemEntropy words;
    refusal = error;
    EXPECT_THROW(words.bits(), std::system_error) << error;
    EXPECT_THROW(words.bits(), std::system_error) << error;
    refusal = 0;
    EXPECT_NO_THROW(words.bits());
  }
}

}  // namespace
}  // namespace dpsosp::system_entropy_test
