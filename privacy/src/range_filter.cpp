// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/range_filter.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace dpsosp {

RangeFilter::RangeFilter(RecordRange range, double capacity) : end_(range.end) {
  segments_.emplace(range.begin, PrivacyFilter(capacity));
}

void RangeFilter::split(Index at) {
  if (at >= end_) return;
  const auto after = segments_.upper_bound(at);
  const PrivacyFilter history = std::prev(after)->second;
  segments_.emplace(at, history);
}

/// Neighbours of the same history are one segment: a single pass stays two segments long.
void RangeFilter::merge(Index at) {
  const auto segment = segments_.find(at);
  if (segment == segments_.end() || segment == segments_.begin()) return;
  if (std::prev(segment)->second == segment->second) segments_.erase(segment);
}

bool RangeFilter::try_charge(const std::vector<Charge>& charges) {
  for (const Charge& c : charges) {
    split(c.range.begin);
    split(c.range.end);
  }
  // Tried on copies first: either every charge is granted or none is.
  std::map<Index, PrivacyFilter> tried;
  for (const Charge& c : charges)
    for (auto s = segments_.find(c.range.begin); s != segments_.end() && s->first < c.range.end;
         ++s)
      if (!tried.try_emplace(s->first, s->second).first->second.try_charge(c.amount)) return false;
  for (auto& [begin, filter] : tried) segments_.at(begin) = filter;
  for (const Charge& c : charges) {
    merge(c.range.begin);
    merge(c.range.end);
  }
  return true;
}

double RangeFilter::remaining() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [begin, filter] : segments_) least = std::min(least, filter.remaining());
  return least;
}

}  // namespace dpsosp
