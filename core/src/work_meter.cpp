// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/core/work_meter.hpp"

#include <atomic>

namespace dpsosp {
namespace {

// One count for the process, so that no computation has to hand one down to the next.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::int64_t> units_planned{0};
std::atomic<std::int64_t> units_done{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

WorkDone work_done() {
  const std::int64_t done = units_done.load(std::memory_order_relaxed);
  return {.planned = units_planned.load(std::memory_order_relaxed), .done = done};
}

void plan_work(std::int64_t units) { units_planned.fetch_add(units, std::memory_order_relaxed); }

void do_work(std::int64_t units) { units_done.fetch_add(units, std::memory_order_relaxed); }

}  // namespace dpsosp
