// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dpsosp {

/// Work that this process's long computations have planned and done, in their own units: runs of
/// an attack, claims, Hessian products. For displays of progress; nothing is computed from it.
struct WorkDone {
  std::int64_t planned = 0;
  std::int64_t done = 0;
};
WorkDone work_done();

/// Both may be called from any thread. A computation plans before it does.
void plan_work(std::int64_t units);
void do_work(std::int64_t units = 1);

}  // namespace dpsosp
