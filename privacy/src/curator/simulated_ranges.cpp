// SPDX-License-Identifier: Apache-2.0
#include "simulated_ranges.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"

namespace dpsosp {

void SimulatedRanges::admit(const BatchPolicy& policy, RecordRange range,
                            const std::shared_ptr<const void>& owner) {
  const bool whole = policy.kind == BatchPolicy::Kind::all;
  const auto fresh_of = whole ? nullptr : owner;
  Use* own = nullptr;
  for (Use& use : uses_) {
    const bool equal = whole && use.owner == nullptr && use.hull == range;
    if (equal) return;
    if (!whole && use.owner == fresh_of) {
      own = &use;
      continue;
    }
    if (use.hull.begin < range.end && range.begin < use.hull.end)
      throw InputError(
          fmt::format("batch: simulated records [{}, {}) were already drawn in other cuts, within "
                      "[{}, {}); read them whole or by fresh batches, not both",
                      range.begin, range.end, use.hull.begin, use.hull.end));
  }
  if (own == nullptr)
    uses_.push_back({range, fresh_of});
  else
    own->hull = {std::min(own->hull.begin, range.begin), std::max(own->hull.end, range.end)};
}

}  // namespace dpsosp
