// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/privacy/range_filter.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace dpsosp {

RangeFilter::RangeFilter(RecordRange range, double capacity, double pure_capacity,
                         double delta_extra)
    : end_(range.end) {
  segments_.emplace(range.begin, Accounts{PrivacyFilter(capacity), PrivacyFilter(pure_capacity),
                                          PrivacyFilter(delta_extra)});
}

void RangeFilter::split(Index at) {
  if (at >= end_) return;
  const auto after = segments_.upper_bound(at);
  const auto containing = std::prev(after);
  if (containing->first != at) segments_.emplace_hint(after, at, containing->second);
}

/// Neighbours of the same history are one segment: a single pass stays two segments long.
void RangeFilter::merge(Index at) {
  const auto segment = segments_.find(at);
  if (segment == segments_.end() || segment == segments_.begin()) return;
  if (std::prev(segment)->second == segment->second) segments_.erase(segment);
}

bool RangeFilter::try_charge(const std::vector<Charge>& charges) {
  std::vector<Slice> slices;
  slices.reserve(charges.size());
  for (const Charge& c : charges) slices.push_back({c.range, c.amount});
  return try_slices(slices);
}

void RangeFilter::expect_own(RecordRange range) const {
  const Index begin = segments_.begin()->first;
  if (!(range.begin >= begin && range.begin <= range.end && range.end <= end_))
    throw std::logic_error(
        fmt::format("range filter: a charge to records [{}, {}) by the curator of [{}, {})",
                    range.begin, range.end, begin, end_));
}

bool RangeFilter::try_slices(std::span<const Slice> slices) {
  for (const Slice& s : slices) expect_own(s.range);
  for (const Slice& s : slices) {
    split(s.range.begin);
    split(s.range.end);
  }
  // Tried on copies first: either every charge is granted or none is.
  tried_.clear();
  const auto copy_of = [&](Segments::iterator segment) -> Accounts& {
    if (slices.size() > 1)  // the segments of one slice are distinct
      for (Tried& t : tried_)
        if (t.segment == segment) return t.accounts;
    return tried_.emplace_back(segment, segment->second).accounts;
  };
  for (const Slice& slice : slices)
    for (auto s = segments_.find(slice.range.begin);
         s != segments_.end() && s->first < slice.range.end; ++s) {
      Accounts& accounts = copy_of(s);
      if (slice.amount == std::numeric_limits<double>::infinity()) return false;
      if (!accounts.zcdp.try_charge(slice.amount)) return false;
      if (slice.pure != 0 && !accounts.pure.try_charge(slice.pure)) return false;
      if (slice.delta_extra != 0 && !accounts.delta_extra.try_charge(slice.delta_extra))
        return false;
    }
  for (const Tried& t : tried_) t.segment->second = t.accounts;
  tried_.clear();  // a copy of this filter must not refer to its segments
  for (const Slice& s : slices) {
    merge(s.range.begin);
    merge(s.range.end);
  }
  return true;
}

std::optional<RangeFilter::Account> RangeFilter::try_pure(const Charge& charge, double pure,
                                                          double delta_extra) {
  const bool has_account = segments_.begin()->second.pure.capacity() > 0;
  if (has_account && try_slice({charge.range, 0.0, pure, delta_extra})) return Account::pure;
  if (try_slice({charge.range, charge.amount, 0.0, delta_extra})) return Account::zcdp;
  return {};
}

double RangeFilter::remaining() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [begin, accounts] : segments_)
    least = std::min(least, accounts.zcdp.remaining());
  return least;
}

double RangeFilter::pure_remaining() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [begin, accounts] : segments_)
    least = std::min(least, accounts.pure.remaining());
  return least;
}

}  // namespace dpsosp
