// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cfenv>

namespace dpsosp {

/// What a record left in the flags of floating point or in errno is gone when code of a problem
/// runs for the next sum, and so is a rounding mode that such code left.
class NoTraces {
 public:
  NoTraces() { remove(); }
  ~NoTraces() { remove(); }
  NoTraces(const NoTraces&) = delete;
  NoTraces& operator=(const NoTraces&) = delete;

 private:
  static void remove() {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_TONEAREST);
    errno = 0;
  }
};

}  // namespace dpsosp
