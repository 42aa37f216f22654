// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cfenv>

namespace dpsosp {

/// What a record left in the flags of floating point or in errno is gone when code of a problem
/// runs for the next sum, and so is a mode of rounding or of denormals.
class NoTraces {
 public:
  NoTraces() { remove(); }
  ~NoTraces() { remove(); }
  NoTraces(const NoTraces&) = delete;
  NoTraces& operator=(const NoTraces&) = delete;

 private:
  static void remove() {
    std::fesetenv(FE_DFL_ENV);
    errno = 0;
  }
};

}  // namespace dpsosp
