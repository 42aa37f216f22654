// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dpsosp {

/// What the long computations of this process have planned and done, in units of their own: runs of
/// an attack, claims, Hessian products. For whoever shows progress; nothing is computed from it.
struct WorkDone {
  std::int64_t planned = 0;
  std::int64_t done = 0;
};
WorkDone work_done();

/// Both may be called from any thread. A computation plans before it does.
void plan_work(std::int64_t units);
void do_work(std::int64_t units = 1);

}  // namespace dpsosp
